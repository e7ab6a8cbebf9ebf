package arms

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
)

// Design is one experiment, as design.yaml describes it and with every default
// filled in. Its hash names it.
type Design struct {
	Name       string             `yaml:"name" json:"name"`
	Question   string             `yaml:"question" json:"question"`
	Corpus     string             `yaml:"corpus" json:"corpus"`
	Tasks      []string           `yaml:"tasks" json:"tasks"` // globs over task ids, "!" excludes; empty for all
	Limit      int                `yaml:"limit" json:"limit"` // first so many tasks; 0 for all
	Solver     SolverSpec         `yaml:"solver" json:"solver"`
	Attempts   int                `yaml:"attempts" json:"attempts"`     // budget k, the draft included
	Replicates int                `yaml:"replicates" json:"replicates"` // trials per task
	Seed       uint64             `yaml:"seed" json:"seed"`
	Fork       Fork               `yaml:"fork" json:"fork"`
	Arms       []ArmSpec          `yaml:"arms" json:"-"`
	Resolved   []Arm              `yaml:"-" json:"arms"` // Arms with their bases resolved
	Primary    Primary            `yaml:"primary" json:"primary"`
	Gates      map[string]float64 `yaml:"gates" json:"gates"` // thresholds that differ from the defaults
	Stop       StopRule           `yaml:"stop" json:"stop"`
	Budget     RunBudget          `yaml:"budget" json:"budget"`
	Limits     Limits             `yaml:"limits" json:"limits"`
	Keep       string             `yaml:"keep" json:"keep"`       // all: every prompt, patch and output
	Sandbox    string             `yaml:"sandbox" json:"sandbox"` // auto|bubblewrap|none
}

// SolverSpec says who attempts the tasks.
type SolverSpec struct {
	Kind   string `yaml:"kind" json:"kind"`     // mutate
	Memory string `yaml:"memory" json:"memory"` // mutate: heed|ignore|fixate
}

// Fork is whether the arms of a trial continue from one draft.
type Fork string

const (
	ForkShared      Fork = "shared"      // arms share attempts for as long as nothing distinguishes their next request
	ForkIndependent Fork = "independent" // every attempt is drawn per arm
)

// Primary is the comparison that the design is judged by.
type Primary struct {
	Treatment string  `yaml:"treatment" json:"treatment"`
	Control   string  `yaml:"control" json:"control"`
	Margin    float64 `yaml:"margin" json:"margin"` // of equivalence, a fraction; 0 for none
}

// StopRule is when a run ends before its last trial.
type StopRule struct {
	Rule string `yaml:"rule" json:"rule"` // fixed
}

// RunBudget bounds the whole run; 0 is no bound.
type RunBudget struct {
	USD      float64 `yaml:"usd" json:"usd"`
	Attempts int     `yaml:"attempts" json:"attempts"`
}

// Limits bounds one attempt; 0 is no bound.
type Limits struct {
	Attempt    Duration `yaml:"attempt" json:"attempt"` // wall time of the solver
	Steps      int      `yaml:"steps" json:"steps"`
	Tokens     int      `yaml:"tokens" json:"tokens"`
	VerifyRuns int      `yaml:"verify_runs" json:"verify_runs"` // metered verify runs inside the attempt
}

// Duration is a time.Duration written as "10m" in YAML and JSON.
type Duration time.Duration

// UnmarshalYAML reads "10m".
func (d *Duration) UnmarshalYAML(node ast.Node) error {
	var s string
	if err := yaml.NodeToValue(node, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration such as 10m", s)
	}
	*d = Duration(v)
	return nil
}

// MarshalJSON writes "10m0s".
func (d Duration) MarshalJSON() ([]byte, error) { return json.Marshal(time.Duration(d).String()) }

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Duration) UnmarshalJSON(data []byte) error {
	var s string
	if err := json.Unmarshal(data, &s); err != nil {
		return err
	}
	v, err := time.ParseDuration(s)
	*d = Duration(v)
	return err
}

// ArmNames lists the arms in design order.
func (d *Design) ArmNames() []string {
	names := make([]string, len(d.Resolved))
	for i, a := range d.Resolved {
		names[i] = a.Name
	}
	return names
}

// JSON is the canonical form of the resolved design.
func (d *Design) JSON() []byte { return mustJSON(d) }

// Hash names the design: hex sha256 over its canonical form.
func (d *Design) Hash() string { return SHA(d.JSON()) }
