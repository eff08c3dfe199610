package spv

import "math/rand/v2"

// Mutate changes one word or instruction of a module and says which.
func Mutate(rng *rand.Rand, code []byte) (what string, mutated []byte) {
	m := mutate(rng, code)
	return m.what, m.code
}
