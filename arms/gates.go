package arms

// GateDefaults are the thresholds that a design's gates may override, all
// fractions. The other gates are exact and have none. GateDocs says what each is.
var GateDefaults = map[string]float64{
	"at_risk_min":  0.05,
	"at_risk_max":  0.95,
	"recovery_min": 0.03,
	"recovery_max": 0.97,
	"flakes_max":   0.01,
}

// GateDocs documents each threshold of GateDefaults.
var GateDocs = map[string]string{
	"at_risk_min":  "Least share of trials whose draft fails: below, hardly an arm can act.",
	"at_risk_max":  "Largest share of trials whose draft fails: above, the tasks are out of reach.",
	"recovery_min": "Least share of at-risk trials that the control recovers.",
	"recovery_max": "Largest share of at-risk trials that the control recovers.",
	"flakes_max":   "Largest certified flake rate: above, verdicts are noise that hides what an arm does.",
}
