package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/spec"
)

// Gemm is the scaled matrix product α·op(a)·op(b) + β·c over the last two dimensions, as GEMM of BLAS and Gemm of
// ONNX. op is the identity or the transpose. The shapes are a [..., m,k] and b [..., k,n], and the result is
// [..., m,n]. The dimensions before the last two are the batch, and are broadcast by NumPy's rule. c is
// broadcast to the result, and may be left out, which counts as zeros.
//
// If α is 0 or k is 0, a and b are not read, and the result is β·c. If β is 0, c is not read: NaN in it
// does not reach the result. The result may be the same tensor as c.
//
// Operands and result may have any strides. What lies between the rows of a result that has gaps is left
// as it is. A matrix in column-major order is a transposed view.
//
// a and b have one dtype. It is the dtype of the result too. If it has 16 bits, c may be F32, and the result is F32
// then. Products of F16 and BF16 are summed and scaled in F32, and rounded once, to nearest even.
type Gemm struct {
	Alpha  float64 `attr:"alpha" onnx:"alpha" doc:"the factor of the product; any finite number of the dtype"`
	Beta   float64 `attr:"beta" onnx:"beta" doc:"the factor of c; any finite number of the dtype"`
	TransA bool    `attr:"trans_a" onnx:"transA" doc:"a is transposed, [..., k,m]"`
	TransB bool    `attr:"trans_b" onnx:"transB" doc:"b is transposed, [..., n,k]"`
}

// Spec returns the declaration.
func (Gemm) Spec() *spec.Op { return gemmOp.Op() }

// Gradient declares the gradients: those of MatMul times alpha, and dy times beta.
func (c Gemm) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	if t.Needs(2) {
		t.SetGradient(2, as(t, scaled(t, dy, c.Beta), t.In(2)))
	}
	if t.Needs(0) || t.Needs(1) {
		productGradients(t, as(t, scaled(t, dy, c.Alpha), t.In(0)), c.TransA, c.TransB)
	}
}

var gemmOp = spec.Declaration{Define: func() *spec.Op {
	return gemm.DefineScaled(gemm.Operation[*Gemm, gemm.Scaling]{
		Name: "gemm", ONNX: []string{"Gemm"},
		Doc:      "The matrix product over the last two dimensions, scaled, plus a scaled matrix: α·a·b + β·c.",
		Defaults: &Gemm{Alpha: 1, Beta: 1},
		Of: func(c *Gemm) gemm.Scaling {
			return gemm.Scaling{TransA: c.TransA, TransB: c.TransB, Alpha: c.Alpha, Beta: c.Beta}
		},
		Calls: gemmCalls(),
		Invalid: []*Gemm{
			{Alpha: math.NaN(), Beta: 1}, {Alpha: 1, Beta: math.NaN()}, {Alpha: math.Inf(1), Beta: 1}, {Alpha: 1, Beta: math.Inf(-1)},
		},
	})
}}

// gemmCalls are calls with each pair of transposes, and with the factors that BLAS libraries treat by themselves.
func gemmCalls() []*Gemm {
	zero := spec.Given(0.0)
	return []*Gemm{
		{Alpha: 1, Beta: zero, TransA: true, TransB: true}, {Alpha: zero, Beta: 0.7, TransB: true}, {Alpha: zero, Beta: zero},
		{Alpha: -1, Beta: 1, TransA: true}, {Alpha: 0.7, Beta: -1, TransB: true}, {Alpha: 0.7, Beta: zero, TransA: true},
	}
}
