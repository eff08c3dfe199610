package resampling

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Resize describes an operation that resamples a tensor, or the gradient of one, with attributes of type A.
type Resize[A spec.Call] struct {
	// Name, Doc and ONNX are those of spec.Definition and spec.Traits.
	Name, Doc string
	ONNX      []string
	// Defaults are the default attributes.
	Defaults A
	// Of returns the attributes.
	Of func(A) Attributes
	// Size, if set, says that the operation is the gradient. It returns the sizes of the source along
	// Attributes.Axes.
	Size func(A) []int
	// Cases has the calls and sizes to try. Define adds everything else.
	Cases spec.CasesOf[A]
}

// source returns the shape of the tensor that is resampled, for an input of the operation of that shape.
// Errors: ErrInvalidArgument.
func (o Resize[A]) source(a A, shape []int) ([]int, error) {
	if o.Size == nil {
		return shape, nil
	}
	list, err := o.Of(a).listed(len(shape))
	size := o.Size(a)
	if err == nil && len(size) != len(list) {
		err = planner.Invalid("size %v (want %d numbers)", size, len(list))
	}
	if err != nil {
		return nil, err
	}
	shape = slices.Clone(shape)
	for i, k := range list {
		if shape[k] = size[i]; size[i] < 0 {
			return nil, planner.Invalid("size %v (want no negative number)", size)
		}
	}
	return shape, nil
}

// axes returns how the axes are resampled, with the shapes of the source and of the result.
func (o Resize[A]) axes(a A, in tensor.Desc) (axes []axis, source, result []int, err error) {
	if source, err = o.source(a, in.Shape); err != nil {
		return nil, nil, nil, err
	}
	if axes, err = o.Of(a).axes(source); err != nil {
		return nil, nil, nil, err
	}
	for _, x := range axes {
		result = append(result, x.out)
	}
	return axes, source, result, nil
}

// Define declares such an operation.
func Define[A spec.Call](o Resize[A]) *spec.Op {
	spirv.LinkNN()
	gradient := o.Size != nil
	in, out := spec.Arg{Name: "in", Doc: "any shape", DTypes: planner.Floats}, spec.Arg{Name: "out", Doc: "the resized tensor, of the dtype of in"}
	if gradient {
		in = spec.Arg{Name: "dy", Doc: "the gradient of the result of resize_tensor", DTypes: planner.Floats}
		out = spec.Arg{Name: "dx", Doc: "the gradient of its input, of the dtype of dy"}
	}
	cases := o.Cases
	cases.DTypes, cases.Low, cases.High, cases.Specials = planner.Floats, -2, 2, true
	cases.Refused = [][]tensor.Desc{{tensor.Contiguous(tensor.I32, 2, 3)}, {tensor.Contiguous(tensor.U8, 2, 3)}}
	cases.Bench = func(d tensor.DType) []spec.BenchCase {
		var list []spec.BenchCase
		for _, shape := range [][]int{{1, 4, 64, 64}, {1, 32, 128, 128}, {4, 64, 128, 128}} {
			list = append(list, spec.BenchCase{Call: o.Cases.Calls[0], In: []tensor.Desc{tensor.Contiguous(d, shape...)}})
		}
		return list
	}
	if o.Cases.Bench != nil {
		cases.Bench = o.Cases.Bench
	}
	return spec.Define(spec.Definition[A]{
		Name: o.Name, Group: "nn", Doc: o.Doc, Source: "ONNX Resize",
		In: []spec.Arg{in}, Out: []spec.Arg{out},
		Traits:   spec.Traits{Class: spec.Other, ONNX: o.ONNX},
		Defaults: o.Defaults, Kernels: kernels(gradient),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			_, source, result, err := o.axes(a, in[0])
			if err != nil {
				return nil, err
			}
			if gradient {
				if !slices.Equal(in[0].Shape, result) {
					return nil, planner.Invalid("input dy is %v (want the shape %v)", in[0], result)
				}
				result = source
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, result...)}, nil
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			if err := planner.CheckTarget(t, in...); err != nil || out[0].Elems() == 0 {
				return plan, err
			}
			axes, _, _, err := o.axes(a, in[0])
			if err != nil {
				return nil, err
			}
			return plan, resample(plan, t, in[0].DType, axes, o.Of(a).ExtrapolationValue, gradient)
		},
		Strategies: planner.FlatStrategies[A], SizeClass: planner.ElementCounts[A],
		Reference: func(a A, in, out []*tensor.Host) { o.Of(a).set(in[0], out[0], gradient) },
		Tolerance: func(a A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			if len(in) == 0 {
				return spec.Tolerance{}
			}
			axes, _, _, err := o.axes(a, in[0])
			if err != nil {
				return spec.Tolerance{}
			}
			return tolerance(d, axes, o.Of(a).ExtrapolationValue, gradient)
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			axes, source, result, err := o.axes(a, in[0])
			if err != nil {
				return spec.Cost{}
			}
			from, to := tensor.Contiguous(in[0].DType, source...), tensor.Contiguous(in[0].DType, result...)
			taps := 1
			for _, x := range axes {
				if !x.same() && x.in > 0 {
					taps += x.slots()
				}
			}
			return spec.Cost{Flops: 2 * int64(to.Elems()) * int64(taps), Bytes: from.Bytes() + to.Bytes()}
		},
		Cases: cases,
	})
}

