package analysis

import (
	"testing"

	"retrial/arms"
)

// TestGatesReadTurns: prompts with worked examples as earlier turns are read as
// those of one message are, and an arm with examples of its own is found.
func TestGatesReadTurns(t *testing.T) {
	for name, c := range map[string]struct {
		own  string // the arm whose example differs
		want bool   // of isolation
	}{"the same in every arm": {"", true}, "other ones in one arm": {"diff-feedback", false}} {
		t.Run(name, func(t *testing.T) {
			wrong := func(string, int) outcome { return outcome{patch: diffOf("a", "b"), output: "FAIL\n"} }
			s := &simulation{
				tasks: simTasks(3), draft: wrong,
				retry: func(task string, rep int, _ string, _ int) outcome { return wrong(task, rep) },
				examples: func(arm string) []arms.Example {
					if arm == c.own {
						return []arms.Example{{Prompt: "Say a.", Reply: "b"}}
					}
					return []arms.Example{{Prompt: "Say a.", Reply: "a"}}
				},
			}
			got := map[string]*bool{}
			for _, g := range s.load(t).gates() {
				got[g.Gate] = g.Passed
			}
			for gate, want := range map[string]bool{"wire_live": true, "control_clean": true, "isolation": c.want} {
				if got[gate] == nil || *got[gate] != want {
					t.Errorf("%s: passed is %v, want %v", gate, got[gate], want)
				}
			}
		})
	}
}
