package seed

import (
	"hash/fnv"
	"io"
	"math"
	"math/rand/v2"
)

// spread is the power by which a mutant's weight falls with the number of those
// drawn before it from the same function, of the same operator, and from the
// same line.
const spread = 1.5

// draw puts a file's mutants in the order in which they are tried: one after the
// other, without replacement, each with a chance in proportion to
//
//	weight / ((1 + drawn from its function) · (1 + drawn of its operator) · (1 + drawn from its line))^1.5
//
// so that the first few lie in different functions, are of different operators
// and still are likely slips. At most limit are drawn.
func draw(list []Mutant, random *rand.Rand, limit int) []Mutant {
	left := append([]Mutant(nil), list...)
	functions, operators, lines := map[string]float64{}, map[string]float64{}, map[int]float64{}
	weights := make([]float64, len(left))
	var out []Mutant
	for len(left) > 0 && len(out) < limit {
		sum := 0.0
		for i, m := range left {
			crowd := (1 + functions[m.Function]) * (1 + operators[m.Operator]) * (1 + lines[m.Line])
			weights[i] = m.Weight / math.Pow(crowd, spread)
			sum += weights[i]
		}
		at, mark := 0, random.Float64()*sum
		for ; at < len(left)-1 && mark >= weights[at]; at++ {
			mark -= weights[at]
		}
		m := left[at]
		functions[m.Function]++
		operators[m.Operator]++
		lines[m.Line]++
		out, left = append(out, m), append(left[:at], left[at+1:]...)
	}
	return out
}

// source is a random source of its own for each use, named by words.
func source(seed uint64, words ...string) *rand.Rand {
	h := fnv.New64a()
	for _, w := range words {
		io.WriteString(h, w)
		h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}
