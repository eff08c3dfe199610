package pooling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	maxShader = "nn/max_pool"
	avgShader = "nn/avg_pool"
	lpShader  = "nn/lp_pool"
	// sumsShader is the part of lp_pool before the root, in the dtype of the accumulators.
	sumsShader = "nn/lp_pool_sums"
	// scaleShader divides the gradient of a mean by the number of elements.
	scaleShader = "nn/avg_pool_grad_scale"
)

// maxPower is the largest power of an Lp norm: kernels look at four bits of it.
const maxPower = 15

// Pool describes an operation that makes one element of each window, with attributes of
// type A.
type Pool[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Defaults are the default attributes.
	Defaults A
	// Windows returns the windows of a call.
	Windows func(A) Windows
	// Indices, if set, returns the dtype of the indices that are the second output.
	Indices func(A) tensor.DType
	// Check, if set, checks the other attributes.
	Check func(A) error
	// Cases has the calls and sizes to try. Define adds everything else.
	Cases spec.CasesOf[A]

	shader string
	// packs are kernels that make whole packs instead, where geometry.packs has a launch.
	packs     []spec.Kernel
	params    func(a A, g geometry) poolParams
	window    func(a A, w windowValues) (value float64, index int)
	tolerance func(a A, d tensor.DType, g geometry) spec.Tolerance
	flops     int64
}

// windowValues is what a reference sees of a window: its elements in the order of memory,
// their positions in the tensor, and the numbers of taps.
type windowValues struct {
	values    []float64
	positions []int
	// all is the number of taps that lie in the input or in its pads.
	all int
}

// Max completes o as a maximum. NaN is larger than all numbers, and of equal elements the
// first one counts.
func Max[A spec.Call](o Pool[A]) Pool[A] {
	o.shader, o.flops = maxShader, 1
	if o.Indices == nil {
		o.packs = packsKernels()
	}
	o.params = func(A, geometry) poolParams { return poolParams{} }
	o.window = func(_ A, w windowValues) (float64, int) { return largestOf(w) }
	o.tolerance = func(A, tensor.DType, geometry) spec.Tolerance {
		return spec.Tolerance{Why: "the result is one of the elements"}
	}
	return o
}

// Mean completes o as a mean. includePad says that pads count as elements that are 0.
func Mean[A spec.Call](o Pool[A], includePad func(A) bool) Pool[A] {
	o.shader, o.flops = avgShader, 1
	o.params = func(a A, g geometry) poolParams { return meanParams(g, includePad(a)) }
	o.window = func(a A, w windowValues) (float64, int) {
		n := len(w.values)
		sum := reduction.Sum(n, func(i int) float64 { return w.values[i] })
		if includePad(a) {
			n = w.all
		}
		return sum / float64(max(n, 1)), 0
	}
	o.tolerance = func(_ A, d tensor.DType, g geometry) spec.Tolerance {
		e, h := planner.AccumulatorEpsilon(d), g.chain()
		return spec.Tolerance{
			Abs: e*(4+h/4) + planner.Tiny(d), Rel: e*(4+math.Sqrt(h/3)) + planner.StoreEpsilon(d), Repeated: e * h,
			Law:         "ε·(4 + h/4) + ε·(4 + √(h/3)) of the value, h the sum of the sizes of a window and the number of its parts",
			RepeatedLaw: "ε·h",
			Why:         "elements are added in rows, then the rows: each is rounded at most h times; equal ones in the same direction",
		}
	}
	return o
}

// meanParams returns the parameters that say which coordinates count.
func meanParams(g geometry, includePad bool) (p poolParams) {
	for k, n := range g.in {
		p.High[k] = int32(n)
		if includePad {
			p.Low[k], p.High[k] = int32(-g.before[k]), int32(n+g.after[k])
		}
	}
	return p
}

