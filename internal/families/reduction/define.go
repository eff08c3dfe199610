package reduction

import (
	"path"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Reduction describes a reduction along any dimensions, with attributes of type A.
type Reduction[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Call returns the attributes for a list of dimensions. Attributes returns the list
	// that attributes hold. An empty list means all dimensions. With keep, the result has
	// size 1 in each reduced dimension, and without it these dimensions are dropped.
	Call       func(dims []int, keep bool) A
	Attributes func(A) (dims []int, keep bool)
	// Shader is the name of the kernels, "group/name", without dtype and variant. Their
	// accumulators hold one value.
	Shader string
	// Combine is the name of the kernels that combine results of Shader. Dimensions that
	// are not neighbours are reduced one after the other, and only the first pass reads
	// elements. Empty means that Shader combines its own results, as a sum does. A shader
	// that changes elements, for example a sum of squares, has to name other kernels here,
	// such as "reduce/reduce_sum". Sign and Mean are for these kernels too.
	Combine string
	// Values is the number of values of an accumulator, 1 if it is 0. With more, all passes use Shader,
	// and Last names the kernels that make a result of an accumulator.
	Values int
	Last   string
	// Final is the name of the kernels, "group/name", of a function of one element that results go
	// through at the end, such as a root. Finally computes it in float64. Empty means none.
	Final   string
	Finally func(float64) float64
	// Sign multiplies the elements before they are reduced and the results afterwards.
	Sign float32
	// Signless says that results of integers with and without a sign have the same bits, as those of a sum. The kernels for both
	// are those with a sign.
	Signless bool
	// Unsigned names the kernels for integers without a sign, if they are not those of Shader.
	Unsigned string
	// Mean says that each result is divided by the number of elements it was made of.
	Mean bool
	// Sum says that the reference is a sum of the elements as they are. It then corrects
	// its own rounding errors, and sums of integers wrap around.
	Sum bool
	// DTypes are the dtypes of the elements.
	DTypes []tensor.DType
	// Empty says that a reduction of no elements has a result. It is From.
	Empty bool
	// From is the value with which the reference begins. F combines it with each element.
	From float64
	F    func(a, b float64) float64
	// Whole is F for integers, which wrap. Nil means a sum, if Sum is set, and it is a sum too for kernels of Unsigned. Rows, if set, is the reference instead of F, for numbers that are no integers.
	Whole func(a, b int64) int64
	Rows  func(x []float64) float64
	// Sum64 says what becomes of integers, if they are not reduced as floats are.
	Sum64 *Sum64
	// Low and High bound the random inputs that are tried. If Spread is set, the inputs
	// are also within Spread/n of 1, where n elements are reduced to one.
	Low, High, Spread float64
	// Integers returns these bounds for integers. Nil means Low and High for those of I32 and I64, and all others whole.
	Integers func(d tensor.DType) (low, high float64)
	// Tolerance returns the tolerance of a result of n elements whose longest chain is h.
	// internal/planner explains chains. Results of integers are exact.
	Tolerance func(d tensor.DType, n int, h float64) spec.Tolerance
}

// Define declares a reduction.
func Define[A spec.Call](r Reduction[A]) *spec.Op {
	spirv.LinkReduce()
	spirv.LinkMove()
	f := Reducer{Shader: r.Shader, Values: max(r.Values, 1), Sign: r.Sign, Mean: r.Mean}
	call := func(dims ...int) A { return r.Call(dims, false) }
	keep := func(dims ...int) A { return r.Call(dims, true) }
	// set says for each dimension of shape whether a call reduces it.
	set := func(a A, shape []int) ([]bool, error) {
		dims, _ := r.Attributes(a)
		return dimensions(dims, len(shape))
	}
	d := spec.Definition[A]{
		Name: r.Name, Group: path.Dir(r.Shader), Doc: r.Doc,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape", DTypes: r.DTypes}},
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the same dtype, without the reduced dimensions, or with size 1 in their place"}},
		Traits:   spec.Traits{Class: spec.Reduction, ONNX: r.ONNX},
		Kernels:  r.withCombining(r.kernels(f)),
		Defaults: r.Call(nil, false),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			reduced, err := set(a, in[0].Shape)
			if err != nil {
				return nil, err
			}
			_, keep := r.Attributes(a)
			out := tensor.Contiguous(in[0].DType, reducedShape(in[0].Shape, reduced, keep)...)
			if !r.Empty && in[0].Elems() == 0 && out.Elems() > 0 {
				return nil, noIdentity(in[0])
			}
			return []tensor.Desc{out}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in[0]); err != nil {
				return nil, err
			}
			reduced, err := set(a, in[0].Shape)
			if err != nil {
				return nil, err
			}
			if r.Sum64 != nil && isInteger(in[0].DType) {
				return r.Sum64.plan(t, in[0], out[0], reduced)
			}
			f, from, to := f, in[0], out[0]
			f.Shader, from.DType = r.kernel(from.DType)
			to.DType = from.DType
			return f.plan(t, from, to, reduced, stages{r.Combine, r.Last, r.Final})
		},
		Strategies: Strategies[A],
		SizeClass: func(a A, in []tensor.Desc) []int {
			s, err := set(a, in[0].Shape)
			if err != nil {
				return nil
			}
			sizes, reduced := runs(in[0].Shape, s)
			first := 0 // This is 1 if the first run is reduced. The other runs alternate.
			if len(reduced) > 0 && reduced[0] {
				first = 1
			}
			return append([]int{first}, sizes...)
		},
		Reference: func(a A, in, out []*tensor.Host) {
			if s, err := set(a, in[0].Shape); err == nil {
				r.reference(in[0], out[0], s)
			}
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			s, err := set(a, in[0].Shape)
			if err != nil {
				s = make([]bool, len(in[0].Shape))
			}
			if isInteger(d) {
				return spec.Tolerance{Why: "integers are exact"}
			}
			return r.Tolerance(d, length(in[0].Shape, s), chainOf(in[0].Shape, s))
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			return spec.Cost{Flops: int64(in[0].Elems()), Bytes: in[0].Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: r.DTypes,
			Calls:  []A{call(), keep(-1), call(1), call(2, 0)},
			Dims:   []spec.Dim{{Name: "outer"}, {Name: "n", Tiles: []int{16}}, {Name: "inner", Tiles: []int{4, 8}}},
			Sizes: [][]int{
				{1, 65535, 1}, {1, 65536, 1}, {2, 100000, 1}, {1, 1000000, 1}, {2, 65535, 2}, {1, 65536, 4}, {2, 100000, 3}, {1, 1000000, 3},
				{100000, 2, 1}, {3, 5, 100000}, {2, 3, 150001}, {1, 5, 300000},
			},
			Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc {
				if !r.Empty && slices.Contains(dims, 0) {
					return nil
				}
				return []tensor.Desc{tensor.Contiguous(d, dims...)}
			},
			Bench: planner.AllBenchCases(planner.BenchCases(call(1), 1), planner.BenchCases(call(0), 1), planner.BenchCases(call(), 1)),
			Low:   r.Low, High: r.High, Specials: true,
			Invalid: []A{call(3), keep(-4), call(1, -2)},
		},
	}
	d.Kernels = append(d.Kernels, narrowKernels(r.DTypes)...)
	if r.Sum64 != nil {
		d.Kernels = r.Sum64.withKernels(d.Kernels)
	}
	for _, shader := range []string{r.Last, r.Final} {
		if shader != "" {
			d.Kernels = append(d.Kernels, lastKernels(shader, shader == r.Final)...)
		}
	}
	if r.Spread > 0 || slices.ContainsFunc(r.DTypes, isInteger) {
		d.Cases.Range = func(a A, _ int, in []tensor.Desc) (low, high float64) {
			s, err := set(a, in[0].Shape)
			switch d := in[0].DType; {
			case isInteger(d) && r.Integers != nil:
				return r.Integers(d)
			case isInteger(d) && d != tensor.I32 && d != tensor.I64:
				return planner.IntegerRange(d)
			case err != nil || r.Spread == 0:
				return r.Low, r.High
			}
			w := r.Spread / float64(max(length(in[0].Shape, s), 1))
			return max(1-w, r.Low), min(1+w, r.High)
		}
	}
	return spec.Define(d)
}

