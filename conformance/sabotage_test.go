package conformance

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/extra"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// A suite that cannot fail proves nothing. These tests run an operation whose
// kernel is a Go function, first as it should be, then broken in every way the
// suite claims to see.

// The kernel stands in for this shader. It has its bindings and parameters.
const kernelName = "demo/saxpy.f32"

// free returns the module of a kernel that belongs to no operation.
func free(name string) *gpu.Module {
	m, err := extra.Module(name)
	if err != nil {
		panic(err)
	}
	return m
}

type kernelParams struct {
	N uint32
	A float32 // 1 for U8
}

// victim computes y = √x for F32 and 255 − x for U8.
type victim struct {
	Bad bool `attr:"bad" doc:"an attribute that must be refused"`
	op  *spec.Op
}

func (v victim) Spec() *spec.Op { return v.op }

func newVictim() *spec.Op {
	op := &spec.Op{
		Name: "victim", Group: "demo",
		In: []spec.Arg{{Name: "x"}}, Out: []spec.Arg{{Name: "y", InPlace: []int{0}}},
		WritesAll: true,
	}
	op.Defaults = victim{op: op}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if len(in) != 1 || len(in[0].Shape) != 2 || c.(victim).Bad {
			return nil, fmt.Errorf("victim: %w: inputs %v, bad %v", errs.ErrInvalidArgument, in, c.(victim).Bad)
		}
		if err := in[0].Check(); err != nil {
			return nil, err
		}
		if d := in[0].DType; d != tensor.F32 && d != tensor.U8 {
			return nil, fmt.Errorf("victim: %w: %v", errs.ErrUnsupported, d)
		}
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if !in[0].IsContiguous() || !out[0].IsContiguous() {
			return nil, fmt.Errorf("victim: %w: strides", errs.ErrUnsupported)
		}
		n := in[0].Elems()
		if n == 0 {
			return &spec.Plan{}, nil
		}
		p := kernelParams{}
		if in[0].DType == tensor.U8 {
			p.A = 1
		}
		plan, size := &spec.Plan{}, in[0].DType.Size()
		chunk := int(t.MaxBinding/256*256) / size // This is the number of elements that a binding holds.
		for first := 0; first < n; first += chunk {
			p.N = uint32(min(chunk, n-first))
			b := spec.Bind{Offset: int64(first * size)}
			if first+chunk < n {
				b.Size = int64(chunk * size)
			}
			x, y := b, b
			x.Buf, y.Buf = spec.In(0), spec.Out(0)
			plan.Steps = append(plan.Steps, spec.Step{Module: free(kernelName), Params: p, Groups: [3]uint32{1, 1, 1}, Bind: []spec.Bind{x, y}})
		}
		return plan, nil
	}
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		v := in[0].Floats()
		for i := range v {
			if in[0].DType == tensor.U8 {
				v[i] = 255 - v[i]
			} else {
				v[i] = math.Sqrt(v[i])
			}
		}
		out[0].SetFloats(v)
	}
	op.Tolerance = func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance {
		return spec.Tolerance{Rel: 1e-6, Why: "one rounding"}
	}
	op.Cost = func(c spec.Call, in []tensor.Desc) spec.Cost { return spec.Cost{Flops: int64(in[0].Elems())} }
	op.Cases = spec.Cases{
		DTypes: []tensor.DType{tensor.F32, tensor.U8},
		Calls:  []spec.Call{op.Defaults},
		Dims:   []spec.Dim{{Name: "H"}, {Name: "W", Tiles: []int{16}}},
		Inputs: func(_ spec.Call, d tensor.DType, dims []int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(d, dims...)}
		},
		Low: -0.25, High: 1, Specials: true,
		Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 3)}, {tensor.Contiguous(tensor.I64, 3, 3)}},
		Invalid: []spec.Call{victim{op: op, Bad: true}},
	}
	return op
}

// elementwise is the right kernel. spoil may change each element.
func elementwise(spoil func(i, n int, v float64, bytes bool) (_ float64, write bool)) null.Kernel {
	return func(d gpu.Dispatch, bufs [][]byte) error {
		n := int(binary.LittleEndian.Uint32(d.Params))
		bytes := binary.LittleEndian.Uint32(d.Params[4:]) != 0
		x, y := bufs[0], bufs[1]
		for i := range n {
			var v float64
			if bytes {
				v = 255 - float64(x[i])
			} else {
				v = math.Sqrt(float64(math.Float32frombits(binary.LittleEndian.Uint32(x[4*i:]))))
			}
			v, write := spoil(i, n, v, bytes)
			switch {
			case !write:
			case bytes:
				y[i] = byte(v)
			default:
				binary.LittleEndian.PutUint32(y[4*i:], math.Float32bits(float32(v)))
			}
		}
		return nil
	}
}

