package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/convolution"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ConvInputGrad is the gradient of Conv with respect to x. From the gradient dy of the result and
// the filter w it computes
//
//	dx[n, c, i] = Σ dy[n, k, o]·w[k, c, r]
//
// over the channels k of the group and all o and r with o·S + r·D − P = i. If no o fits a tap, the
// tap is multiplied by 0. The attributes are those of Conv, with the pads as numbers.
type ConvInputGrad struct {
	Size      []int `attr:"size,required" doc:"the spatial sizes of x"`
	Strides   []int `attr:"strides" doc:"those of conv"`
	Pads      []int `attr:"pads" doc:"those of conv"`
	Dilations []int `attr:"dilations" doc:"those of conv"`
	Group     int   `attr:"group" doc:"the number of groups of channels"`
}

// Spec returns the declaration.
func (ConvInputGrad) Spec() *spec.Op { return convInputGradOp.Op() }

// Gradient declares the gradients: of dy by Conv, and of w by ConvFilterGrad.
func (c ConvInputGrad) Gradient(t *spec.Tape) {
	d, w := t.Gradient(0), t.Shape(t.In(1))
	if d == spec.NoValue {
		return
	}
	if t.Needs(0) {
		t.SetGradient(0, t.Call(Conv{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group}, d, t.In(1)))
	}
	if t.Needs(1) {
		t.SetGradient(1, t.Call(ConvFilterGrad{KernelShape: w[2:], Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group}, d, t.In(0)))
	}
}

func (c *ConvInputGrad) attributes() convolution.Attributes {
	return convolution.Attributes{Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, Group: c.Group}
}

var convInputGradOp = spec.Declaration{Define: func() *spec.Op {
	return convolution.Define(convolution.Convolution[*ConvInputGrad]{
		Name: "conv_input_grad", Kind: convolution.InputGrad,
		Doc: "The gradient of conv with respect to its input.",
		In: []spec.Arg{
			{Name: "dy", Doc: "[N,K,...], the gradient of the result of conv", DTypes: planner.Floats},
			{Name: "w", Doc: "[K,C/group,...], the filter", DTypes: planner.Floats},
		},
		Out:        "[N,C,...], the gradient of x",
		Defaults:   &ConvInputGrad{Size: []int{7, 7}, Group: 1},
		Attributes: (*ConvInputGrad).attributes,
		Sizes:      func(c *ConvInputGrad) (sizes, padding []int) { return c.Size, nil },
		Cases: spec.CasesOf[*ConvInputGrad]{
			Calls: []*ConvInputGrad{
				{Size: []int{7, 9}, Group: 1, Pads: []int{1, 1, 1, 1}}, {Size: []int{31}, Group: 3, Strides: []int{3}, Pads: []int{2, 1}},
				{Size: []int{8, 13}, Group: 2, Strides: []int{2, 3}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}},
				{Size: []int{5, 6, 17}, Group: 1, Dilations: []int{1, 2, 3}}, {Size: []int{70_000}, Group: 1, Strides: []int{2}},
				{Size: []int{130, 130}, Group: 1, Strides: []int{2, 2}, Pads: []int{1, 1, 1, 1}},
			},
			Dims: convolution.GradDims, Sizes: convolution.GradSizes,
			Inputs: func(c *ConvInputGrad, d tensor.DType, dims []int) []tensor.Desc {
				x, w, y, ok := convolution.GradShapes(c.attributes(), c.Size, d, dims)
				if !ok || x.Elems() > 1<<24 { // The inputs are empty where there are no results.
					return nil
				}
				return []tensor.Desc{y, w}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, s := range convolution.BenchSizes {
					_, w, y, _, pads := convolution.BenchShapes(d, s)
					cases = append(cases, spec.BenchCase{Call: ConvInputGrad{Size: []int{s[3], s[3]}, Group: 1, Pads: pads}, In: []tensor.Desc{y, w}})
				}
				return cases
			},
			Invalid: []*ConvInputGrad{
				{Size: []int{7}, Group: 1}, {Group: 1}, {Size: []int{0, 7}, Group: 1}, {Size: []int{7, 7}, Group: -1}, {Size: []int{7, 7}, Group: 1, Strides: []int{0, 1}},
				{Size: []int{7, 7}, Group: 1, Pads: []int{1}}, {Size: []int{7, 7}, Group: 1, Dilations: []int{1, 100}}, {Size: []int{400, 400}, Group: 1},
			},
			Refused: [][]tensor.Desc{
				shapes([]int{1, 2, 5}, []int{2, 2, 3})[0], shapes([]int{1, 2, 5, 5}, []int{2, 2, 3})[0], shapes([]int{1, 3, 5, 5}, []int{2, 2, 3, 3})[0],
				shapes([]int{1, 2, 5, 4}, []int{2, 2, 3, 3})[0], shapes([]int{1, 2}, []int{2, 2})[0],
			},
		},
	})
}}
