package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// BitShift moves the bits of the elements of in by b places to the left or to the right. Both tensors are broadcast
// together. To the right, integers with a sign keep it, as in arithmetic shifts. If b is negative or not below the
// number of bits, all bits are moved out: the result is 0, or −1 if a sign is kept.
type BitShift struct {
	Direction string `attr:"direction,required" onnx:"direction" doc:"LEFT or RIGHT"`
}

// Spec returns the declaration.
func (BitShift) Spec() *spec.Op { return bitShiftOp.Op() }

var bitShiftOp = spec.Declaration{Define: func() *spec.Op {
	return logic.Define(logic.Shift(logic.Function[*BitShift]{
		Name: "bit_shift", ONNX: []string{"BitShift"},
		Doc:      "The bits of in moved by b places, with broadcasting. To the right, a sign is kept. If b is negative or not below the number of bits, all are moved out.",
		Defaults: &BitShift{Direction: "LEFT"},
		Calls:    []*BitShift{{Direction: "RIGHT"}},
		Invalid:  []*BitShift{{}, {Direction: "left"}},
		Check: func(c *BitShift, _ tensor.DType) error {
			if c.Direction != "LEFT" && c.Direction != "RIGHT" {
				return planner.Invalid("direction (got %q, want LEFT or RIGHT)", c.Direction)
			}
			return nil
		},
	}, func(c *BitShift) bool { return c.Direction == "RIGHT" }))
}}
