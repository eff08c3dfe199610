package conformance

import (
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// lookup is an operation with indices. out = 2·index for indices from 0 to 9. Only the
// device finds other indices. Its kernel stands in for a kernel with two inputs and an
// output. The second input is the status words.
type lookup struct{ op *spec.Op }

func (c lookup) Spec() *spec.Op { return c.op }

const addKernel = "test/gputest_add.f32"

type countParams struct{ Count uint32 }

func newLookup() *spec.Op {
	op := &spec.Op{
		Name: "lookup", Group: "demo", In: []spec.Arg{{Name: "indices"}}, Out: []spec.Arg{{Name: "out"}},
		WritesAll: true,
	}
	op.Defaults = lookup{op}
	op.Shape = func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := op.CheckInputs(len(in)); err != nil {
			return nil, err
		}
		if err := in[0].Check(); err != nil || in[0].DType != tensor.I32 || len(in[0].Shape) != 1 {
			return nil, fmt.Errorf("lookup: %w: %v (want i32[n]): %v", errs.ErrInvalidArgument, in[0], err)
		}
		return []tensor.Desc{tensor.Contiguous(tensor.F32, in[0].Shape...)}, nil
	}
	op.Plan = func(_ spec.Call, _ *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if !in[0].IsContiguous() || !out[0].IsContiguous() {
			return nil, fmt.Errorf("lookup: %w: strides", errs.ErrUnsupported)
		}
		if in[0].Elems() == 0 {
			return &spec.Plan{}, nil
		}
		return &spec.Plan{
			Steps: []spec.Step{{Module: free(addKernel), Params: countParams{uint32(in[0].Elems())}, Groups: [3]uint32{1, 1, 1},
				Bind: []spec.Bind{{Buf: spec.In(0)}, {Buf: spec.Status(0)}, {Buf: spec.Out(0)}}}},
			Checks: []spec.DeviceCheck{{Error: func(w [4]uint32) error {
				return fmt.Errorf("lookup: %w: index %d is out of range", errs.ErrInvalidArgument, ^w[0])
			}}},
		}, nil
	}
	op.Reference = func(_ spec.Call, in, out []*tensor.Host) {
		v := in[0].Floats()
		for i := range v {
			v[i] *= 2
		}
		out[0].SetFloats(v)
	}
	op.Tolerance = func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance { return spec.Tolerance{Why: "exact"} }
	op.Cases = spec.Cases{
		DTypes: []tensor.DType{tensor.F32}, Calls: []spec.Call{op.Defaults}, Dims: []spec.Dim{{Name: "n"}}, Sizes: [][]int{{100_000}},
		Inputs: func(_ spec.Call, _ tensor.DType, dims []int) []tensor.Desc {
			return []tensor.Desc{tensor.Contiguous(tensor.I32, dims...)}
		},
		Range: func(spec.Call, int, []tensor.Desc) (low, high float64) { return 0, 9 },
		Faults: func(tensor.DType) [][]*tensor.Host {
			var sets [][]*tensor.Host
			for _, v := range [][]float64{{1, 10, 2}, {-1}, {0, 0, 0, 0, 0, 0, math.MaxInt32}} {
				h, _ := tensor.FromFloats(tensor.I32, []int{len(v)}, v)
				sets = append(sets, []*tensor.Host{h})
			}
			return sets
		},
	}
	return op
}

// lookupKernel runs a lookup. Its fields break it in several ways.
type lookupKernel struct {
	most         int  // number of elements that it reads
	silent, loud bool // it reports no error, or an error for good calls too
	writes       bool // it writes the outputs although there is an error
}

func (k lookupKernel) run(x gpu.Dispatch, bufs [][]byte) error {
	le := binary.LittleEndian
	n := int(le.Uint32(x.Params))
	bad := k.loud
	at := 0
	for i := range n {
		if v := int32(le.Uint32(bufs[0][4*i:])); v < 0 || v > 9 {
			bad, at = true, i
		}
	}
	if bad && !k.silent {
		le.PutUint32(bufs[1], ^uint32(at))
	}
	for i := 0; i < n && (!bad || k.writes); i++ {
		if k.most == 0 || i < k.most {
			le.PutUint32(bufs[2][4*i:], math.Float32bits(2*float32(int32(le.Uint32(bufs[0][4*i:])))))
		}
	}
	return nil
}

