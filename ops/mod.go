package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Mod is the remainder of the division of in by b. Both tensors are broadcast together. With FMod it has the sign of in,
// as fmod of C has, and the quotient is truncated. Without it it has the sign of b, as in Python. Floats need FMod, as
// in ONNX. All remainders are exact. Integers modulo 0 are 0. For floats, the rules of C99 (annex F.9.7.1) hold: x
// modulo 0 and infinity modulo y are NaN, and x modulo infinity is x.
type Mod struct {
	FMod int `attr:"fmod,required" onnx:"fmod" doc:"1 for the sign of in, 0 for that of b"`
}

// Spec returns the declaration.
func (Mod) Spec() *spec.Op { return modOp.Op() }

// Gradient declares the gradients: dy, and −dy times the quotient without its fraction.
func (Mod) Gradient(t *spec.Tape) {
	dy, a, b := t.Gradient(0), t.In(0), t.In(1)
	if t.Needs(0) {
		t.SetGradient(0, dy)
	}
	if t.Needs(1) {
		t.SetGradient(1, minus(t, times(t, dy, over(t, difference(t, a, t.Out(0)), b))))
	}
}

var modOp = spec.Declaration{Define: func() *spec.Op {
	return logic.Define(logic.Mod(logic.Function[*Mod]{
		Name: "mod", ONNX: []string{"Mod"},
		Doc:      "The remainder of in divided by b, with broadcasting. With fmod it has the sign of in, else that of b. Floats need fmod. Integers modulo 0 are 0.",
		Defaults: &Mod{FMod: 1},
		Calls:    []*Mod{{FMod: 0}},
		Invalid:  []*Mod{{FMod: 2}, {FMod: -1}},
		Check: func(c *Mod, d tensor.DType) error {
			if c.FMod&^1 != 0 {
				return planner.Invalid("fmod (got %d, want 0 or 1)", c.FMod)
			}
			if c.FMod == 0 && slices.Contains(planner.Floats, d) {
				return planner.Invalid("fmod (got 0, want 1 for %v)", d)
			}
			return nil
		},
	}, func(c *Mod) bool { return c.FMod == 1 }))
}}
