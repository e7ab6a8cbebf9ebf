package paired

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestVendi(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "items")
		same, apart := make([][]float64, n), make([][]float64, n)
		for i := range n {
			same[i], apart[i] = make([]float64, n), make([]float64, n)
			for j := range n {
				same[i][j], apart[i][j] = 1, indicator(i == j)
			}
		}
		s := rapid.Float64Range(0, 1).Draw(t, "similarity")
		pair := NewVendi([][]float64{{1, s}, {s, 1}}, nil)
		for _, q := range []float64{0, 0.5, 1, 2, 7, math.Inf(1)} {
			near(t, "copies", NewVendi(same, nil).Score(q), 1, 1e-6)
			near(t, "unrelated items", NewVendi(apart, nil).Score(q), float64(n), 1e-6)
			if v := pair.Score(q); v < 1-1e-9 || v > 2+1e-9 {
				t.Fatalf("two items of similarity %g: %g", s, v)
			}
		}
		hi, lo := (1+s)/2, (1-s)/2
		near(t, "order 2", pair.Score(2), 1/(hi*hi+lo*lo), 1e-9)
		if lo > 1e-6 {
			near(t, "order 1", pair.Score(1), math.Exp(-hi*math.Log(hi)-lo*math.Log(lo)), 1e-9)
			near(t, "near order 1", pair.Score(1+1e-7), pair.Score(1), 1e-5)
		}
	})
	for what, v := range map[string]Vendi{
		"nothing": NewVendi(nil, nil), "ragged": NewVendi([][]float64{{1}, {1, 1}}, nil),
		"weights": NewVendi([][]float64{{1}}, []float64{0.5, 0.5}), "nan": NewVendi([][]float64{{math.NaN()}}, nil),
	} {
		near(t, what, v.Score(1), math.NaN(), 0)
	}
	near(t, "negative order", NewVendi([][]float64{{1}}, nil).Score(-1), math.NaN(), 0)
	if v := NewVendi([][]float64{{1, 0.9, 0.1}, {0.9, 1, 0.9}, {0.1, 0.9, 1}}, nil); !HasFlag(v.Flags, FlagNotPSD) {
		t.Errorf("flags %v", v.Flags)
	}
}

func TestNCD(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		x, y := rapid.String().Draw(t, "x"), rapid.String().Draw(t, "y")
		xy, _ := NCD(x, y)
		yx, _ := NCD(y, x)
		near(t, "other way", yx, xy, 0)
	})
	prose := strings.Repeat("the quick brown fox jumps over the lazy dog; ", 20)
	code := "func f(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn f(n-1) + f(n-2)\n}\n"
	self, _ := NCD(code, code)
	other, _ := NCD(code, prose)
	if self > 0.2 || other < 0.6 {
		t.Errorf("to itself %g, to another text %g", self, other)
	}
	long, flags := NCD(strings.Repeat("x", MaxNCDBytes+1), "x")
	if !math.IsNaN(long) || !HasFlag(flags, FlagTooLong) {
		t.Errorf("too long: %g, %v", long, flags)
	}
}

// TestMeldedExactAgreesWithTest: the interval excludes 0 exactly when the exact
// McNemar test rejects at its level.
func TestMeldedExactAgreesWithTest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := drawTable(t, 14)
		if table.Pairs() == 0 {
			return
		}
		level := rapid.SampledFrom([]float64{0.8, 0.9, 0.95}).Draw(t, "level")
		ci, p := table.MeldedExact(level), table.McNemarExact().Value
		if math.Abs(ci.Low) < 1e-6 || math.Abs(ci.High) < 1e-6 {
			return
		}
		if excludes := ci.Low > 0 || ci.High < 0; excludes != (p < 1-level) {
			t.Fatalf("%+v for p %g", ci, p)
		}
		if !ci.Covers(table.Delta()) {
			t.Fatalf("%+v misses %g", ci, table.Delta())
		}
		near(t, "swapped", table.Swap().MeldedExact(level).Low, -ci.High, 1e-9)
	})
	near(t, "fractions", Table{TreatOnly: 1.5}.MeldedExact(0.95).Low, math.NaN(), 0)
}

func TestExpectedDiscordant(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 5).Draw(t, "replicates")
		treat := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "treat")
		ctrl := rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, "ctrl")
		sum := 0.0 // over all n*n equally likely partners of a replicate
		for _, x := range treat {
			for _, y := range ctrl {
				sum += indicator(x != y) / float64(n)
			}
		}
		var c Cluster
		for i := range treat {
			switch {
			case treat[i] && ctrl[i]:
				c.Both++
			case treat[i]:
				c.TreatOnly++
			case ctrl[i]:
				c.CtrlOnly++
			default:
				c.Neither++
			}
		}
		near(t, "expected", Clusters{c}.ExpectedDiscordant(), sum, 1e-12)
	})
}