func TestHarnessCatchesFaults(t *testing.T) {
	for name, c := range map[string]struct {
		kernel      lookupKernel
		op          func(*spec.Op)
		want, cases string
	}{
		"nothing wrong":       {},
		"reports nothing":     {kernel: lookupKernel{silent: true}, want: "was accepted", cases: "fault0-sync"},
		"reports to no read":  {kernel: lookupKernel{silent: true}, want: "was accepted", cases: "fault1-read"},
		"writes all the same": {kernel: lookupKernel{writes: true}, want: "yet changed", cases: "fault2-sync"},
		"reports good calls":  {kernel: lookupKernel{loud: true}, want: "out of range", cases: "plain"},
		"stops too soon":      {kernel: lookupKernel{most: 65535}, want: "got", cases: "n=100000"},
		"wrong sentinel": {want: "want invalid argument", cases: "fault0-sync", op: func(op *spec.Op) {
			plan := op.Plan
			op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
				p, err := plan(c, t, in, out)
				if err == nil {
					p.Checks[0].Error = func([4]uint32) error { return errs.ErrType }
				}
				return p, err
			}
		}},
		"refused before the device sees it": {want: "which it should accept", cases: "fault0", op: func(op *spec.Op) {
			faults := op.Cases.Faults
			op.Cases.Faults = func(d tensor.DType) [][]*tensor.Host {
				return append([][]*tensor.Host{{tensor.NewHost(tensor.Contiguous(tensor.F32, 3))}}, faults(d)...)
			}
		}},
		"too wide a range": {want: "out of range", cases: "plain", op: func(op *spec.Op) {
			op.Cases.Range = func(spec.Call, int, []tensor.Desc) (low, high float64) { return 0, 10 }
		}},
	} {
		t.Run(name, func(t *testing.T) {
			op := newLookup()
			if c.op != nil {
				c.op(op)
			}
			d := null.New(nil)
			d.Kernels = map[string]null.Kernel{addKernel: c.kernel.run}
			rep, err := Run(t.Context(), d, Options{Ops: []*spec.Op{op}, Variants: []Variant{{Name: "plain"}}, noCopies: true})
			if err != nil {
				t.Fatal(err)
			}
			wantCaught(t, rep, c.want, c.cases)
		})
	}
}

// wantCaught checks that the report has a failure with want in its message and cases in
// its name. If want is empty, the report must have no failure.
func wantCaught(t *testing.T, rep *Report, want, cases string) {
	t.Helper()
	if want == "" {
		if !rep.OK() {
			t.Errorf("a right operation failed:\n%s", rep)
		}
		return
	}
	for _, r := range rep.Failures() {
		if strings.Contains(r.Message, want) && strings.Contains(r.Case, cases) {
			return
		}
	}
	t.Errorf("not caught: no failure of %q says %q\n%s", cases, want, rep)
}

// pair is an operation with two outputs: sum = a + b and twice = 2·a.
type pair struct{ op *spec.Op }

func (c pair) Spec() *spec.Op { return c.op }

