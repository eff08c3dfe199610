package conformance_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPrologueHalves checks operations on F32 whose input is made of one of 16 bits, by a cast and a sum. Kernels that load elements one by one, as
// those of the device cpu do, have no such prologue.
func TestPrologueHalves(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		joined, target := 0, exec.TargetOf(dev.Info())
		rng := rand.New(rand.NewPCG(9, 10))
		types, shapes := []tensor.DType{tensor.F16, tensor.BF16}, [][]int{{16, 64}, {7, 13}}
		if testlevel.IsFull() {
			shapes = append(shapes, []int{3, 8}, []int{5, 1024})
		} else {
			types = types[testlevel.Seed(t)%2:][:1]
		}
		for _, d := range types {
			for _, shape := range shapes {
				for _, call := range []spec.Call{ops.Softmax{Dim: -1}, ops.Softmax{Dim: 0}, ops.ReduceSum{Dims: []int{1}}, ops.ReduceSum{Dims: []int{0}}, ops.ReduceMax{Dims: []int{0, 1}}} {
					c := &chain{}
					c.add(rng, d, shape)
					c.in[0].Strides = nil
					c.add(rng, d, shape[1:])
					first := fusion.Fused{Calls: []spec.Call{ops.Cast{To: tensor.F32}, ops.Cast{To: tensor.F32}, ops.Sub{}}, Args: [][]int{{0}, {1}, {2, 3}}, Outs: []int{4}}
					one := fusion.Prologue{First: first, Call: call, Inputs: 1}
					if !possible(t, call, one.Check(&target, c.in)) {
						continue
					}
					joined++
					in := []exec.Operand{memory(t, dev, c.data[0].Data, c.in[0]), memory(t, dev, c.data[1].Data, c.in[1])}
					c.fused = fusion.Fused{Calls: append(first.Calls, call), Args: append(first.Args, []int{4}), Outs: []int{5}}
					if err := c.compare(t, x, x, dev, dev, in, in, one); err != nil {
						t.Errorf("%s of %v: %v", spec.FormatCall(call), c.in, err)
					}
				}
			}
		}
		if (joined < 8) != target.HostVectors {
			t.Errorf("%d calls were joined", joined)
		}
		t.Logf("%d calls were joined", joined)
	})
}
