package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/resampling"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// AffineGrid makes a grid for GridSample from a matrix for each image, as AffineGrid of ONNX does: with theta
// [N, axes, axes + 1], the numbers of a point are
//
//	theta · (x, y, z, 1)   or, over two axes,   theta · (x, y, 1)
//
// where x belongs to the last axis. Along an axis of n points, −1 and 1 are the outer edges of the first and the last
// point: point i is at (2·i + 1 − n)/n. With AlignCorners they are the centres, (2·i + 1 − n)/(n − 1), and one point
// alone is at 0. NaN and infinities are as in IEEE 754: an infinite element times 0 is NaN.
//
// It differs from ONNX in that Size is an attribute. It has the spatial sizes, which are the numbers of size in ONNX after
// the first two. One axis is allowed too. A size of more than 2^28 is unsupported, and so are 2^31 points.
type AffineGrid struct {
	Size         []int `attr:"size,required" doc:"the spatial sizes of the grid, one to three"`
	AlignCorners bool  `attr:"align_corners" onnx:"align_corners" doc:"-1 and 1 are the centres of the first and the last point, not their outer edges"`
}

// Spec returns the declaration.
func (AffineGrid) Spec() *spec.Op { return affineGridOp.Op() }

// Gradient declares the gradient: dy times the places of the grid.
func (c AffineGrid) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	// The grid of the identity has the places, to which the ones for the shift are added.
	n, points, one := len(c.Size), 1, make([]float64, len(c.Size)*(len(c.Size)+1))
	for d, size := range c.Size {
		points, one[d*(n+1)+d] = points*size, 1
	}
	d := t.Desc(dy).DType
	places := t.Reshape(t.Call(c, t.Constant(d, []int{1, n, n + 1}, one)), points, n)
	places = t.Call(Concat{Dim: 1}, places, t.Call(Fill{Value: 1, DType: d, Shape: []int{points, 1}}))
	t.SetGradient(0, t.Call(MatMul{TransA: true}, t.Reshape(dy, t.Shape(dy)[0], points, n), places))
}

var affineGridOp = spec.Declaration{Define: func() *spec.Op {
	f := tensor.Contiguous
	return resampling.DefineAffine(spec.Definition[*AffineGrid]{
		Name: "affine_grid", Source: "ONNX AffineGrid", Traits: spec.Traits{ONNX: []string{"AffineGrid"}},
		Doc:      "Makes the grid of grid_sample that applies a matrix to the places of a tensor.",
		Defaults: &AffineGrid{Size: []int{5, 6}},
		Cases: spec.CasesOf[*AffineGrid]{
			DTypes: planner.Floats, Low: -2, High: 2, Specials: true,
			Calls: []*AffineGrid{
				{Size: []int{5, 6}}, {Size: []int{4, 7}, AlignCorners: true}, {Size: []int{3, 4, 5}}, {Size: []int{2, 1, 6}, AlignCorners: true},
				{Size: []int{0, 4}}, {Size: []int{1, 1}}, {Size: []int{13}, AlignCorners: true}, {Size: []int{70_001}}, {Size: []int{3, 50_021}, AlignCorners: true}, {Size: []int{97, 211, 2}},
			},
			Invalid: []*AffineGrid{{Size: []int{5}}, {Size: []int{5, -6}}, {Size: []int{2, 2, 2}}, {Size: []int{2, 2, 2, 2}}},
			Refused: [][]tensor.Desc{{f(tensor.F32, 2, 3)}, {f(tensor.F32, 1, 3, 2)}, {f(tensor.F32, 1, 2, 2)}, {f(tensor.F32, 1, 1, 2, 3)}, {f(tensor.I32, 1, 2, 3)}},
			Dims:    []spec.Dim{{Name: "n"}},
			Inputs: func(a *AffineGrid, d tensor.DType, dims []int) []tensor.Desc {
				axes, elems := len(a.Size), len(a.Size)*dims[0]
				for _, n := range a.Size {
					elems *= n
				}
				if elems > 1<<20 {
					return nil // These take long.
				}
				return []tensor.Desc{f(d, dims[0], axes, axes+1)}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var list []spec.BenchCase
				for _, n := range []int{64, 512, 1024} {
					list = append(list, spec.BenchCase{Call: AffineGrid{Size: []int{n, n}}, In: []tensor.Desc{f(d, max(n/512, 1), 2, 3)}})
				}
				return list
			},
		},
	}, func(a *AffineGrid) resampling.Affine {
		return resampling.Affine{Size: a.Size, AlignCorners: a.AlignCorners}
	})
}}
