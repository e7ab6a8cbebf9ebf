package harness

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
)

// A request carries two seeds, both the first eight bytes of a sha256 over
// labelled, length-prefixed fields, so that no two fields can run together.

// TrialSeed is the same for every attempt and every arm of a trial.
func TrialSeed(run uint64, task string, replicate int) uint64 {
	return seedOf("trial", run, task, replicate, 0, 0)
}

// AttemptSeed is new at every attempt and the same in every arm that draws
// from the slot: common random numbers across arms.
func AttemptSeed(run uint64, task string, replicate, attempt, slot int) uint64 {
	return seedOf("attempt", run, task, replicate, attempt, slot)
}

// orderSeed drives the order in which a trial's arms take their turns.
func orderSeed(run uint64, task string, replicate int) uint64 {
	return seedOf("order", run, task, replicate, 0, 0)
}

func seedOf(label string, run uint64, task string, replicate, attempt, slot int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d:%s\n%d\n%d\n%d", label, run, len(task), task, replicate, attempt, slot))
	return binary.BigEndian.Uint64(sum[:8])
}

// newRand returns a generator for one seed.
func newRand(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 0)) }
