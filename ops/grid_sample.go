package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/resampling"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// GridSample reads a tensor x [N, C, size...] at places between its elements, as GridSample of ONNX does. Each point
// of grid [N, outputs..., axes] has a number for each axis, that of the last axis first. −1 and 1 are the outer edges of
// the first and the last element, or their centres with AlignCorners. So number g is at
//
//	((g + 1)·n − 1)/2        or, with AlignCorners,        (g + 1)/2·(n − 1)
//
// along an axis of n elements. Linear takes 2 elements along each axis, and cubic takes 4, with the coefficient −0.75.
// Nearest takes one, of two that are equally near the even one. All of them work over one to three axes.
//
// Padding says what is outside. With zeros, elements there are 0. With border, a number below −1 or above 1 is at the
// centre of the first or of the last element; elements that a filter still has outside are the ones at the edges. With
// reflection, numbers are reflected at −1 and 1, and so are elements outside, as often as it takes. Numbers of any size
// are reflected exactly. Nearest chooses an element first, which may then be outside.
//
// Coordinates are the same on every device, to the last bit. A number of the grid counts to 2^-56, towards 0. A coordinate
// is then exact, and is rounded to the nearest multiple of 2^-24 of an element, or 2^-52 if grid is F64. An infinite number
// is outside with zeros and border, as a very large one is. Where a number is NaN, or infinite with reflection, the result
// is NaN. An element of weight 0 does not count, even if it is infinite or NaN.
//
// Examples of ONNX over three axes round ties away from zero, which its text and this operation do not.
// It differs from ONNX in that x and grid have a dtype of floating-point numbers: grid has that of x, or F32. A size of
// more than 2^28 is unsupported, and so are planes of 2^31 elements. An empty size is an error if the result is not empty.
type GridSample struct {
	Mode         string `attr:"mode" onnx:"mode" doc:"linear, nearest or cubic"`
	Padding      string `attr:"padding_mode" onnx:"padding_mode" doc:"zeros, border or reflection: what is outside of the tensor"`
	AlignCorners bool   `attr:"align_corners" onnx:"align_corners" doc:"-1 and 1 are the centres of the first and the last element, not their outer edges"`
}

// Spec returns the declaration.
func (GridSample) Spec() *spec.Op { return gridSampleOp.Op() }

// Gradient declares the gradient of x, by GridSampleGrad. The grid has none yet.
func (c GridSample) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.Shape(t.In(0))
	if dy == spec.NoValue {
		return
	}
	if t.Needs(1) {
		t.Refuse("the grid")
		return
	}
	t.SetGradient(0, t.Call(GridSampleGrad{Size: x[2:], Mode: c.Mode, Padding: c.Padding, AlignCorners: c.AlignCorners}, dy, t.In(1)))
}

