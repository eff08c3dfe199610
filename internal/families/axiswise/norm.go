package axiswise

import (
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Norm describes a normalisation of rows with weights and offsets, with attributes of
// type A. Its kernels include lib/norm.glsl.
type Norm[A spec.Call] struct {
	// Name, Doc, Source and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc, Source string
	ONNX              []string
	// In are the input, the weights (gamma) and the offsets (beta). An operation may have
	// only the first one or two, and a call may leave out optional ones. A tensor of shape [0]
	// stands for one that is left out before others.
	In []spec.Arg
	// Defaults are the default attributes.
	Defaults A
	// Eps returns the number that is added to the variance or to the mean square.
	Eps func(A) float64
	// Axis returns the first of the dimensions that are normalised together.
	Axis func(A) int
	// Shader is the name of the kernels, "group/name". The reducer is Shader+"_stat". It
	// has accumulators of Values values.
	Shader string
	Values int
	// Longest is the longest row, in elements, that one invocation may reduce. In longer
	// rows, too many rounding errors add up.
	Longest int
	// Row normalises a row in float64. eps is the result of Eps.
	Row func(row []float64, eps float64)
	// Tolerance returns the tolerance for rows of n elements.
	Tolerance func(a A, d tensor.DType, n int) spec.Tolerance
	// Flops is the number of arithmetic operations for an element.
	Flops int64
	// Cases are the cases of the operation. DefineNorm adds dtypes, benchmarks, and values
	// from -2 to 2.
	Cases spec.CasesOf[A]
}

// normParams is the push-constant block of lib/norm_rows.glsl.
type normParams struct {
	Outer, N, Inner, Base, Last, Chunks, Chunk, Lanes, OutBase, First, Carry, Divisor uint32
	Sign, OutSign, Eps, EpsLow                                                        float32
}

// statReducer returns the reducer of a shader's statistics.
func statReducer(shader string, values int) reduction.Reducer {
	return reduction.Reducer{Shader: shader + "_stat", Values: values, RowsOnly: true}
}

// DefineNorm declares a normalisation. Its result may overwrite the input.
func DefineNorm[A spec.Call](o Norm[A]) *spec.Op {
	spirv.LinkNN()
	reducer := statReducer(o.Shader, o.Values)
	// view returns the rows of a call that Shape has accepted.
	view := func(a A, in tensor.Desc) planner.AxisView {
		k, err := planner.Axis(o.Axis(a), len(in.Shape))
		if err != nil {
			return planner.AxisView{}
		}
		return fromDim(in.Shape, k)
	}
	args := slices.Clone(o.In)
	for i := range args {
		args[i].DTypes = planner.Floats
	}
	cases := o.Cases
	cases.DTypes, cases.Low, cases.High, cases.Specials = planner.Floats, -2, 2, true
	cases.Bench = planner.BenchCasesOf(o.Defaults, func(d tensor.DType, rows, columns int) []tensor.Desc {
		weights := tensor.Contiguous(d, columns)
		return []tensor.Desc{tensor.Contiguous(d, rows, columns), weights, weights}[:len(args)]
	})
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "nn", Doc: o.Doc, Source: o.Source,
		In:       args,
		Out:      []spec.Arg{{Name: "out", Doc: "the result, of the dtype and shape of in", InPlace: []int{0}}},
		Traits:   spec.Traits{Class: spec.AxisWise, ONNX: o.ONNX},
		Defaults: o.Defaults,
		Kernels:  slices.Concat(reducer.Kernels(planner.Floats...), mapKernels(o.Shader+"_apply", planner.Floats...), rowKernels(o.Shader, normParams{}), affineKernels()),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			if err := checkEps(o.Eps(a)); err != nil {
				return nil, err
			}
			k, err := planner.Axis(o.Axis(a), len(in[0].Shape))
			if err != nil {
				return nil, err
			}
			if err := checkAffine(args, in, 1, k); err != nil {
				return nil, err
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			if err := planner.CheckTarget(t, in...); err != nil {
				return nil, err
			}
			plan := &spec.Plan{}
			if in[0].Elems() == 0 {
				return plan, nil
			}
			return plan, o.plan(plan, t, reducer, o.Eps(a), in, view(a, in[0]))
		},
		Strategies: func(a A, t *spec.Target, in, _ []tensor.Desc) []string {
			return rowStrategies(t, in[0].DType, view(a, in[0]), o.Longest)
		},
		SizeClass: func(a A, in []tensor.Desc) []int { return view(a, in[0]).Sizes() },
		Reference: func(a A, in, out []*tensor.Host) {
			x, v := in[0].Floats(), view(a, in[0].Desc)
			gamma, beta := columnsOf(in, 1, v.N, 1), columnsOf(in, 2, v.N, 0)
			for k := range min(v.Outer, len(x)) {
				row := x[k*v.N : (k+1)*v.N]
				o.Row(row, o.Eps(a))
				for i := range row {
					row[i] = row[i]*gamma[i] + beta[i]
				}
			}
			out[0].SetFloats(x)
		},
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			return o.Tolerance(a, d, view(a, in[0]).N)
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			cost := spec.Cost{Flops: o.Flops * int64(in[0].Elems()), Bytes: in[0].Bytes()}
			for _, d := range in {
				cost.Bytes += d.Bytes()
			}
			return cost
		},
		Cases: cases,
	})
}

