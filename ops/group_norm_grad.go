package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// GroupNormGrad is the gradient of GroupNorm. From the input of GroupNorm, gamma and the gradient dy
// of the result, it computes the gradients dx, dgamma and dbeta of the input, gamma and beta. With x̂
// the normalised input and g = dy·gamma, dx is (g − mean g − x̂·mean(x̂·g))/√(variance + eps) in each
// group. The sums of dy·x̂ and of dy of each channel are dgamma and dbeta. The scratch memory is
// about twice as large as the inputs would be in the type of the arithmetic.
type GroupNormGrad struct {
	Eps       float64 `attr:"eps,required" doc:"the eps of group_norm, at least 0"`
	NumGroups int     `attr:"num_groups,required" doc:"the number of groups; it divides the number of channels"`
}

// Spec returns the declaration.
func (GroupNormGrad) Spec() *spec.Op { return groupNormGradOp.Op() }

var groupNormGradOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMath()
	spirv.LinkMove()
	spirv.LinkNN()
	spirv.LinkReduce()
	return axiswise.DefineChannels(axiswise.Channels[*GroupNormGrad]{
		Name:     "group_norm_grad",
		Doc:      "The gradients of group_norm with respect to its input, gamma and beta.",
		Defaults: &GroupNormGrad{1e-5, 2},
		Calls:    []*GroupNormGrad{{1e-5, 2}, {0.5, 3}},
		Invalid:  []*GroupNormGrad{{-1e-5, 2}, {math.NaN(), 2}, {1e-5, 0}, {1e-5, -2}},
		Eps:      func(a *GroupNormGrad) float64 { return a.Eps },
		Groups:   func(a *GroupNormGrad, _ int) int { return a.NumGroups },
		Grad:     true,
	})
}}
