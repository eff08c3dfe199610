package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// InstanceNorm normalises each channel of each picture of a tensor [N,C,spatial...]:
// (x − mean)/√(variance + eps)·gamma + beta, with the population variance. Where gamma is
// infinite, the result is NaN. Gamma and beta have the
// shape [C] and the dtype of the input. If that dtype has 16 bits, both may be F32 instead.
type InstanceNorm struct {
	Eps float64 `attr:"eps,required" onnx:"epsilon" doc:"added to the variance"`
}

// Spec returns the declaration.
func (InstanceNorm) Spec() *spec.Op { return instanceNormOp.Op() }

// Gradient declares the gradients, by InstanceNormGrad.
func (c InstanceNorm) Gradient(t *spec.Tape) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	for i, d := range t.Calls(InstanceNormGrad(c), t.In(0), t.In(1), dy) {
		t.SetGradient(i, d)
	}
}

var instanceNormOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineChannels(axiswise.Channels[*InstanceNorm]{
		Name: "instance_norm", ONNX: []string{"InstanceNormalization"},
		Doc:      "Normalises each channel of each picture: (x − mean)/√(variance + eps)·gamma + beta, with the population variance. An infinite gamma makes NaN.",
		Source:   "Ulyanov, Vedaldi and Lempitsky, Instance normalization, 2016",
		Defaults: &InstanceNorm{1e-5},
		Calls:    []*InstanceNorm{{1e-5}, {1e-3}}, Invalid: []*InstanceNorm{{-1e-5}, {math.NaN()}, {math.Inf(1)}},
		Eps:    func(a *InstanceNorm) float64 { return a.Eps },
		Groups: func(_ *InstanceNorm, count int) int { return count },
	})
}}