// meddler is a device that changes memory after each submission.
type meddler struct {
	*null.Device
	after func(d *null.Device, x gpu.Dispatch)
}

func (m meddler) Submit(list []gpu.Dispatch) error {
	err := m.Device.Submit(list)
	if err == nil {
		for _, x := range list {
			m.after(m.Device, x)
		}
	}
	m.Forget()
	return err
}

// poke inverts the byte at an offset from the start or the end of a binding's range.
func poke(d *null.Device, b gpu.Binding, fromEnd bool, by int64) {
	at := b.Offset + by
	if fromEnd {
		at = b.Offset + b.Size + by
	}
	one := make([]byte, 1)
	if d.Read(context.Background(), b.Buffer, at, one) == nil {
		one[0] ^= 0x10
		d.Write(context.Background(), b.Buffer, at, one)
	}
}

// atQuickLevels runs a test with the options of `lathe verify` and with those of `make
// test`. Both must find what is planted.
func atQuickLevels(t *testing.T, name string, f func(t *testing.T, opts Options)) {
	t.Run(name, func(t *testing.T) {
		t.Run("verify", func(t *testing.T) { f(t, Options{Quick: true, noCopies: true}) })
		seeds := uint64(1)
		if testlevel.IsFull() {
			seeds = 3
		}
		for seed := range seeds {
			t.Run(fmt.Sprintf("pairs, seed %d", seed+1), func(t *testing.T) {
				f(t, Options{Quick: true, Pairs: true, Seed: seed + 1, noCopies: true})
			})
		}
	})
}

