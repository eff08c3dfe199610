package quantisation

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// These are the inputs of a product or a convolution of quantised tensors. The left one of a convolution is x, and
// the right one is the filter.
const (
	leftIn = iota
	leftScale
	leftZero
	rightIn
	rightScale
	rightZero
	resultScale
	resultZero
)

const mulShader = "math/mul"

// quantisedProduct checks the inputs and returns the factors, the shape of the product and the scales of the
// result.
// Errors: ErrInvalidArgument.
func quantisedProduct(in []tensor.Desc) (a, b factor, shape []int, err error) {
	a = factor{desc: in[leftIn], axis: -2, ref: spec.In(leftIn), zero: in[leftZero], zeroRef: spec.In(leftZero)}
	b = factor{desc: in[rightIn], axis: -1, ref: spec.In(rightIn), zero: in[rightZero], zeroRef: spec.In(rightZero)}
	if shape, err = integerShape(a, b); err != nil {
		return a, b, nil, err
	}
	for _, i := range []int{leftIn, rightIn} {
		if !slices.Equal(in[i+1].Shape, in[i+2].Shape) {
			return a, b, nil, planner.Invalid("scale %v and zero point %v (want one shape)", in[i+1], in[i+2])
		}
	}
	for _, i := range []int{rightScale, resultScale} {
		if in[i].DType != in[leftScale].DType {
			return a, b, nil, planner.Invalid("scale %v (want the dtype of a_scale, %v)", in[i], in[leftScale].DType)
		}
	}
	for _, d := range in[resultScale:] {
		if d.Elems() != 1 || len(d.Shape) > 1 {
			return a, b, nil, planner.Invalid("scale or zero point %v of the result (want one number)", d)
		}
	}
	return a, b, shape, nil
}

// addWideScales appends to a plan the launches that make scales of 16 bits F32, which is exact. It returns where each
// scale lies, by the number of the input.
// Errors: *LimitError.
func addWideScales(plan *spec.Plan, t *spec.Target, in []tensor.Desc) (map[int]spec.Ref, error) {
	refs := map[int]spec.Ref{}
	for _, i := range []int{leftScale, rightScale, resultScale} {
		refs[i] = spec.In(i)
		if d := in[i].DType; d != tensor.F32 {
			refs[i] = planner.AddScratch(plan, 4*int64(in[i].Elems()))
			if err := elementwise.AddCast(plan, t, d, tensor.F32, in[i].Elems(), spec.In(i), refs[i]); err != nil {
				return nil, err
			}
		}
	}
	return refs, nil
}

// scaledKernels are those that scale sums of I32 and quantise them.
func scaledKernels() []spec.Kernel {
	return []spec.Kernel{
		{Name: "quant/quantize_linear.f32.one", Params: scaledParams{}},
		{Name: "quant/dequantize_linear.f32.i32", Params: unscaledParams{}}, {Name: "quant/dequantize_linear.f32.i32.one", Params: unscaledParams{}},
	}
}

