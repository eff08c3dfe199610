package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// SoftmaxGrad is the gradient of Softmax, dx = y·(dy − Σ y·dy). The inputs are the result y of
// Softmax and its gradient dy. The sum is over the elements along the dimension.
type SoftmaxGrad struct {
	Dim int `attr:"dim,required" doc:"the dimension; a negative number counts from the end"`
}

// Spec returns the declaration.
func (SoftmaxGrad) Spec() *spec.Op { return softmaxGradOp.Op() }

var softmaxGradOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.Define(axiswise.SoftmaxGradient(axiswise.AxisOp[*SoftmaxGrad]{
		Name: "softmax_grad",
		Doc:  "The gradient of softmax, y·(dy − Σ y·dy), with the sum along the dimension.",
		In: []spec.Arg{
			{Name: "y", Doc: "the result of softmax, of any shape but a scalar"},
			{Name: "dy", Doc: "the gradient of y, of the same dtype and shape"},
		},
		Call: func(dim int) *SoftmaxGrad { return &SoftmaxGrad{dim} },
		Dim:  func(a *SoftmaxGrad) int { return a.Dim },
		Low:  -1, High: 1, Flops: 4,
	}))
}}