// kernel returns the shader of the kernels for elements of d, and the dtype by which they are named.
func (r Reduction[A]) kernel(d tensor.DType) (string, tensor.DType) {
	switch {
	case d == tensor.Bool:
		return r.Shader, tensor.U8
	case r.Unsigned != "" && planner.Signed(d) != d:
		return r.Unsigned, planner.Signed(d)
	case r.Signless:
		return r.Shader, planner.Signed(d)
	}
	return r.Shader, d
}

// types lists the dtypes of all elements but those for Sum64.
func (r Reduction[A]) types() []tensor.DType {
	if r.Sum64 == nil {
		return r.DTypes
	}
	return slices.DeleteFunc(slices.Clone(r.DTypes), isInteger)
}

// kernels lists the kernels that read elements.
func (r Reduction[A]) kernels(f Reducer) []spec.Kernel {
	own := map[string][]tensor.DType{}
	for _, d := range r.types() {
		if shader, d := r.kernel(d); !slices.Contains(own[shader], d) {
			own[shader] = append(own[shader], d)
		}
	}
	ks := f.Kernels(own[r.Shader]...)
	if r.Unsigned != "" {
		ks = append(ks, Reducer{Shader: r.Unsigned}.Kernels(own[r.Unsigned]...)...)
	}
	return ks
}

// withCombining returns kernels with those of Combine that are not among them. Their elements are accumulators.
func (r Reduction[A]) withCombining(ks []spec.Kernel) []spec.Kernel {
	if r.Combine == "" {
		return ks
	}
	var accumulators []tensor.DType
	for _, d := range r.types() {
		if a := planner.Accumulator(d); !slices.Contains(accumulators, a) {
			accumulators = append(accumulators, a)
		}
	}
	for _, k := range (Reducer{Shader: r.Combine}).Kernels(accumulators...) {
		if !slices.ContainsFunc(ks, func(o spec.Kernel) bool { return o.Name == k.Name }) {
			ks = append(ks, k)
		}
	}
	return ks
}

// isInteger reports whether d has integers.
func isInteger(d tensor.DType) bool { return !slices.Contains(planner.Floats, d) }
