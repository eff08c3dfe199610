package quantisation

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// biasIn is the input of a convolution that a product of quantised tensors does not have.
const biasIn = 8

const addShader = "math/add"

// quantised checks the inputs of qlinear_conv.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (c Conv[A]) quantised(a A, in []tensor.Desc) (v integerConv, err error) {
	v = integerConv{
		x: in[0], w: in[rightIn], refs: [2]spec.Ref{spec.In(0), spec.In(rightIn)},
		zeroX: in[leftZero], zeroW: in[rightZero], zeros: [2]spec.Ref{spec.In(leftZero), spec.In(rightZero)},
	}
	if err := v.check(c.Attributes(a), []spec.Arg{{Name: "x"}, {Name: "w"}}); err != nil {
		return v, err
	}
	if !isNumber(in[leftScale]) {
		return v, planner.Invalid("scale %v of x (want one number)", in[leftScale])
	}
	for _, d := range in[resultScale : resultZero+1] {
		if !isNumber(d) {
			return v, planner.Invalid("scale or zero point %v of the result (want one number)", d)
		}
	}
	if _, err := (Scaling{Axis: 1}).of(v.product.Shape(), in[rightScale]); err != nil {
		return v, err
	}
	if k := v.w.Shape[0]; len(in) > biasIn && !slices.Equal(in[biasIn].Shape, []int{k}) {
		return v, planner.Invalid("bias %v (want i32[%d])", in[biasIn], k)
	}
	return v, nil
}

// planQuantised plans qlinear_conv.
// Errors: those of quantised, *LimitError.
func (c Conv[A]) planQuantised(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
	plan := &spec.Plan{}
	v, err := c.quantised(a, in)
	n := out[0].Elems()
	if err != nil || n == 0 {
		return plan, err
	}
	shape := out[0].Shape
	sum, product, scaled := planner.AddScratch(plan, 4*int64(n)), planner.AddScratch(plan, 4*int64(n)), planner.AddScratch(plan, 4*int64(n))
	if err := v.addTo(plan, t, sum); err != nil {
		return nil, err
	}
	if len(in) > biasIn {
		own := slices.Repeat([]int{1}, len(shape)-1)
		own[0] = shape[1]
		all, bias := tensor.Contiguous(tensor.I32, shape...), tensor.Contiguous(tensor.I32, own...)
		if err := elementwise.AddBinary(plan, t, addShader, []tensor.Desc{all, bias}, all, [3]spec.Ref{sum, spec.In(biasIn), scaled}); err != nil {
			return nil, err
		}
		sum, scaled = scaled, sum
	}
	s, err := Scaling{Axis: 1}.of(shape, in[rightScale])
	if err != nil {
		return nil, err
	}
	if err := s.addScaled(plan, t, false, operands{x: sum, scale: spec.In(rightScale), out: product, integer: tensor.I32, number: tensor.F32}); err != nil {
		return nil, err
	}
	all, number := tensor.Contiguous(tensor.F32, shape...), tensor.Contiguous(tensor.F32)
	if err := elementwise.AddBinary(plan, t, mulShader, []tensor.Desc{all, number}, all, [3]spec.Ref{product, spec.In(leftScale), scaled}); err != nil {
		return nil, err
	}
	if s, err = (Scaling{}).of(shape, in[resultScale]); err != nil {
		return nil, err
	}
	return plan, s.addScaled(plan, t, true, operands{x: scaled, scale: spec.In(resultScale), zero: spec.In(resultZero), out: spec.Out(0), integer: out[0].DType, number: tensor.F32})
}

// referenceQuantised computes qlinear_conv. Scales are multiplied in F32.
func (c Conv[A]) referenceQuantised(a A, in, out []*tensor.Host) {
	v, err := c.quantised(a, descsOf(in))
	if err != nil {
		return
	}
	sums := v.reference(in[0], in[rightIn], in[leftZero], in[rightZero])
	filters, bias := in[rightScale].Floats(), []float64{0}
	if len(in) > biasIn {
		bias = in[biasIn].Floats()
	}
	x, y, zero := float32(in[leftScale].Floats()[0]), float32(in[resultScale].Floats()[0]), in[resultZero].Floats()[0]
	channels := v.w.Shape[0]
	each := len(sums) / max(channels*out[0].Shape[0], 1)
	for i, sum := range sums {
		k := i / each % channels
		scaled := float32(int32(int64(sum)+int64(bias[k%len(bias)]))) * float32(filters[k%len(filters)])
		scaled *= x
		sums[i] = saturated(float64(scaled/y), zero, out[0].DType)
	}
	out[0].SetFloats(sums)
}

