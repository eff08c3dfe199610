package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// BatchNormGrad is the gradient of BatchNormTrain. From the input of BatchNormTrain, gamma and the
// gradient dy of the result, it computes the gradients dx, dgamma and dbeta of the input, gamma and
// beta. With x̂ the normalised input, dx is (dy − mean dy − x̂·mean(x̂·dy))·gamma/√(variance + eps) in
// each channel, dgamma is the sum of dy·x̂, and dbeta that of dy. Where gamma is infinite, dx is
// NaN. The scratch memory is about as
// large as the inputs would be in the type of the arithmetic.
type BatchNormGrad struct {
	Eps float64 `attr:"eps,required" doc:"the eps of batch_norm_train, at least 0"`
}

// Spec returns the declaration.
func (BatchNormGrad) Spec() *spec.Op { return batchNormGradOp.Op() }

var batchNormGradOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	spirv.LinkMove()
	spirv.LinkNN()
	spirv.LinkReduce()
	return axiswise.DefineChannels(axiswise.Channels[*BatchNormGrad]{
		Name:     "batch_norm_grad",
		Doc:      "The gradients of batch_norm_train with respect to its input, gamma and beta.",
		Defaults: &BatchNormGrad{Eps: 1e-5},
		Calls:    []*BatchNormGrad{{1e-5}, {0.5}}, Invalid: []*BatchNormGrad{{-1e-5}, {math.NaN()}, {math.Inf(1)}},
		Eps:  func(a *BatchNormGrad) float64 { return a.Eps },
		Grad: true,
	})
}}
