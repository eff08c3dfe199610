package conformance_test

import (
	"bytes"
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
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// drawCase draws inputs of one of an operation's cases. It returns nil if there is none of these sizes.
func drawCase(rng *rand.Rand, op *spec.Op, call spec.Call, d tensor.DType) []tensor.Desc {
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
	in := c.Inputs(call, d, sizes)
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
		if values[k] = low + (high-low)*rng.Float64(); !isFloat(in[i].DType) {
			values[k] = math.Round(values[k])
		}
	}
	if op.Cases.Settle != nil {
		op.Cases.Settle(call, i, in[i], values)
	}
	h.SetFloats(values)
	return h
}

func isFloat(d tensor.DType) bool {
	return slices.Contains([]tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16}, d)
}

// drawChainOf draws elementwise operations on a tensor, which is their input 0. They make one of its shape, of
// floating-point numbers of so many bytes.
func drawChainOf(rng *rand.Rand, result tensor.Desc, bytes int) (*chain, error) {
	for range 50 {
		c := &chain{fused: fusion.Fused{Strict: true}}
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
			c.add(rng, []tensor.DType{result.DType, tensor.F32}[rng.IntN(2)], own)
		}
		if err := c.grow(rng, 1+rng.IntN(3), []tensor.DType{result.DType, tensor.F32}[rng.IntN(2)]); err != nil {
			return nil, err
		}
		c.fused.Outs = c.fused.Outs[len(c.fused.Outs)-1:]
		out, err := c.fused.Spec().Shape(c.fused, c.in)
		if err == nil && len(c.in) > 0 && isFloat(out[0].DType) && out[0].DType.Size() != bytes && result.DType.Size() != bytes {
			to, last := tensor.F32, c.fused.Outs[0]
			if bytes == 2 {
				to = []tensor.DType{tensor.F16, tensor.BF16}[rng.IntN(2)]
			}
			c.fused.Calls, c.fused.Args, c.fused.Outs = append(c.fused.Calls, ops.Cast{To: to}), append(c.fused.Args, []int{last}), []int{last + 1}
			out, err = c.fused.Spec().Shape(c.fused, c.in)
		}
		if len(c.data) > 0 && c.data[0] == first && err == nil && isFloat(out[0].DType) && out[0].DType.Size() == bytes && slices.Equal(out[0].Shape, result.Shape) {
			return c, nil
		}
	}
	return nil, nil
}

// eachOperation calls f for calls of every operation that is not elementwise: on the devices, and with limits so small that a call takes several
// launches. f reports whether the call could be joined with others. There must be some of each of the operations named that this run tries.
func eachOperation(t *testing.T, d tensor.DType, named []string, f func(t *testing.T, rng *rand.Rand, op *spec.Op, call spec.Call, d tensor.DType, joined, eager *exec.Runner, dev, on gpu.Device) bool) {
	const tries = 4 // for each operation
	full := testlevel.IsFull()
	if named = sampled(named, 3); full {
		named = slices.DeleteFunc(named, func(name string) bool { return !testlevel.InShard(name) })
	}
	devices(t, func(t *testing.T, opened gpu.Device) {
		dev := &lender{Device: opened}
		x, err := exec.New(opened)
		if err != nil {
			t.Fatal(err)
		}
		l := dev.Info().Limits
		l.MaxBinding, l.MaxTexels, l.OffsetAlign, l.TexelAlign, l.MaxGroups = 1<<18, 1<<14, max(l.OffsetAlign, 256), max(l.TexelAlign, 256), [3]uint32{256, 256, 64}
		restricted := &lender{Device: guard.Restrict(opened, l)}
		small, err := exec.New(restricted.Device)
		if err != nil {
			t.Fatal(err)
		}
		had, seed := map[string]int{}, testlevel.Seed(t)
		for i, op := range spec.All() {
			const part = 17 // The quick level takes a seventeenth of them, and the full one those of its shard.
			switch {
			case full && !testlevel.InShard(op.Name):
				continue
			case !full && uint64(i)%part != seed%part && !slices.Contains(named, op.Name):
				continue
			}
			if op.Class == spec.Elementwise || op.Internal || len(op.Out) != 1 || !slices.Contains(op.Cases.DTypes, d) {
				continue
			}
			rng := rand.New(rand.NewPCG(seed, uint64(len(op.Name))))
			calls := op.Cases.Calls
			for i := 0; i < tries || i < 10*tries && had[op.Name] == 0 && slices.Contains(named, op.Name); i++ {
				joined, on := x, dev
				if rng.IntN(3) == 0 {
					joined, on = small, restricted
				}
				if i >= tries/2 && had[op.Name] > 0 {
					break
				}
				if f(t, rng, op, calls[rng.IntN(len(calls))], d, joined, x, dev, on) {
					had[op.Name]++
				}
				if err := errors.Join(dev.giveBack(), restricted.giveBack()); err != nil {
					t.Fatal(err)
				}
			}
		}
		for _, name := range named {
			if had[name] == 0 {
				t.Errorf("%s was never joined with others", name)
			}
		}
		t.Logf("%d operations were joined with others: %v", len(had), had)
	})
}

