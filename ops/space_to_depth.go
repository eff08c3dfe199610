package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// SpaceToDepth makes channels of blocks of pixels: [N,C,H,W] becomes [N,C·b²,H/b,W/b], where b
// is BlockSize. It is the inverse of DepthToSpace of the same Mode. Row i and column j of the
// blocks of channel c become channel (i·b + j)·C + c in Mode DCR, which is that of ONNX, and
// c·b² + i·b + j in Mode CRD. H and W must be multiples of b.
type SpaceToDepth struct {
	BlockSize int    `attr:"blocksize,required" onnx:"blocksize" doc:"the height and the width of a block, at least 1"`
	Mode      string `attr:"mode" doc:"the order of the channels: DCR or CRD; an empty text means DCR"`
}

// Spec returns the declaration.
func (SpaceToDepth) Spec() *spec.Op { return spaceToDepthOp.Op() }

// Gradient declares the gradient, by DepthToSpace.
func (c SpaceToDepth) Gradient(t *spec.Tape) {
	linear(t, 0, DepthToSpace(c))
}

var spaceToDepthOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*SpaceToDepth]{
		Name: "space_to_depth", ONNX: []string{"SpaceToDepth"},
		Doc:      "Makes channels of the blocks of pixels of a tensor.",
		In:       spec.Arg{Name: "in", Doc: "[N,C,H,W] of any dtype; H and W are multiples of blocksize"},
		Out:      "[N,C·b²,H/b,W/b], where b is blocksize",
		Defaults: &SpaceToDepth{BlockSize: 2},
		Shape: func(c *SpaceToDepth, in []tensor.Desc) ([]int, error) {
			if err := checkBlocks(in[0], c.BlockSize, c.Mode); err != nil {
				return nil, err
			}
			s, b := in[0].Shape, c.BlockSize
			if s[2]%b != 0 || s[3]%b != 0 || s[1] > math.MaxInt/(b*b) {
				return nil, planner.Invalid("input in is %v (want rows and columns that are multiples of %d)", in[0], b)
			}
			return []int{s[0], s[1] * b * b, s[2] / b, s[3] / b}, nil
		},
		Copies: func(c *SpaceToDepth, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			shape, dst, src := blockCopy(out, in[0], spec.Out(0), spec.In(0), c.BlockSize, c.Mode)
			return []movement.Copy{{Shape: shape, Src: src, Dst: dst}}
		},
		Origin: func(c *SpaceToDepth, in []*tensor.Host, index []int) (int, []int) {
			b := c.BlockSize
			channel, block := index[1]/(b*b), index[1]%(b*b)
			if c.Mode != "CRD" {
				channel, block = index[1]%in[0].Shape[1], index[1]/in[0].Shape[1]
			}
			return 0, []int{index[0], channel, index[2]*b + block/b, index[3]*b + block%b}
		},
		Cases: spec.CasesOf[*SpaceToDepth]{
			Calls: []*SpaceToDepth{
				{BlockSize: 2, Mode: "CRD"}, {BlockSize: 3, Mode: "DCR"}, {BlockSize: 3, Mode: "CRD"}, {BlockSize: 1},
			},
			Invalid: []*SpaceToDepth{{}, {BlockSize: -2}, {BlockSize: 2, Mode: "crd"}, {BlockSize: 5}, {BlockSize: math.MaxInt}},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 4, 2, 2)}, {tensor.Contiguous(tensor.F32, 1, 6, 3, 4)}},
			Dims:    []spec.Dim{{Name: "channels", Only: []int{3, 1, 0, 32}}, {Name: "rows", Only: []int{12, 6, 0, 36}}, {Name: "columns", Only: []int{6, 18, 0, 96, 198}}},
			Inputs: func(_ *SpaceToDepth, d tensor.DType, dims []int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(d, 2, dims[0], dims[1], dims[2])}
			},
			Bench: planner.BenchCasesOf(SpaceToDepth{BlockSize: 2}, func(d tensor.DType, rows, columns int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(d, 1, 16, rows/16, columns)}
			}),
		},
	})
}}
