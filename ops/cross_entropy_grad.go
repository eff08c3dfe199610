package ops

import (
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
