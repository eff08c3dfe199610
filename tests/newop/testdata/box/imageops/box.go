package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Box makes each colour the mean of a pixel and its eight neighbours, repeating the edge
// outside of the image. Alpha stays as it is.
type Box struct{}

// Spec returns the declaration.
func (Box) Spec() *spec.Op { return boxOp.Op() }

var boxOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineStencil(picture.Stencil[*Box]{
		Name: "box",
		Doc:  "The mean of a pixel and its eight neighbours, each colour by itself. Alpha stays as it is.",
		Reference: func(_ *Box, in, out *tensor.Host) {
			h, w, full := in.Shape[0], in.Shape[1], picture.Full(in.DType)
			in.Each(func(index []int, _ int) {
				y, x, c := index[0], index[1], index[2]
				if c == 3 {
					out.Set(in.At(y, x, c), y, x, c)
					return
				}
				sum := 0.0
				for i := range 9 {
					sum += in.At(picture.ClampIndex(y+i/3-1, h), picture.ClampIndex(x+i%3-1, w), c)
				}
				picture.Store(out, sum/9/full, y, x, c)
			})
		},
		Tolerance: func(_ *Box, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			if d == tensor.U8 {
				return spec.Tolerance{Why: "a ninth of a whole number is far from any half"}
			}
			return spec.Tolerance{Abs: 2e-6, Why: "nine roundings to f32 of values up to 9, a ninth of which is left"}
		},
		Flops: 3 * 10,
		Calls: []*Box{{}},
	})
}}
