package arms_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"retrial/arms"
	"retrial/tasks/strict"
)

const predicting = "name: d\ncorpus: c\narms: [blind, diff-feedback]\npredictions:\n- "

func TestPredictions(t *testing.T) {
	d := parse(t, predicting+`{arm: blind, value: 0.4, low: 0.3, high: 0.5, note: as last time}
- {treatment: diff-feedback, control: blind, value: 0, low: -0.5, high: 0.1, level: 0.8}
`)
	want := `"predictions":[{"arm":"blind","treatment":"","control":"","estimand":"success","value":0.4,"low":0.3,"high":0.5,"level":0.95,"note":"as last time"},` +
		`{"arm":"","treatment":"diff-feedback","control":"blind","estimand":"delta","value":0,"low":-0.5,"high":0.1,"level":0.8,"note":""}]`
	if got := string(d.JSON()); !strings.Contains(got, want) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if d.Predictions[1].Of() != "diff-feedback - blind" || d.Predictions[0].Of() != "blind" {
		t.Errorf("of %q and %q", d.Predictions[0].Of(), d.Predictions[1].Of())
	}
}

// A design without predictions hashes as if there were no such key; any change of
// a prediction makes another design.
func TestPredictionsAreInTheHash(t *testing.T) {
	base := strings.TrimSuffix(predicting, "predictions:\n- ")
	without := parse(t, base).Hash()
	for _, text := range []string{base + "predictions:\n", base + "predictions: []\n"} {
		if d := parse(t, text); d.Hash() != without {
			t.Errorf("%s: %s", text, d.JSON())
		}
	}
	one := parse(t, predicting+"{arm: blind, value: 0.4, low: 0.3, high: 0.5}\n").Hash()
	other := parse(t, predicting+"{arm: blind, value: 0.4, low: 0.3, high: 0.51}\n").Hash()
	if one == other || one == without {
		t.Error("a prediction does not change the hash")
	}
}

