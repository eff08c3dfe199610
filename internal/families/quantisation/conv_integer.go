package quantisation

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// integers returns the operands of conv_integer.
// Errors: ErrInvalidArgument, ErrUnsupported.
func (c Conv[A]) integers(a A, in []tensor.Desc) (v integerConv, err error) {
	v = integerConv{x: in[0], w: in[1], refs: [2]spec.Ref{spec.In(0), spec.In(1)}}
	for i, zero := range []*tensor.Desc{&v.zeroX, &v.zeroW} {
		if at := 2 + i; at < len(in) && !slices.Equal(in[at].Shape, []int{0}) {
			*zero, v.zeros[i] = in[at], spec.In(at)
		}
	}
	return v, v.check(c.Attributes(a), []spec.Arg{{Name: "x"}, {Name: "w"}})
}

// DefineConvInteger declares the convolution of two tensors of bytes.
func DefineConvInteger[A spec.Call](c Conv[A]) *spec.Op {
	spirv.LinkQuant()
	spirv.LinkNN()
	spirv.LinkMove()
	return spec.Define(spec.Definition[A]{
		Name: c.Name, Group: "quant", Doc: c.Doc, Source: "ONNX " + c.ONNX,
		In: []spec.Arg{
			{Name: "x", Doc: "[N,C,...]", DTypes: byteTypes}, {Name: "w", Doc: "the filter, [K,C/group,...]", DTypes: byteTypes},
			{Name: "x_zero_point", Doc: "one number, of the dtype of x; of the shape [0] or left out: 0", Optional: true, Skippable: true, DTypes: byteTypes},
			{Name: "w_zero_point", Doc: "one number or [K], of the dtype of w; of the shape [0] or left out: 0", Optional: true, DTypes: byteTypes},
		},
		Out:      []spec.Arg{{Name: "out", Doc: "[N,K,...], i32"}},
		Traits:   spec.Traits{Class: spec.MatrixProduct, ONNX: []string{c.ONNX}},
		Defaults: c.Defaults,
		Kernels:  convKernels(),
		Shape: func(a A, in []tensor.Desc) ([]tensor.Desc, error) {
			v, err := c.integers(a, in)
			return []tensor.Desc{tensor.Contiguous(tensor.I32, v.product.Shape()...)}, err
		},
		Plan: func(a A, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			plan := &spec.Plan{}
			v, err := c.integers(a, in)
			if err != nil {
				return plan, err
			}
			return plan, v.addTo(plan, t, spec.Out(0))
		},
		Strategies: func(a A, t *spec.Target, in, _ []tensor.Desc) []string {
			v, err := c.integers(a, in)
			if err != nil {
				return nil
			}
			return v.product.Strategies(t)
		},
		SizeClass: func(a A, in []tensor.Desc) []int {
			v, err := c.integers(a, in)
			if err != nil {
				return nil
			}
			return v.product.SizeClass()
		},
		Reference: func(a A, in, out []*tensor.Host) {
			v, err := c.integers(a, descsOf(in))
			if err != nil {
				return
			}
			zeros := make([]*tensor.Host, 2)
			for i := range in[2:] {
				if in[2+i].Elems() > 0 {
					zeros[i] = in[2+i]
				}
			}
			out[0].SetFloats(v.reference(in[0], in[1], zeros[0], zeros[1]))
		},
		Tolerance: func(A, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "sums of at most 256 products are exact in f32, and integers are added to integers"}
		},
		Cost: func(a A, in []tensor.Desc) spec.Cost {
			v, err := c.integers(a, in)
			if err != nil {
				return spec.Cost{}
			}
			return v.cost(4)
		},
		Cases: c.cases(integerConvInputs, func(_ int, d tensor.DType) (low, high float64) { return byteRange(d) }, []refusedInput{
			{1, tensor.Contiguous(tensor.U8, 5, 3, 3, 3)}, {1, tensor.Contiguous(tensor.U8, 5, 4, 3)}, {0, tensor.Contiguous(tensor.U8, 4, 7)},
			{2, tensor.Contiguous(tensor.I8)}, {2, tensor.Contiguous(tensor.U8, 4)}, {2, tensor.Contiguous(tensor.U8, 1, 1)}, {3, tensor.Contiguous(tensor.U8, 4)},
			{3, tensor.Contiguous(tensor.I8, 5)}, {1, tensor.Contiguous(tensor.U8, 5, 4, 10, 10)},
		}),
	})
}
