package spv

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testspv/generate"
)

// Equal blocks become one, however many there are, whichever lie at which binding and
// whichever is declared first.
func TestAliasedBlocks(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 1))
	for n := range 200 {
		blocks, bindings := 1+rng.IntN(6), 1+rng.IntN(5)
		text, at := generate.Aliased(rng, blocks, bindings, n%2 == 0)
		what := fmt.Sprintf("case %d, %d blocks at %v", n, blocks, at)
		m, err := Parse("", assemble(t, v13, text))
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		l, err := Lower(m, false)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if got := variables(apart(t, l.Code)); len(got) != bindings {
			t.Errorf("%s: %d variables, want %d", what, len(got), bindings)
		}
		if _, err := Parse("", l.Code); err != nil {
			t.Errorf("%s: lowered, it is invalid: %v", what, err)
		}
		if n%10 == 0 {
			validate(t, what, m.Code)
			validate(t, what, l.Code)
		}
	}
}

// A type that nothing declares is an error of Lower and no panic.
func TestLowerUndeclared(t *testing.T) {
	m, err := Parse("", assemble(t, v13, good))
	if err != nil {
		t.Fatal(err)
	}
	s := apart(t, m.Code)
	for i := range s.insts {
		if in := &s.insts[i]; in.typ != 0 {
			bad := *m
			bad.Code = word(m.Code, in.at+1, s.bound-1) // a value
			if _, err := Lower(&bad, false); err == nil {
				t.Errorf("%v of the type %%%d: no error", in, s.bound-1)
			}
		}
	}
}
