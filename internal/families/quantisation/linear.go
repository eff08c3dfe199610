package quantisation

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// bytes are the dtypes of quantised numbers.
var byteTypes = []tensor.DType{tensor.U8, tensor.I8}

// Linear describes quantize_linear or dequantize_linear, with attributes of type A.
type Linear[A spec.Call] struct {
	// Name, Doc, ONNX and Defaults are those of spec.Definition and spec.Traits.
	Name, Doc, ONNX string
	Defaults        A
	// Quantize says that numbers become integers.
	Quantize bool
	// View returns which elements share a scale, and the dtype of quantised results.
	View func(a A) (Scaling, tensor.DType)
	// Calls are the calls to try besides Defaults, and Invalid are those to refuse. Each is tried with inputs [a,b,c], whose
	// axis is that of the call.
	Calls, Invalid []A
}

func linearKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range Narrow {
		for _, one := range []string{"", ".one"} {
			ks = append(ks,
				spec.Kernel{Name: "quant/quantize_linear." + d.String() + one, Params: scaledParams{}},
				spec.Kernel{Name: "quant/quantize_linear." + d.String() + ".i32" + one, Params: scaledParams{}},
				spec.Kernel{Name: "quant/dequantize_linear." + d.String() + ".u8" + one, Params: unscaledParams{}},
				spec.Kernel{Name: "quant/dequantize_linear." + d.String() + ".i32" + one, Params: unscaledParams{}})
		}
	}
	return ks
}

// result checks the inputs and returns the scales and the description of the result.
func (l Linear[A]) result(a A, in []tensor.Desc) (scales, tensor.Desc, error) {
	view, to := l.View(a)
	integer := in[0].DType
	switch {
	case l.Quantize:
		if integer = to; to != tensor.U8 && to != tensor.I8 {
			return scales{}, tensor.Desc{}, planner.Invalid("output_dtype %v (want one of %v)", to, byteTypes)
		}
		if in[0].DType != tensor.I32 && in[1].DType != in[0].DType {
			return scales{}, tensor.Desc{}, planner.Invalid("scale %v (want the dtype of x, %v)", in[1], in[0].DType)
		}
	default:
		to = in[1].DType
	}
	s, err := view.checkScales(in[0].Shape, in[1], in[2:], integer)
	return s, tensor.Contiguous(to, in[0].Shape...), err
}

// DefineLinear declares one of the two operations.
func DefineLinear[A spec.Call](l Linear[A]) *spec.Op {
	spirv.LinkQuant()
	integers := []tensor.DType{tensor.U8, tensor.I8, tensor.I32}
	in := []spec.Arg{
		{Name: "x", Doc: "a tensor of any shape", DTypes: integers},
		{Name: "scale", Doc: "one number; or a vector, one for each index of axis; or the shape of x, with one for each block along axis", DTypes: Narrow},
		{Name: "zero_point", Doc: "of the shape of scale and the dtype of the integers; 0 if it is left out", Optional: true, DTypes: integers},
	}
	out := spec.Arg{Name: "out", Doc: "the numbers, of the dtype of scale and the shape of x"}
	dtypes := integers
	if l.Quantize {
		dtypes = append(slices.Clone(Narrow), tensor.I32)
		in[0].DTypes, in[2].DTypes = dtypes, byteTypes
		in[1].Doc += "; of the dtype of x, unless that is I32"
		out.Doc = "the integers, of the shape of x"
	}
	return spec.Define(spec.Definition[A]{
		Name: l.Name, Group: "quant", Doc: l.Doc, Source: "ONNX " + l.ONNX,
		In: in, Out: []spec.Arg{out},
		Traits:   spec.Traits{Class: spec.Other, ONNX: []string{l.ONNX}},
		Defaults: l.Defaults,
		Kernels:  l.kernels(),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			_, out, err := l.result(a, in)
			return []tensor.Desc{out}, err
		},
		Plan: func(a A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			s, _, err := l.result(a, in)
			plan := &spec.Plan{}
			if err != nil || out[0].Elems() == 0 {
				return plan, err
			}
			o := operands{x: spec.In(0), scale: spec.In(1), out: spec.Out(0), integer: out[0].DType, number: in[1].DType}
			if o.wide = l.Quantize && in[0].DType == tensor.I32; !l.Quantize {
				o.integer = in[0].DType
			}
			if len(in) > 2 {
				o.zero = spec.In(2)
			}
			return plan, s.addScaled(plan, t, l.Quantize, o)
		},
		Reference: func(a A, in, out []*tensor.Host) {
			var descs []tensor.Desc
			for _, h := range in {
				descs = append(descs, h.Desc)
			}
			s, _, err := l.result(a, descs)
			if err != nil {
				return
			}
			x, scale, zero := in[0].Floats(), in[1].Floats(), make([]float64, in[1].Elems())
			if len(in) > 2 {
				zero = in[2].Floats()
			}
			for i := range x {
				k := s.at(i)
				switch {
				case l.Quantize && in[0].DType == tensor.I32: // Float64 has enough bits to tell every quotient from a half.
					x[i] = saturated(x[i]/scale[k], zero[k], out[0].DType)
				case l.Quantize: // The quotient is a number of F32, also for numbers of 16 bits.
					x[i] = saturated(float64(float32(x[i])/float32(scale[k])), zero[k], out[0].DType)
				case in[0].DType == tensor.I32:
					x[i] = float64(int32(int64(x[i])-int64(zero[k]))) * scale[k]
				default:
					x[i] = (x[i] - zero[k]) * scale[k]
				}
			}
			out[0].SetFloats(x)
		},
		Tolerance: func(_ A, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			if !l.Quantize && in[0].DType == tensor.I32 {
				return planner.ElementTolerance(d, 2, 0, "an integer of 32 bits and its product with the scale are rounded")
			}
			return spec.Tolerance{Why: "quotients of floats are rounded as IEEE 754 says, and those of integers are exact, before they become integers; products of integers of 9 bits with a scale are rounded once"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			_, out, err := l.result(a, in)
			if err != nil {
				return spec.Cost{}
			}
			bytes := out.Bytes()
			for _, d := range in {
				bytes += d.Bytes()
			}
			return spec.Cost{Flops: 2 * int64(out.Elems()), Bytes: bytes}
		},
		Cases: l.cases(dtypes),
	})
}

