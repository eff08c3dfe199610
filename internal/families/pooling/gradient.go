package pooling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	maxGradShader = "nn/max_pool_grad"
	avgGradShader = "nn/avg_pool_grad"
)

// Gradient describes the gradient of a pooling with respect to its input, with attributes of
// type A. The inputs are the input of the pooling, unless only its size counts, and the gradient
// of its result.
type Gradient[A spec.Call] struct {
	// Name and Doc are those of spec.Definition.
	Name, Doc string
	// Defaults are the default attributes.
	Defaults A
	// Windows returns the windows of a call.
	Windows func(A) Windows
	// Size, if set, returns the spatial size of the input of the pooling, which is no input then.
	Size func(A) []int
	// Cases has the calls and sizes to try.
	Cases spec.CasesOf[A]

	kernels []spec.Kernel
	add     func(a A, plan *spec.Plan, t *spec.Target, d tensor.DType, g geometry) error
	// share adds the gradient dy of a window to those of its elements.
	share func(a A, w windowValues, dy float64, dx []float64)
	why   string
}

// MaxGradient completes o as the gradient of a maximum. It goes to the first of equal elements.
func MaxGradient[A spec.Call](o Gradient[A]) Gradient[A] {
	o.kernels = append(kernels(maxShader, poolParams{}, planner.Floats...), kernels(maxGradShader, gatherParams{}, planner.Floats...)...)
	o.add = func(_ A, plan *spec.Plan, t *spec.Target, d tensor.DType, g geometry) error {
		windows := int64(g.planes * area(g.out))
		values, largest := planner.AddScratch(plan, windows*int64(d.Size())), planner.AddScratch(plan, windows*4)
		if err := addPool(plan, t, maxShader, d, g, poolParams{IndexWords: 1}, spec.In(0), values, largest); err != nil {
			return err
		}
		return addGather(plan, t, maxGradShader, d, g, d.Size(), spec.In(1), spec.Out(0), largest)
	}
	o.share = func(_ A, w windowValues, dy float64, dx []float64) {
		if _, i := largestOf(w); i >= 0 {
			dx[i] += dy
		}
	}
	o.why = "the gradients of the windows around an element"
	return o
}

// MeanGradient completes o as the gradient of a mean. includePad is that of Mean.
func MeanGradient[A spec.Call](o Gradient[A], includePad func(A) bool) Gradient[A] {
	o.kernels = append(kernels(scaleShader, poolParams{}, planner.Floats...), kernels(avgGradShader, gatherParams{}, planner.Floats...)...)
	o.add = func(a A, plan *spec.Plan, t *spec.Target, d tensor.DType, g geometry) error {
		wide := planner.Accumulator(d).Size()
		scaled := planner.AddScratch(plan, int64(g.planes*area(g.out)*wide))
		if err := addScale(plan, t, d, g, meanParams(g, includePad(a)), spec.In(0), scaled); err != nil {
			return err
		}
		return addGather(plan, t, avgGradShader, d, g, wide, scaled, spec.Out(0), spec.Ref{})
	}
	o.share = func(a A, w windowValues, dy float64, dx []float64) {
		n := len(w.values)
		if includePad(a) {
			n = w.all
		}
		for _, i := range w.positions {
			dx[i] += dy / float64(n)
		}
	}
	o.why = "the gradients of the windows around an element, each divided by a number of elements"
	return o
}

