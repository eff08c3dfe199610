package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ConvFilterGrad is the gradient of Conv with respect to the filter. From x and the gradient dy of
// the result it computes
//
//	dw[k, c, r] = Σ x[n, c, o·S + r·D − P]·dy[n, k, o]
//
// over the images n and the elements o. Elements outside of x are zeros, which are multiplied as
// all others are. The attributes are those of Conv, with the pads as numbers.
type ConvFilterGrad struct {
	KernelShape []int `attr:"kernel_shape,required" doc:"the spatial sizes of the filter"`
	Strides     []int `attr:"strides" doc:"those of conv"`
	Pads        []int `attr:"pads" doc:"those of conv"`
	Dilations   []int `attr:"dilations" doc:"those of conv"`
	Group       int   `attr:"group" doc:"the number of groups of channels"`
}

// Spec returns the declaration.
func (ConvFilterGrad) Spec() *spec.Op { return convFilterGradOp.Op() }

// Gradient declares the gradients: of x by ConvInputGrad, and of dy by Conv.
func (c ConvFilterGrad) Gradient(t *spec.Tape) {
	d, x := t.Gradient(0), t.Shape(t.In(0))
	if d == spec.NoValue {
		return
	}
	if t.Needs(0) {
		t.SetGradient(0, t.Call(ConvInputGrad{Size: x[2:], Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group}, t.In(1), d))
	}
	if t.Needs(1) {
		t.SetGradient(1, t.Call(Conv{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group}, t.In(0), d))
	}
}

func (c *ConvFilterGrad) attributes() convolution.Attributes {
	return convolution.Attributes{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group}
}

var convFilterGradOp = spec.Declaration{Define: func() *spec.Op {
	return convolution.Define(convolution.Convolution[*ConvFilterGrad]{
		Name: "conv_filter_grad", Kind: convolution.FilterGrad,
		Doc: "The gradient of conv with respect to its filter.",
		In: []spec.Arg{
			{Name: "x", Doc: "[N,C,...], the input of conv", DTypes: planner.Floats},
			{Name: "dy", Doc: "[N,K,...], the gradient of the result of conv", DTypes: planner.Floats},
		},
		Out:        "[K,C/group,...], the gradient of the filter",
		Defaults:   &ConvFilterGrad{KernelShape: []int{3, 3}, Group: 1},
		Attributes: (*ConvFilterGrad).attributes,
		Sizes:      func(c *ConvFilterGrad) (sizes, padding []int) { return c.KernelShape, nil },
		Cases: spec.CasesOf[*ConvFilterGrad]{
			Calls: []*ConvFilterGrad{
				{KernelShape: []int{3, 3}, Group: 1, Pads: []int{1, 1, 1, 1}}, {KernelShape: []int{5}, Group: 3, Strides: []int{3}, Pads: []int{2, 1}},
				{KernelShape: []int{2, 3}, Group: 2, Strides: []int{2, 3}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}},
				{KernelShape: []int{1, 2, 2}, Group: 1, Dilations: []int{1, 2, 3}}, {KernelShape: []int{1, 1}, Group: 1},
			},
			Dims: append(convolution.GradDims[:3:3], spec.Dim{Name: "size", Tiles: []int{16}}),
			Sizes: [][]int{
				{1, 3, 2, 70_000}, {70_000, 1, 2, 3}, {5, 33, 5, 70}, {2, 1, 1, 65_541}, {4097, 2, 3, 4}, {1, 1, 70_000, 4},
			},
			Inputs: func(c *ConvFilterGrad, d tensor.DType, dims []int) []tensor.Desc {
				x, y, ok := convolution.FilterGradShapes(c.attributes(), c.KernelShape, d, dims)
				if !ok {
					return nil
				}
				return []tensor.Desc{x, y}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range convolution.BenchSizes {
					x, _, y, _, pads := convolution.BenchShapes(d, s)
					cases = append(cases, spec.BenchCase{Call: ConvFilterGrad{KernelShape: []int{s[4], s[4]}, Group: 1, Pads: pads}, In: []tensor.Desc{x, y}})
				}
				return cases
			},
			Invalid: []*ConvFilterGrad{
				{KernelShape: []int{3}, Group: 1}, {Group: 1}, {KernelShape: []int{0, 3}, Group: 1}, {KernelShape: []int{3, 3}, Group: -1},
				{KernelShape: []int{3, 3}, Group: 1, Strides: []int{0, 1}}, {KernelShape: []int{3, 3}, Group: 1, Pads: []int{1}},
			},
			Refused: [][]tensor.Desc{
				shapes([]int{1, 2, 5}, []int{1, 2, 3})[0], shapes([]int{1, 2, 5, 5}, []int{1, 2, 3})[0], shapes([]int{1, 2, 5, 5}, []int{2, 2, 3, 3})[0],
				shapes([]int{1, 2, 5, 5}, []int{1, 2, 3, 4})[0], shapes([]int{1, 2}, []int{1, 2})[0],
			},
		},
	})
}}