// DefineQuantisedMatMul declares the product of two quantised tensors, with attributes of type A.
func DefineQuantisedMatMul[A spec.Call](name, doc, onnx string) *spec.Op {
	spirv.LinkQuant()
	spirv.LinkBLAS()
	spirv.LinkMath()
	spirv.LinkMove()
	var call A
	kernels := slices.Concat(integerKernels(), scaledKernels(), elementwise.BinaryKernels(mulShader, []tensor.DType{tensor.F32}), elementwise.NarrowCastKernels())
	return spec.Define(spec.Definition[A]{
		Name: name, Group: "quant", Doc: doc, Source: "ONNX " + onnx,
		In: []spec.Arg{
			{Name: "a", Doc: "[..., m,k]", DTypes: byteTypes}, {Name: "a_scale", Doc: "one number, [m], or [..., m,1] with the leading dimensions of a", DTypes: Narrow},
			{Name: "a_zero_point", Doc: "of the dtype of a and the shape of a_scale", DTypes: byteTypes},
			{Name: "b", Doc: "[..., k,n]; the leading dimensions are broadcast", DTypes: byteTypes}, {Name: "b_scale", Doc: "one number, [n], or [..., 1,n] with the leading dimensions of b; of the dtype of a_scale", DTypes: Narrow},
			{Name: "b_zero_point", Doc: "of the dtype of b and the shape of b_scale", DTypes: byteTypes},
			{Name: "y_scale", Doc: "one number, of the dtype of a_scale", DTypes: Narrow}, {Name: "y_zero_point", Doc: "one number, of the dtype of the result", DTypes: byteTypes},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[..., m,n], of the dtype of y_zero_point"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: []string{onnx}},
		Defaults: call,
		Kernels:  kernels,
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			_, _, shape, err := quantisedProduct(in)
			return []tensor.Desc{tensor.Contiguous(in[resultZero].DType, shape...)}, err
		},
		Plan: func(_ A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			a, b, shape, err := quantisedProduct(in)
			if err != nil || out[0].Elems() == 0 {
				return plan, err
			}
			refs, err := addWideScales(plan, t, in)
			if err != nil {
				return nil, err
			}
			n := out[0].Elems()
			sum, product, scaled := planner.AddScratch(plan, 4*int64(n)), planner.AddScratch(plan, 4*int64(n)), planner.AddScratch(plan, 4*int64(n))
			if err := addIntegerProduct(plan, t, a, b, shape, sum); err != nil {
				return nil, err
			}
			// The kernel that makes floats of the sums multiplies by scales along the last dimension too.
			o := operands{x: sum, out: product, integer: tensor.I32, number: tensor.F32}
			factors, first := []int{rightScale, leftScale}, tensor.Contiguous(tensor.F32)
			if len(in[rightScale].Shape) < 2 {
				o.scale, first, factors = refs[rightScale], in[rightScale], factors[1:]
			}
			s, err := Scaling{Axis: -1}.of(shape, first)
			if err != nil {
				return nil, err
			}
			if err := s.addScaled(plan, t, false, o); err != nil {
				return nil, err
			}
			all := tensor.Contiguous(tensor.F32, shape...)
			for _, i := range factors {
				by := tensor.Contiguous(tensor.F32, in[i].Shape...)
				if len(by.Shape) < 2 {
					by = tensor.Contiguous(tensor.F32, by.Elems(), 1)
				}
				if err := elementwise.AddBinary(plan, t, mulShader, []tensor.Desc{all, by}, all, [3]spec.Ref{product, refs[i], scaled}); err != nil {
					return nil, err
				}
				product, scaled = scaled, product
			}
			s, err = Scaling{}.of(shape, in[resultScale])
			if err != nil {
				return nil, err
			}
			return plan, s.addScaled(plan, t, true, operands{x: product, scale: refs[resultScale], zero: spec.In(resultZero), out: spec.Out(0), integer: out[0].DType, number: tensor.F32})
		},
		Reference: func(_ A, in, out []*tensor.Host) {
			shape := out[0].Shape
			as, bs := perLine(in[leftScale], shape[len(shape)-2]), perLine(in[rightScale], shape[len(shape)-1])
			ys, zero := float32(in[resultScale].Floats()[0]), in[resultZero].Floats()[0]
			out[0].SetFloats(integerProducts(shape, in[leftIn], in[rightIn], in[leftZero], in[rightZero], func(sum float64, row, column place) float64 {
				scaled := float32(sum) * float32(bs(column))
				scaled *= float32(as(row))
				return saturated(float64(scaled/ys), zero, out[0].DType)
			}))
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "the product is exact in integers; it is multiplied by b_scale and then by a_scale, and divided by y_scale, in f32 as IEEE 754 rounds; scales of 16 bits are exact in f32"}
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			_, _, shape, err := quantisedProduct(in)
			if err != nil {
				return spec.Cost{}
			}
			out := tensor.Contiguous(tensor.U8, shape...)
			return spec.Cost{Flops: 2 * int64(out.Elems()) * int64(in[leftIn].Shape[len(in[leftIn].Shape)-1]), Bytes: in[leftIn].Bytes() + in[rightIn].Bytes() + out.Bytes()}
		},
		Cases: quantisedCases(call),
	})
}

