package quantisation

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// exactRun is the largest number of products of integers of 9 bits whose sum is exact in F32:
// 258·255² is less than 2²⁴.
const exactRun = 256

// sumParams is the push-constant block of add_product.comp.
type sumParams struct{ Count, First uint32 }

// integerKernels lists the kernels of addIntegerProduct.
func integerKernels() []spec.Kernel {
	return slices.Concat(gemm.Kernels(), movement.FillKernels(), runKernels())
}

// runKernels are those that make numbers of bytes, and that add the sums of a run to those before.
func runKernels() []spec.Kernel {
	return []spec.Kernel{
		{Name: "quant/add_product.i32", Params: sumParams{}},
		{Name: "quant/dequantize_linear.f32.u8", Params: unscaledParams{}}, {Name: "quant/dequantize_linear.f32.u8.one", Params: unscaledParams{}},
	}
}

// factor is an operand of a product of integers: a tensor of bytes and its zero points.
type factor struct {
	desc tensor.Desc
	// axis is the dimension along which zero points differ, -2 or -1. k is the other one of the last two.
	axis int
	ref  spec.Ref
	// zero describes the zero points, if zeroRef is not nothing.
	zero    tensor.Desc
	zeroRef spec.Ref
}

// scales checks the zero points of the factor: one number, a vector along axis, or the shape of the factor with 1 in the
// place of k.
// Errors: ErrInvalidArgument.
func (f factor) scales() (scales, error) {
	if f.zeroRef.Kind == spec.RefNone {
		return Scaling{}.of(f.desc.Shape, tensor.Contiguous(tensor.F32))
	}
	if len(f.zero.Shape) < 2 {
		return Scaling{Axis: f.axis}.checkScales(f.desc.Shape, f.zero, []tensor.Desc{f.zero}, f.desc.DType)
	}
	dimK := len(f.desc.Shape) - 3 - f.axis
	want, v := slices.Clone(f.desc.Shape), planner.ViewAxis(f.desc.Shape, dimK)
	want[dimK] = 1
	if f.zero.DType != f.desc.DType || !slices.Equal(f.zero.Shape, want) {
		return scales{}, planner.Invalid("zero point %v (want %v, a vector, or one number)", f.zero, tensor.Contiguous(f.desc.DType, want...))
	}
	return scales{view: v, block: max(v.N, 1), outer: v.Inner, row: v.Inner, inner: 1, count: f.zero.Elems()}, nil
}

// mostSummed is the largest number of products of a sum of integers. Each run of at most 256 takes launches of its own.
const mostSummed = 1 << 19

// integerShape checks the factors of a product and returns its shape.
// Errors: ErrInvalidArgument.
func integerShape(a, b factor) ([]int, error) {
	x, y := a.desc.Shape, b.desc.Shape
	if len(x) < 2 || len(y) < 2 || x[len(x)-1] != y[len(y)-2] {
		return nil, planner.Invalid("operands %v and %v (want [..., m,k] and [..., k,n])", a.desc, b.desc)
	}
	if k := x[len(x)-1]; k > mostSummed {
		return nil, planner.Unsupported("operands %v and %v: sums of %d products (at most %d)", a.desc, b.desc, k, mostSummed)
	}
	batch, ok := planner.BroadcastShape(x[:len(x)-2], y[:len(y)-2])
	if !ok {
		return nil, planner.Invalid("%v times %v: the batches cannot be broadcast", a.desc, b.desc)
	}
	for _, f := range []factor{a, b} {
		if _, err := f.scales(); err != nil {
			return nil, err
		}
	}
	shape := append(batch, x[len(x)-2], y[len(y)-1])
	return shape, tensor.Contiguous(tensor.I32, shape...).Check()
}

// addIntegerProduct appends to a plan the launches for the product of two factors, of that shape. It is
// computed in F32, a run of k at a time, so that it is exact. out is I32.
// Errors: *LimitError.
func addIntegerProduct(plan *spec.Plan, t *spec.Target, a, b factor, shape []int, out spec.Ref) error {
	n := tensor.Contiguous(tensor.F32, shape...).Elems()
	if n == 0 {
		return nil
	}
	if a.desc.Elems() == 0 {
		return movement.AddFill(plan, t, 0, tensor.I32, out, n)
	}
	var in [2]tensor.Desc
	var refs [2]spec.Ref
	for i, f := range []factor{a, b} {
		s, err := f.scales()
		if err != nil {
			return err
		}
		in[i] = tensor.Contiguous(tensor.F32, f.desc.Shape...)
		refs[i] = planner.AddScratch(plan, in[i].Bytes())
		o := operands{x: f.ref, zero: f.zeroRef, out: refs[i], integer: f.desc.DType, number: tensor.F32}
		if err := s.addScaled(plan, t, false, o); err != nil {
			return err
		}
	}
	product := planner.AddScratch(plan, 4*int64(n))
	return gemm.AddRuns(plan, t, in, refs, tensor.Contiguous(tensor.F32, shape...), product, exactRun, func(first bool) error {
		return addSums(plan, t, n, product, out, first)
	})
}