// plan appends the steps that normalise the rows of v. The first input holds the rows,
// and the others are weights and offsets.
// Errors: *LimitError.
func (o Norm[A]) plan(plan *spec.Plan, t *spec.Target, reducer reduction.Reducer, eps float64, in []tensor.Desc, v planner.AxisView) error {
	d, wide := in[0].DType, planner.Accumulator(in[0].DType)
	gamma, beta := spec.Ref{}, spec.Ref{}
	columns := d
	for i, ref := range []*spec.Ref{&gamma, &beta} {
		if k := i + 1; k < len(in) && !isLeftOut(in[k]) {
			*ref, columns = spec.In(k), in[k].DType
		}
	}
	rows := func(side []spec.Bind, has uint32) error {
		high, low := split(eps)
		return addRows(plan, t, o.Shader, d, v, func(p reduction.Params) any {
			return normParams{Outer: p.Outer, N: p.N, Inner: 1, Base: p.Base, Last: p.Last, Chunks: 1, Chunk: p.Chunk, Lanes: p.Lanes,
				Carry: has, Divisor: 1, Sign: 1, OutSign: 1, Eps: high, EpsLow: low}
		}, []spec.Ref{spec.In(0)}, side, spec.Out(0))
	}
	if usesRows(t, d, v, o.Longest) && reduction.UsesQuads(t, d) { // Its kernel reads weights and offsets as they are.
		side, has := make([]spec.Bind, 2), uint32(0)
		for i, ref := range []spec.Ref{gamma, beta} {
			if ref.Kind == spec.RefNone {
				side[i] = spec.Bind{Buf: planner.AddScratch(plan, 0)}
				continue
			}
			side[i], _ = planner.Window(t, ref, columns.Size(), 0, int64(v.N))
			has |= 1 << i
		}
		return rows(side, has)
	}
	affine, err := addAffine(plan, t, columns, wide, v.N, gamma, beta)
	if err != nil {
		return err
	}
	if usesRows(t, d, v, o.Longest) {
		return rows([]spec.Bind{{Buf: affine}}, 0)
	}
	accumulators, err := reduction.Add(plan, t, reducer, d, v, spec.Ref{}, spec.In(0))
	if err != nil {
		return err
	}
	a := rowMap{shader: o.Shader + "_apply", reducer: reducer, affine: affine, pair: 2 * wide.Size(), total: v.N, eps: eps}
	return a.add(plan, t, d, v, accumulators, spec.Out(0), spec.In(0))
}

const affineShader = "nn/layer_norm_affine"

// affineParams is the push-constant block of layer_norm_affine.comp. Count is the number
// of pairs. Weights and Offsets are 1 if there are weights and offsets.
type affineParams struct{ Count, Weights, Offsets uint32 }