var gridSampleOp = spec.Declaration{Define: func() *spec.Op {
	f := tensor.Contiguous
	return resampling.DefineSampling(spec.Definition[*GridSample]{
		Name: "grid_sample", Source: "ONNX GridSample", Traits: spec.Traits{ONNX: []string{"GridSample"}},
		Doc:      "Reads a tensor at the places of a grid, by nearest, linear or cubic interpolation over one to three axes.",
		Defaults: &GridSample{Mode: "linear", Padding: "zeros"},
		Cases: spec.CasesOf[*GridSample]{
			DTypes: planner.Floats, Low: -2, High: 2, Specials: true,
			Calls: []*GridSample{
				{Mode: "linear", Padding: "zeros"}, {Mode: "linear", Padding: "border"}, {Mode: "linear", Padding: "reflection", AlignCorners: true},
				{Mode: "nearest", Padding: "zeros", AlignCorners: true}, {Mode: "nearest", Padding: "border"}, {Mode: "nearest", Padding: "reflection"},
				{Mode: "cubic", Padding: "zeros"}, {Mode: "cubic", Padding: "border", AlignCorners: true}, {Mode: "cubic", Padding: "border"},
				{Mode: "cubic", Padding: "reflection"}, {Mode: "cubic", Padding: "reflection", AlignCorners: true},
			},
			Invalid: []*GridSample{{Mode: "bilinear", Padding: "zeros"}, {Mode: "linear", Padding: "wrap"}},
			Refused: [][]tensor.Desc{
				{f(tensor.F32, 1, 2, 5, 6), f(tensor.F32, 1, 3, 4, 3)}, {f(tensor.F32, 1, 2, 5, 6), f(tensor.F32, 2, 3, 4, 2)}, {f(tensor.F32, 1, 2, 5, 6), f(tensor.F32, 1, 4, 2)},
				{f(tensor.F32, 1, 2), f(tensor.F32, 1, 0)}, {f(tensor.F32, 1, 2, 3, 3, 3, 3), f(tensor.F32, 1, 3, 3, 3, 3, 4)}, {f(tensor.F32, 1, 2, 0, 6), f(tensor.F32, 1, 3, 4, 2)},
				{f(tensor.F32, 1, 2, 5, 6), f(tensor.F16, 1, 3, 4, 2)}, {f(tensor.I32, 1, 2, 5, 6), f(tensor.F32, 1, 3, 4, 2)},
			},
			Range: func(a *GridSample, i int, _ []tensor.Desc) (low, high float64) { return gridSampleRange(a.Padding, i) },
			// A plane that is larger than small bindings, and many points.
			Sizes:  [][]int{{1, 70_001, 3, 2}, {2, 400_003, 2, 1}, {1, 50_021, 3, 3}, {1, 9, 50_021, 2}, {300, 3, 5, 2}},
			Dims:   []spec.Dim{{Name: "channels"}, {Name: "size"}, {Name: "points"}, {Name: "axes", Only: []int{2, 1, 3}}},
			Inputs: gridSampleInputs,
			Bench: func(d tensor.DType) []spec.BenchCase {
				var list []spec.BenchCase
				for _, n := range [][]int{{1, 4, 64}, {1, 32, 128}, {4, 64, 128}} {
					list = append(list, spec.BenchCase{Call: GridSample{Mode: "linear", Padding: "zeros"}, In: []tensor.Desc{f(d, n[0], n[1], n[2], n[2]), f(d, n[0], n[2], n[2], 2)}})
				}
				return list
			},
		},
	}, (*GridSample).sampling)
}}

func (a *GridSample) sampling() resampling.Sampling {
	return resampling.Sampling{Mode: a.Mode, Padding: a.Padding, AlignCorners: a.AlignCorners}
}

// gridSampleRange returns the range of input i: elements, and places far outside too where they are reflected.
func gridSampleRange(padding string, i int) (low, high float64) {
	switch {
	case i == 0:
		return -2, 2
	case padding == "reflection":
		return -7, 7
	}
	return -1.75, 1.75
}

// gridSampleInputs returns a tensor of two images and a grid, or nil if the call has no result for them or takes long.
func gridSampleInputs(a *GridSample, d tensor.DType, dims []int) []tensor.Desc {
	channels, size, points, axes := dims[0], dims[1], dims[2], dims[3]
	x := append([]int{2, channels}, [][]int{{}, {7}, {3, 2}}[axes-1]...)
	grid := append([]int{2}, [][]int{{}, {3}, {2, 2}}[axes-1]...)
	x, grid = append(x, size), append(grid, points, axes)
	taps := 1
	for range axes {
		switch a.Mode {
		case "linear":
			taps *= 2
		case "cubic":
			taps *= 4
		}
	}
	out := 2 * 4 * channels * points
	if size == 0 && out > 0 || out*taps > 1<<23 || tensor.Contiguous(d, x...).Elems() > 1<<20 {
		return nil
	}
	// A third of the grids are F32 whatever x is.
	of := d
	if points%3 == 2 {
		of = tensor.F32
	}
	return []tensor.Desc{tensor.Contiguous(d, x...), tensor.Contiguous(of, grid...)}
}
