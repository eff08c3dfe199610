package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ColorMatrix makes each colour a sum of all colours and a constant, clamped to 0..1. A row of the
// matrix makes red, the next one green, and the last one blue. The numbers of a row are the
// factors of red, green and blue, and in a matrix of 12 numbers the constant.
//
// In an image of one channel red, green and blue are equal. The result is the luma of the new
// colours, clamped to 0..1.
type ColorMatrix struct {
	Matrix []float64 `attr:"matrix" doc:"9 numbers, or 12 with constants, row by row: the factors of red, green and blue that make red, then green, then blue; each within ±10⁶"`
}

// Spec returns the declaration.
func (ColorMatrix) Spec() *spec.Op { return colorMatrixOp.Op() }

var colorMatrixOp = spec.Declaration{Define: func() *spec.Op {
	return matrixOp(picture.Pointwise[*ColorMatrix]{
		Name:     "color_matrix",
		Aliases:  []string{"colour_matrix", "channel_mixer"},
		Doc:      "Makes each colour a sum of all colours, times factors, and of a constant, clamped to 0..1.",
		Defaults: &ColorMatrix{Matrix: []float64{1, 0, 0, 0, 1, 0, 0, 0, 1}},
		Check: func(c *ColorMatrix) error {
			if n := len(c.Matrix); n != 9 && n != 12 {
				return planner.Invalid("matrix (got %d numbers, want 9 or 12)", n)
			}
			for _, v := range c.Matrix {
				if err := picture.Finite("matrix", v); err != nil {
					return err
				}
			}
			return nil
		},
		Calls: []*ColorMatrix{
			{[]float64{0.5, 0.25, 0.25, -0.1, 0.1, 0.8, 0.1, 0.05, -0.3, 0.2, 1.1, 0}},
			{[]float64{0, 0, 1, 0, 1, 0, 1, 0, 0}},
			{[]float64{1e6, -1e6, 3, 0, 1, 0, -2, 16000, 0}},
		},
		Invalid: []*ColorMatrix{{}, {make([]float64, 10)}, {[]float64{nan, 0, 0, 0, 1, 0, 0, 0, 1}}, {[]float64{1, 0, 0, 0, 1, 0, 0, 0, inf}}},
	}, func(c *ColorMatrix) (m [12]float64) {
		columns := len(c.Matrix) / 3
		for i := range c.Matrix {
			m[4*(i/columns)+i%columns] = c.Matrix[i]
		}
		return m
	}, func(c *ColorMatrix, px [3]float64) (out [3]float64) {
		n := len(c.Matrix) / 3
		for row := range out {
			for i, v := range px {
				out[row] += c.Matrix[row*n+i] * v
			}
			if n == 4 {
				out[row] += c.Matrix[row*n+3]
			}
		}
		return out
	})
}}

// matrixOp declares an operation that is a matrix. mix computes the new colours without
// clamping them, and shares no code with matrix.
func matrixOp[A spec.Call](p picture.Pointwise[A], matrix func(A) [12]float64, mix func(a A, px [3]float64) [3]float64) *spec.Op {
	p.Stage = func(a A) picture.Stage { m := matrix(a); return picture.Stage{Matrix: &m} }
	p.Pixel = func(a A, px []float64) {
		if len(px) == 1 {
			grey := mix(a, [3]float64{px[0], px[0], px[0]})
			px[0] = picture.Clamp01(picture.Luma(grey[:]))
			return
		}
		for i, v := range mix(a, [3]float64(px)) {
			px[i] = picture.Clamp01(v)
		}
	}
	p.Tolerance = func(a A, d tensor.DType) spec.Tolerance {
		most := 0.0
		for _, v := range matrix(a) {
			most = max(most, math.Abs(v))
		}
		return picture.Level(d, 1e-6*max(1, most), "factors, three products and three sums rounded to f32")
	}
	p.Flops = 21
	return picture.DefinePointwise(p)
}