// sampled returns those of a list that this run tries: see testlevel.Sampled.
func sampled[T any](list []T, every int) (some []T) {
	for i, v := range list {
		if testlevel.Sampled(i, every) {
			some = append(some, v)
		}
	}
	return some
}

// lender is a device that frees what it has allocated. There are too many cases to free it at the end.
type lender struct {
	gpu.Device
	lent []gpu.Handle
}

func (l *lender) Alloc(size int64) (gpu.Handle, error) {
	h, err := l.Device.Alloc(size)
	if err == nil {
		l.lent = append(l.lent, h)
	}
	return h, err
}

func (l *lender) giveBack() error {
	var list []error
	for _, h := range l.lent {
		list = append(list, l.Device.Free(h))
	}
	l.lent = nil
	return errors.Join(list...)
}

// TestEpilogue compares every operation that can have an epilogue, with random ones, with the operations one by one, bit by bit.
func TestEpilogue(t *testing.T) {
	eachOperation(t, tensor.F32, []string{"matmul", "conv", "softmax", "layer_norm", "rms_norm", "reduce_sum", "transpose", "gather"}, epilogueOf)
}

// TestEpilogueHalves is TestEpilogue for results of 16 bits, of which kernels store two in a word.
func TestEpilogueHalves(t *testing.T) {
	for _, d := range sampled([]tensor.DType{tensor.F16, tensor.BF16}, 2) {
		t.Run(d.String(), func(t *testing.T) {
			eachOperation(t, d, []string{"matmul", "conv", "softmax", "layer_norm", "rms_norm", "transpose", "gather"}, epilogueOf)
		})
	}
}

// TestPrologue compares every operation that can have a prologue, with random ones, with the operations one by one, bit by bit.
func TestPrologue(t *testing.T) {
	eachOperation(t, tensor.F32, []string{"softmax", "layer_norm", "rms_norm", "reduce_sum", "reduce_max"}, prologueOf)
}

// prologueOf compares a call one of whose inputs comes from a random prologue, and reports whether there could be one.
func prologueOf(t *testing.T, rng *rand.Rand, op *spec.Op, call spec.Call, d tensor.DType, joined, eager *exec.Runner, dev, on gpu.Device) bool {
	t.Helper()
	in, out := drawSmall(rng, op, call, d)
	if out == nil {
		return false
	}
	k := rng.IntN(len(in))
	if in[k].DType != tensor.F32 || in[k].Elems() == 0 {
		return false
	}
	given := slices.Clone(in)
	given[k].DType = []tensor.DType{tensor.F32, tensor.F16, tensor.BF16}[rng.IntN(3)]
	c, err := drawChainOf(rng, given[k], 4)
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return false
	}
	one := fusion.Prologue{First: c.fused, Call: call, Inputs: len(in), Input: k}
	target := exec.TargetOf(on.Info())
	if !possible(t, call, one.Check(&target, append(slices.Clone(given), c.in[1:]...))) {
		return false
	}
	var there, here []exec.Operand
	for i := range in {
		h := fillCase(rng, op, call, i, in)
		if values := h.Floats(); i == k {
			h = tensor.NewHost(given[k])
			h.SetFloats(values)
		}
		there = append(there, memory(t, on, h.Data, h.Desc))
		if i == k {
			here = []exec.Operand{memory(t, dev, h.Data, h.Desc)}
		}
	}
	own := slices.Clone(there)
	for i, h := range c.data[1:] {
		there = append(there, memory(t, on, h.Data, c.in[i+1]))
		here = append(here, memory(t, dev, c.packed(i+1).Data, h.Desc))
	}
	if err := func() error {
		here, err := c.oneByOne(t, eager, dev, here)
		if err != nil {
			return err
		}
		data := make([]byte, in[k].Bytes())
		if err := eager.Read(t.Context(), here[c.fused.Outs[0]].Buffer, 0, data); err != nil {
			return err
		}
		own[k] = memory(t, on, data, in[k])
		want, err := c.run(t, joined, on, call, own)
		if err != nil {
			return err
		}
		got, err := c.run(t, joined, on, one, there)
		if err != nil {
			return err
		}
		a, b := make([]byte, out[0].Bytes()), make([]byte, out[0].Bytes())
		if err := errors.Join(joined.Read(t.Context(), want[0].Buffer, 0, a), joined.Read(t.Context(), got[0].Buffer, 0, b)); err != nil {
			return err
		}
		return sameBits(out[0], a, b)
	}(); err != nil {
		t.Errorf("%s of %v, input %d, %s: %v", spec.FormatCall(call), given, k, c.text(), err)
	}
	return true
}

