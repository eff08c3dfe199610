package lathe

import (
	"context"

	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
)

// The methods of this file are short for Call: they make their results and
// return before those are computed. Errors: as Run.

// ReLU is max(x, 0) of each element.
func (d *Device) ReLU(x *Tensor) (*Tensor, error) { return d.one(ops.ReLU{}, x) }

// GELU is the Gaussian error linear unit of each element, in its tanh form.
func (d *Device) GELU(x *Tensor) (*Tensor, error) { return d.one(ops.GELU{}, x) }

// SiLU is x·sigmoid(x) of each element.
func (d *Device) SiLU(x *Tensor) (*Tensor, error) { return d.one(ops.SiLU{}, x) }

// Sigmoid is 1/(1+e⁻ˣ) of each element.
func (d *Device) Sigmoid(x *Tensor) (*Tensor, error) { return d.one(ops.Sigmoid{}, x) }

// Softplus is ln(1+eˣ) of each element.
func (d *Device) Softplus(x *Tensor) (*Tensor, error) { return d.one(ops.Softplus{}, x) }

// ReLUGrad is the gradient of ReLU with respect to x, given dy, that of its result.
func (d *Device) ReLUGrad(x, dy *Tensor) (*Tensor, error) { return d.one(ops.ReLUGrad{}, x, dy) }

// GELUGrad is the gradient of GELU with respect to x, given dy, that of its result.
func (d *Device) GELUGrad(x, dy *Tensor) (*Tensor, error) { return d.one(ops.GELUGrad{}, x, dy) }

// MatMul is the matrix product of a [...,m,k] and b [...,k,n]; leading
// dimensions are broadcast. ops.MatMul can transpose either.
func (d *Device) MatMul(a, b *Tensor) (*Tensor, error) { return d.one(ops.MatMul{}, a, b) }

// MatMulBias is MatMul with bias [n] added to each row.
func (d *Device) MatMulBias(a, b, bias *Tensor) (*Tensor, error) {
	return d.one(ops.MatMulBias{}, a, b, bias)
}

// Attention is softmax(q·kᵀ·scale + mask)·v for q [...,sq,d], k and v
// [...,skv,d], in memory that does not grow with sq·skv. The mask is added to
// the scores [...,sq,skv] and broadcast to them; nil is none. A row that is
// masked altogether, by -Inf, gives zeros.
func (d *Device) Attention(q, k, v, mask *Tensor, scale float64) (*Tensor, error) {
	return d.one(ops.Attention{Scale: spec.Given(scale)}, present(q, k, v, mask)...)
}

// Softmax is exp(x) divided by its sum along dimension dim, which counts from
// the end if negative.
func (d *Device) Softmax(x *Tensor, dim int) (*Tensor, error) {
	return d.one(ops.Softmax{Dim: dim}, x)
}

// SoftmaxGrad is the gradient of Softmax with respect to its input, given its
// result y and dy, the gradient of that.
func (d *Device) SoftmaxGrad(y, dy *Tensor, dim int) (*Tensor, error) {
	return d.one(ops.SoftmaxGrad{Dim: dim}, y, dy)
}

// LayerNorm normalises the last dimension of x to mean 0 and variance 1, eps
// being added to the variance, then multiplies by gamma and adds beta, both of
// the size of that dimension. Nil for beta, or for both, leaves them out.
func (d *Device) LayerNorm(x, gamma, beta *Tensor, eps float64) (*Tensor, error) {
	return d.one(ops.LayerNorm{Eps: eps}, present(x, gamma, beta)...)
}

// RMSNorm divides x by the root of the mean square of all elements from dimension
// dim on, which counts from the end if negative, eps being added to the mean
// square, then multiplies by gamma, of the shape of those dimensions. Nil for
// gamma leaves it out.
func (d *Device) RMSNorm(x, gamma *Tensor, dim int, eps float64) (*Tensor, error) {
	return d.one(ops.RMSNorm{Dim: dim, Eps: eps}, present(x, gamma)...)
}

// LayerNormGrad is the gradients of LayerNorm with respect to x, gamma and
// beta, given dy, that of its result.
func (d *Device) LayerNormGrad(x, gamma, dy *Tensor, eps float64) (dx, dgamma, dbeta *Tensor, err error) {
	out, err := d.Call(ops.LayerNormGrad{Eps: eps}, x, gamma, dy)
	if err != nil {
		return nil, nil, nil, err
	}
	return out[0], out[1], out[2], nil
}

// CrossEntropy is the loss −ln p of the target class in each row of logits
// [...,C], and the probabilities p of all classes. Targets [...] are integers;
// one out of range is an error of the next Read or Sync.
func (d *Device) CrossEntropy(logits, targets *Tensor) (loss, probs *Tensor, err error) {
	out, err := d.Call(ops.CrossEntropy{}, logits, targets)
	if err != nil {
		return nil, nil, err
	}
	return out[0], out[1], nil
}

// CrossEntropyGrad is the gradient of CrossEntropy with respect to the logits,
// given its probabilities and dloss, the gradient of each row's loss.
func (d *Device) CrossEntropyGrad(probs, targets, dloss *Tensor) (*Tensor, error) {
	return d.one(ops.CrossEntropyGrad{}, probs, targets, dloss)
}

// AdamUpdate takes a step of Adam in place: param and its moments m and v are
// changed by grad. c holds the rates, and the number of the step, from 1 on.
func (d *Device) AdamUpdate(c ops.AdamUpdate, param, grad, m, v *Tensor) error {
	return d.Run(context.Background(), c, []*Tensor{param, m, v}, []*Tensor{param, grad, m, v})
}

// present is the operands without the nils at their end.
func present(ts ...*Tensor) []*Tensor {
	for len(ts) > 0 && ts[len(ts)-1] == nil {
		ts = ts[:len(ts)-1]
	}
	return ts
}
