package paired

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"pgregory.net/rapid"
)

// drawClusters draws between least and most tasks of up to 4*cell pairs each,
// some of them without pairs.
func drawClusters(t *rapid.T, least, most, cell int) Clusters {
	count := rapid.IntRange(0, cell)
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Cluster {
		return Cluster{
			count.Draw(t, "both"), count.Draw(t, "treat_only"),
			count.Draw(t, "ctrl_only"), count.Draw(t, "neither"),
		}
	}), least, most).Draw(t, "clusters")
}

// differences lists the pair differences D of each task that has pairs.
func differences(cs Clusters) [][]float64 {
	var tasks [][]float64
	for _, c := range cs {
		if c.Pairs() == 0 {
			continue
		}
		d := make([]float64, 0, c.Pairs())
		for range c.TreatOnly {
			d = append(d, 1)
		}
		for range c.CtrlOnly {
			d = append(d, -1)
		}
		tasks = append(tasks, append(d, make([]float64, c.Both+c.Neither)...))
	}
	return tasks
}

func swapArms(cs Clusters) Clusters {
	out := slices.Clone(cs)
	for j := range out {
		out[j].TreatOnly, out[j].CtrlOnly = out[j].CtrlOnly, out[j].TreatOnly
	}
	return out
}

// sandwich computes CR2 and its Satterthwaite degrees of freedom from the
// definition: an intercept-only least-squares fit to all pairs, the adjustment
// matrices (I-H_jj)^(-1/2) of each task, and the moments of the quadratic form.
func sandwich(tasks [][]float64) (se, df float64) {
	total, delta := 0, 0.0
	for _, d := range tasks {
		total += len(d)
		for _, v := range d {
			delta += v
		}
	}
	n := float64(total)
	delta /= n
	variance, start := 0.0, 0
	vectors := mat.NewDense(total, len(tasks), nil)
	for j, d := range tasks {
		adjusted := rowSums(inverseRoot(len(d), 1/n))
		score := 0.0
		for i, v := range d {
			score += adjusted[i] * (v - delta)
			// Row start+i of I-H, times the adjusted ones of task j, over n.
			for k := range total {
				vectors.Set(k, j, vectors.At(k, j)-adjusted[i]/n/n)
			}
			vectors.Set(start+i, j, vectors.At(start+i, j)+adjusted[i]/n)
		}
		variance += score * score / n / n
		start += len(d)
	}
	var gram mat.Dense
	gram.Mul(vectors.T(), vectors)
	trace, squares := 0.0, 0.0
	for i := range len(tasks) {
		trace += gram.At(i, i)
		for j := range len(tasks) {
			squares += gram.At(i, j) * gram.At(i, j)
		}
	}
	return math.Sqrt(variance), trace * trace / squares
}

// inverseRoot is (I - h 11')^(-1/2) of size n by eigendecomposition.
func inverseRoot(n int, h float64) *mat.Dense {
	sym := mat.NewSymDense(n, nil)
	for i := range n {
		for j := i; j < n; j++ {
			sym.SetSym(i, j, indicator(i == j)-h)
		}
	}
	var eigen mat.EigenSym
	if !eigen.Factorize(sym, true) {
		panic("factorize")
	}
	var vectors, scaled, root mat.Dense
	eigen.VectorsTo(&vectors)
	scaled.CloneFrom(&vectors)
	for j, v := range eigen.Values(nil) {
		for i := range n {
			scaled.Set(i, j, scaled.At(i, j)/math.Sqrt(v))
		}
	}
	root.Mul(&scaled, vectors.T())
	return &root
}

func rowSums(m *mat.Dense) []float64 {
	rows, cols := m.Dims()
	sums := make([]float64, rows)
	for i := range rows {
		for j := range cols {
			sums[i] += m.At(i, j)
		}
	}
	return sums
}

func TestCR2AgainstMatrices(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawClusters(t, 2, 6, 3)
		tasks := differences(cs)
		if len(tasks) < 2 {
			near(t, "se", cs.CR2(), math.NaN(), 0)
			near(t, "df", cs.SatterthwaiteDF(), math.NaN(), 0)
			return
		}
		se, df := sandwich(tasks)
		near(t, "se", cs.CR2(), se, 1e-9)
		near(t, "df", cs.SatterthwaiteDF(), df, 1e-7*df)
		near(t, "icc", cs.ICC(), ICC1(tasks), 1e-9)
	})
}