// Norm completes o as an Lp norm. power returns p.
func Norm[A spec.Call](o Pool[A], power func(A) int) Pool[A] {
	check := o.Check
	o.shader, o.flops = lpShader, 8
	o.Check = func(a A) error {
		if err := checkPower(power(a)); err != nil {
			return err
		}
		if check != nil {
			return check(a)
		}
		return nil
	}
	o.params = func(a A, _ geometry) poolParams { return poolParams{Power: powers(power(a), power(a))} }
	o.window = func(a A, w windowValues) (float64, int) {
		p := float64(power(a))
		sum := reduction.Sum(len(w.values), func(i int) float64 { return math.Pow(math.Abs(w.values[i]), p) })
		return math.Pow(sum, 1/p), 0
	}
	o.tolerance = func(a A, d tensor.DType, g geometry) spec.Tolerance {
		return normTolerance(d, power(a), g.chain())
	}
	return o
}

// checkPower checks the attribute p.
func checkPower(p int) error {
	if p < 1 {
		return planner.Invalid("p %d (want at least 1)", p)
	}
	if p > maxPower {
		return planner.Unsupported("p %d (at most %d)", p, maxPower)
	}
	return nil
}

// powers is the parameter of lp_pool.comp: the power of the elements and the root of the sum.
func powers(power, root int) uint32 { return uint32(power | root<<4) }

// normTolerance is the tolerance of an Lp norm whose longest chain is h.
func normTolerance(d tensor.DType, p int, h float64) spec.Tolerance {
	e, n := planner.AccumulatorEpsilon(d), float64(p)
	// A subnormal power may be taken for 0, so values below the root of the least normal number
	// may vanish.
	least := math.Pow(planner.Tiny(d), 1/n)
	if d != tensor.F64 {
		least = math.Pow(planner.Tiny(tensor.F32), 1/n)
	}
	return spec.Tolerance{
		Abs: least*(2+h) + planner.Tiny(d), Rel: e*(24+math.Sqrt(h/3)/n) + planner.StoreEpsilon(d), Repeated: e * h,
		Law:         "ε·(24 + √(h/3)/p) of the value, h as for avg_pool, and elements whose power is subnormal may count as 0",
		RepeatedLaw: "ε·h",
		Why:         "nothing cancels: powers and sums are rounded, and the root divides that by p",
	}
}

