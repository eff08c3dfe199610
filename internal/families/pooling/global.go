package pooling

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Global describes an operation that makes one element of each plane of a tensor
// [N,C,spatial...], with attributes of type A.
type Global[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Defaults are the default attributes.
	Defaults A
	// Calls and Invalid are those of spec.CasesOf.
	Calls, Invalid []A

	check     func(A) error
	kernels   []spec.Kernel
	add       func(a A, plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView, out spec.Ref) (spec.Ref, error)
	plane     func(a A, x []float64) float64
	tolerance func(a A, d tensor.DType, n int) spec.Tolerance
	flops     int64
}

// reduced completes o with the plan of a reducer.
func (o Global[A]) reduced(f reduction.Reducer) Global[A] {
	o.kernels, o.flops = f.Kernels(planner.Floats...), 1
	o.add = func(_ A, plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView, out spec.Ref) (spec.Ref, error) {
		f := f
		f.Divisor = v.N
		return reduction.Add(plan, t, f, d, v, out, spec.In(0))
	}
	return o
}

// GlobalMax completes o as the largest element.
func GlobalMax[A spec.Call](o Global[A]) Global[A] {
	o = o.reduced(reduction.Reducer{Shader: "reduce/reduce_max", Values: 1})
	o.plane = func(_ A, x []float64) float64 {
		most := math.Inf(-1)
		for _, v := range x {
			if most = math.Max(most, v); math.IsNaN(v) {
				return v
			}
		}
		return most
	}
	o.tolerance = func(_ A, d tensor.DType, n int) spec.Tolerance { return reduction.ExactTolerance(d, n, 0) }
	return o
}

// GlobalMean completes o as the mean.
func GlobalMean[A spec.Call](o Global[A]) Global[A] {
	o = o.reduced(reduction.Reducer{Shader: "reduce/reduce_sum", Values: 1, Mean: true})
	o.plane = func(_ A, x []float64) float64 {
		return reduction.Sum(len(x), func(i int) float64 { return x[i] }) / float64(len(x))
	}
	o.tolerance = func(_ A, d tensor.DType, n int) spec.Tolerance {
		return reduction.MeanTolerance(d, n, reduction.Chain(n))
	}
	return o
}

// GlobalNorm completes o as an Lp norm. power returns p. Planes are divided into windows of
// about as many elements as there are windows, and the sums of the windows are added.
func GlobalNorm[A spec.Call](o Global[A], power func(A) int) Global[A] {
	o.kernels, o.flops = append(kernels(sumsShader, poolParams{}, planner.Floats...), kernels(lpShader, poolParams{}, tensor.F32, tensor.F64)...), 8
	o.check = func(a A) error { return checkPower(power(a)) }
	o.add = func(a A, plan *spec.Plan, t *spec.Target, d tensor.DType, v planner.AxisView, out spec.Ref) (spec.Ref, error) {
		p, wide := power(a), planner.Accumulator(d)
		if out.Kind == spec.RefNone {
			out = planner.AddScratch(plan, int64(v.Outer*wide.Size()))
		}
		row := int(math.Ceil(math.Sqrt(float64(v.N))))
		g, err := Windows{Kernel: []int{row}, Strides: []int{row}, CeilMode: true}.geometry([]int{v.Outer, 1, v.N})
		if err != nil {
			return spec.Ref{}, err
		}
		sums := planner.AddScratch(plan, int64(v.Outer*g.out[2]*wide.Size()))
		if err := addPool(plan, t, sumsShader, d, g, poolParams{Power: powers(p, 1)}, spec.In(0), sums, spec.Ref{}); err != nil {
			return spec.Ref{}, err
		}
		g, err = Windows{Kernel: []int{g.out[2]}}.geometry([]int{v.Outer, 1, g.out[2]})
		if err != nil {
			return spec.Ref{}, err
		}
		return out, addPool(plan, t, lpShader, wide, g, poolParams{Power: powers(1, p)}, sums, out, spec.Ref{})
	}
	o.plane = func(a A, x []float64) float64 {
		p := float64(power(a))
		return math.Pow(reduction.Sum(len(x), func(i int) float64 { return math.Pow(math.Abs(x[i]), p) }), 1/p)
	}
	o.tolerance = func(a A, d tensor.DType, n int) spec.Tolerance {
		tol := normTolerance(d, power(a), 2*math.Ceil(math.Sqrt(float64(n)))+2)
		tol.Law = "ε·(24 + √(h/3)/p) of the value, h = 2·√n + 2, and elements whose power is subnormal may count as 0"
		return tol
	}
	return o
}