func TestClusteredOrderAndLabels(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawClusters(t, 0, 14, 3)
		e := Difference(cs, 0.95)
		p := rapid.Permutation(cs).Draw(t, "order")
		o := Difference(append(p, Cluster{}), 0.95)
		s := Difference(swapArms(cs), 0.95)
		for _, x := range []struct {
			what                     string
			value, reordered, mirror float64
		}{
			{"delta", e.Delta, o.Delta, -s.Delta},
			{"task mean", e.TaskMean, o.TaskMean, -s.TaskMean},
			{"se", e.SE, o.SE, s.SE},
			{"df", e.DF, o.DF, s.DF},
			{"low", e.Interval.Low, o.Interval.Low, -s.Interval.High},
			{"high", e.Interval.High, o.Interval.High, -s.Interval.Low},
			{"p", e.P.Value, o.P.Value, s.P.Value},
			{"t p", e.T.Value, o.T.Value, s.T.Value},
			{"design effect", e.DesignEffect, o.DesignEffect, s.DesignEffect},
			{"yang", cs.Yang().Stat, Clusters(p).Yang().Stat, swapArms(cs).Yang().Stat},
		} {
			near(t, x.what+" in another order", x.reordered, x.value, 1e-8)
			near(t, x.what+" with arms swapped", x.mirror, x.value, 1e-8)
		}
		if !slices.Equal(e.Flags, s.Flags) || !slices.Equal(e.Flags, o.Flags) {
			t.Fatalf("flags %v, reordered %v, swapped %v", e.Flags, o.Flags, s.Flags)
		}
	})
}

// TestDuplicatedReplicates: copies of the same replicates hold no information,
// so that nothing that takes the task for the unit may move.
func TestDuplicatedReplicates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawClusters(t, 2, 14, 3)
		k := rapid.IntRange(2, 5).Draw(t, "copies")
		twice := slices.Clone(cs)
		for j, c := range cs {
			twice[j] = Cluster{k * c.Both, k * c.TreatOnly, k * c.CtrlOnly, k * c.Neither}
		}
		near(t, "se", twice.CR2(), cs.CR2(), 1e-12)
		near(t, "df", twice.SatterthwaiteDF(), cs.SatterthwaiteDF(), 1e-9)
		near(t, "interval", twice.CR2T(0.95).Low, cs.CR2T(0.95).Low, 1e-9)
		near(t, "sign-flip", twice.SignFlip().MidP.Value, cs.SignFlip().MidP.Value, 1e-12)
		near(t, "obuchowski", twice.Obuchowski().Stat, cs.Obuchowski().Stat, 1e-9)
		near(t, "durkalski", twice.Durkalski().Stat, cs.Durkalski().Stat, 1e-9)
		near(t, "yang", twice.Yang().Stat, cs.Yang().Stat, 1e-9)
	})
}

func TestBalancedTasks(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rapid.IntRange(1, 5).Draw(t, "replicates")
		cs := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Cluster {
			b := rapid.IntRange(0, r).Draw(t, "b")
			c := rapid.IntRange(0, r-b).Draw(t, "c")
			return Cluster{Both: r - b - c, TreatOnly: b, CtrlOnly: c}
		}), 2, 20).Draw(t, "clusters")
		all, j := Clusters(cs), float64(len(cs))
		near(t, "delta", all.Delta(), all.TaskMean(), 1e-12)
		near(t, "df", all.SatterthwaiteDF(), j-1, 1e-8)
		near(t, "se", all.CR2(), all.TaskSE(), 1e-12)
		near(t, "cr1", all.CR1(), all.CR2(), 1e-12)
		near(t, "cr0", all.CR0(), all.CR2()*math.Sqrt((j-1)/j), 1e-12)
		near(t, "task interval", all.TaskT(0.9).High, all.CR2T(0.9).High, 1e-9)
		near(t, "task p", all.TaskP().Value, all.CR2P().Value, 1e-9)
		near(t, "task sign-flip", all.SignFlipTaskMeans(1).P.Value, all.SignFlip().P.Value, 1e-12)
		if r == 1 {
			near(t, "mid-p", all.SignFlip().P.Value, all.Pooled().McNemarExact().Value, 1e-12)
			if all.CR2() > 0 {
				near(t, "variance ratio", all.VarianceRatio(), j/(j-1), 1e-9)
			}
		}
	})
}

// TestObuchowskiAgainstMoments rebuilds the clustered tests from arm variances
// and covariances around the common success probability.
func TestObuchowskiAgainstMoments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawClusters(t, 2, 8, 3)
		var all Clusters
		for _, c := range cs {
			if c.Pairs() > 0 {
				all = append(all, c)
			}
		}
		pooled := all.Pooled()
		if len(all) < 2 || pooled.Discordant() == 0 || all.moments().allZero() {
			return
		}
		p := (2*pooled.Both + pooled.Discordant()) / (2 * pooled.Pairs())
		var v1, v2, cov float64
		for _, c := range all {
			d1 := float64(c.Both+c.TreatOnly) - float64(c.Pairs())*p
			d2 := float64(c.Both+c.CtrlOnly) - float64(c.Pairs())*p
			v1, v2, cov = v1+d1*d1, v2+d2*d2, cov+d1*d2
		}
		j, diff := float64(len(all)), pooled.TreatOnly-pooled.CtrlOnly
		near(t, "obuchowski", all.Obuchowski().Stat, diff*diff/(j/(j-1)*(v1+v2-2*cov)), 1e-8)
	})
}