func quantisedCases[A spec.Call](call A) spec.CasesOf[A] {
	inputs := func(d tensor.DType, dims []int) []tensor.Desc {
		plain := integerInputs(d, append(dims[:4:4], 0, dims[5]&1))
		if plain == nil {
			return nil
		}
		m, n := []int{}, []int{}
		switch {
		case dims[4] == 4:
			m, n = lines(plain[0].Shape, -1), lines(plain[1].Shape, -2)
		case dims[4]&1 == 1:
			m = []int{dims[1]}
		}
		if dims[4]&2 == 2 {
			n = []int{dims[2]}
		}
		right, number := plain[1].DType, Narrow[dims[5]>>2]
		to := right
		if dims[5]&2 == 2 {
			to = otherByte(right)
		}
		return []tensor.Desc{
			plain[0], tensor.Contiguous(number, m...), tensor.Contiguous(d, m...),
			plain[1], tensor.Contiguous(number, n...), tensor.Contiguous(right, n...),
			tensor.Contiguous(number), tensor.Contiguous(to),
		}
	}
	bad := func(i int, d tensor.Desc) []tensor.Desc {
		in := inputs(tensor.U8, []int{1, 3, 5, 4, 0, 0})
		in[i] = d
		return in
	}
	return spec.CasesOf[A]{
		DTypes: byteTypes, Calls: []A{call},
		Dims: []spec.Dim{
			{Name: "batch", Only: []int{1, 2, 3}}, {Name: "m", Tiles: []int{8}}, {Name: "n", Tiles: []int{4}}, {Name: "k", Tiles: []int{256}},
			{Name: "scales", Only: []int{0, 1, 2, 3, 4}}, {Name: "dtypes", Only: []int{0, 1, 2, 3, 4, 11}}, // the sum of those of integers, and 4 or 8 for scales of F16 or BF16
		},
		Sizes:  [][]int{{1, 3, 2, 66000, 2, 0}, {1, 65537, 3, 2, 1, 5}, {1, 2, 65537, 3, 3, 8}, {3, 5, 7, 300, 4, 1}},
		Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc { return inputs(d, dims) },
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, s := range [][]int{{128, 128, 128}, {512, 512, 512}, {1024, 1024, 1024}} {
				cases = append(cases, spec.BenchCase{Call: call, In: inputs(d, []int{1, s[0], s[1], s[2], 0, 0})})
			}
			return cases
		},
		Specials: true,
		Range: func(_ A, i int, in []tensor.Desc) (float64, float64) {
			switch d := in[i].DType; {
			case i == resultScale: // as large as the sums
				return 100, 1000
			case slices.Contains(Narrow, d):
				return 0.25, 3
			default:
				return byteRange(d)
			}
		},
		Refused: [][]tensor.Desc{
			bad(leftScale, tensor.Contiguous(tensor.F32, 3)), bad(leftZero, tensor.Contiguous(tensor.I8)), bad(rightIn, tensor.Contiguous(tensor.U8, 5, 4)),
			bad(rightZero, tensor.Contiguous(tensor.U8, 5)), bad(resultScale, tensor.Contiguous(tensor.F32, 5)), bad(resultZero, tensor.Contiguous(tensor.U8, 2)),
			bad(leftScale, tensor.Contiguous(tensor.F16)), bad(rightScale, tensor.Contiguous(tensor.BF16)), bad(resultScale, tensor.Contiguous(tensor.F16)),
			bad(resultScale, tensor.Contiguous(tensor.F64)),
		},
	}
}
