package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
)

// TriangularSolve solves op(a)·x = α·b for x, or x·op(a) = α·b with Right, as TRSM of BLAS does. op is the identity or the
// transpose. a is [..., n,n], lower triangular or with Upper upper triangular. The other triangle is not read. b is
// [..., n,m], or [..., m,n] with Right, and so is the result, which may be the same tensor. The leading dimensions
// of a are broadcast to those of b. Operands and result may have any strides.
//
// With UnitDiagonal the diagonal of a counts as ones and is not read. If α is 0, the result is zeros, and neither a nor b
// is read. A zero on the diagonal is no error: it gives infinities and NaN, as a division by zero does.
//
// Blocks of 32 rows are solved by substitution, and products take them out of the other rows. The result solves a system
// whose matrix differs from a by rounding errors, as with any substitution.
type TriangularSolve struct {
	Alpha        float64 `attr:"alpha" doc:"the factor of b; any finite number of the dtype"`
	Right        bool    `attr:"right" doc:"a is to the right of the result"`
	Upper        bool    `attr:"upper" doc:"a is upper triangular"`
	Trans        bool    `attr:"trans" doc:"a is transposed; upper says what it is before"`
	UnitDiagonal bool    `attr:"unit_diagonal" doc:"the diagonal of a counts as ones"`
}

// Spec returns the declaration.
func (TriangularSolve) Spec() *spec.Op { return triangularSolveOp.Op() }

// Gradient declares the gradients: that of b is a call with the transpose of a, and that of a is minus the triangle of the product of that and the
// result.
func (c TriangularSolve) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	back := c
	back.Trans, back.Alpha = !c.Trans, 1
	db := t.Call(back, t.In(0), dy)
	if t.Needs(1) {
		t.SetGradient(1, scaled(t, db, c.Alpha))
	}
	if t.Needs(0) {
		t.SetGradient(0, minus(t, triangle(t, db, t.Out(0), c.Right, c.Upper, c.Trans, c.UnitDiagonal)))
	}
}

var triangularSolveOp = spec.Declaration{Define: func() *spec.Op {
	return gemm.DefineTriangularSystem(gemm.Operation[*TriangularSolve, gemm.TriangularSystem]{
		Name:     "triangular_solve",
		Doc:      "Solves systems of linear equations whose matrix is triangular, a·x = α·b or x·a = α·b.",
		Defaults: &TriangularSolve{Alpha: 1},
		Of: func(c *TriangularSolve) gemm.TriangularSystem {
			return gemm.TriangularSystem{Triangle: gemm.Triangle{Right: c.Right, Upper: c.Upper, Trans: c.Trans, Unit: c.UnitDiagonal, Alpha: c.Alpha}}
		},
		Calls: []*TriangularSolve{
			{Alpha: 1, Upper: true}, {Alpha: -1, Trans: true, UnitDiagonal: true}, {Alpha: 0.7, Upper: true, Trans: true},
			{Alpha: 1, Right: true}, {Alpha: 0.7, Right: true, Upper: true, UnitDiagonal: true}, {Alpha: 1, Right: true, Trans: true},
			{Alpha: -1, Right: true, Upper: true, Trans: true}, {Alpha: spec.Given(0.0)},
		},
		Invalid: []*TriangularSolve{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
	})
}}
