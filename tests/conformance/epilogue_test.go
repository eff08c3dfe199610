package conformance_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// drawCase draws inputs of one of an operation's cases. It returns nil if there is none of these sizes.
func drawCase(rng *rand.Rand, op *spec.Op, call spec.Call) []tensor.Desc {
	c := &op.Cases
	sizes := make([]int, len(c.Dims))
	for i, d := range c.Dims {
		switch small := []int{1, 2, 3, 4, 7, 8, 12, 13, 16, 32}; {
		case len(d.Only) > 0:
			sizes[i] = d.Only[rng.IntN(len(d.Only))]
		case len(d.Tiles) > 0 && rng.IntN(2) == 0:
			sizes[i] = max(d.Tiles[rng.IntN(len(d.Tiles))]+rng.IntN(3)-1, 1)
		default:
			sizes[i] = small[rng.IntN(len(small))]
		}
	}
	in := c.Inputs(call, tensor.F32, sizes)
	total := 0
	for _, d := range in {
		if d.Elems() == 0 || d.Elems() > 1<<18 || !d.IsContiguous() {
			return nil
		}
		total += d.Elems()
	}
	if total > 1<<19 {
		return nil
	}
	return in
}

// fillCase gives an input values as the suite would.
func fillCase(rng *rand.Rand, op *spec.Op, call spec.Call, i int, in []tensor.Desc) *tensor.Host {
	h := tensor.NewHost(in[i])
	low, high := op.Cases.Low, op.Cases.High
	if op.Cases.Range != nil {
		low, high = op.Cases.Range(call, i, in)
	}
	if low == high && in[i].DType == tensor.Bool {
		high = low + 1
	}
	values := make([]float64, h.Elems())
	for k := range values {
		if values[k] = low + (high-low)*rng.Float64(); in[i].DType != tensor.F32 {
			values[k] = math.Round(values[k])
		}
	}
	if op.Cases.Settle != nil {
		op.Cases.Settle(call, i, in[i], values)
	}
	h.SetFloats(values)
	return h
}

// drawEpilogue draws elementwise operations on a result. Their input 0 is the result.
func drawEpilogue(rng *rand.Rand, result tensor.Desc) (*chain, error) {
	for range 50 {
		c := &chain{}
		c.in, c.data = []tensor.Desc{result}, []*tensor.Host{tensor.NewHost(result)}
		first := c.data[0]
		for range rng.IntN(3) {
			own := slices.Clone(result.Shape)
			own = own[rng.IntN(len(own)+1):]
			for k := range own {
				if rng.IntN(3) == 0 {
					own[k] = 1
				}
			}
			c.add(rng, tensor.F32, own)
		}
		if err := c.grow(rng, 1+rng.IntN(3), tensor.F32); err != nil {
			return nil, err
		}
		c.fused.Outs = c.fused.Outs[len(c.fused.Outs)-1:]
		out, err := c.fused.Spec().Shape(c.fused, c.in)
		if len(c.data) > 0 && c.data[0] == first && err == nil && out[0].DType == tensor.F32 && slices.Equal(out[0].Shape, result.Shape) {
			return c, nil
		}
	}
	return nil, nil
}

// TestEpilogue compares every operation that can have an epilogue, with random ones, with the operations one by one, bit by bit: on the
// devices, and with limits so small that a call takes several launches. It counts the operations that had one.
func TestEpilogue(t *testing.T) {
	rounds := 1
	if testlevel.IsFull() {
		rounds = 8
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		l := dev.Info().Limits
		l.MaxBinding, l.MaxTexels, l.OffsetAlign, l.TexelAlign, l.MaxGroups = 1<<18, 1<<14, max(l.OffsetAlign, 256), max(l.TexelAlign, 256), [3]uint32{256, 256, 64}
		restricted := guard.Restrict(dev, l)
		small, err := exec.New(restricted)
		if err != nil {
			t.Fatal(err)
		}
		had, seed := map[string]int{}, testlevel.Seed(t)
		for _, op := range spec.All() {
			if op.Class == spec.Elementwise || op.Internal || len(op.Out) != 1 || !slices.Contains(op.Cases.DTypes, tensor.F32) {
				continue
			}
			rng := rand.New(rand.NewPCG(seed, uint64(len(op.Name))))
			for range rounds {
				for _, k := range rng.Perm(len(op.Cases.Calls))[:min(len(op.Cases.Calls), 2*rounds)] {
					fused, on := x, dev
					if rng.IntN(3) == 0 {
						fused, on = small, restricted
					}
					if epilogueOf(t, rng, op, op.Cases.Calls[k], fused, x, dev, on) {
						had[op.Name]++
					}
				}
			}
		}
		for _, name := range []string{"matmul", "conv", "softmax", "layer_norm", "rms_norm", "reduce_sum", "attention", "transpose", "gather"} {
			if had[name] == 0 {
				t.Errorf("%s never had an epilogue", name)
			}
		}
		t.Logf("%d operations had epilogues: %v", len(had), had)
	})
}

// epilogueOf compares a call with a random epilogue, and reports whether there could be one.
func epilogueOf(t *testing.T, rng *rand.Rand, op *spec.Op, call spec.Call, fused, eager *exec.Runner, dev, on gpu.Device) bool {
	t.Helper()
	var in []tensor.Desc
	for range 20 {
		if in = drawCase(rng, op, call); in != nil {
			break
		}
	}
	out, err := op.Shape(call, in)
	if len(in) == 0 || err != nil || out[0].DType != tensor.F32 || out[0].Elems() == 0 || out[0].Elems() > 1<<18 {
		return false
	}
	c, err := drawEpilogue(rng, out[0])
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return false
	}
	one := fusion.Epilogue{Call: call, Inputs: len(in), Then: c.fused}
	target := exec.TargetOf(on.Info())
	if err := one.Check(&target, append(slices.Clone(in), c.in[1:]...)); err != nil {
		if !errors.Is(err, errs.ErrUnsupported) && !errors.Is(err, errs.ErrLimit) && !errors.Is(err, spec.ErrStrides) {
			t.Errorf("%s: %v", spec.FormatCall(call), err)
		}
		return false
	}
	var there []exec.Operand
	for i := range in {
		h := fillCase(rng, op, call, i, in)
		there = append(there, memory(t, on, h.Data, h.Desc))
	}
	fail := func(err error) {
		t.Errorf("%s of %v, %s: %v", spec.FormatCall(call), in, c.text(), err)
	}
	// The result is that of the same plan, since other limits can make another one, which rounds otherwise.
	results, err := c.run(t, fused, on, call, there)
	if err != nil {
		fail(err)
		return false
	}
	data := make([]byte, results[0].Desc.Bytes())
	if err := fused.Read(t.Context(), results[0].Buffer, 0, data); err != nil {
		fail(err)
		return false
	}
	values := []exec.Operand{memory(t, dev, data, out[0])}
	for i, h := range c.data[1:] {
		there = append(there, memory(t, on, h.Data, c.in[i+1]))
		if c.in[i+1].Strides != nil { // What the operations see one by one is contiguous.
			turned := tensor.NewHost(h.Desc)
			turned.SetFloats((&tensor.Host{Desc: c.in[i+1], Data: h.Data}).Floats())
			h = turned
		}
		values = append(values, memory(t, dev, h.Data, h.Desc))
	}
	if err := c.compare(t, fused, eager, dev, on, values, there, one); err != nil {
		fail(fmt.Errorf("%w (%v)", err, one.Call))
		return false
	}
	return true
}