// Define declares a pooling operation.
func Define[A spec.Call](o Pool[A]) *spec.Op {
	spirv.LinkNN()
	geometryOf := func(a A, in tensor.Desc) geometry {
		g, err := o.Windows(a).geometry(in.Shape)
		if err != nil {
			return geometry{}
		}
		return g
	}
	out := []spec.Arg{{Name: "out", Doc: "[N,C,spatial...], an element for each window, of the dtype of in"}}
	if o.Indices != nil {
		out = append(out, spec.Arg{Name: "indices", Doc: "of the shape of out: the number of the largest element in in, which is taken as flat"})
	}
	cases := o.Cases
	cases.DTypes, cases.Low, cases.High, cases.Specials = planner.Floats, -2, 2, true
	cases.Dims = poolDims
	cases.Inputs = func(a A, d tensor.DType, dims []int) []tensor.Desc {
		in := inputs(o.Windows(a), d, dims)
		if o.Indices != nil && in != nil && in[0].Elems() > math.MaxInt32 { // There are no such indices.
			return nil
		}
		return in
	}
	cases.Refused = [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 2, 3)}, {tensor.Contiguous(tensor.F32, 1, 2, 3, 4, 5, 6)}, {tensor.Contiguous(tensor.I32, 1, 2, 8, 8)}}
	cases.Bench = func(d tensor.DType) []spec.BenchCase {
		return benchCases(o.Cases.Calls[0], func(shape []int) []tensor.Desc { return []tensor.Desc{tensor.Contiguous(d, shape...)} })
	}
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "nn", Doc: o.Doc,
		In:       []spec.Arg{{Name: "in", Doc: "[N,C,spatial...], with 1 to 3 spatial dimensions", DTypes: planner.Floats}},
		Out:      out,
		Traits:   spec.Traits{Class: spec.Reduction, ONNX: o.ONNX},
		Defaults: o.Defaults, Kernels: append(kernels(o.shader, poolParams{}, planner.Floats...), o.packs...),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if o.Check != nil {
				if err := o.Check(a); err != nil {
					return nil, err
				}
			}
			shape, err := o.Windows(a).Output(in[0])
			if err != nil {
				return nil, err
			}
			made := []tensor.Desc{tensor.Contiguous(in[0].DType, shape...)}
			if o.Indices != nil {
				index := o.Indices(a)
				if index == tensor.I32 && in[0].Elems() > math.MaxInt32 || int64(in[0].Elems()) >= math.MaxUint32 {
					return nil, planner.Unsupported("%v: its elements have no index of %v", in[0], index)
				}
				made = append(made, tensor.Contiguous(index, shape...))
			}
			return made, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
				return plan, err
			}
			g := geometryOf(a, in[0])
			if step, ok := g.packs(t, in[0].DType, spec.In(0), spec.Out(0)); ok && o.packs != nil {
				plan.Steps = append(plan.Steps, step)
				return plan, nil
			}
			p, indices := o.params(a, g), spec.Ref{}
			if o.Indices != nil {
				p.IndexWords, indices = uint32(out[1].DType.Size()/4), spec.Out(1)
			}
			return plan, addPool(plan, t, o.shader, in[0].DType, g, p, spec.In(0), spec.Out(0), indices)
		},
		Strategies: planner.FlatStrategies[A], SizeClass: planner.ElementCounts[A],
		Reference: func(a A, in, out []*tensor.Host) {
			g, n := geometryOf(a, in[0].Desc), out[0].Elems()
			values, indices := make([]float64, 0, n), make([]float64, 0, n)
			eachWindow(g, in[0].Floats(), func(w windowValues) {
				v, i := o.window(a, w)
				values, indices = append(values, v), append(indices, float64(i))
			})
			out[0].SetFloats(values)
			if len(out) > 1 {
				out[1].SetFloats(indices)
			}
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return o.tolerance(a, d, geometryOf(a, in[0]))
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			g := geometryOf(a, in[0])
			n := int64(g.planes * area(g.out))
			bytes := in[0].Bytes() + n*int64(in[0].DType.Size())
			if o.Indices != nil {
				bytes += n * int64(o.Indices(a).Size())
			}
			return spec.Cost{Flops: o.flops * n * int64(g.taps()), Bytes: bytes}
		},
		Cases: cases,
	})
}

// poolDims are the free dimensions of operations over windows.
var poolDims = []spec.Dim{{Name: "planes"}, {Name: "height", Tiles: []int{8}}, {Name: "width", Tiles: []int{16}}}

// benchCases returns the cases of spec.CasesOf.Bench, with the inputs for a shape.
func benchCases(c spec.Call, in func(shape []int) []tensor.Desc) []spec.BenchCase {
	var list []spec.BenchCase
	for _, shape := range [][]int{{1, 4, 64, 64}, {1, 32, 128, 128}, {4, 64, 128, 128}} {
		list = append(list, spec.BenchCase{Call: c, In: in(shape)})
	}
	return list
}

// largeWindow is the least size of windows that get inputs not much larger than themselves.
const largeWindow = 200