// drawSmall draws small inputs of a call, and returns them with its outputs, which are nil if there are none.
func drawSmall(rng *rand.Rand, op *spec.Op, call spec.Call, d tensor.DType) (in, out []tensor.Desc) {
	for range 20 {
		if in = drawCase(rng, op, call, d); in != nil {
			break
		}
	}
	if len(in) == 0 {
		return nil, nil
	}
	out, err := op.Shape(call, in)
	if err != nil || out[0].Elems() == 0 || out[0].Elems() > 1<<18 {
		return nil, nil
	}
	return in, out
}

// possible reports whether operations can be joined on a device, by the error of Check.
func possible(t *testing.T, call spec.Call, err error) bool {
	t.Helper()
	if err != nil && !errors.Is(err, errs.ErrUnsupported) && !errors.Is(err, errs.ErrLimit) && !errors.Is(err, spec.ErrStrides) {
		t.Errorf("%s: %v", spec.FormatCall(call), err)
	}
	return err == nil
}

// packed is input i as the operations see it one by one, contiguous.
func (c *chain) packed(i int) *tensor.Host {
	h := c.data[i]
	if c.in[i].Strides == nil {
		return h
	}
	p := tensor.NewHost(h.Desc)
	p.SetFloats((&tensor.Host{Desc: c.in[i], Data: h.Data}).Floats())
	return p
}

// epilogueOf compares a call with a random epilogue, and reports whether there could be one.
func epilogueOf(t *testing.T, rng *rand.Rand, op *spec.Op, call spec.Call, d tensor.DType, fused, eager *exec.Runner, dev, on gpu.Device) bool {
	t.Helper()
	in, out := drawSmall(rng, op, call, d)
	if out == nil || out[0].DType != d {
		return false
	}
	c, err := drawChainOf(rng, out[0], 2+2*rng.IntN(2))
	if err != nil {
		t.Fatal(err)
	}
	if c == nil {
		return false
	}
	one := fusion.Epilogue{Call: call, Inputs: len(in), Then: c.fused}
	target := exec.TargetOf(on.Info())
	if !possible(t, call, one.Check(&target, append(slices.Clone(in), c.in[1:]...))) {
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
		values = append(values, memory(t, dev, c.packed(i+1).Data, h.Desc))
	}
	if err := c.compare(t, fused, eager, dev, on, values, there, one); err != nil {
		fail(fmt.Errorf("%w (%v)", err, one.Call))
		return false
	}
	return true
}

// graphics is a device that pretends to be a GPU.
type graphics struct{ gpu.Device }

func (g graphics) Info() *gpu.Info {
	i := *g.Device.Info()
	i.Kind, i.Features.HostVectors = gpu.Discrete, false
	return &i
}

