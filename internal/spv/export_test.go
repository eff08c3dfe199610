package spv

import (
	"math/rand/v2"
	"testing"
)

// Mutate changes one word or instruction of a module and says which.
func Mutate(rng *rand.Rand, code []byte) (what string, mutated []byte) {
	m := mutate(rng, code)
	return m.what, m.code
}

// Assemble makes a module of SPIR-V 1.3 of lines such as "%x = OpFAdd %f32 %a 3".
func Assemble(t testing.TB, text string) []byte {
	t.Helper()
	return assemble(t, v13, text)
}