// DefineQuantisedConv declares the convolution of two quantised tensors, quantised.
func DefineQuantisedConv[A spec.Call](c Conv[A]) *spec.Op {
	spirv.LinkQuant()
	spirv.LinkNN()
	spirv.LinkMath()
	spirv.LinkMove()
	floats := []tensor.DType{tensor.F32}
	kernels := slices.Concat(convKernels(), elementwise.BinaryKernels(mulShader, floats), elementwise.BinaryKernels(addShader, []tensor.DType{tensor.I32}), scaledKernels())
	return spec.Define(spec.Definition[A]{
		Name: c.Name, Group: "quant", Doc: c.Doc, Source: "ONNX " + c.ONNX,
		In: []spec.Arg{
			{Name: "x", Doc: "[N,C,...]", DTypes: byteTypes}, {Name: "x_scale", Doc: "one number", DTypes: floats},
			{Name: "x_zero_point", Doc: "one number, of the dtype of x", DTypes: byteTypes},
			{Name: "w", Doc: "the filter, [K,C/group,...]", DTypes: byteTypes}, {Name: "w_scale", Doc: "one number or [K]", DTypes: floats},
			{Name: "w_zero_point", Doc: "one number or [K], of the dtype of w", DTypes: byteTypes},
			{Name: "y_scale", Doc: "one number", DTypes: floats}, {Name: "y_zero_point", Doc: "one number, of the dtype of the result", DTypes: byteTypes},
			{Name: "bias", Doc: "[K], in steps of x_scale·w_scale; 0 if it is left out", Optional: true, DTypes: []tensor.DType{tensor.I32}},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[N,K,...], of the dtype of y_zero_point"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: []string{c.ONNX}},
		Defaults: c.Defaults,
		Kernels:  kernels,
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			v, err := c.quantised(a, in)
			return []tensor.Desc{tensor.Contiguous(in[resultZero].DType, v.product.Shape()...)}, err
		},
		Plan: c.planQuantised,
		Strategies: func(a A, t *spec.Target, in, _ []tensor.Desc) []string {
			v, err := c.quantised(a, in)
			if err != nil {
				return nil
			}
			return v.product.Strategies(t)
		},
		SizeClass: func(a A, in []tensor.Desc) []int {
			v, err := c.quantised(a, in)
			if err != nil {
				return nil
			}
			return v.product.SizeClass()
		},
		Reference: c.referenceQuantised,
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "the sums are exact in integers; they are multiplied by w_scale and then by x_scale, and divided by y_scale, in f32 as IEEE 754 rounds"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			v, err := c.quantised(a, in)
			if err != nil {
				return spec.Cost{}
			}
			return v.cost(1)
		},
		Cases: c.cases(quantisedConvInputs, func(i int, d tensor.DType) (low, high float64) {
			switch {
			case i == resultScale: // as large as the sums
				return 100, 1000
			case d == tensor.F32:
				return 0.25, 3
			case d == tensor.I32:
				return -5000, 5000
			}
			return byteRange(d)
		}, []refusedInput{
			{leftScale, tensor.Contiguous(tensor.F32, 4)}, {leftZero, tensor.Contiguous(tensor.I8)}, {rightIn, tensor.Contiguous(tensor.U8, 5, 3, 3, 3)},
			{rightScale, tensor.Contiguous(tensor.F32, 4)}, {rightZero, tensor.Contiguous(tensor.U8, 4)}, {resultScale, tensor.Contiguous(tensor.F32, 5)},
			{resultZero, tensor.Contiguous(tensor.U8, 2)}, {biasIn, tensor.Contiguous(tensor.I32, 4)}, {biasIn, tensor.Contiguous(tensor.I32)},
		}),
	})
}
