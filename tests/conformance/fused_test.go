package conformance_test

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// chain is a random list of operations with its inputs.
type chain struct {
	fused fusion.Fused
	in    []tensor.Desc
	data  []*tensor.Host // the inputs' memory, contiguous
	wide  bool           // the device has F64
}

// fusible lists calls of all operations that can be fused, with inputs of these types.
func fusible(inputs int, d tensor.DType) (calls []spec.Call) {
	for _, op := range spec.All() {
		types := slices.Repeat([]tensor.DType{d}, inputs)
		for _, c := range op.Cases.Calls {
			if _, ok := op.Part(c, &spec.Target{}, types); ok {
				calls = append(calls, c)
			}
		}
	}
	return calls
}

// drawChain makes a chain.
func drawChain(rng *rand.Rand, d tensor.DType, strict bool) *chain {
	sizes := []int{1, 2, 3, 4, 5, 7, 8, 13, 16, 31, 64, 128}
	shape := make([]int, rng.IntN(5))
	for i := range shape {
		shape[i] = sizes[rng.IntN(len(sizes))]
		if rng.IntN(60) == 0 {
			shape[i] = 0
		}
	}
	for len(shape) > 0 && tensor.Contiguous(d, shape...).Elems() > 1<<17 {
		shape = shape[1:]
	}
	c := &chain{fused: fusion.Fused{Strict: strict}}
	for i := range 1 + rng.IntN(4) {
		own := slices.Clone(shape)
		if i > 0 {
			own = own[rng.IntN(len(own)+1):]
			for k := range own {
				if rng.IntN(3) == 0 {
					own[k] = 1
				}
			}
		}
		c.add(rng, d, own)
	}
	return c
}

// add adds an input, which is sometimes transposed.
func (c *chain) add(rng *rand.Rand, d tensor.DType, shape []int) {
	desc := tensor.Contiguous(d, shape...)
	if n := len(shape); n > 1 && rng.IntN(4) == 0 {
		turned := slices.Clone(shape)
		turned[n-1], turned[n-2] = turned[n-2], turned[n-1]
		strides := tensor.Contiguous(d, turned...).ElementStrides()
		strides[n-1], strides[n-2] = strides[n-2], strides[n-1]
		desc.Strides = strides
	}
	h := tensor.NewHost(tensor.Contiguous(d, shape...))
	values := make([]float64, h.Elems())
	special := []float64{0, math.Copysign(0, -1), 1, -1, math.NaN(), math.Inf(1), math.Inf(-1), 1e-40, 88, -88}
	for i := range values {
		values[i] = rng.NormFloat64() * 4
		if rng.IntN(20) == 0 {
			values[i] = special[rng.IntN(len(special))]
		}
		switch d {
		case tensor.I32, tensor.I64:
			values[i] = float64(rng.Int32()) - float64(rng.Int32())
		case tensor.I16, tensor.I8:
			values[i] = float64(rng.IntN(1<<(8*d.Size())) - 1<<(8*d.Size()-1))
		case tensor.Bool, tensor.U8, tensor.U16, tensor.U32, tensor.U64:
			values[i] = float64(rng.Int64N(map[tensor.DType]int64{tensor.Bool: 2, tensor.U8: 1 << 8, tensor.U16: 1 << 16, tensor.U32: 1 << 32, tensor.U64: 1 << 40}[d]))
		}
	}
	h.SetFloats(values)
	c.in, c.data = append(c.in, desc), append(c.data, h)
}

// grow adds operations.
func (c *chain) grow(rng *rand.Rand, steps int, d tensor.DType) error {
	f := &c.fused
	values := slices.Clone(c.in)
	for i := range values {
		values[i].Strides = nil
	}
	calls := [][]spec.Call{nil, append(fusible(1, d), fusible(1, tensor.Bool)...), append(fusible(2, d), fusible(2, tensor.Bool)...), {ops.Where{}}}
	if len(calls[2]) == 0 {
		return fmt.Errorf("nothing of %v can be fused", d)
	}
	for len(f.Calls) < steps {
		n := 1 + rng.IntN(3)
		call := calls[n][rng.IntN(len(calls[n]))]
		var args []int
		var descs []tensor.Desc
		for range n {
			a := rng.IntN(len(values))
			if rng.IntN(2) == 0 {
				a = len(values) - 1
			}
			args, descs = append(args, a), append(descs, values[a])
		}
		out, err := call.Spec().Shape(call, descs)
		var types []tensor.DType
		for _, o := range descs {
			types = append(types, o.DType)
		}
		if _, ok := call.Spec().Part(call, &spec.Target{}, types); err != nil || !ok || out[0].DType == tensor.F64 && !c.wide {
			continue // shapes or element types that the operation or the device does not take
		}
		f.Calls, f.Args, values = append(f.Calls, call), append(f.Args, args), append(values, out[0])
	}
	c.prune(rng, values)
	return nil
}

