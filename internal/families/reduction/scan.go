package reduction

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Scan describes running values along a dimension, such as cumulative sums, with attributes of type
// A.
type Scan[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Call returns attributes, and Attributes what attributes hold.
	Call       func(dim int, exclusive, reverse bool) A
	Attributes func(A) (dim int, exclusive, reverse bool)
	// Shader is the name of the kernels, which include lib/scan.glsl.
	Shader string
	// Identity is the result of no elements. Step returns a running value after an element, and Whole
	// that of integers.
	Identity float64
	Step     func(a, b float64) float64
	Whole    func(a, b int64) int64
	// Sum says that the reference corrects its own rounding errors.
	Sum bool
	// Low, High and Spread are those of Reduction.
	Low, High, Spread float64
	// Integers returns these bounds for integers that are neither I32 nor I64.
	Integers func(d tensor.DType) (low, high float64)
	// Tolerance returns the tolerance for n elements whose longest chain is h.
	Tolerance func(d tensor.DType, n int, h float64) spec.Tolerance
}

// scanParams is the push-constant block of lib/scan.glsl, which explains each field.
type scanParams struct {
	Outer, N, Inner, Base, Made, Begin, Chunks, Rows, Exclusive, Reverse, Begins uint32
}

// scanLength is the number of rows in a chunk.
const scanLength = 64

// scanDTypes are the dtypes of running values.
var scanDTypes = slices.Concat(planner.Floats, planner.Integers)

// scanChain bounds the number of steps between an element and a result.
func scanChain(n int) float64 {
	h := min(n, scanLength)
	for n > scanLength {
		n = planner.CeilDiv(n, scanLength)
		h += min(n, scanLength) + 1
	}
	return float64(h)
}

// scan appends the steps of running values to a plan.
type scan struct {
	t                  *spec.Target
	plan               *spec.Plan
	shader             string
	reverse, exclusive bool
}

// add appends the steps for a contiguous tensor of dtype d. The results go to out, in the dtype of
// accumulators.
func (s scan) add(d tensor.DType, v planner.AxisView, from, out spec.Ref) error {
	wide := planner.Accumulator(d)
	room := Room(s.t, tensor.F64, max(d.Size(), wide.Size()))
	if scanLength*v.Inner > room {
		return s.transposed(d, v, from, out)
	}
	begin, chunks := spec.Ref{}, planner.CeilDiv(v.N, scanLength)
	if chunks > 1 {
		size := int64(v.Outer) * int64(chunks) * int64(v.Inner) * int64(wide.Size())
		totals := planner.AddScratch(s.plan, size)
		begin = planner.AddScratch(s.plan, size)
		if err := s.launch(".total", d, v, room, from, spec.Ref{}, totals); err != nil {
			return err
		}
		before := s
		before.exclusive = true
		if err := before.add(wide, planner.AxisView{Outer: v.Outer, N: chunks, Inner: v.Inner}, totals, begin); err != nil {
			return err
		}
	}
	return s.launch("", d, v, room, from, begin, out)
}

// transposed is add for so many columns that a chunk exceeds a binding. The columns become rows
// before, and columns again afterwards.
func (s scan) transposed(d tensor.DType, v planner.AxisView, from, out spec.Ref) error {
	wide := planner.Accumulator(d)
	elems := int64(v.Outer) * int64(v.N) * int64(v.Inner)
	rows, made := planner.AddScratch(s.plan, elems*int64(d.Size())), planner.AddScratch(s.plan, elems*int64(wide.Size()))
	shape, across, packed := []int{v.Outer, v.Inner, v.N}, []int{v.N * v.Inner, 1, v.Inner}, []int{v.N * v.Inner, v.N, 1}
	if err := movement.AddCopy(s.plan, s.t, d, shape, planner.Operand{Ref: from, Strides: across}, planner.Operand{Ref: rows, Strides: packed}); err != nil {
		return err
	}
	if err := s.add(d, planner.AxisView{Outer: v.Outer * v.Inner, N: v.N, Inner: 1}, rows, made); err != nil {
		return err
	}
	return movement.AddCopy(s.plan, s.t, wide, shape, planner.Operand{Ref: made, Strides: packed}, planner.Operand{Ref: out, Strides: across})
}