// predictionFaults are faults of one prediction; beyond names those that the
// schema cannot express.
var predictionFaults = []struct {
	given, want string
	beyond      bool
}{
	{given: "{}", want: "d.yaml:5: prediction: it names neither an arm, nor treatment and control"},
	{given: "~", want: "d.yaml:5: prediction: it names neither an arm, nor treatment and control"},
	{given: "blind", want: `d.yaml:5: predictions[0]: want keys with values, got "blind"`},
	{given: "{arm: blind, treatment: blind, value: 0, low: 0, high: 0}", want: "d.yaml:5: prediction: it is of one arm, or of treatment and control, and this one names both"},
	{given: "{treatment: blind, value: 0, low: 0, high: 0}", want: "d.yaml:5: prediction: a difference needs treatment and control"},
	{given: "{treatment: blind, control: blind, value: 0, low: 0, high: 0}", want: `d.yaml:5: prediction: treatment and control are both "blind"`, beyond: true},
	{given: "{arm: blnd, value: 0, low: 0, high: 0}", want: `d.yaml:5: prediction: unknown arm "blnd" (did you mean "blind"?)`, beyond: true},
	{given: "{treatment: diff-feedback, control: notice, value: 0, low: 0, high: 0}", want: `d.yaml:5: prediction: unknown arm "notice" (valid: blind, diff-feedback)`, beyond: true},
	{given: "{arm: blind, estimand: sucess, value: 0, low: 0, high: 0}", want: `d.yaml:5: prediction: unknown estimand "sucess" (did you mean "success"?)`},
	{given: "{arm: blind, estimand: delta, value: 0, low: 0, high: 0}", want: "d.yaml:5: prediction: delta is of treatment and control, and this prediction names an arm"},
	{given: "{treatment: diff-feedback, control: blind, estimand: success, value: 0, low: 0, high: 0}", want: "d.yaml:5: prediction: success is of one arm: name it with arm"},
	{given: "{arm: blind, low: 0, high: 0}", want: "d.yaml:5: prediction: value is missing: a prediction is a value with an interval, low to high"},
	{given: "{arm: blind, value: , low: 0, high: 0}", want: "d.yaml:5: prediction: value is missing: a prediction is a value with an interval, low to high"},
	{given: "{arm: blind, value: 0.1, high: 0.2}", want: "d.yaml:5: prediction: low is missing: a prediction is a value with an interval, low to high"},
	{given: "{arm: blind, value: 0.1, low: 0}", want: "d.yaml:5: prediction: high is missing: a prediction is a value with an interval, low to high"},
	{given: "{arm: blind, value: 40, low: 0, high: 1}", want: "d.yaml:5: prediction: value 40 is not a fraction from 0 to 1"},
	{given: "{arm: blind, value: 0.1, low: -0.1, high: 1}", want: "d.yaml:5: prediction: low -0.1 is not a fraction from 0 to 1"},
	{given: "{treatment: diff-feedback, control: blind, value: 0.1, low: -1.1, high: 1}", want: "d.yaml:5: prediction: low -1.1 is not a fraction from -1 to 1"},
	{given: "{arm: blind, value: .nan, low: 0, high: 1}", want: "d.yaml:5: predictions[0].value: want a number, got .nan"},
	{given: "{arm: blind, value: 0.1, low: 0.2, high: 0.3}", want: "d.yaml:5: prediction: value 0.1 does not lie between low 0.2 and high 0.3", beyond: true},
	{given: "{arm: blind, value: 0.1, low: 0, high: 0.3, level: 95}", want: "d.yaml:5: prediction: level 95 does not lie between 0 and 1, as 0.9 does"},
	{given: "{arm: blind, value: 0.1, low: 0, high: 0.3, level: 0}", want: "d.yaml:5: prediction: level 0 does not lie between 0 and 1, as 0.9 does"},
	{given: "{arm: blind, vale: 0.1, low: 0, high: 0.3}", want: `d.yaml:5: predictions[0]: unknown key "vale" (did you mean "value"?)`},
	{given: "{arm: blind, value: 0.1, low: 0, high: 0.3}\n- {arm: blind, estimand: success, value: 0.2, low: 0, high: 0.3}", want: "d.yaml:6: prediction: success of blind is predicted twice", beyond: true},
}

func TestPredictionFaults(t *testing.T) {
	schema := designSchema(t)
	for _, c := range predictionFaults {
		text := predicting + c.given + "\n"
		_, err := arms.ParseDesign("d.yaml", []byte(text))
		var fault *strict.Error
		if !errors.As(err, &fault) || err.Error() != c.want {
			t.Errorf("%s\ngot  %v\nwant %s", c.given, err, c.want)
		}
		if err := schema.Validate([]byte(text)); (err == nil) != c.beyond {
			t.Errorf("%s: the schema says %v, listed as beyond it: %t", c.given, err, c.beyond)
		}
	}
}

// Schema and parser agree on whatever numbers and names a prediction holds, as
// long as its value lies in its interval.
func TestSchemaAgreesOnPredictions(t *testing.T) {
	schema := designSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		pick := func(key string, from ...string) string { return rapid.SampledFrom(from).Draw(t, key) }
		v := rapid.SampledFrom([]float64{-1.5, -1, -0.5, 0, 0.5, 1, 2}).Draw(t, "value")
		text := predicting + "{" + strings.Join([]string{
			pick("subject", "arm: blind", "treatment: blind, control: diff-feedback", "arm: blind, treatment: , control: ''", "arm: , treatment: blind, control: diff-feedback", "arm: ''", "control: blind"),
			pick("estimand", "estimand: ", "estimand: ''", "estimand: success", "estimand: delta", "estimand: odds"),
			fmt.Sprintf("value: %v, low: %v, high: %v", v, v, v),
			pick("level", "level: ", "level: 0.5", "level: 1", "level: -0.1", "note: ", "note: why"),
		}, ", ") + "}\n"
		if parser, schemas := verdicts(schema, text); (parser == nil) != (schemas == nil) {
			t.Fatalf("%s\nparser: %v\nschema: %v", text, parser, schemas)
		}
	})
}
