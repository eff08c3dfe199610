package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// LpNormalization divides each element by the norm of its row along a dimension: the sum of magnitudes
// for P 1, and the root of the sum of squares for P 2. A row whose norm is 0 becomes 0. Where a square
// overflows in the type of the arithmetic, the norm is infinite. A square that is no normal number of
// it counts as 0, or has few bits.
type LpNormalization struct {
	Dim int `attr:"dim,required" onnx:"axis" doc:"the dimension; a negative number counts from the end"`
	P   int `attr:"p" onnx:"p" doc:"the order of the norm, 1 or 2"`
}

// Spec returns the declaration.
func (LpNormalization) Spec() *spec.Op { return lpNormalizationOp.Op() }

// Gradient declares the gradient: with n the norm, (dy − y·Σ dy·y)/n for P 2, and (dy − sign x·Σ dy·y)/n for P 1. It is 0 where n is 0.
func (c LpNormalization) Gradient(t *spec.Tape) {
	dy, x, y := t.Gradient(0), t.In(0), t.Out(0)
	if dy == spec.NoValue {
		return
	}
	dims := []int{from(c.Dim, len(t.Shape(x)))}
	norm, part := t.Call(ReduceL2{Dims: dims, KeepDims: true}, x), y
	if c.P == 1 {
		norm, part = t.Call(ReduceL1{Dims: dims, KeepDims: true}, x), t.Call(Sign{}, x)
	}
	dx := difference(t, dy, times(t, part, t.Call(ReduceSum{Dims: dims, KeepDims: true}, times(t, dy, y))))
	t.SetGradient(0, unless(t, t.Call(Equal{}, norm, t.Scalar(0, norm)), over(t, dx, norm)))
}

var lpNormalizationOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineLpNorm(axiswise.AxisOp[*LpNormalization]{
		Name: "lp_normalization", ONNX: []string{"LpNormalization"},
		Doc:   "Divides each element by the L1 or L2 norm of its row along a dimension. A row whose norm is 0 becomes 0.",
		In:    []spec.Arg{{Name: "in", Doc: "a tensor of any shape but a scalar"}},
		Call:  func(dim int) *LpNormalization { return &LpNormalization{dim, 2} },
		Dim:   func(a *LpNormalization) int { return a.Dim },
		Calls: []*LpNormalization{{-1, 1}, {0, 1}}, Invalid: []*LpNormalization{{-1, 3}, {-1, -1}},
		Low: -4, High: 4, Flops: 3,
	}, func(a *LpNormalization) int { return a.P })
}}
