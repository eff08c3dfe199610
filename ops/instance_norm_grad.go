package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// InstanceNormGrad is the gradient of InstanceNorm. It is that of GroupNorm where each channel is a
// group: see GroupNormGrad.
type InstanceNormGrad struct {
	Eps float64 `attr:"eps,required" doc:"the eps of instance_norm, at least 0"`
}

// Spec returns the declaration.
func (InstanceNormGrad) Spec() *spec.Op { return instanceNormGradOp.Op() }

var instanceNormGradOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	spirv.LinkMove()
	spirv.LinkNN()
	spirv.LinkReduce()
	return axiswise.DefineChannels(axiswise.Channels[*InstanceNormGrad]{
		Name:     "instance_norm_grad",
		Doc:      "The gradients of instance_norm with respect to its input, gamma and beta.",
		Defaults: &InstanceNormGrad{1e-5},
		Calls:    []*InstanceNormGrad{{1e-5}, {0.5}}, Invalid: []*InstanceNormGrad{{-1e-5}, {math.NaN()}, {math.Inf(1)}},
		Eps:    func(a *InstanceNormGrad) float64 { return a.Eps },
		Groups: func(_ *InstanceNormGrad, count int) int { return count },
		Grad:   true,
	})
}}
