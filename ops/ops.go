// Package ops declares the tensor operations: elementwise maths with broadcasting,
// reductions, copies, matrix products, and the operations of neural networks and their
// training.
//
// The struct of an operation's attributes, such as Softmax{Dim: -1}, is a spec.Call. Tensors
// are row-major. F16 and BF16 are formats of storage. Arithmetic on them is done in F32, and
// results are rounded to nearest even. All operations treat NaN and infinities as IEEE 754
// says.
package ops