// TestEpilogueWords checks that an epilogue from or to 16 bits changes each element once where rows end within a word, and nothing behind the
// last one. An epilogue that makes elements of another size must be there for some calls of each pair of types.
func TestEpilogueWords(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		pretending, err := exec.New(graphics{dev})
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(7, 8))
		for k, types := range [][2]tensor.DType{{tensor.F16, tensor.F16}, {tensor.BF16, tensor.BF16}, {tensor.F32, tensor.F16}, {tensor.F32, tensor.BF16}, {tensor.F16, tensor.F32}, {tensor.BF16, tensor.F32}} {
			d, to, joined := types[0], types[1], 0
			if !testlevel.Sampled(k, 6) {
				continue
			}
			plain, x := x, x
			for j, c := range []struct {
				call spec.Call
				in   []tensor.Desc
			}{
				{ops.MatMul{}, []tensor.Desc{tensor.Contiguous(d, 3, 7, 5), tensor.Contiguous(d, 3, 5, 3)}},
				{ops.MatMul{}, []tensor.Desc{tensor.Contiguous(d, 13, 33), tensor.Contiguous(d, 33, 17)}},
				{ops.MatMul{}, []tensor.Desc{tensor.Contiguous(d, 1, 33), tensor.Contiguous(d, 33, 37)}},
				{ops.Conv{Group: 1}, []tensor.Desc{tensor.Contiguous(d, 3, 3, 7, 7), tensor.Contiguous(d, 5, 3, 2, 2)}},
				{ops.Softmax{Dim: -1}, []tensor.Desc{tensor.Contiguous(d, 7, 13)}},
				{ops.Softmax{Dim: 0}, []tensor.Desc{tensor.Contiguous(d, 7, 13)}},
				{ops.RMSNorm{Dim: -1, Eps: 1e-5}, []tensor.Desc{tensor.Contiguous(d, 5, 3), tensor.Contiguous(d, 3)}},
				{ops.Concat{}, []tensor.Desc{tensor.Contiguous(d, 3, 5), tensor.Contiguous(d, 4, 5)}},
				// The last pack of these has 1 to 4 elements, which is half of one or less: 32 bytes of f32 would go on behind a bias of the whole shape.
				{ops.MatMul{}, []tensor.Desc{tensor.Contiguous(d, 1, 5), tensor.Contiguous(d, 5, 1)}},
				{ops.MatMul{}, []tensor.Desc{tensor.Contiguous(d, 1, 5), tensor.Contiguous(d, 5, 3)}},
				{ops.MatMul{}, []tensor.Desc{tensor.Contiguous(d, 2, 5), tensor.Contiguous(d, 5, 2)}},
				{ops.MatMul{}, []tensor.Desc{tensor.Contiguous(d, 5, 33), tensor.Contiguous(d, 33, 2)}},
				{ops.Softmax{Dim: -1}, []tensor.Desc{tensor.Contiguous(d, 3, 11)}},
				// Of these all stores are whole, so elements of f32 are stored in 16 bits on every device.
				{ops.Softmax{Dim: -1}, []tensor.Desc{tensor.Contiguous(d, 3, 256)}},
				{ops.RMSNorm{Dim: -1, Eps: 1e-5}, []tensor.Desc{tensor.Contiguous(d, 5, 256), tensor.Contiguous(d, 256)}},
			} {
				// On a processor, some kernels store no elements of another size because that takes long. So others of the device pretend to be on a GPU.
				target := exec.TargetOf(dev.Info())
				if x = plain; d != to && j%4 < 2 {
					target, x = exec.TargetOf(graphics{dev}.Info()), pretending
				}
				for _, whole := range []bool{false, true} {
					if d != to && whole == ((j+k)%2 == 0) {
						continue // half of them
					}
					out, err := c.call.Spec().Shape(c.call, c.in)
					if err != nil {
						t.Fatal(err)
					}
					then := &chain{fused: fusion.Fused{Strict: true, Calls: []spec.Call{ops.Cast{To: tensor.F32}, ops.Add{}, ops.Cast{To: to}}, Args: [][]int{{0}, {2, 1}, {3}}, Outs: []int{4}}}
					then.in, then.data = []tensor.Desc{out[0]}, []*tensor.Host{tensor.NewHost(out[0])}
					shape := out[0].Shape
					if !whole {
						shape = shape[len(shape)-1:]
					}
					then.add(rng, tensor.F32, shape)
					one := fusion.Epilogue{Call: c.call, Inputs: len(c.in), Then: then.fused}
					if !possible(t, c.call, one.Check(&target, append(slices.Clone(c.in), then.in[1]))) {
						continue
					}
					joined++
					var in []exec.Operand
					for i := range c.in {
						in = append(in, memory(t, dev, fillCase(rng, c.call.Spec(), c.call, i, c.in).Data, c.in[i]))
					}
					results, err := then.run(t, x, dev, c.call, in)
					if err != nil {
						t.Fatal(err)
					}
					other := memory(t, dev, then.data[1].Data, then.in[1])
					values, err := then.oneByOne(t, x, dev, []exec.Operand{results[0], other})
					if err != nil {
						t.Fatal(err)
					}
					made := tensor.Contiguous(to, out[0].Shape...)
					size := made.Bytes()
					behind := bytes.Repeat([]byte{0x5a}, int(size)+64)
					got := memory(t, dev, behind, made)
					if err := x.Run(t.Context(), one, append(in, other), []exec.Operand{got}); err != nil {
						t.Fatal(err)
					}
					a, b := make([]byte, size), make([]byte, size+64)
					if err := errors.Join(x.Read(t.Context(), values[4].Buffer, 0, a), x.Read(t.Context(), got.Buffer, 0, b)); err != nil {
						t.Fatal(err)
					}
					if err := sameBits(made, a, b[:size]); err != nil {
						t.Errorf("%s of %v to %v: %v", spec.FormatCall(c.call), c.in, to, err)
					}
					if !bytes.Equal(b[size:], behind[size:]) {
						t.Errorf("%s of %v to %v: behind the result are % x", spec.FormatCall(c.call), c.in, to, b[size:])
					}
				}
			}
			if joined < map[bool]int{true: 8, false: 2}[d == to] {
				t.Errorf("only %d calls from %v to %v were joined", joined, d, to)
			}
			t.Logf("%d calls from %v to %v were joined", joined, d, to)
		}
	})
}
