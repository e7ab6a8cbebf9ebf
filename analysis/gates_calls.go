package analysis

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"retrial/results"
)

// The gates on the calls of models: who answered, and with what of the prompt.

// modelDrift: for one model asked, one answered.
func (d *Data) modelDrift() Gate {
	g := Gate{Gate: "model_drift", Threshold: "1 model served per model asked", Statistic: "largest number of models served for one model asked"}
	served := map[string]map[string]int{} // by model asked: calls by model served
	for i := range d.Events {
		if e := &d.Events[i]; e.Kind == results.KindModelCall && e.ModelServed != nil {
			asked := ""
			if e.ModelAsked != nil {
				asked = *e.ModelAsked
			}
			if served[asked] == nil {
				served[asked] = map[string]int{}
			}
			served[asked][*e.ModelServed]++
		}
	}
	if len(served) == 0 {
		g.Message = "nothing to check"
		return g
	}
	most := 0
	var told []string
	for _, asked := range slices.Sorted(maps.Keys(served)) {
		most = max(most, len(served[asked]))
		var names []string
		for _, name := range slices.Sorted(maps.Keys(served[asked])) {
			names = append(names, fmt.Sprintf("%s in %s", name, plural(served[asked][name], "call")))
		}
		told = append(told, fmt.Sprintf("for %s answered %s", asked, strings.Join(names, ", ")))
	}
	g.Passed, g.Seen, g.Message = ptr(most == 1), number(float64(most)), strings.Join(told, "; ")
	return g
}

// compaction: hardly a history that was injected, and paid for, was then lost in
// the compaction of the same prompt.
func (d *Data) compaction() Gate {
	type try struct {
		attempt string
		try     int32
	}
	limit := d.threshold("compaction_max")
	injected, lost := map[try]bool{}, map[try]bool{}
	first := ""
	for i := range d.Events {
		e := &d.Events[i]
		switch key := (try{e.AttemptID, e.TryID}); e.Kind {
		case results.KindHistoryInjected:
			injected[key] = true
		case results.KindCompacted:
			var detail struct {
				Lost bool `json:"history_lost"`
			}
			if json.Unmarshal([]byte(e.Detail), &detail) == nil && detail.Lost {
				injected[key], lost[key] = true, true
				if first == "" {
					first = "; the first in attempt " + e.AttemptID
				}
			}
		}
	}
	g := Gate{Gate: "compaction"}.within(len(lost), len(injected), 0, limit, "histories were injected and then lost in the same prompt"+first)
	g.Threshold, g.Statistic = atMost(limit), "share of injected histories that compaction then took out of the same prompt"
	return g
}