// DefineGradient declares the gradient of a pooling.
func DefineGradient[A spec.Call](o Gradient[A]) *spec.Op {
	spirv.LinkNN()
	args := []spec.Arg{
		{Name: "in", Doc: "[N,C,spatial...], the input of the pooling", DTypes: planner.Floats},
		{Name: "dy", Doc: "the gradient of the result of the pooling, of its shape and dtype", DTypes: planner.Floats},
	}
	if o.Size != nil {
		args = args[1:]
	}
	dy := len(args) - 1
	// shapeOf returns the shape of the input of the pooling.
	shapeOf := func(a A, in []tensor.Desc) []int {
		shape := in[0].Shape
		if o.Size != nil {
			shape = append(slices.Clone(shape[:min(len(shape), 2)]), o.Size(a)...)
		}
		return shape
	}
	geometryOf := func(a A, in []tensor.Desc) geometry {
		g, err := o.Windows(a).geometry(shapeOf(a, in))
		if err != nil {
			return geometry{}
		}
		return g
	}
	// inputsFor returns the inputs for a shape of the input of the pooling.
	inputsFor := func(a A, d tensor.DType, shape []int) []tensor.Desc {
		x := tensor.Contiguous(d, shape...)
		out, err := o.Windows(a).Output(x)
		if err != nil || x.Elems() > math.MaxInt32 {
			return nil
		}
		return []tensor.Desc{x, tensor.Contiguous(d, out...)}[1-dy:]
	}
	cases := o.Cases
	cases.DTypes, cases.Low, cases.High, cases.Specials = planner.Floats, -2, 2, true
	cases.Dims = poolDims
	cases.Inputs = func(a A, d tensor.DType, dims []int) []tensor.Desc {
		if o.Size != nil {
			// The reference takes long where there are many elements or taps.
			elems := dims[1]
			for _, n := range o.Size(a) {
				elems *= n
			}
			most := max((1<<20)/max(elems, 1), 2)
			if k := o.Windows(a).Kernel; len(k) > 0 && slices.Max(k) >= largeWindow {
				most = 2
			}
			planes := min(dims[0], most)
			return inputsFor(a, d, append([]int{planes, dims[1]}, o.Size(a)...))
		}
		if in := inputs(o.Windows(a), d, dims); in != nil {
			return inputsFor(a, d, in[0].Shape)
		}
		return nil
	}
	f := tensor.Contiguous
	cases.Refused = [][]tensor.Desc{
		{f(tensor.F32, 2, 3), f(tensor.F32, 2, 3)}, {f(tensor.F32, 1, 2, 8, 8), f(tensor.F32, 1, 2, 8, 8)},
		{f(tensor.F32, 1, 2, 8, 8), f(tensor.F16, 1, 2, 7, 7)}, {f(tensor.I32, 1, 2, 8, 8), f(tensor.I32, 1, 2, 7, 7)},
	}
	call := o.Cases.Calls[0]
	cases.Bench = func(d tensor.DType) []spec.BenchCase {
		return benchCases(call, func(shape []int) []tensor.Desc { return inputsFor(call, d, shape) })
	}
	if o.Size != nil {
		cases.Dims, cases.Sizes = []spec.Dim{{Name: "n"}, {Name: "channels", Only: []int{1, 2}}}, nil
		for i, in := range cases.Refused {
			cases.Refused[i] = in[1:]
		}
		cases.Bench = o.Cases.Bench
	}
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "nn", Doc: o.Doc,
		In:       args,
		Out:      []spec.Arg{{Name: "dx", Doc: "the gradient of in, of its shape and dtype"}},
		Traits:   spec.Traits{Class: spec.Reduction},
		Defaults: o.Defaults, Kernels: o.kernels,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			shape := shapeOf(a, in)
			want, err := o.Windows(a).Output(tensor.Contiguous(in[0].DType, shape...))
			if err != nil {
				return nil, err
			}
			if in[dy].DType != in[0].DType || !slices.Equal(in[dy].Shape, want) {
				return nil, planner.Invalid("input dy is %v (want %v)", in[dy], tensor.Contiguous(in[0].DType, want...))
			}
			out := tensor.Contiguous(in[0].DType, shape...)
			if int64(out.Elems()) >= math.MaxUint32 {
				return nil, planner.Unsupported("%v: its elements have no index of 32 bits", out)
			}
			return []tensor.Desc{out}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
				return plan, err
			}
			return plan, o.add(a, plan, t, in[0].DType, geometryOf(a, in))
		},
		Strategies: planner.FlatStrategies[A], SizeClass: planner.ElementCounts[A],
		Reference: func(a A, in, out []*tensor.Host) {
			// A mean needs no elements, but only their positions.
			x, k := make([]float64, out[0].Elems()), 0
			if o.Size == nil {
				x = in[0].Floats()
			}
			grad, dx := in[dy].Floats(), make([]float64, len(x))
			g, err := o.Windows(a).geometry(out[0].Shape)
			if err != nil {
				return
			}
			eachWindow(g, x, func(w windowValues) {
				o.share(a, w, grad[k], dx)
				k++
			})
			out[0].SetFloats(dx)
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			e, h := planner.AccumulatorEpsilon(d), 4.0
			for _, n := range geometryOf(a, in).around() {
				h += float64(n)
			}
			return spec.Tolerance{
				Abs: e*(4+h) + planner.Tiny(d), Rel: e*(4+math.Sqrt(h/3)) + planner.StoreEpsilon(d), Repeated: e * h * h,
				Law:         "ε·(4 + h) + ε·(4 + √(h/3)) of the value, h = 4 + the numbers of windows around an element along each dimension",
				RepeatedLaw: "ε·h²",
				Why:         o.why + " are added in rows, then the rows: each is rounded at most h times; equal ones in the same direction",
			}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			g := geometryOf(a, in)
			bytes := int64(g.planes*area(g.in)) * int64(in[0].DType.Size())
			for _, d := range in {
				bytes += d.Bytes()
			}
			return spec.Cost{Flops: int64(g.planes*area(g.out)) * int64(g.taps()), Bytes: bytes}
		},
		Cases: cases,
	})
}

// largestOf returns the largest element of a window and its position, which is −1 if the
// window has no elements.
func largestOf(w windowValues) (float64, int) {
	most, index := math.Inf(-1), -1
	for i, x := range w.values {
		if index < 0 || x > most || math.IsNaN(x) && !math.IsNaN(most) {
			most, index = x, w.positions[i]
		}
	}
	return most, index
}
