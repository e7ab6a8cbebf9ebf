package results

import (
	"cmp"
	"slices"
)

// SortEvents puts events into the canonical order and numbers Seq from 0:
// run_start, other events of the run, then trial by trial (TaskIndex,
// Replicate) in the order of Index, then run_finish. The journal's order
// depends on how trials ran in parallel; this one does not. Events that tie in
// all of these keep their order.
func SortEvents(events []Event) {
	order := canonicalOrder(events)
	// Events are large: move each once, along the cycles of the permutation.
	for start := range order {
		if order[start] == int32(start) || order[start] < 0 {
			continue
		}
		first := events[start]
		at := start
		for {
			from := int(order[at])
			order[at] = -1
			if from == start {
				events[at] = first
				break
			}
			events[at] = events[from]
			at = from
		}
	}
	for i := range events {
		events[i].Seq = int64(i)
	}
}

// canonicalOrder returns the positions of events in canonical order.
func canonicalOrder(events []Event) []int32 {
	order := make([]int32, len(events))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(i, j int32) int {
		a, b := &events[i], &events[j]
		return cmp.Or(
			cmp.Compare(runRank(a.Kind), runRank(b.Kind)),
			cmp.Compare(a.TaskIndex, b.TaskIndex),
			cmp.Compare(a.Replicate, b.Replicate),
			cmp.Compare(a.Index, b.Index),
			cmp.Compare(a.TryID, b.TryID),
			cmp.Compare(i, j),
		)
	})
	return order
}

func runRank(k Kind) int {
	switch k {
	case KindRunStart:
		return 0
	case KindRunFinish:
		return 2
	}
	return 1
}
