// Package ops declares the tensor operations: elementwise maths with
// broadcasting, reductions, moves, matrix products, and what neural networks
// are made and trained with.
//
// An operation is called by the struct of its attributes, such as
// Softmax{Dim: -1}, which is a spec.Call. Tensors are row-major. F16 and BF16
// are storage: arithmetic on them is done in F32, and results are rounded to
// nearest even. NaN and infinities go through every operation as IEEE 754 says.
package ops