// prune leaves the last result and what it is computed of. It is an output, and so is sometimes
// another value of its shape.
func (c *chain) prune(rng *rand.Rand, values []tensor.Desc) {
	f, inputs, last := &c.fused, len(c.in), len(values)-1
	live := make([]bool, len(values))
	live[last] = true
	for v := last; v >= inputs; v-- {
		for _, a := range f.Args[v-inputs] {
			live[a] = live[a] || live[v]
		}
	}
	number, outs := make([]int, len(values)), []int(nil)
	old := *c
	c.in, c.data, c.fused = nil, nil, fusion.Fused{Strict: f.Strict}
	for v := range values {
		switch {
		case !live[v]:
			continue
		case v < inputs:
			c.in, c.data = append(c.in, old.in[v]), append(c.data, old.data[v])
			number[v] = len(c.in) - 1
			continue
		}
		var args []int
		for _, a := range old.fused.Args[v-inputs] {
			args = append(args, number[a])
		}
		number[v] = len(c.in) + len(c.fused.Calls)
		c.fused.Calls, c.fused.Args = append(c.fused.Calls, old.fused.Calls[v-inputs]), append(c.fused.Args, args)
		if v == last || len(outs) == 0 && rng.IntN(3) == 0 && slices.Equal(values[v].Shape, values[last].Shape) {
			outs = append(outs, number[v])
		}
	}
	c.fused.Outs = outs
}

// memory allocates memory for a tensor.
func memory(t *testing.T, dev gpu.Device, data []byte, d tensor.Desc) exec.Operand {
	t.Helper()
	h, err := dev.Alloc(max(gpu.RoundUp(int64(len(data))), gpu.Unit))
	if err != nil {
		t.Fatal(err)
	}
	if len(data) > 0 {
		if err := dev.Write(t.Context(), h, 0, data); err != nil {
			t.Fatal(err)
		}
	}
	return exec.Operand{Buffer: h, Desc: d}
}

// run runs a call on a device and returns its outputs.
func (c *chain) run(t *testing.T, x *exec.Runner, dev gpu.Device, call spec.Call, in []exec.Operand) ([]exec.Operand, error) {
	t.Helper()
	var descs []tensor.Desc
	for _, o := range in {
		descs = append(descs, o.Desc)
	}
	out, err := call.Spec().Shape(call, descs)
	if err != nil {
		return nil, err
	}
	var results []exec.Operand
	for _, d := range out {
		results = append(results, memory(t, dev, bytes.Repeat([]byte{0x5a}, int(d.Bytes())), d))
	}
	return results, x.Run(t.Context(), call, in, results)
}

// check compares the operations in one launch with the operations one by one, bit by bit.
func (c *chain) check(t *testing.T, fused, eager *exec.Runner, dev, small gpu.Device) error {
	t.Helper()
	var in, values []exec.Operand
	for i, h := range c.data {
		in = append(in, memory(t, small, h.Data, c.in[i]))
		values = append(values, memory(t, dev, c.packed(i).Data, h.Desc))
	}
	return c.compare(t, fused, eager, dev, small, values, in, c.fused)
}

// oneByOne computes the operations one by one, and appends their results to values, which are the inputs.
func (c *chain) oneByOne(t *testing.T, x *exec.Runner, dev gpu.Device, values []exec.Operand) ([]exec.Operand, error) {
	t.Helper()
	for i, call := range c.fused.Calls {
		var operands []exec.Operand
		for _, a := range c.fused.Args[i] {
			operands = append(operands, values[a])
		}
		out, err := c.run(t, x, dev, call, operands)
		if err != nil {
			return nil, err
		}
		values = append(values, out[0])
	}
	return values, nil
}

// compare compares the operations one by one, for which values are the inputs, with a call that makes the outputs of in.
func (c *chain) compare(t *testing.T, fused, eager *exec.Runner, dev, small gpu.Device, values, in []exec.Operand, one spec.Call) error {
	values, err := c.oneByOne(t, eager, dev, values)
	if err != nil {
		return err
	}
	out, err := c.run(t, fused, small, one, in)
	if err != nil {
		return err
	}
	for i, v := range c.fused.Outs {
		want, got := make([]byte, values[v].Desc.Bytes()), make([]byte, values[v].Desc.Bytes())
		if len(want) == 0 {
			continue
		}
		if err := eager.Read(t.Context(), values[v].Buffer, 0, want); err != nil {
			return err
		}
		if err := fused.Read(t.Context(), out[i].Buffer, 0, got); err != nil {
			return err
		}
		if err := sameBits(values[v].Desc, want, got); err != nil {
			return fmt.Errorf("output %d (value %d): %w", i, v, err)
		}
	}
	return nil
}