func TestDefaultRule(t *testing.T) {
	nine := slices.Repeat(Clusters{{Both: 1, TreatOnly: 1}}, 9)
	cases := []struct {
		name     string
		clusters Clusters
		interval string
		p        string
		flags    []Flag
	}{
		{"nothing", nil, MethodNone, MethodSignFlipMidP, []Flag{FlagEmpty}},
		{"tasks without pairs", Clusters{{}, {}}, MethodNone, MethodSignFlipMidP, []Flag{FlagEmpty}},
		{"negative count", Clusters{{Both: 2, TreatOnly: -1}, {Both: 1}}, MethodNone, MethodSignFlipMidP, []Flag{FlagInvalid}},
		{"one task", Clusters{{Both: 2, TreatOnly: 3}}, MethodTangoDeff, MethodSignFlip, []Flag{FlagSparse, FlagSingleCluster}},
		{"no discordant pair", Clusters{{Both: 2}, {Neither: 2}}, MethodTangoDeff, MethodSignFlipMidP, []Flag{FlagNoDiscordant, FlagSparse}},
		{"one pair per task", Clusters{{Both: 1}, {TreatOnly: 1}, {CtrlOnly: 1}}, MethodTango, MethodMcNemarMidP, []Flag{FlagSparse}},
		{"nine active tasks", append(nine, Cluster{Both: 2}), MethodTangoDeff, MethodSignFlipMidP, []Flag{FlagSparse}},
		{"ten active tasks", append(nine, Cluster{Both: 3, CtrlOnly: 1}), MethodCR2T, MethodSignFlipMidP, nil},
		{"ten equal tasks", append(nine, nine[0]), MethodTangoDeff, MethodSignFlipMidP, []Flag{FlagZeroVariance}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			e := Difference(c.clusters, 0.95)
			if e.Interval.Method != c.interval || e.P.Method != c.p || !slices.Equal(e.Flags, c.flags) {
				t.Errorf("interval %s, p %s, flags %v; want %s, %s, %v",
					e.Interval.Method, e.P.Method, e.Flags, c.interval, c.p, c.flags)
			}
		})
	}
}

func TestDifferenceEdges(t *testing.T) {
	empty := Difference(nil, 0.95)
	near(t, "delta of nothing", empty.Delta, math.NaN(), 0)
	near(t, "p of nothing", empty.P.Value, 1, 0)
	near(t, "low of nothing", empty.Interval.Low, -1, 0)
	one := Difference(Clusters{{Both: 2, TreatOnly: 3}, {}}, 0.95)
	near(t, "delta of one task", one.Delta, 0.6, 1e-15)
	near(t, "p of one task", one.P.Value, 1, 0)
	near(t, "se of one task", one.SE, math.NaN(), 0)
	near(t, "t p of one task", one.T.Value, math.NaN(), 0)
	near(t, "low of one task", one.Interval.Low, math.NaN(), 0)
	if one.Tasks != 1 || one.EmptyTasks != 1 || one.Active != 1 || one.Pairs != 5 {
		t.Errorf("counts of one task: %+v", one)
	}
	equal := Difference(slices.Repeat(Clusters{{Both: 2, TreatOnly: 1}}, 12), 0.95)
	near(t, "t p of equal tasks", equal.T.Value, math.NaN(), 0)
	near(t, "cr2 interval of equal tasks", Clusters{{2, 1, 0, 0}, {2, 1, 0, 0}}.CR2T(0.95).Low, math.NaN(), 0)
	if !(equal.Interval.Low < equal.Delta && equal.Delta < equal.Interval.High) {
		t.Errorf("interval of equal tasks: %+v", equal.Interval)
	}
	bad := Difference(Clusters{{Both: 1, TreatOnly: -1}, {Both: 1}}, 0.95)
	for what, v := range map[string]float64{
		"delta": bad.Delta, "mean": bad.TaskMean, "se": bad.SE, "p": bad.P.Value, "exact": bad.Exact.Value,
		"pooled": bad.Pooled.Value, "low": bad.Interval.Low, "deff": bad.DesignEffect, "icc": bad.ICC,
	} {
		near(t, what+" of negative counts", v, math.NaN(), 0)
	}
	level := Difference(Clusters{{1, 1, 0, 1}, {0, 1, 1, 0}}, 1.5)
	near(t, "low at level 1.5", level.Interval.Low, math.NaN(), 0)
}

func TestTangoDeffContainsDelta(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cs := drawClusters(t, 2, 12, 4)
		ci := cs.TangoDeff(0.95)
		if math.IsNaN(cs.CR2()) {
			near(t, "low", ci.Low, math.NaN(), 0)
			return
		}
		plain := cs.Pooled().Tango(0.95)
		if !ci.Covers(cs.Delta()) || ci.Low > plain.Low+1e-9 || ci.High < plain.High-1e-9 || ci.Width() == 0 {
			t.Fatalf("%+v for delta %g, plain Tango %+v", ci, cs.Delta(), plain)
		}
	})
}
