package arms

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// TrialSeed is the seed that every attempt and every arm of a trial share: the
// first eight bytes of a sha256 over labelled, length-prefixed fields, so that no
// two of them can run together.
func TrialSeed(run uint64, task string, replicate int) uint64 {
	return SeedOf("trial", run, task, replicate, 0, 0)
}

// SeedOf is a seed of a kind that label names, for one attempt of a trial; what
// does not apply is 0.
func SeedOf(label string, run uint64, task string, replicate, attempt, slot int) uint64 {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%d\n%d:%s\n%d\n%d\n%d", label, run, len(task), task, replicate, attempt, slot))
	return binary.BigEndian.Uint64(sum[:8])
}