// kernels lists the kernels that plans launch.
func kernels(gradient bool) []spec.Kernel {
	real := []tensor.DType{tensor.F32, tensor.F64}
	list := planner.DTypeVariants(tableShader, tableParams{}, real, nil)
	if gradient {
		list = append(list, planner.DTypeVariants(transposeShader, transposeParams{}, real, nil)...)
	}
	list = append(list, planner.DTypeVariants(passShader, passParams{}, planner.Floats, func(d tensor.DType) bool { return d.Size() < 8 })...)
	for _, d := range []string{"f16", "bf16"} {
		for _, suffix := range []string{".from", ".from.texel", ".to", ".to.texel"} {
			list = append(list, spec.Kernel{Name: passShader + "." + d + suffix, Params: passParams{}})
		}
	}
	return list
}

// tolerance is the tolerance for inputs from -2 to 2.
func tolerance(d tensor.DType, axes []axis, fill float64, gradient bool) spec.Tolerance {
	e := planner.AccumulatorEpsilon(d)
	most, relative, chain := 2.0, 0.0, 0.0
	for _, x := range axes {
		if x.same() || x.in == 0 || x.out == 0 {
			continue
		}
		h, steepness := float64(x.slots()), 0.0
		if x.mode != nearest {
			steepness = 1 / x.wide
			relative += e * (8 + h/4)
		}
		if x.mode == cubic {
			c := math.Abs(x.coefficient)
			most *= 1 + 2*c
			steepness *= 2 + 2*c
			relative += 16 * e
		}
		if gradient {
			h = float64(x.touches())
			most *= h
			if x.step != 0 {
				most = most / h * min(h, 2/math.Abs(x.step)+2)
			}
			relative += e * (2 + h/4)
		}
		// The two sides of a coordinate change by this, and there may be a term for each row that the filter reaches.
		relative += 4 * steepness * x.wide * float64(x.in) * 0x1p-51
		chain += h
	}
	if !gradient {
		most = max(most, math.Abs(fill))
	}
	if relative == 0 {
		return spec.Tolerance{Why: "the result is one of the elements, or the sum of some", Rel: planner.StoreEpsilon(d), Abs: planner.Tiny(d)}
	}
	return spec.Tolerance{
		Abs: most*relative + planner.Tiny(d), Rel: e*(4+math.Sqrt(chain/3)) + planner.StoreEpsilon(d), Repeated: most * e * 2 * chain,
		Law: "ε·(8 + h/4) for each axis, ε·16 more for a cubic filter of coefficient a, and 2^-49 of the size of the axis for its coordinates; " +
			"times 1 + 2|a| for each cubic axis, and in a gradient the sum of the weights of an element; " +
			"ε·(4 + √(h/3)) of the value; h is the sum of the numbers of weights",
		RepeatedLaw: "ε·2h in place of that",
		Why:         "weights are exact but for their roundings; products are added in order, and so are the weights, whose sum divides",
	}
}
