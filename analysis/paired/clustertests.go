package paired

// Chi2 is a test statistic on one degree of freedom with its p-value.
type Chi2 struct {
	// Stat is the statistic; 0 where there is nothing to test, NaN where the
	// test is undefined.
	Stat float64
	P    P
}

// Obuchowski tests equal success in clustered pairs:
// ((J-1)/J) (sum X)^2 / sum X^2. It assumes independent tasks, many of them.
// Where every X_j is 0 the statistic is 0 and p is 1; NaN with fewer than two
// tasks.
// Source: Obuchowski 1998 (Stat Med 17:1495).
func (cs Clusters) Obuchowski() Chi2 {
	m := cs.moments()
	var sum, squares float64
	for _, x := range m.x {
		sum += x
		squares += x * x
	}
	return m.chi2((m.tasks()-1)/m.tasks()*sum*sum, squares, MethodObuchowski)
}

// Durkalski tests equal success in clustered pairs on task differences:
// (sum x)^2 / sum x^2. It assumes independent tasks of equal weight, many of
// them. Edge cases as in [Clusters.Obuchowski].
// Source: Durkalski et al. 2003 (Stat Med 22:2417).
func (cs Clusters) Durkalski() Chi2 {
	m := cs.moments()
	var sum, squares float64
	for _, d := range m.means() {
		sum += d
		squares += d * d
	}
	return m.chi2(sum*sum, squares, MethodDurkalski)
}

// Yang is Obuchowski's test with the covariance of the arms taken around each
// arm's own success probability instead of the common one. Edge cases as in
// [Clusters.Obuchowski].
// Source: Yang, Sun & Hardin 2010 (Biom J 52:638).
func (cs Clusters) Yang() Chi2 {
	m, t := cs.moments(), cs.Pooled()
	p1, p2 := (t.Both+t.TreatOnly)/m.total, (t.Both+t.CtrlOnly)/m.total
	common := (p1 + p2) / 2
	variance := 0.0
	for _, c := range cs {
		n := float64(c.Pairs())
		s1, s2 := float64(c.Both+c.TreatOnly), float64(c.Both+c.CtrlOnly)
		d1, d2 := s1-n*common, s2-n*common
		variance += d1*d1 + d2*d2 - 2*(s1-n*p1)*(s2-n*p2)
	}
	sum := t.TreatOnly - t.CtrlOnly
	return m.chi2((m.tasks()-1)/m.tasks()*sum*sum, variance, MethodYang)
}

func (m moments) chi2(num, den float64, method string) Chi2 {
	switch {
	case len(m.x) < 2:
		return Chi2{Stat: nan, P: P{Value: nan, Method: method}}
	case m.allZero():
		return Chi2{Stat: 0, P: P{Value: 1, Method: method}}
	case !(den > 0):
		return Chi2{Stat: nan, P: P{Value: nan, Method: method}}
	}
	return Chi2{Stat: num / den, P: P{Value: chi2P1(num / den), Method: method}}
}

func (m moments) allZero() bool {
	for _, x := range m.x {
		if x != 0 {
			return false
		}
	}
	return true
}
