package analysis

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// How numbers read on the page. Absent numbers are "-".

func percent(v float64) string { return fmt.Sprintf("%.1f%%", 100*v) }

func percentOf(v *Number) string {
	if v == nil {
		return "-"
	}
	return percent(float64(*v))
}

// points is a difference in percentage points, signed.
func points(v float64) string {
	if math.IsNaN(v) {
		return "-"
	}
	return fmt.Sprintf("%+.1f", 100*v)
}

// magnitude is a size in percentage points, unsigned.
func magnitude(v *Number) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.1f", 100*float64(*v))
}

// span is an interval in percentage points.
func span(c CI) string {
	if math.IsNaN(float64(c.Low)) {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", points(float64(c.Low)), points(float64(c.High)))
}

// signed is a difference of similarities.
func signed(v Number) string {
	if math.IsNaN(float64(v)) {
		return "-"
	}
	return fmt.Sprintf("%+.3f", float64(v))
}

// signedSpan is an interval of such a difference.
func signedSpan(c CI) string {
	if math.IsNaN(float64(c.Low)) {
		return "-"
	}
	return fmt.Sprintf("[%s, %s]", signed(c.Low), signed(c.High))
}

func pText(p PValue) string {
	v := float64(p.Value)
	switch {
	case math.IsNaN(v):
		return "-"
	case v < 0.0005:
		return "<.001"
	}
	return strings.TrimPrefix(fmt.Sprintf("%.3f", v), "0")
}

func share(k, n int) string {
	if n == 0 {
		return "-"
	}
	return percent(float64(k) / float64(n))
}

func decimal(v *Number) string {
	if v == nil {
		return "-"
	}
	return fmt.Sprintf("%.3f", float64(*v))
}

func count(v *int64) string {
	if v == nil {
		return "-"
	}
	return strconv.FormatInt(*v, 10)
}

func countInt(v *int) string {
	if v == nil {
		return "-"
	}
	return strconv.Itoa(*v)
}

// blank is countInt for CSV, where an absent number is an empty cell.
func blank(v *int) string {
	if v == nil {
		return ""
	}
	return strconv.Itoa(*v)
}

func joinFlags(p PairRow) string {
	words := make([]string, len(p.Flags))
	for i, f := range p.Flags {
		words[i] = string(f)
	}
	return strings.Join(words, ";")
}

func sortedKeys(m map[string]bool) []string { return slices.Sorted(maps.Keys(m)) }
