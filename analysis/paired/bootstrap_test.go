package paired

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestResampleListsEverySample(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-2, 2), 3, 3).Draw(t, "d")
		var want []float64
		for _, x := range d {
			for _, y := range d {
				for _, z := range d {
					want = append(want, (x+y+z)/3)
				}
			}
		}
		slices.Sort(want)
		r := BootstrapMean(d, 10, 1)
		if len(r.Sorted) != 27 || r.Draws != 0 {
			t.Fatalf("%d resamples, %d draws", len(r.Sorted), r.Draws)
		}
		for i := range want {
			near(t, "resample", r.Sorted[i], want[i], 1e-12)
		}
		mean := meanOf(d)
		near(t, "estimate", r.Estimate, mean, 1e-12)
		near(t, "leave out the first", r.Jackknife[0], (d[1]+d[2])/2, 1e-12)
		near(t, "se", r.SE(), meanSE(d)*math.Sqrt(2.0/3), 1e-9)
	})
}

func TestResampleDrawn(t *testing.T) {
	const seed, draws = 5, 60_000
	cs := Clusters{
		{2, 1, 0, 1}, {1, 2, 1, 0}, {0, 0, 3, 1}, {4, 1, 0, 0}, {1, 1, 1, 1},
		{2, 0, 0, 2}, {0, 3, 0, 0}, {1, 0, 1, 2}, {3, 2, 0, 1}, {0, 1, 2, 0},
	}
	r := cs.Bootstrap(draws, seed)
	if r.Draws != draws || r.Seed != seed || len(r.Sorted)+r.Undefined != draws {
		t.Fatalf("draws %d, seed %d, %d+%d resamples", r.Draws, r.Seed, len(r.Sorted), r.Undefined)
	}
	near(t, "se (seed 5) against the sandwich", r.SE(), cs.CR0(), 0.1*cs.CR0())
	again := cs.Bootstrap(draws, seed)
	if !slices.Equal(again.Sorted, r.Sorted) {
		t.Error("same seed, other resamples")
	}
	wide, narrow := r.Percentile(0.95), r.Percentile(0.8)
	if !(wide.Low < narrow.Low && narrow.High < wide.High && wide.Covers(r.Estimate)) {
		t.Errorf("95%% %+v, 80%% %+v", wide, narrow)
	}
	// Without bias and acceleration BCa is the percentile interval.
	flat := r
	flat.Jackknife = []float64{-1, 1}
	near(t, "bca without correction", flat.BCaFrom(0, 0.9).Low, r.Percentile(0.9).Low, 1e-9)
	if b := r.BCa(0.95); !(b.Low < r.Estimate && r.Estimate < b.High) || r.StrictZ0() > r.Z0() {
		t.Errorf("bca %+v, z0 %g strict %g", b, r.Z0(), r.StrictZ0())
	}
}

// TestQuantileIsType7 compares with R's default quantile of 1, 2, 4, 8.
func TestQuantileIsType7(t *testing.T) {
	r := Resampled{Sorted: []float64{1, 2, 4, 8}}
	for p, want := range map[float64]float64{0: 1, 0.1: 1.3, 0.25: 1.75, 0.5: 3, 0.9: 6.8, 1: 8} {
		near(t, "quantile", r.quantile(p), want, 1e-12)
	}
}

func TestBootstrapEdges(t *testing.T) {
	one := Clusters{{1, 1, 0, 0}}.Bootstrap(100, 1)
	near(t, "estimate of one task", one.Estimate, 0.5, 0)
	near(t, "se of one task", one.SE(), math.NaN(), 0)
	near(t, "percentile of one task", one.Percentile(0.95).Low, math.NaN(), 0)
	near(t, "bca of one task", one.BCa(0.95).Low, math.NaN(), 0)
	near(t, "bca from elsewhere", one.BCaFrom(0, 0.95).Low, math.NaN(), 0)
	equal := BootstrapMean([]float64{0.1, 0.1, 0.1}, 100, 1)
	near(t, "acceleration of equal tasks", equal.Acceleration(), math.NaN(), 0)
	near(t, "bca of equal tasks", equal.BCa(0.95).Low, math.NaN(), 0)
	undefined := Resample(2, 0, 1, func(tasks []int) float64 {
		if tasks[0] == 0 {
			return math.NaN()
		}
		return 1
	})
	if undefined.Undefined != 2 || len(undefined.Sorted) != 2 {
		t.Errorf("%+v", undefined)
	}
}
