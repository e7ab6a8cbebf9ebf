package paired

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// enumerateSigns is the sign-flip test over all sign patterns of d.
func enumerateSigns(d []float64) (p, midp float64) {
	observed, scale := 0.0, 0.0
	for _, x := range d {
		observed += x
		scale += math.Abs(x)
	}
	atLeast, above := 0, 0
	for pattern := range 1 << len(d) {
		sum := 0.0
		for j, x := range d {
			if pattern>>j&1 == 1 {
				x = -x
			}
			sum += x
		}
		switch gap := math.Abs(sum) - math.Abs(observed); {
		case gap > 1e-9*scale:
			above++
			atLeast++
		case gap >= -1e-9*scale:
			atLeast++
		}
	}
	all := float64(int(1) << len(d))
	return float64(atLeast) / all, float64(atLeast+above) / 2 / all
}

func TestSignFlipAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sums := rapid.SliceOfN(rapid.IntRange(-6, 6), 1, 10).Draw(t, "sums")
		d := make([]float64, len(sums))
		for j, x := range sums {
			d[j] = float64(x) / 10
		}
		p, midp := enumerateSigns(d)
		onLattice, onReals := SignFlipSums(sums), SignFlipValues(d, 1)
		near(t, "lattice p", onLattice.P.Value, p, 1e-12)
		near(t, "lattice mid-p", onLattice.MidP.Value, midp, 1e-12)
		near(t, "real p", onReals.P.Value, p, 1e-12)
		near(t, "real mid-p", onReals.MidP.Value, midp, 1e-12)
	})
}

func TestSignFlipValuesAgainstEnumeration(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.Float64Range(-3, 3), 1, 10).Draw(t, "values")
		scale := math.Pow(10, float64(rapid.IntRange(-9, 9).Draw(t, "exponent")))
		scaled := make([]float64, len(d))
		for j := range d {
			scaled[j] = d[j] * scale
		}
		p, midp := enumerateSigns(d)
		got := SignFlipValues(scaled, 1)
		near(t, "p", got.P.Value, p, 1e-12)
		near(t, "mid-p", got.MidP.Value, midp, 1e-12)
		if got.Draws != 0 {
			t.Fatalf("%d draws for %d values", got.Draws, len(d))
		}
	})
}

func TestSignFlipTaskMeans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawClusters(t, 1, 8, 3)
		means := cs.moments().means()
		if len(means) == 0 {
			near(t, "p of nothing", cs.SignFlipTaskMeans(1).P.Value, 1, 0)
			return
		}
		p, midp := enumerateSigns(means)
		got := cs.SignFlipTaskMeans(1)
		near(t, "p", got.P.Value, p, 1e-12)
		near(t, "mid-p", got.MidP.Value, midp, 1e-12)
	})
	// Task sizes whose least common multiple is too fine a lattice.
	cs := Clusters{{10, 3, 0, 84}, {80, 2, 0, 7}, {70, 3, 0, 10}, {70, 0, 1, 8}, {60, 7, 0, 4}, {60, 0, 0, 13}}
	if _, ok := cs.commonLattice(); ok {
		t.Fatal("lattice is not too fine")
	}
	p, midp := enumerateSigns(cs.moments().means())
	got := cs.SignFlipTaskMeans(1)
	near(t, "p off the lattice", got.P.Value, p, 1e-12)
	near(t, "mid-p off the lattice", got.MidP.Value, midp, 1e-12)
}

// TestSignFlipSampled compares drawn patterns with the exact lattice result for
// more values than are enumerated.
func TestSignFlipSampled(t *testing.T) {
	const seed = 20240607
	sums, d := make([]int, 90), make([]float64, 90)
	for j := range sums {
		sums[j] = j%7 - 2
		d[j] = float64(sums[j])
	}
	exact, sampled := SignFlipSums(sums), SignFlipValues(d, seed)
	if sampled.Draws != signFlipDraws || sampled.Seed != seed {
		t.Fatalf("draws %d, seed %d", sampled.Draws, sampled.Seed)
	}
	for _, c := range []struct{ got, want float64 }{
		{sampled.P.Value, exact.P.Value}, {sampled.MidP.Value, exact.MidP.Value},
	} {
		sd := math.Sqrt(c.want * (1 - c.want) / signFlipDraws)
		near(t, "sampled p (seed 20240607)", c.got, c.want, 5*sd+2.0/signFlipDraws)
	}
	if again := SignFlipValues(d, seed); again != sampled {
		t.Errorf("same seed, %+v and %+v", sampled, again)
	}
}

func TestSignFlipEdges(t *testing.T) {
	for what, r := range map[string]SignFlip{
		"zero sums": SignFlipSums([]int{0, 0}), "zero values": SignFlipValues([]float64{0, 0}, 1),
	} {
		near(t, "p of "+what, r.P.Value, 1, 0)
		near(t, "mid-p of "+what, r.MidP.Value, 0.5, 0)
	}
	near(t, "p of nothing", SignFlipSums(nil).P.Value, 1, 0)
	near(t, "mid-p of no value", SignFlipValues(nil, 1).MidP.Value, 1, 0)
	near(t, "p of NaN", SignFlipValues([]float64{1, math.NaN()}, 1).P.Value, math.NaN(), 0)
	near(t, "p of Inf", SignFlipValues([]float64{1, math.Inf(1)}, 1).MidP.Value, math.NaN(), 0)
	near(t, "p of a tiny value", SignFlipValues([]float64{5e-324}, 1).P.Value, 1, 0)
	near(t, "p of huge values", SignFlipValues([]float64{1e308, 1e308, 1e308}, 1).P.Value, 0.25, 0)
	many := make([]int, 2000) // 2^-2000 underflows; the tail must not
	for j := range many {
		many[j] = 1 - 2*(j%2)
	}
	near(t, "p of a tie", SignFlipSums(many).P.Value, 1, 1e-9)
	near(t, "mid-p of a tie", SignFlipSums(many).MidP.Value, 1-binomialPMF(2000, 1000, 0.5)/2, 1e-9)
}

func BenchmarkSignFlipValues40(b *testing.B) {
	d := make([]float64, signFlipSplit)
	for j := range d {
		d[j] = math.Sin(float64(j + 1))
	}
	for b.Loop() {
		SignFlipValues(d, 1)
	}
}

func BenchmarkDifference(b *testing.B) {
	cs := make(Clusters, 60)
	for j := range cs {
		cs[j] = Cluster{j % 5, j % 3, j % 2, 12 - j%5 - j%3 - j%2}
	}
	for b.Loop() {
		Difference(cs, 0.95)
	}
}
