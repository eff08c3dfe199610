package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// QuantizeLinear is the integer next to x/scale + zero_point, for each element x. The quotient is rounded as
// IEEE 754 rounds it in F32, then to an integer, half to even, before the zero point is added. What the element
// type cannot hold becomes the nearest number that it can. NaN becomes the zero point. If x is I32, of any of its 32 bits,
// the exact quotient is rounded once, to an integer, half to even, as in the reference implementation of ONNX. Its text, by
// which the type of the scale is the precision of the division, would round x and the quotient to F32 before. The scale is F32,
// F16 or BF16 then, and of the dtype of x otherwise. There is one scale; or a vector
// of them, one for each index of Axis; or, with a BlockSize, a tensor of the shape of x with one scale for each
// block of so many indices of Axis.
type QuantizeLinear struct {
	Axis        int          `attr:"axis,required,zero" onnx:"axis" doc:"the dimension of the scales, of no meaning if there is only one (ONNX has 1 by default); a negative number counts from the end"`
	BlockSize   int          `attr:"block_size" onnx:"block_size" doc:"how many indices of axis share a scale; 0: the scales are a number or a vector"`
	OutputDType tensor.DType `attr:"output_dtype" onnx:"output_dtype" doc:"u8 or i8; the zero point has it too"`
}

// Spec returns the declaration.
func (QuantizeLinear) Spec() *spec.Op { return quantizeLinearOp.Op() }

var quantizeLinearOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineLinear(quantisation.Linear[*QuantizeLinear]{
		Name: "quantize_linear", ONNX: "QuantizeLinear", Quantize: true,
		Doc:      "x over scale, rounded half to even, plus zero_point, as an integer of 8 bits. What it cannot hold becomes the nearest number that it can, and NaN the zero point.",
		Defaults: &QuantizeLinear{Axis: 1, OutputDType: tensor.U8},
		View: func(c *QuantizeLinear) (quantisation.Scaling, tensor.DType) {
			return quantisation.Scaling{Axis: c.Axis, Block: c.BlockSize}, c.OutputDType
		},
		Calls: []*QuantizeLinear{
			{Axis: 1, OutputDType: tensor.I8}, {Axis: 0, OutputDType: tensor.U8}, {Axis: -1, BlockSize: 16, OutputDType: tensor.I8}, {Axis: 1, BlockSize: 3, OutputDType: tensor.U8},
		},
		Invalid: []*QuantizeLinear{{Axis: 1, OutputDType: tensor.I32}, {Axis: 1, BlockSize: -1, OutputDType: tensor.U8}},
	})
}}