// addSums appends the launches that add n integers, which F32 holds, to those of out, or write them there for the first time.
// Errors: *LimitError.
func addSums(plan *spec.Plan, t *spec.Target, n int, sums, out spec.Ref, first bool) error {
	k := planner.FlatKernel{Name: "quant/add_product.i32", Local: planner.SmallGroup, Packs: 1}
	k.Params = func(_, count int) any {
		p := sumParams{Count: uint32(count)}
		if first {
			p.First = 1
		}
		return p
	}
	return planner.AddFlat(plan, t, k, n, planner.Flat(sums, tensor.F32), planner.Flat(out, tensor.I32))
}

// DefineMatMulInteger declares the product of two tensors of bytes, with attributes of type A.
func DefineMatMulInteger[A spec.Call](name, doc, onnx string) *spec.Op {
	spirv.LinkQuant()
	spirv.LinkBLAS()
	spirv.LinkMove()
	var call A
	factors := func(in []tensor.Desc) (a, b factor) {
		a, b = factor{desc: in[0], axis: -2, ref: spec.In(0)}, factor{desc: in[1], axis: -1, ref: spec.In(1)}
		for i, f := range []*factor{&a, &b} {
			if at := 2 + i; at < len(in) && !slices.Equal(in[at].Shape, []int{0}) {
				f.zero, f.zeroRef = in[at], spec.In(at)
			}
		}
		return a, b
	}
	return spec.Define(spec.Definition[A]{
		Name: name, Group: "quant", Doc: doc, Source: "ONNX " + onnx,
		In: []spec.Arg{
			{Name: "a", Doc: "[..., m,k]", DTypes: byteTypes}, {Name: "b", Doc: "[..., k,n]; the leading dimensions are broadcast", DTypes: byteTypes},
			{Name: "a_zero_point", Doc: "one number, [m], or [..., m,1] with the leading dimensions of a; of the dtype of a; of the shape [0] or left out: 0", Optional: true, Skippable: true, DTypes: byteTypes},
			{Name: "b_zero_point", Doc: "one number, [n], or [..., 1,n] with the leading dimensions of b; of the dtype of b; of the shape [0] or left out: 0", Optional: true, DTypes: byteTypes},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[..., m,n], i32"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: []string{onnx}},
		Defaults: call,
		Kernels:  integerKernels(),
		Shape: func(_ A, in []tensor.Desc) ([]tensor.Desc, error) {
			shape, err := integerShape(factors(in))
			return []tensor.Desc{tensor.Contiguous(tensor.I32, shape...)}, err
		},
		Plan: func(_ A, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			a, b := factors(in)
			return plan, addIntegerProduct(plan, t, a, b, out[0].Shape, spec.Out(0))
		},
		Reference: func(_ A, in, out []*tensor.Host) {
			zeros := make([]*tensor.Host, 2)
			copy(zeros, in[2:])
			out[0].SetFloats(integerProducts(out[0].Shape, in[0], in[1], zeros[0], zeros[1], func(sum float64, _, _ place) float64 { return sum }))
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "sums of at most 256 products are exact in f32, and integers are added to integers"}
		},
		Cost: func(_ A, in []tensor.Desc) spec.Cost {
			shape, err := integerShape(factors(in))
			if err != nil {
				return spec.Cost{}
			}
			out := tensor.Contiguous(tensor.I32, shape...)
			return spec.Cost{Flops: 2 * int64(out.Elems()) * int64(in[0].Shape[len(in[0].Shape)-1]), Bytes: in[0].Bytes() + in[1].Bytes() + out.Bytes()}
		},
		Cases: spec.CasesOf[A]{
			DTypes: byteTypes, Calls: []A{call},
			Dims: []spec.Dim{
				{Name: "batch", Only: []int{1, 2, 3}}, {Name: "m", Tiles: []int{8}}, {Name: "n", Tiles: []int{4}}, {Name: "k", Tiles: []int{256}},
				{Name: "zero", Only: []int{0, 1, 2, 3, 4, 5}}, {Name: "b", Only: []int{0, 1}},
			},
			Sizes:  [][]int{{1, 3, 2, 66000, 2, 0}, {1, 65537, 3, 2, 2, 1}, {1, 2, 65537, 3, 3, 0}, {1, 130, 70, 600, 3, 1}, {3, 5, 7, 300, 4, 0}},
			Inputs: func(_ A, d tensor.DType, dims []int) []tensor.Desc { return integerInputs(d, dims) },
			Range:  func(_ A, i int, in []tensor.Desc) (float64, float64) { return byteRange(in[i].DType) },
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range [][]int{{128, 128, 128}, {512, 512, 512}, {1024, 1024, 1024}, {1, 2048, 2048}} {
					cases = append(cases, spec.BenchCase{Call: call, In: integerInputs(d, []int{1, s[0], s[1], s[2], 1, 1})})
				}
				return cases
			},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.U8, 3, 4), tensor.Contiguous(tensor.U8, 3, 4)}, {tensor.Contiguous(tensor.U8, 4), tensor.Contiguous(tensor.U8, 4, 3)},
				{tensor.Contiguous(tensor.U8, 3, 4), tensor.Contiguous(tensor.U8, 4, 5), tensor.Contiguous(tensor.I8)},
				{tensor.Contiguous(tensor.U8, 3, 4), tensor.Contiguous(tensor.U8, 4, 5), tensor.Contiguous(tensor.U8, 5)},
				{tensor.Contiguous(tensor.U8, 3, 4), tensor.Contiguous(tensor.U8, 4, 5), tensor.Contiguous(tensor.U8), tensor.Contiguous(tensor.U8, 3)},
				{tensor.Contiguous(tensor.U8, 2, 3, 4), tensor.Contiguous(tensor.U8, 3, 4, 5)},
				{tensor.Contiguous(tensor.U8, 1, mostSummed+1), tensor.Contiguous(tensor.U8, mostSummed+1, 1)},
				{tensor.Contiguous(tensor.U8, 3, 4), tensor.Contiguous(tensor.U8, 4, 5), tensor.Contiguous(tensor.U8, 1, 4)},
				{tensor.Contiguous(tensor.U8, 2, 3, 4), tensor.Contiguous(tensor.U8, 4, 5), tensor.Contiguous(tensor.U8, 1, 3, 1)},
			},
		},
	})
}

