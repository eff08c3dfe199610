package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// GroupNorm normalises a tensor [N,C,spatial...]. The channels of each picture are divided into
// NumGroups groups of neighbours, and the elements of a group are normalised together:
// (x − mean)/√(variance + eps)·gamma + beta, with the population variance. Where gamma is
// infinite, the result is NaN. Gamma and beta have the
// shape [C] and the dtype of the input. If that dtype has 16 bits, both may be F32 instead.
type GroupNorm struct {
	Eps       float64 `attr:"eps,required" onnx:"epsilon" doc:"added to the variance"`
	NumGroups int     `attr:"num_groups,required" onnx:"num_groups" doc:"the number of groups; it divides the number of channels"`
}

// Spec returns the declaration.
func (GroupNorm) Spec() *spec.Op { return groupNormOp.Op() }

// Gradient declares the gradients, by GroupNormGrad.
func (c GroupNorm) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	for i, d := range t.Calls(GroupNormGrad(c), t.In(0), t.In(1), dy) {
		t.SetGradient(i, d)
	}
}

var groupNormOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineChannels(axiswise.Channels[*GroupNorm]{
		Name: "group_norm", ONNX: []string{"GroupNormalization"},
		Doc:      "Normalises groups of channels of each picture: (x − mean)/√(variance + eps)·gamma + beta, with the population variance. An infinite gamma makes NaN.",
		Source:   "Wu and He, Group normalization, 2018",
		Defaults: &GroupNorm{1e-5, 2},
		Calls:    []*GroupNorm{{1e-5, 2}, {1e-3, 3}, {1e-5, 1}},
		Invalid:  []*GroupNorm{{-1e-5, 2}, {math.NaN(), 2}, {1e-5, 0}, {1e-5, -2}, {1e-5, 1 << 30}},
		Eps:      func(a *GroupNorm) float64 { return a.Eps },
		Groups:   func(a *GroupNorm, _ int) int { return a.NumGroups },
	})
}}