func TestHarnessCatchesSabotage(t *testing.T) {
	testlevel.Turn(t, 5)
	fair := func(i, n int, v float64, _ bool) (float64, bool) { return v, true }
	runs := 0
	for _, c := range []struct {
		name  string
		spoil func(i, n int, v float64, bytes bool) (float64, bool)
		after func(*null.Device, gpu.Dispatch)
		op    func(*spec.Op)
		want  string // part of a message, if the run must fail
		cases string // part of the case with that message
	}{
		{name: "nothing wrong"},
		{name: "off by one in the last element", want: "got", cases: "plain",
			spoil: func(i, n int, v float64, _ bool) (float64, bool) {
				if i == n-1 && n > 20 {
					v += 1
				}
				return v, true
			}},
		{name: "just outside the tolerance", want: "off by more than", cases: "plain",
			spoil: func(i, n int, v float64, bytes bool) (float64, bool) {
				if !bytes {
					v *= 1 + 2e-6
				}
				return v, true
			}},
		{name: "first element unwritten", want: "got", cases: "plain",
			spoil: func(i, n int, v float64, _ bool) (float64, bool) { return v, i > 0 || n < 5 }},
		{name: "bytes unwritten where the poison is right", want: "left unwritten", cases: "plain",
			spoil: func(i, n int, v float64, bytes bool) (float64, bool) { return v, !bytes || v != 255 }},
		{name: "swallows NaN", want: "NaN and infinities must match", cases: "plain",
			spoil: func(i, n int, v float64, _ bool) (float64, bool) {
				if v != v {
					v = 0
				}
				return v, true
			}},
		{name: "makes NaN", want: "NaN and infinities must match", cases: "plain",
			spoil: func(i, n int, v float64, bytes bool) (float64, bool) {
				if !bytes && i == n/2 {
					v = math.NaN()
				}
				return v, true
			}},
		{name: "infinity for NaN", want: "NaN and infinities must match", cases: "plain",
			spoil: func(i, n int, v float64, _ bool) (float64, bool) {
				if v != v {
					v = math.Inf(1)
				}
				return v, true
			}},
		{name: "not deterministic", want: "run again", cases: "plain",
			spoil: func(i, n int, v float64, bytes bool) (float64, bool) {
				if runs++; !bytes {
					v *= 1 + float64(runs%2)*3e-7
				}
				return v, true
			}},
		{name: "writes past the end", want: "past the end", cases: "plain",
			after: func(d *null.Device, x gpu.Dispatch) { poke(d, end(d, x.Bindings[1], x), true, 0) }},
		{name: "writes far past the end", want: "past the end", cases: "plain",
			after: func(d *null.Device, x gpu.Dispatch) { poke(d, end(d, x.Bindings[1], x), true, 1000) }},
		{name: "writes before the start", want: "before the start", cases: "plain",
			after: func(d *null.Device, x gpu.Dispatch) { poke(d, x.Bindings[1], false, -1) }},
		{name: "changes its input", want: "changed an input", cases: "plain",
			after: func(d *null.Device, x gpu.Dispatch) { poke(d, x.Bindings[0], false, 0) }},
		{name: "accepts a bad attribute", want: "was accepted", cases: "refuse-attributes",
			op: func(op *spec.Op) {
				shape := op.Shape
				op.Shape = func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) { return shape(op.Defaults, in) }
			}},
		{name: "wrong sentinel", want: "got error", cases: "refuse-attributes",
			op: func(op *spec.Op) {
				shape := op.Shape
				op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
					if c.(victim).Bad {
						return nil, errs.ErrType
					}
					return shape(c, in)
				}
			}},
		{name: "ignores strides", want: "", cases: "strided", op: flattened},
		{name: "ignores the order of dimensions", want: "got", cases: "transposed", op: flattened},
		{name: "ignores repetition", want: "", cases: "broadcast", op: flattened},
		{name: "swallows infinity", want: "NaN and infinities must match", cases: "/infs",
			spoil: func(i, n int, v float64, _ bool) (float64, bool) {
				return min(v, math.MaxFloat32), true
			}},
		{name: "swallows one infinity", want: "NaN and infinities must match", cases: "/inf-in0",
			spoil: func(i, n int, v float64, _ bool) (float64, bool) {
				return min(v, math.MaxFloat32), true
			}},
		{name: "takes subnormals for NaN", want: "NaN and infinities must match", cases: "/subnormals",
			spoil: func(i, n int, v float64, _ bool) (float64, bool) {
				if v > 0 && v < 1e-19 {
					v = math.NaN()
				}
				return v, true
			}},
		{name: "flushes subnormals", // Devices may do that.
			spoil: func(i, n int, v float64, _ bool) (float64, bool) {
				if v > 0 && v*v < 0x1p-126 {
					v = 0
				}
				return v, true
			}},
		{name: "accepts refused inputs", want: "was accepted", cases: "refuse-inputs0",
			op: func(op *spec.Op) {
				op.Cases.Refused = [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 3, 3)}}
			}},
		{name: "accepts a dtype it has no cases for", want: "Cases.DTypes lacks", cases: "refuse-other-dtypes",
			op: func(op *spec.Op) { op.Cases.DTypes = op.Cases.DTypes[:1] }},
		{name: "a call without cases", want: "no inputs of Cases suit", cases: "prepare",
			op: func(op *spec.Op) { op.Cases.Calls = append(op.Cases.Calls, victim{op: op, Bad: true}) }},
		{name: "launches for nothing", want: "range", cases: "=0",
			op: func(op *spec.Op) {
				op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
					return &spec.Plan{Steps: []spec.Step{{
						Module: free(kernelName), Params: kernelParams{N: uint32(in[0].Elems())}, Groups: [3]uint32{1, 1, 1},
						Bind: []spec.Bind{{Buf: spec.In(0)}, {Buf: spec.Out(0)}},
					}}}, nil
				}
			}},
		{name: "plan that panics", want: "panicked", cases: "plain",
			op: func(op *spec.Op) {
				op.Plan = func(spec.Call, *spec.Target, []tensor.Desc, []tensor.Desc) (*spec.Plan, error) { panic("no plan") }
			}},
		{name: "reference that panics", want: "panicked", cases: "prepare",
			op: func(op *spec.Op) {
				op.Reference = func(spec.Call, []*tensor.Host, []*tensor.Host) { panic("no reference") }
			}},
	} {
		atQuickLevels(t, c.name, func(t *testing.T, opts Options) {
			runs = 0
			op := newVictim()
			if c.op != nil {
				c.op(op)
			}
			spoil := c.spoil
			if spoil == nil {
				spoil = fair
			}
			d := null.New(nil)
			d.Kernels = map[string]null.Kernel{kernelName: elementwise(spoil)}
			after := c.after
			if after == nil {
				after = func(*null.Device, gpu.Dispatch) {}
			}
			opts.Ops = []*spec.Op{op}
			rep, err := Run(t.Context(), meddler{d, after}, opts)
			if err != nil {
				t.Fatal(err)
			}
			if c.cases == "" {
				if !rep.OK() {
					t.Fatalf("a right operation failed:\n%s", rep)
				}
				if rep.Count(Pass) < 50 || !opts.Pairs && rep.Count(Unsupported) == 0 {
					t.Fatalf("%d cases passed, %d unsupported (strides), expected more:\n%s", rep.Count(Pass), rep.Count(Unsupported), rep)
				}
				return
			}
			caught := slices.ContainsFunc(rep.Failures(), func(r Row) bool {
				return strings.Contains(r.Message, c.want) && strings.Contains(r.Case, c.cases)
			})
			if !caught {
				t.Fatalf("not caught: no failure of %q says %q\n%s", c.cases, c.want, rep)
			}
			if d.Allocated() != 0 {
				t.Errorf("the suite left %d bytes allocated", d.Allocated())
			}
		})
	}
}

