package exec_test

import (
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestDiscard looks at the launches of calls. Memory that a plan overwrites need not be
// zeroed before. All other memory must be.
func TestDiscard(t *testing.T) {
	dev := null.NewRecorder(nil)
	run, err := exec.New(dev)
	testkit.Device(t, run, err)
	operand := func(d tensor.Desc) exec.Operand {
		h, err := dev.Alloc(1 << 20)
		if err != nil {
			t.Fatal(err)
		}
		return exec.Operand{Buffer: h, Desc: d, Alone: true}
	}
	f32 := func(shape ...int) exec.Operand { return operand(tensor.Contiguous(tensor.F32, shape...)) }
	x, gaps := f32(8, 16), f32(8, 16)
	gaps.Desc.Strides = []int{32, 1}
	// part is a tensor beside other data in its buffer.
	part := func(offset int64, shape ...int) exec.Operand {
		o := f32(shape...)
		o.Offset, o.Alone = offset, false
		return o
	}
	inside, first, last := part(64, 8, 16), part(4, 8, 16), part(64, 7)
	for _, c := range []struct {
		name    string
		call    spec.Call
		out, in []exec.Operand
		discard bool // expected for every range of the outputs that is written
	}{
		{"a new output", ops.Exp{}, []exec.Operand{f32(8, 16)}, []exec.Operand{x}, true},
		{"outputs and scratch", ops.LayerNormGrad{Eps: 1e-5}, []exec.Operand{f32(600, 70), f32(70), f32(70)}, []exec.Operand{f32(600, 70), f32(70), f32(600, 70)}, true},
		{"a part of whole units", ops.Exp{}, []exec.Operand{inside}, []exec.Operand{x}, true},
		{"other data in the first unit", ops.Exp{}, []exec.Operand{first}, []exec.Operand{x}, false},
		{"other data in the last unit", ops.Exp{}, []exec.Operand{last}, []exec.Operand{f32(7)}, false},
		{"in place", ops.Exp{}, []exec.Operand{x}, []exec.Operand{x}, false},
		{"gaps between elements", ops.Exp{}, []exec.Operand{gaps}, []exec.Operand{x}, false},
		{"indices that may be wrong", ops.Embedding{}, []exec.Operand{f32(3, 16)}, []exec.Operand{operand(tensor.Contiguous(tensor.I32, 3)), x}, false},
	} {
		dev.Forget()
		if err := run.Run(t.Context(), c.call, c.in, c.out); err != nil {
			t.Fatal(err)
		}
		isOut, isIn := map[gpu.Handle]bool{}, map[gpu.Handle]bool{}
		for _, o := range c.out {
			isOut[o.Buffer] = true
		}
		for _, o := range c.in {
			isIn[o.Buffer] = true
		}
		outputs := 0
		for _, d := range dev.Recorded() {
			for _, b := range d.Bindings {
				want := c.discard && !isIn[b.Buffer] // This is an output or scratch memory.
				if isOut[b.Buffer] {
					outputs++
				} else if !isIn[b.Buffer] && !c.discard {
					continue // This is scratch memory or the status words of a check.
				}
				if b.Discard != want {
					t.Errorf("%s: binding %+v: discard is %v, want %v", c.name, b, b.Discard, want)
				}
			}
		}
		if outputs == 0 {
			t.Errorf("%s: no launch binds an output", c.name)
		}
	}
}