// byteRange returns the least and the largest number of a dtype of bytes.
func byteRange(d tensor.DType) (low, high float64) {
	if d == tensor.I8 {
		return -128, 127
	}
	return 0, 255
}

// otherByte is the other dtype of bytes.
func otherByte(d tensor.DType) tensor.DType {
	if d == tensor.U8 {
		return tensor.I8
	}
	return tensor.U8
}

// lines is a shape with 1 in the place of a dimension, which counts from the end.
func lines(shape []int, dim int) []int {
	own := slices.Clone(shape)
	own[len(own)+dim] = 1
	return own
}

// integerInputs makes the inputs of a product of integers: the batch, m, n, k, which zero points there are, and
// whether b has another dtype than a.
func integerInputs(d tensor.DType, dims []int) []tensor.Desc {
	m, n, k := dims[1], dims[2], dims[3]
	if k > mostSummed {
		return nil
	}
	x, y := []int{m, k}, []int{k, n}
	switch dims[0] {
	case 2:
		x = append([]int{3}, x...)
	case 3:
		x, y = append([]int{2, 1}, x...), append([]int{3}, y...)
	}
	other := d
	if dims[5] == 1 {
		other = otherByte(d)
	}
	in := []tensor.Desc{tensor.Contiguous(d, x...), tensor.Contiguous(other, y...)}
	switch dims[4] {
	case 1:
		in = append(in, tensor.Contiguous(d), tensor.Contiguous(other))
	case 2:
		in = append(in, tensor.Contiguous(d, m))
	case 3:
		in = append(in, tensor.Contiguous(d, m), tensor.Contiguous(other, n))
	case 4:
		in = append(in, tensor.Contiguous(d, lines(x, -1)...), tensor.Contiguous(other, lines(y, -2)...))
	case 5:
		in = append(in, tensor.Contiguous(d, 0), tensor.Contiguous(other, n))
	}
	return in
}
