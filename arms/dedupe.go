package arms

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"

	"retrial/arms/signature"
)

// Dedupe is whether records of one failure are merged: off, exact, or
// fuzzy(t), where t is more than 0 and at most 1.
type Dedupe string

// Whether records are merged. Fuzzy makes the third way.
const (
	DedupeOff   Dedupe = "off"   // every record is shown
	DedupeExact Dedupe = "exact" // records of equal signature are shown once
)

// Fuzzy is the Dedupe that also merges records whose outputs are similar by at
// least t, for verifiers whose text varies. Only records of one outcome are
// compared, and none that names failing tests: there the signature decides.
// The similarity is [signature.Similarity].
func Fuzzy(t float64) Dedupe {
	return Dedupe("fuzzy(" + strconv.FormatFloat(t, 'g', -1, 64) + ")")
}

// Keep is which record of a failure stands for all.
type Keep string

// Which record of a failure stands for all.
const (
	KeepFirst Keep = "first" // the earliest
	KeepLast  Keep = "last"  // the latest, in its own place
)

var fuzzyForm = regexp.MustCompile(`^fuzzy\(\s*([^()\s]*)\s*\)$`)

// UnmarshalYAML reads a word and writes fuzzy(0.80) as fuzzy(0.8): designs that
// mean the same have one hash.
func (d *Dedupe) UnmarshalYAML(node ast.Node) error {
	var s string
	if err := yaml.NodeToValue(node, &s); err != nil {
		return err
	}
	*d = Dedupe(s)
	if t, fault := d.threshold(); fault == "" && t > 0 {
		*d = Fuzzy(t)
	}
	return nil
}

// threshold is t of fuzzy(t), 0 for the other words, or what is wrong.
func (d Dedupe) threshold() (t float64, fault string) {
	if d == DedupeOff || d == DedupeExact {
		return 0, ""
	}
	m := fuzzyForm.FindStringSubmatch(string(d))
	if m == nil {
		return 0, unknown("dedupe", string(d), []string{"off", "exact", "fuzzy(0.8)"})
	}
	t, err := strconv.ParseFloat(m[1], 64)
	if err != nil || !(t > 0 && t <= 1) {
		return 0, fmt.Sprintf("%s: want a similarity that is more than 0 and at most 1, for example fuzzy(0.8)", d)
	}
	return t, ""
}

// Merge is one record that stands for others of the same failure.
type Merge struct {
	Kept int   `json:"kept"` // attempt number of the record shown
	Also []int `json:"also"` // attempts that failed the same way, in order
}

// merged is a record and the attempts that it stands for.
type merged struct {
	Record
	also []int
}

// merge keeps one record of each failure (step 5). The records stay in order.
// Records without a signature are never merged.
func (a Arm) merge(records []Record) []merged {
	kept := make([]merged, 0, len(records))
	if t, _ := a.Dedupe.threshold(); t == 0 && a.Dedupe != DedupeExact {
		for _, r := range records {
			kept = append(kept, merged{Record: r})
		}
		return kept
	}
	for _, group := range a.failures(records) {
		i := 0
		if a.DedupeKeep == KeepLast {
			i = len(group) - 1
		}
		m := merged{Record: records[group[i]]}
		for j, at := range group {
			if j != i {
				m.also = append(m.also, records[at].Attempt)
			}
		}
		kept = append(kept, m)
	}
	if a.DedupeKeep == KeepLast {
		order := map[int]int{}
		for i, r := range records {
			order[r.Attempt] = i
		}
		slices.SortStableFunc(kept, func(x, y merged) int { return order[x.Attempt] - order[y.Attempt] })
	}
	return kept
}

// failures groups records by failure: indices in order, groups by their first.
func (a Arm) failures(records []Record) (groups [][]int) {
	t, _ := a.Dedupe.threshold()
	bySignature := map[string]int{} // any signature of a group → its index
	texts := make([]*signature.Text, len(records))
	for i, r := range records {
		g, seen := bySignature[r.Signature]
		if !seen && t > 0 && r.Signature != "" {
			g, seen = similar(records, texts, groups, i, t)
		}
		if !seen || r.Signature == "" {
			g = len(groups)
			groups = append(groups, nil)
		}
		if r.Signature != "" {
			bySignature[r.Signature] = g
		}
		groups[g] = append(groups[g], i)
	}
	return groups
}

// similar finds the group whose first record's output is most like record i's,
// and at least t; of equals the earliest.
func similar(records []Record, texts []*signature.Text, groups [][]int, i int, t float64) (group int, found bool) {
	text := func(i int) *signature.Text {
		if texts[i] == nil {
			texts[i] = signature.NewText(NormaliseOutput(signature.Bound(records[i].VerifyOutput), ""))
		}
		return texts[i]
	}
	if text(i).NamesTests() {
		return 0, false
	}
	best := 0.0
	for g, members := range groups {
		first := records[members[0]]
		if first.Signature == "" || first.Outcome != records[i].Outcome || text(members[0]).NamesTests() {
			continue
		}
		if s := signature.Similarity(text(members[0]), text(i)); s >= t && s > best {
			best, group, found = s, g, true
		}
	}
	return group, found
}

// Repeat says whether the newest record is a failure that was seen before in
// the trial, in any attempt, and in which attempt first. What is one failure is
// what the arm merges; an arm that merges nothing goes by equal signatures. A
// record without a signature repeats nothing.
func (a Arm) Repeat(records []Record) (first int, repeated bool) {
	if t, _ := a.Dedupe.threshold(); t == 0 {
		return Repeat(records)
	}
	for _, group := range a.failures(records) {
		if group[len(group)-1] == len(records)-1 && len(group) > 1 {
			return records[group[0]].Attempt, true
		}
	}
	return 0, false
}
