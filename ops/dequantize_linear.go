package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// DequantizeLinear is (x − zero_point)·scale for each element x, an integer. The difference wraps for I32. There
// is one scale; or a vector of them, one for each index of Axis; or, with a BlockSize, a tensor of the
// shape of x with one scale for each block of so many indices of Axis. The result has the element type of scale.
type DequantizeLinear struct {
	Axis      int `attr:"axis,required,zero" onnx:"axis" doc:"the dimension of the scales, of no meaning if there is only one (ONNX has 1 by default); a negative number counts from the end"`
	BlockSize int `attr:"block_size" onnx:"block_size" doc:"how many indices of axis share a scale; 0: the scales are a number or a vector"`
}

// Spec returns the declaration.
func (DequantizeLinear) Spec() *spec.Op { return dequantizeLinearOp.Op() }

var dequantizeLinearOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineLinear(quantisation.Linear[*DequantizeLinear]{
		Name: "dequantize_linear", ONNX: "DequantizeLinear",
		Doc:      "The distance of integers to zero_point, times scale, as numbers of the dtype of scale.",
		Defaults: &DequantizeLinear{Axis: 1},
		View: func(c *DequantizeLinear) (quantisation.Scaling, tensor.DType) {
			return quantisation.Scaling{Axis: c.Axis, Block: c.BlockSize}, tensor.Invalid
		},
		Calls:   []*DequantizeLinear{{Axis: 0}, {Axis: -1, BlockSize: 16}, {Axis: 1, BlockSize: 3}},
		Invalid: []*DequantizeLinear{{Axis: 1, BlockSize: -1}},
	})
}}
