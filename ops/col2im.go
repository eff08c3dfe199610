package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Col2Im puts the columns of windows back into images, and adds what overlaps. It is the opposite of
// taking the windows of an image as columns, and the gradient of that: with S the strides, D the
// dilations and P the pads at the beginning of each axis,
//
//	out[n, c, y] = Σ in[n, c·K + t, w]   where w·S + t·D − P = y
//
// over the taps t of a window, whose number is K, and over the windows w. The input is
// [N, C·K, windows]. Taps and windows are numbered in row-major order. Elements in pads are left
// out, and elements of the image that no window has are 0. Sums are made in F32, or in F64 for F64, in a fixed
// order, so that results are the same each time. NaN and infinities add as in IEEE 754.
//
// There are one to three axes. ImageShape and BlockShape, inputs of ONNX Col2Im, are attributes. The number of
// windows along an axis is (image + pads − D·(block−1) − 1)/S + 1, rounded down, and at least 1. An
// axis with its pads has at most 2^29 elements. A stride of more than 65535 with a dilation that is not 1
// is ErrUnsupported, and so are 2^31 windows or elements of a window.
type Col2Im struct {
	ImageShape []int `attr:"image_shape,required" doc:"the spatial sizes of the images"`
	BlockShape []int `attr:"block_shape,required" doc:"the sizes of a window"`
	Strides    []int `attr:"strides" onnx:"strides" doc:"the steps from window to window; empty means 1"`
	Pads       []int `attr:"pads" onnx:"pads" doc:"the pads before each axis, then after each; empty means 0"`
	Dilations  []int `attr:"dilations" onnx:"dilations" doc:"the steps within a window; empty means 1"`
}

// Spec returns the declaration.
func (Col2Im) Spec() *spec.Op { return col2imOp.Op() }

func (c *Col2Im) columns() pooling.Columns {
	return pooling.Columns{Image: c.ImageShape, Block: c.BlockShape, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations}
}

var col2imOp = spec.Declaration{Define: func() *spec.Op {
	f := tensor.Contiguous
	return pooling.DefineColumns(spec.Definition[*Col2Im]{
		Name: "col2im", Source: "ONNX Col2Im", Traits: spec.Traits{ONNX: []string{"Col2Im"}},
		Doc:      "Puts the columns of windows back into images of one, two or three axes, and adds what overlaps.",
		Defaults: &Col2Im{ImageShape: []int{8, 8}, BlockShape: []int{2, 2}},
		Cases: spec.CasesOf[*Col2Im]{
			DTypes: planner.Floats, Low: -2, High: 2, Specials: true,
			Calls: []*Col2Im{
				{ImageShape: []int{13, 31}, BlockShape: []int{3, 3}, Pads: []int{1, 1, 1, 1}}, {ImageShape: []int{8, 8}, BlockShape: []int{2, 2}},
				{ImageShape: []int{13, 30}, BlockShape: []int{3, 4}, Strides: []int{2, 4}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}},
				{ImageShape: []int{40, 37}, BlockShape: []int{5, 4}, Strides: []int{6, 4}, Dilations: []int{4, 6}, Pads: []int{0, 1, 2, 9}},
				{ImageShape: []int{19}, BlockShape: []int{3}, Dilations: []int{2}, Pads: []int{7, 0}},
				{ImageShape: []int{5, 13, 9}, BlockShape: []int{2, 3, 1}, Strides: []int{1, 2, 3}, Dilations: []int{2, 1, 1}, Pads: []int{1, 0, 0, 0, 2, 0}},
				{ImageShape: []int{1, 2}, BlockShape: []int{1, 2}, Pads: []int{0, 4, 0, 4}}, {ImageShape: []int{3}, BlockShape: []int{1}, Strides: []int{70_001}, Pads: []int{70_000, 140_000}},
				{ImageShape: []int{70_003}, BlockShape: []int{70_000}}, {ImageShape: []int{70_003}, BlockShape: []int{3}, Strides: []int{2}}, {ImageShape: []int{150}, BlockShape: []int{75}, Strides: []int{7}, Dilations: []int{2}},
				{ImageShape: []int{305, 252}, BlockShape: []int{300, 250}}, {ImageShape: []int{300, 500}, BlockShape: []int{2, 2}, Strides: []int{2, 2}}, {ImageShape: []int{3, 100_000}, BlockShape: []int{2, 3}, Strides: []int{1, 2}},
			},
			Invalid: []*Col2Im{
				{}, {ImageShape: []int{8, 8}}, {ImageShape: []int{8, 8}, BlockShape: []int{2}}, {ImageShape: []int{8, 8}, BlockShape: []int{2, 0}}, {ImageShape: []int{8, 0}, BlockShape: []int{2, 2}},
				{ImageShape: []int{8, 8}, BlockShape: []int{2, 9}}, {ImageShape: []int{8, 8}, BlockShape: []int{2, 2}, Strides: []int{1}}, {ImageShape: []int{8, 8}, BlockShape: []int{2, 2}, Strides: []int{1, 0}},
				{ImageShape: []int{8, 8}, BlockShape: []int{2, 2}, Pads: []int{1, 1}}, {ImageShape: []int{8, 8}, BlockShape: []int{2, 2}, Pads: []int{-1, 0, 0, 0}}, {ImageShape: []int{8, 8}, BlockShape: []int{2, 2}, Dilations: []int{0, 1}},
				{ImageShape: []int{2, 2, 2, 2}, BlockShape: []int{1, 1, 1, 1}}, {ImageShape: []int{8, 8}, BlockShape: []int{2, 2}, Dilations: []int{1, 8}}, {ImageShape: []int{8, -8}, BlockShape: []int{2, 2}},
			},
			Refused: [][]tensor.Desc{{f(tensor.F32, 4, 49)}, {f(tensor.F32, 1, 5, 49)}, {f(tensor.F32, 1, 4, 48)}, {f(tensor.F32, 1, 4, 7, 7)}, {f(tensor.I32, 1, 4, 49)}},
			Dims:    []spec.Dim{{Name: "n"}, {Name: "channels", Only: []int{1, 2}}},
			Inputs: func(c *Col2Im, d tensor.DType, dims []int) []tensor.Desc {
				shape := c.columns().Shape(dims[0], dims[1])
				if shape == nil {
					return nil
				}
				// The reference takes long where there are many elements.
				most := max((1<<19)/(shape[1]*shape[2]), 1)
				return []tensor.Desc{f(d, min(dims[0], most), shape[1], shape[2])}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var list []spec.BenchCase
				for _, n := range [][]int{{1, 4, 64}, {1, 32, 128}, {4, 64, 128}} {
					call := Col2Im{ImageShape: []int{n[2], n[2]}, BlockShape: []int{3, 3}, Pads: []int{1, 1, 1, 1}}
					list = append(list, spec.BenchCase{Call: call, In: []tensor.Desc{f(d, n[0], 9*n[1], n[2]*n[2])}})
				}
				return list
			},
		},
	}, (*Col2Im).columns)
}}
