package arms

// GateDefaults are the thresholds that a design's gates may override, all
// fractions. The other gates are exact and have none. GateDocs says what each is.
var GateDefaults = map[string]float64{
	"at_risk_min":  0.05,
	"at_risk_max":  0.95,
	"recovery_min": 0.03,
	"recovery_max": 0.97,
	"flakes_max":   0.01,

	"attrition_max":  0.05,
	"attrition_p":    0.001,
	"timeouts_max":   0.02,
	"timeouts_p":     0.001,
	"grading_max":    0,
	"tamper_max":     0.02,
	"compaction_max": 0.01,
	"degenerate_max": 0.90,
	"aa_p":           0.001,
}

// GateDocs documents each threshold of GateDefaults.
var GateDocs = map[string]string{
	"at_risk_min":    "Least share of trials whose draft fails: below, hardly an arm can act.",
	"at_risk_max":    "Largest share of trials whose draft fails: above, the tasks are out of reach.",
	"recovery_min":   "Least share of at-risk trials that the control recovers.",
	"recovery_max":   "Largest share of at-risk trials that the control recovers.",
	"attrition_max":  "Largest share of an arm's trials that may be missing.",
	"attrition_p":    "Least p, over all pairs of arms, of the exact test that they lose equally many trials.",
	"timeouts_max":   "Largest difference from the control in the share of trials with a timed-out retry; beyond it, timeouts_p decides.",
	"timeouts_p":     "Least p of the exact test that an arm's retries time out as often as the control's, before division by the number of arms.",
	"grading_max":    "Largest share of successes whose protected files at the verdict differ from the pristine ones.",
	"tamper_max":     "Largest share of attempts that removed or changed protected lines, which are put back before every verdict.",
	"compaction_max": "Largest share of injected histories that may be lost when the same prompt is compacted.",
	"degenerate_max": "Largest share of retries without any history that make a patch the trial had already: above, a retry is no fresh try.",
	"aa_p":           "Least p of the exact test of an A/A twin against the arm that it repeats.",

	"flakes_max": "Largest certified flake rate: above, verdicts are noise that hides what an arm does.",
}