func (l Linear[A]) kernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, k := range linearKernels() {
		if _, ok := k.Params.(scaledParams); ok == l.Quantize {
			ks = append(ks, k)
		}
	}
	return ks
}

// inputs makes the inputs of a call for x of a shape. number is the dtype of the scales of integers. form is 0 for one
// scale without a zero point, 1 for one with a zero point, and 2 for those of the call.
func (l Linear[A]) inputs(a A, d, number tensor.DType, shape []int, form int) []tensor.Desc {
	view, to := l.View(a)
	scale := []int{}
	switch axis, err := planner.Axis(view.Axis, len(shape)); {
	case err != nil || view.Block < 0 || form < 2 && view.Block > 0:
		return nil
	case form < 2:
	case view.Block > 0:
		scale = append(scale, shape...)
		scale[axis] = planner.CeilDiv(shape[axis], view.Block)
	default:
		scale = []int{shape[axis]}
	}
	switch {
	case !l.Quantize:
		to = d
	case d != tensor.I32:
		number = d
	}
	in := []tensor.Desc{tensor.Contiguous(d, shape...), tensor.Contiguous(number, scale...), tensor.Contiguous(to, scale...)}
	if form == 0 {
		in = in[:2]
	}
	return in
}

func (l Linear[A]) cases(dtypes []tensor.DType) spec.CasesOf[A] {
	x := dtypes[0]
	number := tensor.F32
	zero := tensor.U8
	if !l.Quantize {
		zero = x
	}
	last := l.Defaults
	return spec.CasesOf[A]{
		DTypes: dtypes, Calls: append([]A{l.Defaults}, l.Calls...), Invalid: l.Invalid,
		Dims:  []spec.Dim{{Name: "a"}, {Name: "b", Tiles: []int{4}}, {Name: "c", Tiles: []int{4, 256}}, {Name: "form", Only: []int{0, 1, 2}}, {Name: "scale", Only: []int{0, 1, 2}}},
		Sizes: [][]int{{3, 5, 40000, 2, 0}, {2, 30000, 7, 2, 0}, {1, 1, 700_000, 1, 0}},
		Inputs: func(a A, d tensor.DType, dims []int) []tensor.Desc {
			return l.inputs(a, d, Narrow[dims[4]], dims[:3], dims[3])
		},
		Bench: func(d tensor.DType) []spec.BenchCase {
			var cases []spec.BenchCase
			for _, form := range []int{1, 2} {
				cases = append(cases, planner.BenchCasesOf(last, func(d tensor.DType, rows, columns int) []tensor.Desc {
					return l.inputs(last, d, number, []int{rows, columns}, form)
				})(d)...)
			}
			return cases
		},
		Low: -300, High: 300, Specials: true,
		Range: func(a A, i int, in []tensor.Desc) (float64, float64) {
			// Integers of one call have all 32 bits. F16 has no scales that are large enough for them.
			view, _ := l.View(a)
			large := l.Quantize && in[0].DType == tensor.I32 && view.Axis == 0 && in[1].DType != tensor.F16
			switch d := in[i].DType; {
			case i == 0 && large:
				return math.MinInt32, math.MaxInt32
			case i == 1 && large:
				return 1 << 21, 1 << 25
			case i == 1:
				return 0.25, 3
			case d == tensor.U8:
				return 0, 255
			case d == tensor.I8:
				return -128, 127
			}
			return -300, 300
		},
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(x, 3, 4), tensor.Contiguous(number, 3)}, {tensor.Contiguous(x, 3, 4), tensor.Contiguous(number, 3, 4)},
			{tensor.Contiguous(x, 3, 4), tensor.Contiguous(number), tensor.Contiguous(zero, 4)}, {tensor.Contiguous(x), tensor.Contiguous(number, 3)},
			{tensor.Contiguous(x, 3, 4), tensor.Contiguous(number, 4), tensor.Contiguous(tensor.I8, 4)}, {tensor.Contiguous(x, 3, 4), tensor.Contiguous(tensor.F64)},
			{tensor.Contiguous(tensor.I32, 3, 4), tensor.Contiguous(tensor.I32)},
		},
	}
}