// flattened breaks an operation. It declares that it works with any strides, but its plan
// treats all operands as contiguous.
func flattened(op *spec.Op) {
	op.In[0].Strides, op.Out[0].Strides = spec.AnyStrides, spec.AnyStrides
	plan := op.Plan
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		flat := []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}
		return plan(c, t, flat, flat)
	}
}

// end returns the binding with its size. An operand ends before its guard zone, even if
// the range is longer.
func end(d *null.Device, b gpu.Binding, x gpu.Dispatch) gpu.Binding {
	b.Size = int64(binary.LittleEndian.Uint32(x.Params))
	if binary.LittleEndian.Uint32(x.Params[4:]) == 0 {
		b.Size *= 4
	}
	return b
}

// TestHarnessCatchesBadInPlace has an operation that is right out of place and wrong in
// place. It is found whether or not rounding may depend on strides.
func TestHarnessCatchesBadInPlace(t *testing.T) {
	for _, rounds := range []bool{false, true} {
		testBadInPlace(t, rounds)
	}
}

func testBadInPlace(t *testing.T, rounds bool) {
	op := newVictim()
	op.Out[0].RoundsByStrides = rounds
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		v := in[0].Floats()
		w := slices.Clone(v)
		for i := 1; i < len(v); i++ {
			w[i] = v[i-1]
		}
		out[0].SetFloats(w)
	}
	d := null.New(nil)
	d.Kernels = map[string]null.Kernel{kernelName: func(x gpu.Dispatch, bufs [][]byte) error {
		n := int(binary.LittleEndian.Uint32(x.Params))
		size := 4
		if binary.LittleEndian.Uint32(x.Params[4:]) != 0 {
			size = 1
		}
		copy(bufs[1][:size], bufs[0][:size])
		for i := size; i < n*size; i++ { // In place, this copies the first element to all others.
			bufs[1][i] = bufs[0][i-size]
		}
		return nil
	}}
	rep, err := Run(t.Context(), d, Options{Ops: []*spec.Op{op}, Quick: true, noCopies: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rep.Failures() {
		if !strings.Contains(r.Case, "/in-place/") {
			t.Errorf("failed out of place: %s: %s", r.Case, r.Message)
		}
	}
	if rep.Count(Fail) == 0 {
		t.Errorf("not caught:\n%s", rep)
	}
}

func TestFlips(t *testing.T) {
	for _, c := range []struct {
		every int // one of that many elements is wrong
		ok    bool
	}{{0, true}, {400, true}, {20, false}} {
		op := newVictim()
		op.Tolerance = func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Rel: 1e-6, Flips: 0.01, Why: "a test"}
		}
		d := null.New(nil)
		d.Kernels = map[string]null.Kernel{kernelName: elementwise(func(i, n int, v float64, bytes bool) (float64, bool) {
			if c.every > 0 && i%c.every == c.every-1 && v == v {
				return 77, true
			}
			return v, true
		})}
		rep, err := Run(t.Context(), d, Options{Ops: []*spec.Op{op}, Quick: true, noCopies: true})
		if err != nil {
			t.Fatal(err)
		}
		if rep.OK() != c.ok {
			t.Errorf("1 of %d elements flipped, 1 of 100 allowed: OK is %v\n%s", c.every, rep.OK(), rep)
		}
	}
}