// affineKernels lists the kernels that addAffine launches.
func affineKernels() []spec.Kernel {
	return planner.DTypeVariants(affineShader, affineParams{}, planner.Floats, nil)
}

// addAffine appends a launch that stores n weights and offsets alternately, as pairs of
// dtype wide. Both have dtype d. A missing one is the zero Ref. It returns the buffer of
// the pairs.
// Errors: *LimitError.
func addAffine(plan *spec.Plan, t *spec.Target, d, wide tensor.DType, n int, gamma, beta spec.Ref) (spec.Ref, error) {
	pair := 2 * wide.Size()
	out, p := planner.AddScratch(plan, int64(n*pair)), affineParams{Weights: 1, Offsets: 1}
	nothing := planner.AddScratch(plan, 0)
	most := int(min(t.MaxBinding/int64(pair), 1<<24)/planner.WindowAlign(t)) * int(planner.WindowAlign(t))
	if most <= 0 {
		return spec.Ref{}, &errs.LimitError{Name: "MaxBinding", Want: planner.WindowAlign(t) * int64(pair), Have: t.MaxBinding}
	}
	for first := 0; first < n; first += most {
		count := min(most, n-first)
		p.Count = uint32(count)
		g, _ := planner.Window(t, gamma, d.Size(), int64(first), int64(count))
		b, _ := planner.Window(t, beta, d.Size(), int64(first), int64(count))
		if gamma.Kind == spec.RefNone {
			g, p.Weights = spec.Bind{Buf: nothing}, 0
		}
		if beta.Kind == spec.RefNone {
			b, p.Offsets = spec.Bind{Buf: nothing}, 0
		}
		made, _ := planner.Window(t, out, pair, int64(first), int64(count))
		groups, err := planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(count, planner.Pack/d.Size()), planner.SmallGroup)))
		if err != nil {
			return spec.Ref{}, err
		}
		plan.Steps = append(plan.Steps, spec.Step{
			Module: spirv.Kernel(affineShader + "." + d.String()), Params: p, Bind: []spec.Bind{g, b, made}, Groups: groups,
		})
	}
	return out, nil
}

// checkEps returns an error if eps is negative or not finite.
func checkEps(eps float64) error {
	if !(eps >= 0) || math.IsInf(eps, 0) {
		return planner.Invalid("eps %v (want a finite number of at least 0)", eps)
	}
	return nil
}

// isLeftOut reports whether an input of columns stands for one that a call leaves out. If rows have no elements,
// it makes no difference.
func isLeftOut(d tensor.Desc) bool { return slices.Equal(d.Shape, []int{0}) }

// checkAffine checks the inputs from the k-th on, which belong to the elements of the
// first from dimension axis on. Those that are given have one dtype.
func checkAffine(args []spec.Arg, in []tensor.Desc, k, axis int) error {
	own, d := in[0].Shape[axis:], in[0].DType
	given := -1
	for i := k; i < len(in); i++ {
		left := args[i].Skippable && isLeftOut(in[i])
		if !left && !slices.Equal(in[i].Shape, own) {
			return planner.Invalid("input %s is %v (want %v)", args[i].Name, in[i], own)
		}
		if !left && given < 0 {
			given = i
		}
		if wide := planner.Accumulator(d); !left && in[i].DType != in[given].DType || in[i].DType != d && in[i].DType != wide {
			return planner.Invalid("input %s is %v (want %s)", args[i].Name, in[i], affineTypes(d))
		}
	}
	return nil
}

// affineTypes says which types the inputs beside one of type d may have, for errors.
func affineTypes(d tensor.DType) string {
	if wide := planner.Accumulator(d); wide != d {
		return fmt.Sprintf("%v, or all of %v", d, wide)
	}
	return d.String()
}

// columnsOf is the i-th input, or n times value if it was left out.
func columnsOf(in []*tensor.Host, i, n int, value float64) []float64 {
	if i < len(in) && !isLeftOut(in[i].Desc) {
		return in[i].Floats()
	}
	return slices.Repeat([]float64{value}, n)
}
