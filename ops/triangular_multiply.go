package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
)

// TriangularMultiply is the product α·op(a)·b, or α·b·op(a) with Right, with a triangular matrix a, as TRMM of BLAS does. op is the identity
// or the transpose. a is [..., n,n], lower triangular or with Upper upper triangular. The other triangle counts as zeros: what
// it has, NaN too, does not matter. b is [..., n,m], or [..., m,n] with Right, and so is the result, which may be the
// same tensor. The leading dimensions of a are broadcast to those of b. Operands and result may have any strides.
//
// With UnitDiagonal the diagonal of a counts as ones, and what it has does not matter. If α is 0, the result is zeros, and neither a nor b is
// read. NaN and infinities in b reach those elements of the result that have a product with them, and no others.
//
// Blocks of 32 rows at the diagonal have a kernel of their own. Products of matrices add the rest, in half the time of a product with a full matrix if n is large.
type TriangularMultiply struct {
	Alpha        float64 `attr:"alpha" doc:"the factor of the product; any finite number of the dtype"`
	Right        bool    `attr:"right" doc:"a is to the right of b"`
	Upper        bool    `attr:"upper" doc:"a is upper triangular"`
	Trans        bool    `attr:"trans" doc:"a is transposed; upper says what it is before"`
	UnitDiagonal bool    `attr:"unit_diagonal" doc:"the diagonal of a counts as ones"`
}

// Spec returns the declaration.
func (TriangularMultiply) Spec() *spec.Op { return triangularMultiplyOp.Op() }

// Gradient declares the gradients: that of b is a call with the transpose of a, and that of a is the triangle of the product of dy and b.
func (c TriangularMultiply) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	if t.Needs(1) {
		back := c
		back.Trans = !c.Trans
		t.SetGradient(1, t.Call(back, t.In(0), dy))
	}
	if t.Needs(0) {
		t.SetGradient(0, triangle(t, scaled(t, dy, c.Alpha), t.In(1), c.Right, c.Upper, c.Trans, c.UnitDiagonal))
	}
}

var triangularMultiplyOp = spec.Declaration{Define: func() *spec.Op {
	return gemm.DefineTriangularProduct(gemm.Operation[*TriangularMultiply, gemm.TriangularProduct]{
		Name:     "triangular_multiply",
		Doc:      "The product with a triangular matrix, scaled, α·a·b or α·b·a.",
		Defaults: &TriangularMultiply{Alpha: 1},
		Of: func(c *TriangularMultiply) gemm.TriangularProduct {
			return gemm.TriangularProduct{Triangle: gemm.Triangle{Right: c.Right, Upper: c.Upper, Trans: c.Trans, Unit: c.UnitDiagonal, Alpha: c.Alpha}}
		},
		Calls: []*TriangularMultiply{
			{Alpha: 1, Upper: true}, {Alpha: -1, Trans: true, UnitDiagonal: true}, {Alpha: 0.7, Upper: true, Trans: true},
			{Alpha: 1, Right: true}, {Alpha: 0.7, Right: true, Upper: true, UnitDiagonal: true}, {Alpha: 1, Right: true, Trans: true},
			{Alpha: -1, Right: true, Upper: true, Trans: true}, {Alpha: spec.Given(0.0)},
		},
		Invalid: []*TriangularMultiply{{Alpha: math.NaN()}, {Alpha: math.Inf(1)}},
	})
}}
