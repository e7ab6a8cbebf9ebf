package analysis

import "slices"

// Compare computes everything that is said of a run.
func Compare(d *Data) *Comparison {
	c := &Comparison{
		Schema: Schema, Run: d.run(), Comparisons: []PairRow{}, Indicators: []Indicator{}, Landings: []Landing{}, Verdicts: []Verdict{},
		Arms: []ArmRow{}, Gates: d.gates(),
	}
	for _, arm := range d.Design.ArmNames() {
		c.Arms = append(c.Arms, d.armRow(arm))
		c.Landings = append(c.Landings, d.landings(arm)...)
	}
	for _, treatment := range d.treatments() {
		for _, estimand := range []string{EstimandAll, EstimandAtRisk} {
			c.Comparisons = append(c.Comparisons, d.compare(treatment, d.Design.Primary.Control, estimand))
		}
		c.Indicators = append(c.Indicators, d.draftSimilarity(treatment, d.Design.Primary.Control))
	}
	return c
}

// treatments lists the arms that are compared with the control, the primary
// one first, the others in design order.
func (d *Data) treatments() []string {
	p := d.Design.Primary
	if p.Control == "" {
		return nil
	}
	out := []string{p.Treatment}
	for _, arm := range d.Design.ArmNames() {
		if arm != p.Control && !slices.Contains(out, arm) {
			out = append(out, arm)
		}
	}
	return out
}

func (d *Data) run() Run {
	r := Run{
		ID: d.Info.RunID, DesignHash: d.Info.DesignHash, Name: d.Design.Name, Question: d.Design.Question, Corpus: d.Design.Corpus,
		Solver: d.Info.Solver, IsLanguageModel: d.Info.IsLanguageModel, Sandbox: d.Info.Sandbox, Tasks: len(d.Info.Tasks),
		Replicates: d.Design.Replicates, Attempts: d.Design.Attempts, Seed: d.Design.Seed, AttemptsMade: len(d.Attempts), TestsHidden: true,
		Tool: d.Info.Tool,
	}
	for _, t := range d.Info.Tasks {
		r.TestsHidden = r.TestsHidden && t.HasScore
	}
	return r
}
