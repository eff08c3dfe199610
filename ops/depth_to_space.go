package ops

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// DepthToSpace makes blocks of pixels of the channels: [N,C,H,W] becomes [N,C/b²,H·b,W·b], where
// b is BlockSize. Channel (i·b + j)·C/b² + c becomes row i and column j of the blocks of channel
// c. That is Mode DCR (depth, column, row). In Mode CRD it is channel c·b² + i·b + j, as in a
// pixel shuffle. C must be a multiple of b².
type DepthToSpace struct {
	BlockSize int    `attr:"blocksize,required" onnx:"blocksize" doc:"the height and the width of a block, at least 1"`
	Mode      string `attr:"mode" onnx:"mode" doc:"the order of the channels: DCR or CRD; an empty text means DCR"`
}

// Spec returns the declaration.
func (DepthToSpace) Spec() *spec.Op { return depthToSpaceOp.Op() }

// Gradient declares the gradient, by SpaceToDepth.
func (c DepthToSpace) Gradient(t *spec.Tape) {
	linear(t, 0, SpaceToDepth(c))
}

// maxBlock is a size of a block from which on its square may be no int.
const maxBlock = 1 << (bits.UintSize/2 - 1)

// checkBlocks checks the input and the attributes of an operation on blocks.
// Errors: ErrInvalidArgument.
func checkBlocks(in tensor.Desc, size int, mode string) error {
	switch {
	case len(in.Shape) != 4:
		return planner.Invalid("input in is %v (want [N,C,H,W])", in)
	case size < 1 || size >= maxBlock:
		return planner.Invalid("blocksize %d (want at least 1, and less than %d)", size, maxBlock)
	case mode != "" && mode != "DCR" && mode != "CRD":
		return planner.Invalid("mode %q (want DCR or CRD)", mode)
	}
	return nil
}

// blockCopy is the copy between a tensor whose channels are deep and one that is wide. Its
// dimensions are those of [N,C,H,b,W,b], where [N,C,H·b,W·b] is the shape of the wide one.
func blockCopy(deep, wide tensor.Desc, deepRef, wideRef spec.Ref, size int, mode string) (shape []int, d, w planner.Operand) {
	n, c := wide.Shape[0], wide.Shape[1]
	sd, sw := deep.ElementStrides(), wide.ElementStrides()
	channel, row, column := 1, size*c, c
	if mode == "CRD" {
		channel, row, column = size*size, size, 1
	}
	shape = []int{n, c, deep.Shape[2], size, deep.Shape[3], size}
	d = planner.Operand{Ref: deepRef, Strides: []int{sd[0], channel * sd[1], sd[2], row * sd[1], sd[3], column * sd[1]}}
	w = planner.Operand{Ref: wideRef, Strides: []int{sw[0], sw[1], size * sw[2], sw[2], size * sw[3], sw[3]}}
	return shape, d, w
}

var depthToSpaceOp = spec.Declaration{Define: func() *spec.Op {
	return movement.Define(movement.Movement[*DepthToSpace]{
		Name: "depth_to_space", ONNX: []string{"DepthToSpace"},
		Doc:      "Makes blocks of pixels of the channels of a tensor.",
		In:       spec.Arg{Name: "in", Doc: "[N,C,H,W] of any dtype; C is a multiple of blocksize²"},
		Out:      "[N,C/b²,H·b,W·b], where b is blocksize",
		Defaults: &DepthToSpace{BlockSize: 2},
		Shape: func(c *DepthToSpace, in []tensor.Desc) ([]int, error) {
			if err := checkBlocks(in[0], c.BlockSize, c.Mode); err != nil {
				return nil, err
			}
			s, b := in[0].Shape, c.BlockSize
			if s[1]%(b*b) != 0 || s[2] > math.MaxInt/b || s[3] > math.MaxInt/b {
				return nil, planner.Invalid("input in is %v (want a multiple of %d channels)", in[0], b*b)
			}
			return []int{s[0], s[1] / (b * b), s[2] * b, s[3] * b}, nil
		},
		Copies: func(c *DepthToSpace, in []tensor.Desc, out tensor.Desc) []movement.Copy {
			shape, src, dst := blockCopy(in[0], out, spec.In(0), spec.Out(0), c.BlockSize, c.Mode)
			return []movement.Copy{{Shape: shape, Src: src, Dst: dst}}
		},
		Origin: func(c *DepthToSpace, in []*tensor.Host, index []int) (int, []int) {
			b, channels := c.BlockSize, in[0].Shape[1]
			i, j := index[2]%b, index[3]%b
			from := index[1]*b*b + i*b + j
			if c.Mode != "CRD" {
				from = (i*b+j)*(channels/(b*b)) + index[1]
			}
			return 0, []int{index[0], from, index[2] / b, index[3] / b}
		},
		Cases: spec.CasesOf[*DepthToSpace]{
			Calls: []*DepthToSpace{
				{BlockSize: 2, Mode: "CRD"}, {BlockSize: 3, Mode: "DCR"}, {BlockSize: 3, Mode: "CRD"}, {BlockSize: 1},
			},
			Invalid: []*DepthToSpace{{}, {BlockSize: -2}, {BlockSize: 2, Mode: "crd"}, {BlockSize: 5}, {BlockSize: math.MaxInt}},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 4, 3, 3)}, {tensor.Contiguous(tensor.F32, 1, 6, 3, 3)}},
			Dims:    []spec.Dim{{Name: "channels", Only: []int{36, 72, 0}}, {Name: "rows", Only: []int{5, 1, 0, 18}}, {Name: "columns", Only: []int{7, 1, 0, 16, 65}}},
			Inputs: func(_ *DepthToSpace, d tensor.DType, dims []int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(d, 2, dims[0], dims[1], dims[2])}
			},
			Bench: planner.BenchCasesOf(DepthToSpace{BlockSize: 2}, func(d tensor.DType, rows, columns int) []tensor.Desc {
				return []tensor.Desc{tensor.Contiguous(d, 1, 16, rows/16, columns)}
			}),
		},
	})
}}
