package arms

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"

	"retrial/tasks/strict"
)

// Prediction is what was expected of the outcome, written down before the run: a
// number with an interval, of one arm's success within the budget or of the
// difference between two arms, both over all trials. ParseDesign fills in
// Estimand and Level, and Value, Low and High are never nil behind it.
//
// Predictions are part of the design and of its hash, although they change
// nothing that a run does: the hash in the log is what keeps design.json from
// being edited once the outcome is known, and a prediction is worth something
// only under it. A design whose predictions were rewritten is another design.
type Prediction struct {
	Arm       string   `yaml:"arm" json:"arm" jsonschema_description:"The arm whose success within the budget is predicted."`
	Treatment string   `yaml:"treatment" json:"treatment" jsonschema_description:"In place of arm: the arm less which control is predicted."`
	Control   string   `yaml:"control" json:"control" jsonschema_description:"The arm that is taken off treatment."`
	Estimand  string   `yaml:"estimand" json:"estimand" jsonschema_description:"success of an arm, or delta of treatment minus control, over all trials. Left out: what the arms named allow."`
	Value     *float64 `yaml:"value" json:"value" jsonschema:"required" jsonschema_description:"The number expected, a fraction."`
	Low       *float64 `yaml:"low" json:"low" jsonschema:"required" jsonschema_description:"Lower end of its interval."`
	High      *float64 `yaml:"high" json:"high" jsonschema:"required" jsonschema_description:"Upper end of its interval."`
	Level     *float64 `yaml:"level" json:"level" jsonschema_description:"How sure the interval is to hold what will be observed."`
	Note      string   `yaml:"note" json:"note" jsonschema_description:"Why."`
}

// What a prediction can be of.
const (
	PredictSuccess = "success" // the share of trials that succeed in one arm
	PredictDelta   = "delta"   // treatment minus control
)

// defaultLevel is that of a prediction that names none.
const defaultLevel = 0.95

// Of names what is predicted, "blind" or "diff-feedback - blind".
func (p Prediction) Of() string {
	if p.Estimand == PredictDelta {
		return p.Treatment + " - " + p.Control
	}
	return p.Arm
}

// validatePredictions checks the predictions and fills in what they leave out.
func (d *Design) validatePredictions(fail faultAt) error {
	if d.Predictions == nil { // "predictions:" with nothing behind it
		d.Predictions = []Prediction{}
	}
	seen := map[string]bool{}
	for i := range d.Predictions {
		p, path := &d.Predictions[i], fmt.Sprintf("$.predictions[%d]", i)
		if key, wrong := p.complete(d.ArmNames()); wrong != "" {
			return fail(strings.TrimSuffix(path+"."+key, "."), "prediction: %s", wrong)
		}
		if seen[p.Of()] {
			return fail(path, "prediction: %s of %s is predicted twice", p.Estimand, p.Of())
		}
		seen[p.Of()] = true
	}
	return nil
}

// complete fills in estimand and level, and returns the key at fault and what is
// wrong with it, or "", "".
func (p *Prediction) complete(armNames []string) (key, wrong string) {
	pair := p.Treatment != "" || p.Control != ""
	estimand := PredictSuccess
	if pair {
		estimand = PredictDelta
	}
	switch {
	case pair && p.Arm != "":
		return "", "it is of one arm, or of treatment and control, and this one names both"
	case !pair && p.Arm == "":
		return "", "it names neither an arm, nor treatment and control"
	case pair && (p.Treatment == "" || p.Control == ""):
		return "", "a difference needs treatment and control"
	case pair && p.Treatment == p.Control:
		return "", fmt.Sprintf("treatment and control are both %q", p.Control)
	case p.Estimand != "" && p.Estimand != PredictSuccess && p.Estimand != PredictDelta:
		return "estimand", unknown("estimand", p.Estimand, []string{PredictSuccess, PredictDelta})
	case p.Estimand != "" && p.Estimand != estimand:
		return "estimand", map[string]string{
			PredictSuccess: "success is of one arm: name it with arm",
			PredictDelta:   "delta is of treatment and control, and this prediction names an arm",
		}[p.Estimand]
	}
	p.Estimand = estimand
	for _, role := range []struct{ key, arm string }{{"arm", p.Arm}, {"treatment", p.Treatment}, {"control", p.Control}} {
		if role.arm != "" && !slices.Contains(armNames, role.arm) {
			return role.key, unknown("arm", role.arm, armNames)
		}
	}
	return p.completeNumbers()
}

// completeNumbers checks the numbers and fills in the level.
func (p *Prediction) completeNumbers() (key, wrong string) {
	least := 0.0
	if p.Estimand == PredictDelta {
		least = -1
	}
	for _, n := range []struct {
		key string
		v   *float64
	}{{"value", p.Value}, {"low", p.Low}, {"high", p.High}} {
		switch {
		case n.v == nil:
			return n.key, fmt.Sprintf("%s is missing: a prediction is a value with an interval, low to high", n.key)
		case !(*n.v >= least && *n.v <= 1):
			return n.key, fmt.Sprintf("%s %v is not a fraction from %v to 1", n.key, *n.v, least)
		}
	}
	if p.Level == nil {
		level := defaultLevel
		p.Level = &level
	}
	switch {
	case !(*p.Low <= *p.Value && *p.Value <= *p.High):
		return "value", fmt.Sprintf("value %v does not lie between low %v and high %v", *p.Value, *p.Low, *p.High)
	case !(*p.Level > 0 && *p.Level < 1):
		return "level", fmt.Sprintf("level %v does not lie between 0 and 1, as 0.9 does", *p.Level)
	}
	return "", ""
}

// refinePrediction adds to the schema of an entry of predictions what complete
// checks.
func refinePrediction(s *jsonschema.Schema) {
	s.AnyOf = []*jsonschema.Schema{predicting(PredictSuccess, "0"), predicting(PredictDelta, "-1")}
	level := at(s, "level")
	level.ExclusiveMinimum, level.ExclusiveMaximum, level.Default = "0", "1", defaultLevel
	at(s, "estimand").Enum = append(strict.Words(PredictSuccess, PredictDelta), "")
}

// predicting is an entry of predictions of one estimand.
func predicting(estimand string, least json.Number) *jsonschema.Schema {
	named, others := []string{"arm"}, []string{"treatment", "control"}
	if estimand == PredictDelta {
		named, others = others, named
	}
	s := &jsonschema.Schema{Required: named}
	for _, key := range named {
		with(s, key, someWord())
	}
	for _, key := range others {
		with(s, key, noWord())
	}
	for _, key := range []string{"value", "low", "high"} {
		with(s, key, &jsonschema.Schema{Minimum: least, Maximum: "1"})
	}
	return with(s, "estimand", &jsonschema.Schema{Enum: append(strict.Words(estimand, ""), nil)})
}