// sameBits compares elements bit by bit. NaNs may have other signs: compilers exchange operands, of which processors take a NaN's sign.
func sameBits(d tensor.Desc, want, got []byte) error {
	a, b := (&tensor.Host{Desc: d, Data: want}).Floats(), (&tensor.Host{Desc: d, Data: got}).Floats()
	for k, size := 0, d.DType.Size(); k < len(want); k++ {
		if at := k / size * size; want[k] != got[k] && !(math.IsNaN(a[k/size]) && math.IsNaN(b[k/size])) {
			return fmt.Errorf("element %d of %v: % x one by one, % x in one launch", k/size, d, want[at:at+size], got[at:at+size])
		}
	}
	return nil
}

// text describes a chain.
func (c *chain) text() string {
	var list []string
	for i, call := range c.fused.Calls {
		list = append(list, fmt.Sprintf("%s%v", spec.FormatCall(call), c.fused.Args[i]))
	}
	return fmt.Sprintf("%v: %v out %v", c.in, list, c.fused.Outs)
}

// TestFused compares random elementwise operations in one launch with the operations one by one, bit by bit:
// on the devices, and with limits so small that a call takes several launches.
func TestFused(t *testing.T) {
	rounds := 3
	if testlevel.IsFull() {
		rounds = 40
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		l := dev.Info().Limits
		l.MaxBinding, l.MaxTexels, l.OffsetAlign, l.TexelAlign, l.MaxGroups = 1<<16, 1<<12, max(l.OffsetAlign, 256), max(l.TexelAlign, 256), [3]uint32{16, 8, 1}
		restricted := guard.Restrict(dev, l)
		small, err := exec.New(restricted)
		if err != nil {
			t.Fatal(err)
		}
		seed := testlevel.Seed(t)
		for _, d := range []tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16, tensor.I32, tensor.U32, tensor.I64, tensor.U64, tensor.I16, tensor.U16, tensor.U8, tensor.I8, tensor.Bool} {
			if d == tensor.F64 && !dev.Info().Features.F64 {
				continue
			}
			rng := rand.New(rand.NewPCG(seed, uint64(d)))
			for i := range rounds {
				c := drawChain(rng, d, true)
				c.wide = dev.Info().Features.F64
				if err := c.grow(rng, 1+rng.IntN(7), d); err != nil {
					t.Fatal(err)
				}
				fused, on := x, dev
				if i%3 == 2 {
					fused, on = small, gpu.Device(restricted)
				}
				if err := c.check(t, fused, x, dev, on); err != nil {
					t.Errorf("%v, round %d, %s: %v", d, i, c.text(), err)
				}
			}
		}
	})
}

// TestFusedRows checks operands whose rows, or runs of equal elements, are as long as a workgroup or several. The last workgroup
// has fewer elements, and under small limits there are several launches.
func TestFusedRows(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		l := dev.Info().Limits
		l.MaxBinding, l.MaxTexels, l.OffsetAlign, l.TexelAlign = 1<<16-16, 1<<12-1, 16, 16
		small := guard.Restrict(dev, l)
		rng := rand.New(rand.NewPCG(7, 8))
		for _, shapes := range [][3][]int{
			{{37, 9, 64}, {64}, {9, 64}}, {{37, 9, 64}, {37, 1, 1}, {9, 1}}, {{5, 1, 192}, {192}, {5, 1, 1}}, {{41, 3, 320}, {3, 1}, {1, 3, 320}},
			{{21, 1024}, {1024}, {21, 1}}, {{5, 21, 768}, {768}, {21, 1}}, {{301, 65}, {65}, {301, 1}}, {{13, 7, 100}, {7, 1}, {13, 1, 1}}, {{2, 3, 2, 32}, {2, 32}, {3, 1, 1}},
		} {
			for _, on := range []gpu.Device{dev, small} {
				x, err := exec.New(on)
				if err != nil {
					t.Fatal(err)
				}
				c := &chain{fused: fusion.Fused{
					Calls: []spec.Call{ops.Add{}, ops.Mul{}, ops.Sub{}, ops.Maximum{}}, Args: [][]int{{0, 1}, {2, 3}, {1, 4}, {5, 2}}, Outs: []int{6},
				}}
				for _, shape := range shapes {
					c.add(rng, tensor.F32, shape)
				}
				if err := c.check(t, x, x, on, on); err != nil {
					t.Errorf("%v, limits %+v: %v", shapes, on.Info().Limits, err)
				}
			}
		}
	})
}

