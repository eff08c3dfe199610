package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
)

// BatchNorm normalises each channel of a tensor [N,C,spatial...] by a mean and a variance that are
// given: (x − mean)/√(variance + eps)·gamma + beta. Gamma, beta, mean and variance have the shape [C]
// and the dtype of the input. If that dtype has 16 bits, all four may be F32 instead. It is the form
// for inference. BatchNormTrain computes mean and variance.
type BatchNorm struct {
	Eps float64 `attr:"eps,required" onnx:"epsilon" doc:"added to the variance"`
}

// Spec returns the declaration.
func (BatchNorm) Spec() *spec.Op { return batchNormOp.Op() }

var batchNormOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineChannels(axiswise.Channels[*BatchNorm]{
		Name: "batch_norm", ONNX: []string{"BatchNormalization"},
		Doc:      "Normalises each channel by given statistics: (x − mean)/√(variance + eps)·gamma + beta. It is the form for inference.",
		Source:   "Ioffe and Szegedy, Batch normalization, 2015",
		Defaults: &BatchNorm{Eps: 1e-5},
		Calls:    []*BatchNorm{{1e-5}, {1e-3}}, Invalid: []*BatchNorm{{-1e-5}, {math.NaN()}, {math.Inf(1)}},
		Eps:   func(a *BatchNorm) float64 { return a.Eps },
		Given: true,
	})
}}