// inputs returns an input for windows of one to three dimensions, or nil if it is too small.
// The sizes are those of Dims in Define.
func inputs(w Windows, d tensor.DType, dims []int) []tensor.Desc {
	shape := []int{1, dims[0], dims[1], dims[2]}
	large := len(w.Kernel) > 0 && slices.Max(w.Kernel) >= largeWindow
	switch {
	case large && len(w.Kernel) == 1:
		shape = []int{min(dims[0], 2), min(dims[1], 3), w.Kernel[0] - 1 + min(dims[2], 4)}
	case large:
		shape = []int{1, min(dims[0], 2), w.Kernel[0] - 1 + min(dims[1], 8), w.Kernel[1] - 1 + min(dims[2], 4)}
	case len(w.Kernel) == 1:
		shape = []int{dims[0], dims[1], dims[2]}
	case len(w.Kernel) == 3:
		shape = []int{dims[0], 1, 3, dims[1], dims[2]}
	}
	if _, err := w.geometry(shape); err != nil {
		return nil
	}
	return []tensor.Desc{tensor.Contiguous(d, shape...)}
}

// eachWindow calls f with each window of a tensor, in the order of the output.
func eachWindow(g geometry, x []float64, f func(windowValues)) {
	for plane := range g.planes {
		for o := range area(g.out) {
			at := []int{o / g.out[2] / g.out[1], o / g.out[2] % g.out[1], o % g.out[2]}
			w := windowValues{}
			var c [3]int
			var tap func(d, position int, inside bool)
			tap = func(d, position int, inside bool) {
				if d == 3 {
					w.all++
					if inside {
						w.values, w.positions = append(w.values, x[position]), append(w.positions, position)
					}
					return
				}
				for t := range g.kernel[d] {
					c[d] = at[d]*g.strides[d] + t*g.spacing[d] - g.before[d]
					if c[d] < g.in[d]+g.after[d] {
						tap(d+1, position*g.in[d]+c[d], inside && c[d] >= 0 && c[d] < g.in[d])
					}
				}
			}
			tap(0, plane, true)
			f(w)
		}
	}
}

// WindowCases returns calls and lists of sizes that suit most operations over windows. call
// makes attributes of windows.
func WindowCases[A spec.Call](call func(Windows) A) spec.CasesOf[A] {
	var c spec.CasesOf[A]
	for _, w := range []Windows{
		{Kernel: []int{2, 2}, Strides: []int{2, 2}},
		{Kernel: []int{3, 3}, Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}, CeilMode: true},
		{Kernel: []int{3}, Dilations: []int{2}, Pads: []int{0, 2}},
		{Kernel: []int{2, 3, 1}, Strides: []int{1, 2, 3}, Dilations: []int{2, 1, 1}, Pads: []int{1, 0, 0, 0, 2, 0}, CeilMode: true},
		{Kernel: []int{70000}, Strides: []int{2}, Pads: []int{1, 0}},
		{Kernel: []int{300, 250}, Strides: []int{3, 1}},
		{Kernel: []int{2, 2}, Dilations: []int{3, 3}, Pads: []int{1, 1, 3, 3}},
	} {
		c.Calls = append(c.Calls, call(w))
	}
	// Planes and rows longer than forced limits, and many planes.
	c.Sizes = [][]int{{1, 600, 1000}, {1, 3, 400_000}, {70_000, 3, 2}}
	for _, w := range []Windows{
		{}, {Kernel: []int{0, 2}}, {Kernel: []int{-1, 2}}, {Kernel: []int{2}}, {Kernel: []int{2, 2, 2, 2}}, {Kernel: []int{2, 2}, Strides: []int{0, 1}},
		{Kernel: []int{2, 2}, Strides: []int{1}}, {Kernel: []int{2, 2}, Dilations: []int{1, 0}}, {Kernel: []int{2, 2}, Dilations: []int{1, 1, 1}},
		{Kernel: []int{2, 2}, Pads: []int{1, 1}}, {Kernel: []int{2, 2}, Pads: []int{-1, 0, 0, 0}}, {Kernel: []int{2, 2}, Pads: []int{2, 0, 0, 0}},
		{Kernel: []int{2, 2}, Pads: []int{0, 0, 0, 2}},
	} {
		c.Invalid = append(c.Invalid, call(w))
	}
	return c
}