func newPair() *spec.Op {
	op := &spec.Op{
		Name: "pair", Group: "demo", In: []spec.Arg{{Name: "a"}, {Name: "b"}, {Name: "unused", Optional: true}},
		Out:       []spec.Arg{{Name: "sum", InPlace: []int{0}}, {Name: "twice"}},
		WritesAll: true,
	}
	op.Defaults = pair{op}
	op.Shape = func(_ spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := op.CheckInputs(len(in)); err != nil {
			return nil, err
		}
		for _, d := range in {
			if err := d.Check(); err != nil || d.DType != tensor.F32 || !sameDesc(d, in[0]) {
				return nil, fmt.Errorf("pair: %w: %v: %v", errs.ErrInvalidArgument, in, err)
			}
		}
		out := tensor.Contiguous(tensor.F32, in[0].Shape...)
		return []tensor.Desc{out, out}, nil
	}
	op.Plan = func(_ spec.Call, _ *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if !in[0].IsContiguous() || !in[1].IsContiguous() || !out[0].IsContiguous() || !out[1].IsContiguous() {
			return nil, fmt.Errorf("pair: %w: strides", errs.ErrUnsupported)
		}
		p := &spec.Plan{}
		for _, s := range [][]spec.Bind{{{Buf: spec.In(0)}, {Buf: spec.In(0)}, {Buf: spec.Out(1)}}, {{Buf: spec.In(0)}, {Buf: spec.In(1)}, {Buf: spec.Out(0)}}} {
			if n := in[0].Elems(); n > 0 {
				p.Steps = append(p.Steps, spec.Step{Module: free(addKernel), Params: countParams{uint32(n)}, Groups: [3]uint32{1, 1, 1}, Bind: s})
			}
		}
		return p, nil
	}
	op.Reference = func(_ spec.Call, in, out []*tensor.Host) {
		a, b := in[0].Floats(), in[1].Floats()
		for i := range a {
			a[i], b[i] = 2*a[i], a[i]+b[i]
		}
		out[0].SetFloats(b)
		out[1].SetFloats(a)
	}
	op.Tolerance = func(spec.Call, tensor.DType, []tensor.Desc) spec.Tolerance {
		return spec.Tolerance{Rel: 0x1p-23, Why: "one rounding"}
	}
	op.Cases = spec.Cases{
		DTypes: []tensor.DType{tensor.F32}, Calls: []spec.Call{op.Defaults},
		Dims: []spec.Dim{{Name: "n"}, {Name: "inputs", Only: []int{2, 3}}}, Low: -1, High: 1, Specials: true,
		Inputs: func(_ spec.Call, d tensor.DType, dims []int) []tensor.Desc {
			var in []tensor.Desc
			for range dims[1] {
				in = append(in, tensor.Contiguous(d, dims[0]))
			}
			return in
		},
	}
	return op
}

// TestHarnessCatchesInPlaceOutputs has an operation with two outputs. Only the first one
// may be in place, because the second one is written before. The suite must find
// declarations that allow more.
func TestHarnessCatchesInPlaceOutputs(t *testing.T) {
	for name, c := range map[string]struct {
		sum, twice []int // the inputs that they are declared to overwrite
		cases      string
	}{
		"nothing wrong":      {sum: []int{0}},
		"either input":       {sum: []int{0, 1}},
		"all at once":        {sum: []int{0}, twice: []int{1}, cases: "/in-place/"},
		"the second alone":   {sum: []int{0}, twice: []int{1}, cases: "/in-place-twice/"},
		"its second input":   {twice: []int{0, 1}, cases: "/in-place-twice-over-b/"},
		"no claim, no cases": {},
	} {
		t.Run(name, func(t *testing.T) {
			op := newPair()
			op.Out[0].InPlace, op.Out[1].InPlace = c.sum, c.twice
			d := null.New(nil)
			d.Kernels = map[string]null.Kernel{addKernel: add}
			rep, err := Run(t.Context(), d, Options{Ops: []*spec.Op{op}, Quick: true, noCopies: true})
			if err != nil {
				t.Fatal(err)
			}
			if c.cases == "" {
				wantCaught(t, rep, "", "")
				return
			}
			wantCaught(t, rep, "got", c.cases)
			for _, r := range rep.Failures() {
				if !strings.Contains(r.Case, "in-place/") && !strings.Contains(r.Case, "in-place-twice") {
					t.Errorf("failed where it is right: %s: %s", r.Case, r.Message)
				}
			}
		})
	}
}

// add is the kernel of pair.
func add(x gpu.Dispatch, bufs [][]byte) error {
	le := binary.LittleEndian
	f := func(b []byte, i int) float32 { return math.Float32frombits(le.Uint32(b[4*i:])) }
	for i := range int(le.Uint32(x.Params)) {
		le.PutUint32(bufs[2][4*i:], math.Float32bits(f(bufs[0], i)+f(bufs[1], i)))
	}
	return nil
}

// TestHarnessCatchesRanks checks that an operation which accepts any rank is checked at
// several ranks.
func TestHarnessCatchesRanks(t *testing.T) {
	for rank, shape := range map[int]string{0: "shape=[]", 2: "shape=[4 3]", 8: "shape=[2 1 3 1 2 1 1 5]"} {
		op := newPair()
		plan := op.Plan
		op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if len(in[0].Shape) == rank {
				return &spec.Plan{}, nil
			}
			return plan(c, t, in, out)
		}
		d := null.New(nil)
		d.Kernels = map[string]null.Kernel{addKernel: add}
		rep, err := Run(t.Context(), d, Options{Ops: []*spec.Op{op}, Quick: true, noCopies: true})
		if err != nil {
			t.Fatal(err)
		}
		wantCaught(t, rep, "got NaN", shape)
	}
}