// launch appends the launches of one kernel.
func (s scan) launch(variant string, d tensor.DType, v planner.AxisView, room int, from, begin, out spec.Ref) error {
	wide, chunks := planner.Accumulator(d), planner.CeilDiv(v.N, scanLength)
	r := planner.ChunkRoom{Elems: room, Accumulators: room, PerBlock: chunks * v.Inner, Unit: scanLength}
	return planner.Chunks(v, r, func(x planner.Chunk) error {
		own := planner.CeilDiv(x.N, scanLength)
		first, count := (x.Block*chunks+x.Row/scanLength)*v.Inner, x.Outer*own*x.Inner
		p := scanParams{Outer: uint32(x.Outer), N: uint32(x.N), Inner: uint32(x.Inner), Chunks: uint32(own), Rows: scanLength}
		if s.exclusive {
			p.Exclusive = 1
		}
		if s.reverse {
			p.Reverse = 1
		}
		src, base := planner.Window(s.t, from, d.Size(), int64(x.Start), int64(x.Elems()))
		start := src
		if begin.Kind != spec.RefNone {
			start, p.Begin = planner.WordWindow(s.t, begin, wide.Size(), first, count)
			p.Begins = 1
		}
		to, made := planner.Window(s.t, out, wide.Size(), int64(x.Start), int64(x.Elems()))
		if variant != "" {
			to, made = planner.Window(s.t, out, wide.Size(), int64(first), int64(count))
		}
		p.Base, p.Made = base, made
		groups, err := planner.Grid(s.t, int64(planner.CeilDiv(count, planner.SmallGroup)))
		s.plan.Steps = append(s.plan.Steps, spec.Step{
			Module: spirv.Kernel(s.shader + "." + d.String() + variant), Params: p, Bind: []spec.Bind{src, start, to}, Groups: groups,
		})
		return err
	})
}