// TestFusedCasts checks operations of several element types in one launch.
func TestFusedCasts(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for _, d := range []tensor.DType{tensor.F16, tensor.BF16} {
			c := &chain{fused: fusion.Fused{
				Strict: true,
				Calls:  []spec.Call{ops.Cast{To: tensor.F32}, ops.Add{}, ops.GELU{}, ops.Cast{To: d}, ops.Mul{}, ops.Cast{To: tensor.F32}, ops.Sub{}},
				Args:   [][]int{{0}, {2, 1}, {3}, {4}, {5, 0}, {6}, {7, 1}}, Outs: []int{8, 6, 5},
			}}
			c.add(rng, d, []int{37, 29})
			c.add(rng, tensor.F32, []int{29})
			if err := c.check(t, x, x, dev, dev); err != nil {
				t.Errorf("%s: %v", c.text(), err)
			}
		}
	})
}

// TestFusedAllCasts checks every cast with the single one, in a launch with an operation behind it.
func TestFusedAllCasts(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		seed := testlevel.Seed(t)
		rng := rand.New(rand.NewPCG(5, seed))
		n, turn := 0, int(seed%4)
		for _, from := range tensor.DTypes() {
			for _, to := range tensor.DTypes() {
				if n++; !testlevel.IsFull() && n%4 != turn || !dev.Info().Features.F64 && (from == tensor.F64 || to == tensor.F64) {
					continue
				}
				c := &chain{fused: fusion.Fused{
					Strict: true,
					Calls:  []spec.Call{ops.Cast{To: to}, ops.Equal{}, ops.Where{}},
					Args:   [][]int{{0}, {2, 1}, {3, 1, 2}}, Outs: []int{4, 2},
				}}
				c.add(rng, from, []int{37, 31})
				for i, v := range []float64{-0.5, 0.5, 254.5, 255.5, 65519.999, 65520, -32768.5, 2147483520, 4294967040, 1.8446744073709552e19, -9.2e18, 3e38, math.NaN()} {
					if slices.Contains([]tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16}, from) {
						values := c.data[0].Floats()
						values[i] = v
						c.data[0].SetFloats(values)
					}
				}
				c.add(rng, to, []int{31})
				if err := c.check(t, x, x, dev, dev); err != nil {
					t.Errorf("%s: %v", c.text(), err)
				}
			}
		}
	})
}

// TestFusedZeros checks operations on a zero that a driver knows: the difference of an int and itself.
func TestFusedZeros(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(1, 2))
		for _, to := range sampled([]tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64}, 4) {
			if to == tensor.F64 && !dev.Info().Features.F64 {
				continue
			}
			for _, op := range []spec.Call{ops.Add{}, ops.Sub{}, ops.Mul{}, ops.Div{}, ops.Pow{}, ops.Maximum{}} {
				for _, args := range [][]int{{3, 3}, {3, 1}, {1, 3}} {
					c := &chain{fused: fusion.Fused{
						Strict: true,
						Calls:  []spec.Call{ops.Sub{}, ops.Cast{To: to}, op},
						Args:   [][]int{{0, 0}, {2}, args}, Outs: []int{4},
					}}
					c.add(rng, tensor.I32, []int{37, 31})
					c.add(rng, to, []int{37, 31})
					if err := c.check(t, x, x, dev, dev); err != nil {
						t.Errorf("%s: %v", c.text(), err)
					}
				}
			}
		}
	})
}

// TestFusedInPlace checks that a result may overwrite an input of its shape.
func TestFusedInPlace(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		x, err := exec.New(dev)
		if err != nil {
			t.Fatal(err)
		}
		rng := rand.New(rand.NewPCG(3, 4))
		for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
			c := &chain{fused: fusion.Fused{Calls: []spec.Call{ops.Add{}, ops.Mul{}, ops.ReLU{}}, Args: [][]int{{0, 1}, {2, 0}, {3}}, Outs: []int{4}}}
			c.add(rng, d, []int{301, 37})
			c.in[0].Strides = nil
			c.add(rng, d, []int{37})
			in := []exec.Operand{memory(t, dev, c.data[0].Data, c.in[0]), memory(t, dev, c.data[1].Data, c.in[1])}
			out, err := c.run(t, x, dev, c.fused, in)
			if err != nil {
				t.Fatal(err)
			}
			if err := x.Run(t.Context(), c.fused, in, in[:1]); err != nil {
				t.Fatal(err)
			}
			want, got := make([]byte, c.in[0].Bytes()), make([]byte, c.in[0].Bytes())
			for data, o := range map[*[]byte]exec.Operand{&want: out[0], &got: in[0]} {
				if err := x.Read(t.Context(), o.Buffer, 0, *data); err != nil {
					t.Fatal(err)
				}
			}
			if !bytes.Equal(want, got) || bytes.Equal(got, c.data[0].Data) {
				t.Errorf("%v: in place the result is another one, or none", d)
			}
		}
	})
}
