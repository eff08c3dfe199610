package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// CrossEntropyGrad is the gradient of CrossEntropy with respect to the logits,
// dlogits = (p − onehot(target))·dloss. The inputs are the probabilities p that
// CrossEntropy returned, the targets, and the gradient dloss of each row's loss. If a target
// is out of range, the next Sync returns an error and nothing is written.
type CrossEntropyGrad struct{}

// Spec returns the declaration.
func (CrossEntropyGrad) Spec() *spec.Op { return crossEntropyGradOp.Op() }

// Gradient declares the gradients: with d the gradient of the result, d·dloss of the probabilities, and Σ d·(p − onehot) of dloss.
func (CrossEntropyGrad) Gradient(t *spec.Tape) {
	d := t.Gradient(0)
	if d == spec.NoValue {
		return
	}
	shape, dloss := t.Shape(t.In(2)), t.In(2)
	if t.Needs(0) {
		t.SetGradient(0, times(t, d, t.Reshape(dloss, append(slices.Clone(shape), 1)...)))
	}
	if t.Needs(2) {
		rest := t.Call(CrossEntropyGrad{}, t.In(0), t.In(1), ones(t, dloss))
		t.SetGradient(2, t.Call(ReduceSum{Dims: []int{-1}}, times(t, d, rest)))
	}
}

var crossEntropyGradOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineClassified(axiswise.CrossEntropyGradient(axiswise.Classified[CrossEntropyGrad]{
		Name: "cross_entropy_grad",
		Doc:  "The gradient of cross entropy: (p − onehot(target))·dloss. A target out of range is an error.",
		In: []spec.Arg{
			{Name: "probs", Doc: "[..., C], the probabilities that cross_entropy returned"},
			{Name: "targets", Doc: "[...], I32 or I64, each from 0 to C−1"},
			{Name: "dloss", Doc: "[...], the gradient of each loss, of the dtype of probs"},
		},
		Out: []spec.Arg{{Name: "dlogits", Doc: "[..., C], of the dtype of probs", InPlace: []int{0}}},
		Range: func(i, _ int) (low, high float64) {
			if i == 0 {
				return 0, 1
			}
			return -2, 2
		},
		Refused: [][]tensor.Desc{
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 2), tensor.Contiguous(tensor.F32, 3)},
			{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.I32, 2), tensor.Contiguous(tensor.F16, 2)},
		},
	}))
}}