// DefineScan declares running values along a dimension.
func DefineScan[A spec.Call](r Scan[A]) *spec.Op {
	spirv.LinkMove()
	spirv.LinkReduce()
	view := func(a A, d tensor.Desc) (planner.AxisView, error) {
		dim, _, _ := r.Attributes(a)
		k, err := planner.Axis(dim, len(d.Shape))
		if err != nil {
			return planner.AxisView{}, err
		}
		return planner.ViewAxis(d.Shape, k), nil
	}
	kernels := narrowKernels(scanDTypes)
	for _, variant := range []string{"", ".total"} {
		for _, d := range scanDTypes {
			if planner.Signed(d) == d {
				kernels = append(kernels, spec.Kernel{Name: r.Shader + "." + d.String() + variant, Params: scanParams{}})
			}
		}
	}
	def := spec.Definition[A]{
		Name: r.Name, Group: "reduce", Doc: r.Doc,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape but a scalar", DTypes: scanDTypes}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the shape of in"}},
		Traits:   spec.Traits{Class: spec.AxisWise, ONNX: r.ONNX},
		Defaults: r.Call(-1, false, false), Kernels: kernels,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if _, err := view(a, in[0]); err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0]); err != nil {
				return nil, err
			}
			plan, d := &spec.Plan{}, planner.Signed(in[0].DType) // Sums and products have the same bits.
			v, err := view(a, in[0])
			if err != nil || in[0].Elems() == 0 {
				return plan, err
			}
			_, exclusive, reverse := r.Attributes(a)
			s, out := scan{t: t, plan: plan, shader: r.Shader, exclusive: exclusive, reverse: reverse}, spec.Out(0)
			if wide := planner.Accumulator(d); wide != d {
				out = planner.AddScratch(plan, int64(in[0].Elems())*int64(wide.Size()))
			}
			if err := s.add(d, v, spec.In(0), out); err != nil || out == spec.Out(0) {
				return plan, err
			}
			return plan, addNarrow(plan, t, in[0].Elems(), out, spec.Out(0), d)
		},
		Reference: func(a A, in, out []*tensor.Host) {
			if v, err := view(a, in[0].Desc); err == nil {
				r.reference(a, v, in[0], out[0])
			}
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			v, err := view(a, in[0])
			if err != nil || isInteger(d) {
				return spec.Tolerance{Why: "integers are exact"}
			}
			tol := r.Tolerance(d, v.N, scanChain(v.N))
			tol.Any, tol.AnyLaw = 0, ""
			return tol
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: int64(in[0].Elems()), Bytes: 2 * in[0].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: scanDTypes,
			Calls:  []A{r.Call(-1, false, false), r.Call(1, true, false), r.Call(0, false, true), r.Call(-2, true, true)},
			Dims:   []spec.Dim{{Name: "outer"}, {Name: "n", Tiles: []int{scanLength}}, {Name: "inner", Tiles: []int{scanLength}}}, Sizes: AxisSizes,
			Inputs: planner.SameInputs[A](1),
			Bench:  planner.AllBenchCases(planner.BenchCases(r.Call(-1, false, false), 1), planner.BenchCases(r.Call(0, false, false), 1)),
			Low:    r.Low, High: r.High, Specials: true,
			Invalid: []A{r.Call(3, false, false), r.Call(-4, false, false)},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32)}, {tensor.Contiguous(tensor.Bool, 3)}},
		},
	}
	def.Cases.Range = func(a A, _ int, in []tensor.Desc) (low, high float64) {
		v, err := view(a, in[0])
		switch d := in[0].DType; {
		case isInteger(d) && d != tensor.I32 && d != tensor.I64:
			return r.Integers(d)
		case isInteger(d) && r.Spread > 0:
			return -3, 3
		case err != nil || r.Spread == 0:
			return r.Low, r.High
		}
		w := r.Spread / float64(max(v.N, 1))
		return max(1-w, r.Low), min(1+w, r.High)
	}
	return spec.Define(def)
}

// reference computes the running values in float64, and those of integers exactly.
func (r Scan[A]) reference(a A, v planner.AxisView, in, out *tensor.Host) {
	_, exclusive, reverse := r.Attributes(a)
	x := in.Floats()
	EachColumn(v, func(at func(int) int) {
		running, lost, whole := r.Identity, 0.0, int64(r.Identity)
		value := func() float64 {
			switch {
			case isInteger(in.DType):
				return planner.Number(in.DType, planner.Wrap(in.DType, whole))
			case r.Sum && !math.IsInf(running, 0) && !math.IsNaN(running):
				return running + lost
			}
			return running
		}
		for k := range v.N {
			if reverse {
				k = v.N - 1 - k
			}
			own := x[at(k)]
			if exclusive {
				x[at(k)] = value()
			}
			next := r.Step(running, own)
			if r.Sum {
				lost += rounding(running, own, next)
			}
			running, whole = next, r.Whole(whole, planner.Whole(in.DType, own))
			if !exclusive {
				x[at(k)] = value()
			}
		}
	})
	out.SetFloats(x)
}

// runningSum names the kernels of AddRunningSums.
const runningSum = "reduce/cum_sum.i32"

// RunningSumKernels lists the kernels of AddRunningSums.
func RunningSumKernels() []spec.Kernel {
	return []spec.Kernel{{Name: runningSum, Params: scanParams{}}, {Name: runningSum + ".total", Params: scanParams{}}}
}

// AddRunningSums appends to a plan the launches that make the sums of n words up to each word, with
// the word itself. Its package links the kernels: spirv.LinkReduce.
// Errors: *LimitError.
func AddRunningSums(plan *spec.Plan, t *spec.Target, n int, from, to spec.Ref) error {
	s := scan{t: t, plan: plan, shader: "reduce/cum_sum"}
	return s.add(tensor.I32, planner.AxisView{Outer: 1, N: n, Inner: 1}, from, to)
}
