package paired

import (
	"math"
	"testing"
)

// An interval that was made from a standard error gives it back.
func TestMDEFromInterval(t *testing.T) {
	for _, df := range []float64{1, 7.3, 61, math.Inf(1)} {
		half := tQuantile(0.975, df) * 0.04
		got, want := MDEFromInterval(Interval{Low: 0.1 - half, High: 0.1 + half, Level: 0.95, Method: MethodCR2T}, df, 0.8), MDEFromSE(0.04, df, 0.95, 0.8)
		if math.Abs(got-want) > 1e-12 {
			t.Errorf("df %v: %v, want %v", df, got, want)
		}
	}
	for _, ci := range []Interval{{Low: -1, High: 1, Level: 0.95, Method: MethodNone}, {Low: nan, High: nan, Level: 0.95}, {Low: 0, High: 0, Level: 0.95}, {Low: 0, High: 1}} {
		if got := MDEFromInterval(ci, 5, 0.8); !math.IsNaN(got) {
			t.Errorf("%+v: %v, want NaN", ci, got)
		}
	}
}
