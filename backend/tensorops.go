package backend

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
)

type list = []TensorHandle

// PointwiseAdd is out = a + b, for tensors of one shape.
func (d *Device) PointwiseAdd(a, b, out TensorHandle) error {
	x, errA := d.desc(a)
	y, errB := d.desc(b)
	if errA == nil && errB == nil && !slices.Equal(x.Shape, y.Shape) {
		return fmt.Errorf("backend: pointwise add: %w: shapes (got %v and %v, want equal ones)", errs.ErrInvalidArgument, x, y)
	}
	return d.call(ops.Add{}, list{out}, list{a, b})
}

// MatMul is out = a · b.
func (d *Device) MatMul(a, b, out TensorHandle) error {
	return d.call(ops.MatMul{}, list{out}, list{a, b})
}

// MatMulBias is out = a · b + bias.
func (d *Device) MatMulBias(a, b, bias, out TensorHandle) error {
	return d.call(ops.MatMulBias{}, list{out}, list{a, b, bias})
}

// ReduceSum adds up along *dim, or altogether if dim is nil.
func (d *Device) ReduceSum(in, out TensorHandle, dim *int) error {
	c := ops.ReduceSum{}
	if dim != nil {
		c.Dims = []int{*dim}
	}
	x, errX := d.desc(in)
	y, errY := d.desc(out)
	c.KeepDims = errX == nil && errY == nil && len(x.Shape) == len(y.Shape)
	return d.call(c, list{out}, list{in})
}

// Embedding is the rows of weight that indices name.
func (d *Device) Embedding(indices, weight, out TensorHandle) error {
	return d.call(ops.Embedding{}, list{out}, list{indices, weight})
}

// LayerNorm normalises the last dimension.
func (d *Device) LayerNorm(in, gamma, beta, out TensorHandle, eps float64) error {
	return d.call(ops.LayerNorm{Eps: eps}, list{out}, list{in, gamma, beta})
}

// RMSNorm divides by the root mean square from a dimension on.
func (d *Device) RMSNorm(in, gamma, out TensorHandle, dim int, eps float64) error {
	return d.call(ops.RMSNorm{Dim: dim, Eps: eps}, list{out}, list{in, gamma})
}

// Softmax along a dimension.
func (d *Device) Softmax(in, out TensorHandle, dim int) error {
	return d.unary(ops.Softmax{Dim: dim}, in, out)
}

// GELU in its tanh form.
func (d *Device) GELU(in, out TensorHandle) error { return d.unary(ops.GELU{}, in, out) }

// ReLU is max(x, 0).
func (d *Device) ReLU(in, out TensorHandle) error { return d.unary(ops.ReLU{}, in, out) }

// Attention is softmax(q·kᵀ·scale + mask)·v.
func (d *Device) Attention(q, k, v, out TensorHandle, mask *TensorHandle, scale float64) error {
	in := list{q, k, v}
	if mask != nil {
		in = append(in, *mask)
	}
	return d.call(ops.Attention{Scale: spec.Given(scale)}, list{out}, in)
}

// CrossEntropy is the loss of each row and the probabilities.
func (d *Device) CrossEntropy(logits, targets, lossOut, probsOut TensorHandle) error {
	return d.call(ops.CrossEntropy{}, list{lossOut, probsOut}, list{logits, targets})
}

// AdamUpdate takes a step of Adam in place.
func (d *Device) AdamUpdate(param, grad, m, v TensorHandle, lr, beta1, beta2, eps float64, step int) error {
	c := ops.AdamUpdate{LR: lr, Beta1: spec.Given(beta1), Beta2: spec.Given(beta2), Eps: spec.Given(eps), Step: step}
	return d.submit(c, list{param, m, v}, list{param, grad, m, v})
}
