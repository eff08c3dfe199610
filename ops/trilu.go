package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Trilu keeps the upper or the lower triangle of matrices [..., n, m], of any dtype. The other elements
// become zero. The diagonal K belongs to the triangle. K is 0 for the main diagonal, and counts to the right.
type Trilu struct {
	K     int  `attr:"k" doc:"the diagonal; 0 is the main one, 1 is right of it"`
	Lower bool `attr:"lower" doc:"keep the lower triangle"`
}

// Spec returns the declaration.
func (Trilu) Spec() *spec.Op { return triluOp.Op() }

// Gradient declares the gradient: the triangle of dy.
func (c Trilu) Gradient(t *spec.Tape) {
	linear(t, 0, c)
}

var triluOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	return spec.Define(spec.Definition[*Trilu]{
		Name: "trilu", Group: "move", Doc: "Keeps the upper or the lower triangle of matrices. All other elements become zero.",
		In:      []spec.Arg{{Name: "in", Doc: "[...,n,m], of any dtype"}},
		Out:     []spec.Arg{{Name: "out", Doc: "the triangles, of the shape of the input"}},
		Traits:  spec.Traits{Class: spec.Movement, ONNX: []string{"Trilu"}},
		Kernels: movement.TriluKernels(),
		Shape: func(_ *Trilu, in []tensor.Desc) ([]tensor.Desc, error) {
			s := in[0].Shape
			if len(s) < 2 || max(int64(s[len(s)-1]), int64(s[len(s)-2])) > math.MaxInt32/2 {
				return nil, planner.Invalid("input in is %v (want [...,n,m] with less than 2^30 rows and columns)", in[0])
			}
			return []tensor.Desc{tensor.Contiguous(in[0].DType, s...)}, nil
		},
		Plan: func(c *Trilu, t *spec.Target, in, _ []tensor.Desc) (*spec.Plan, error) {
			return movement.PlanTrilu(t, in[0], c.K, !c.Lower)
		},
		Reference: func(c *Trilu, in, out []*tensor.Host) {
			d, rank := in[0].DType.Size(), len(in[0].Shape)
			from := 0
			out[0].Each(func(index []int, to int) {
				from = 0
				for k, i := range index {
					from += i * in[0].ElementStrides()[k]
				}
				right := index[rank-1] - index[rank-2]
				if !c.Lower && right >= c.K || c.Lower && right <= c.K {
					copy(out[0].Data[to*d:(to+1)*d], in[0].Data[from*d:])
				} else {
					clear(out[0].Data[to*d : (to+1)*d])
				}
			})
		},
		Tolerance: func(*Trilu, tensor.DType, []tensor.Desc) spec.Tolerance {
			return spec.Tolerance{Why: "bits are moved"}
		},
		Cost: func(_ *Trilu, in []tensor.Desc) spec.Cost {
			return spec.Cost{Bytes: 2 * int64(in[0].Elems()*in[0].DType.Size())}
		},
		Cases: spec.CasesOf[*Trilu]{
			DTypes:  tensor.DTypes(),
			Calls:   []*Trilu{{}, {Lower: true}, {K: 2}, {K: -3, Lower: true}, {K: -1}, {K: 1, Lower: true}, {K: math.MaxInt32}, {K: math.MinInt32}},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 3)}, {tensor.Contiguous(tensor.F32)}},
			Dims:    []spec.Dim{{Name: "planes"}, {Name: "rows"}, {Name: "columns", Tiles: []int{4, 16}}},
			Inputs:  planner.SameInputs[*Trilu](1),
			Bench:   planner.BenchCases(Trilu{}, 1),
			Low:     -100, High: 100, Specials: true,
		},
	})
}}
