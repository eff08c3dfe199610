package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// CrossEntropy compares logits with target classes. With p the softmax of a row, it returns
// all of p, and the loss −ln p of the row's target. Both have the dtype of the logits. If
// all elements of a row are −Inf, then p is 0 and the loss is +Inf. If a target is out of
// range, the next Sync returns an error and nothing is written.
type CrossEntropy struct{}

// Spec returns the declaration.
func (CrossEntropy) Spec() *spec.Op { return crossEntropyOp.Op() }

// Gradient declares the gradient of the logits: of the loss by CrossEntropyGrad, and of the probabilities by SoftmaxGrad.
func (CrossEntropy) Gradient(t *spec.Tape) {
	dloss, dprobs := t.Gradient(0), t.Gradient(1)
	var d spec.Value = spec.NoValue
	if dloss != spec.NoValue {
		d = t.Call(CrossEntropyGrad{}, t.Out(1), t.In(1), dloss)
	}
	if dprobs != spec.NoValue {
		more := t.Call(SoftmaxGrad{Dim: -1}, t.Out(1), dprobs)
		if d != spec.NoValue {
			more = sum(t, d, more)
		}
		d = more
	}
	t.SetGradient(0, d)
}

var crossEntropyOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineClassified(axiswise.CrossEntropy(axiswise.Classified[CrossEntropy]{
		Name: "cross_entropy",
		Doc:  "The loss −ln p of each row's target class, and the softmax p of the logits. A target out of range is an error.",
		In:   []spec.Arg{{Name: "logits", Doc: "[..., C]"}, {Name: "targets", Doc: "[...], I32 or I64, each from 0 to C−1"}},
		Out: []spec.Arg{
			{Name: "loss", Doc: "[...], of the dtype of the logits"},
			{Name: "probs", Doc: "[..., C], of the dtype of the logits", InPlace: []int{0}},
		},
		Range: func(_, n int) (low, high float64) {
			if n == 13 { // far apart
				return -1e4, 1e4
			}
			return -8, 8
		},
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32), tensor.Contiguous(tensor.I32)},
			{tensor.Contiguous(tensor.F32, 2, 0), tensor.Contiguous(tensor.I32, 2)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 3)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 2, 1)},
		},
	}))
}}