// DefineGlobal declares an operation that makes one element of each plane.
func DefineGlobal[A spec.Call](o Global[A]) *spec.Op {
	spirv.LinkNN()
	spirv.LinkReduce()
	rows := func(in tensor.Desc) planner.AxisView {
		v := planner.AxisView{Outer: in.Shape[0] * in.Shape[1], N: 1, Inner: 1}
		for _, n := range in.Shape[2:] {
			v.N *= n
		}
		return v
	}
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "nn", Doc: o.Doc,
		In:       []spec.Arg{{Name: "in", Doc: "[N,C,spatial...], with at least one spatial dimension", DTypes: planner.Floats}},
		Out:      []spec.Arg{{Name: "out", Doc: "[N,C,1...], an element for each plane, of the dtype of in"}},
		Traits:   spec.Traits{Class: spec.Reduction, ONNX: o.ONNX},
		Defaults: o.Defaults, Kernels: append(o.kernels, reduction.NarrowKernels()...),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if o.check != nil {
				if err := o.check(a); err != nil {
					return nil, err
				}
			}
			if len(in[0].Shape) < 3 {
				return nil, planner.Invalid("input in is %v (want [N,C,spatial...])", in[0])
			}
			v := rows(in[0])
			if v.N == 0 {
				return nil, planner.Invalid("%v has planes without elements", in[0])
			}
			if v.N > maxSize {
				return nil, planner.Unsupported("planes of %d elements (at most %d)", v.N, maxSize)
			}
			shape := []int{in[0].Shape[0], in[0].Shape[1]}
			for range in[0].Shape[2:] {
				shape = append(shape, 1)
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, shape...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan, v, d := &spec.Plan{}, rows(in[0]), in[0].DType
			if err := planner.CheckTarget(t, in...); err != nil || v.Outer == 0 {
				return plan, err
			}
			if planner.Accumulator(d) == d {
				_, err := o.add(a, plan, t, d, v, spec.Out(0))
				return plan, err
			}
			made, err := o.add(a, plan, t, d, v, spec.Ref{})
			if err != nil {
				return nil, err
			}
			return plan, reduction.AddNarrow(plan, t, v.Outer, made, spec.Out(0), d)
		},
		Strategies: reduction.Strategies[A], SizeClass: func(_ A, in []tensor.Desc) []int { return rows(in[0]).Sizes() },
		Reference: func(a A, in, out []*tensor.Host) {
			v, x := rows(in[0].Desc), in[0].Floats()
			made := make([]float64, v.Outer)
			for k := range made {
				made[k] = o.plane(a, x[k*v.N:(k+1)*v.N])
			}
			out[0].SetFloats(made)
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance { return o.tolerance(a, d, rows(in[0]).N) },
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: o.flops * int64(in[0].Elems()), Bytes: in[0].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: planner.Floats, Calls: o.Calls, Invalid: o.Invalid,
			Dims:  []spec.Dim{{Name: "planes"}, {Name: "height"}, {Name: "width", Tiles: []int{16}}},
			Sizes: [][]int{{1, 1, 65535}, {1, 1, 65536}, {2, 1000, 1000}, {100000, 2, 1}, {3, 1, 150001}},
			Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc {
				switch {
				case dims[1]*dims[2] == 0 || dims[1]*dims[2] > maxSize:
					return nil
				case dims[1] == 1:
					return []tensor.Desc{tensor.Contiguous(d, 1, dims[0], dims[2])}
				case dims[1]%3 == 0:
					return []tensor.Desc{tensor.Contiguous(d, dims[0], 1, dims[1]/3, dims[2], 3)}
				}
				return []tensor.Desc{tensor.Contiguous(d, 1, dims[0], dims[1], dims[2])}
			},
			Bench: planner.BenchCasesOf(o.Defaults, func(d tensor.DType, rows, columns int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(d, 1, rows, columns/16, 16)}
			}),
			Low: -1, High: 1, Specials: true,
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 2, 3)}, {tensor.Contiguous(tensor.F32, 2, 3, 0)}, {tensor.Contiguous(tensor.I32, 2, 3, 4)}},
		},
	})
}
