package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/resampling"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// GridSampleGrad is the gradient of GridSample with respect to its tensor, in each mode: each element adds the gradients
// of all points where it has a weight, times the weight. It adds in a fixed order, without atomics, so that results are
// the same each time. Sums are made in F32, or in F64 for F64. A point that is nowhere, whose result is NaN, adds nothing.
//
// Size has the spatial sizes of the tensor. The other attributes are those of the call whose gradient it is. There may be
// 2^30 points, counted once for each element that a filter takes. The gradient with respect to the grid is not computed.
type GridSampleGrad struct {
	Size         []int  `attr:"size,required" doc:"the spatial sizes of the tensor that was sampled"`
	Mode         string `attr:"mode" doc:"linear, nearest or cubic"`
	Padding      string `attr:"padding_mode" doc:"zeros, border or reflection: what is outside of the tensor"`
	AlignCorners bool   `attr:"align_corners" doc:"-1 and 1 are the centres of the first and the last element, not their outer edges"`
}

// Spec returns the declaration.
func (GridSampleGrad) Spec() *spec.Op { return gridSampleGradOp.Op() }

// Gradient declares the gradient of dy, by GridSample. The grid has none yet.
func (c GridSampleGrad) Gradient(t *spec.Tape) {
	d := t.Gradient(0)
	if d == spec.NoValue {
		return
	}
	if t.Needs(1) {
		t.Refuse("the grid")
		return
	}
	t.SetGradient(0, t.Call(GridSample{Mode: c.Mode, Padding: c.Padding, AlignCorners: c.AlignCorners}, d, t.In(1)))
}

// manyPoints is a number of points with more pairs than a launch takes.
const manyPoints = 12_007

var gridSampleGradOp = spec.Declaration{Define: func() *spec.Op {
	f := tensor.Contiguous
	of := func(mode, padding string, corners bool, size ...int) *GridSampleGrad {
		return &GridSampleGrad{Size: size, Mode: mode, Padding: padding, AlignCorners: corners}
	}
	return resampling.DefineSamplingGrad(spec.Definition[*GridSampleGrad]{
		Name: "grid_sample_grad", Source: "ONNX GridSample",
		Doc:      "The gradient of grid_sample with respect to its tensor.",
		Defaults: of("linear", "zeros", false, 7, 9),
		Cases: spec.CasesOf[*GridSampleGrad]{
			DTypes: planner.Floats, Low: -2, High: 2, Specials: true,
			Calls: []*GridSampleGrad{
				of("linear", "zeros", false, 7, 9), of("linear", "border", false, 13, 5), of("linear", "reflection", true, 2, 3, 4),
				of("nearest", "zeros", true, 7, 9), of("nearest", "reflection", false, 11), of("cubic", "zeros", true, 6, 6),
				of("cubic", "border", false, 17), of("cubic", "reflection", false, 2, 3), of("linear", "border", true, 300_007), of("nearest", "border", false, 3, 2, 2), of("linear", "zeros", false, 0, 4),
			},
			Invalid: []*GridSampleGrad{
				of("bilinear", "zeros", false, 7, 9), of("linear", "wrap", false, 7, 9), of("linear", "zeros", false, 7), of("linear", "zeros", false, 7, -9), of("linear", "zeros", false, 7, 0),
			},
			Refused: [][]tensor.Desc{
				{f(tensor.F32, 1, 2, 3, 4), f(tensor.F32, 1, 4, 3, 2)}, {f(tensor.F32, 1, 2, 3, 4), f(tensor.F32, 1, 3, 4, 3)}, {f(tensor.F32, 1, 2, 3, 4), f(tensor.F32, 2, 3, 4, 2)},
				{f(tensor.F32, 3), f(tensor.F32, 1, 3, 4, 2)}, {f(tensor.F32, 1, 2, 3, 4), f(tensor.F16, 1, 3, 4, 2)}, {f(tensor.I32, 1, 2, 3, 4), f(tensor.F32, 1, 3, 4, 2)},
			},
			Range: func(a *GridSampleGrad, i int, _ []tensor.Desc) (low, high float64) {
				return gridSampleRange(a.Padding, i)
			},
			// More pairs than a launch takes, and more than a binding.
			Sizes: [][]int{{1, manyPoints}, {2, 70_001}, {300, 3}},
			Dims:  []spec.Dim{{Name: "channels"}, {Name: "points"}},
			Inputs: func(a *GridSampleGrad, d tensor.DType, dims []int) []tensor.Desc {
				in := gridSampleInputs(&GridSample{Mode: a.Mode}, d, []int{dims[0], 1, dims[1], len(a.Size)})
				planes := 2 * dims[0]
				for _, n := range a.Size {
					if n == 0 && dims[0]*dims[1] > 0 {
						return nil
					}
					planes *= n
				}
				if in == nil || planes > 1<<18 && dims[1] != manyPoints || dims[1] > 1<<17 {
					return nil // These take long. A plane that is larger than a binding is tried once.
				}
				grid := in[1]
				out := append([]int{2, dims[0]}, grid.Shape[1:len(grid.Shape)-1]...)
				return []tensor.Desc{f(d, out...), grid}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var list []spec.BenchCase
				for _, n := range [][]int{{1, 4, 64}, {1, 32, 128}, {4, 64, 128}} {
					list = append(list, spec.BenchCase{Call: GridSampleGrad{Size: []int{n[2], n[2]}, Mode: "linear", Padding: "zeros"}, In: []tensor.Desc{f(d, n[0], n[1], n[2], n[2]), f(d, n[0], n[2], n[2], 2)}})
				}
				return list
			},
		},
	}, func(a *GridSampleGrad) resampling.Sampling {
		return resampling.Sampling{Mode: a.Mode, Padding: a.Padding, AlignCorners: a.AlignCorners}
	}, func(a *GridSampleGrad) []int { return a.Size })
}}
