package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/quantisation"
	"github.com/lathe-gpu/lathe/spec"
)

// QLinearMatMul is the matrix product of two quantised tensors, quantised: (a − a_zero_point)·(b − b_zero_point) in integers
// of 32 bits, which wrap, times b_scale and then a_scale in F32, as QuantizeLinear makes integers of it with y_scale and
// y_zero_point. a, b and the result are U8 or I8, each its own. The scale and the zero point of a are numbers, or one for
// each row; those of b are numbers, or one for each column. They may differ between matrices. k is at most 524288. The
// scales are F32, or all F16 or all BF16, whose numbers are exact in F32. The reference implementation of ONNX multiplies
// and divides the scales first, in their own type.
type QLinearMatMul struct{}

// Spec returns the declaration.
func (QLinearMatMul) Spec() *spec.Op { return qLinearMatMulOp.Op() }

var qLinearMatMulOp = spec.Declaration{Define: func() *spec.Op {
	return quantisation.DefineQuantisedMatMul[*QLinearMatMul]("qlinear_matmul",
		"The matrix product of two quantised tensors, quantised with a scale and a zero point of its own.", "QLinearMatMul")
}}
