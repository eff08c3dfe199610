package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
)

// Syrk computes one triangle of α·a·aᵀ + β·c, or with Trans of α·aᵀ·a + β·c, as SYRK of BLAS does. a is [..., n,k], or [..., k,n]
// with Trans, and c is [..., n,n]. Without c it counts as zeros. The result is the lower triangle, or with Upper the upper one, each with
// the diagonal. The other triangle of the result is that of c. So if the result is the same tensor as c, it stays as it is.
//
// If α is 0 or k is 0, a is not read. If β is 0, the triangle of c that is computed does not matter. Operands and result may have any strides.
type Syrk struct {
	Alpha float64 `attr:"alpha" doc:"the factor of the product; any finite number of the dtype"`
	Beta  float64 `attr:"beta" doc:"the factor of c; any finite number of the dtype"`
	Upper bool    `attr:"upper" doc:"the upper triangle is computed"`
	Trans bool    `attr:"trans" doc:"a is transposed, [..., k,n]"`
}

// Spec returns the declaration.
func (Syrk) Spec() *spec.Op { return syrkOp.Op() }

// Gradient declares the gradients: alpha·(g + gᵀ)·a with g the triangle of dy that is computed, and beta·g and the rest of dy.
func (c Syrk) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	g := t.Call(Trilu{Lower: !c.Upper}, dy)
	if t.Needs(0) {
		n := len(t.Shape(dy))
		both := scaled(t, sum(t, g, t.Call(Transpose{Perm: swapped(n)}, g)), c.Alpha)
		if c.Trans {
			t.SetGradient(0, t.Call(MatMul{}, t.In(0), both))
		} else {
			t.SetGradient(0, t.Call(MatMul{}, both, t.In(0)))
		}
	}
	if t.Needs(1) {
		t.SetGradient(1, sum(t, scaled(t, g, c.Beta), difference(t, dy, g)))
	}
}

var syrkOp = spec.Declaration{Define: func() *spec.Op {
	return gemm.DefineSymmetric(gemm.Operation[*Syrk, gemm.Symmetry]{
		Name:     "syrk",
		Doc:      "One triangle of the product of a matrix with its transpose, scaled, plus a scaled symmetric matrix.",
		Defaults: &Syrk{Alpha: 1, Beta: 1},
		Of: func(c *Syrk) gemm.Symmetry {
			return gemm.Symmetry{Trans: c.Trans, Upper: c.Upper, Alpha: c.Alpha, Beta: c.Beta}
		},
		Calls: []*Syrk{
			{Alpha: 1, Beta: spec.Given(0.0), Upper: true}, {Alpha: -1, Beta: 0.7, Trans: true}, {Alpha: 0.7, Beta: -1, Upper: true, Trans: true},
			{Alpha: spec.Given(0.0), Beta: 0.7}, {Alpha: spec.Given(0.0), Beta: spec.Given(0.0)},
		},
		Invalid: []*Syrk{{Alpha: math.NaN(), Beta: 1}, {Alpha: 1, Beta: math.Inf(1)}},
	})
}}
