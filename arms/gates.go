package arms

// GateDefaults are the thresholds that a design's gates may override, all
// fractions. The other gates are exact and have none.
var GateDefaults = map[string]float64{
	"at_risk_min":  0.05, // share of trials whose draft fails: below, hardly an arm can act
	"at_risk_max":  0.95, // above, the tasks are out of reach
	"recovery_min": 0.03, // share of at-risk trials that the control recovers
	"recovery_max": 0.97,
	"flakes_max":   0.01, // certified flake rate: above, verdicts are noise that hides what an arm does
}
