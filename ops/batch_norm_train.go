package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// BatchNormTrain normalises each channel of a tensor [N,C,spatial...] by its own mean and population
// variance, over all pictures: (x − mean)/√(variance + eps)·gamma + beta. It also returns both, and
// the running statistics: old·momentum + new·(1 − momentum). All tensors but the input and the result
// have the shape [C] and the dtype of the input, or all are F32 if that has 16 bits. If an element is
// not finite, mean and variance of its channel are NaN. Where gamma is infinite, the result is NaN. Channels without elements are refused with
// ErrInvalidArgument.
type BatchNormTrain struct {
	Eps      float64 `attr:"eps,required" doc:"added to the variance"`
	Momentum float64 `attr:"momentum" doc:"the weight of the old running statistics, 0 to 1"`
}

// Spec returns the declaration.
func (BatchNormTrain) Spec() *spec.Op { return batchNormTrainOp.Op() }

// Gradient declares the gradients of in, gamma and beta, by BatchNormGrad. The statistics that it returns have none.
func (c BatchNormTrain) Gradient(t *spec.Tape) {
	for i := 1; i < 5; i++ {
		if t.Gradient(i) != spec.NoValue {
			t.Refuse("the statistics")
			return
		}
	}
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	for i, d := range t.Calls(BatchNormGrad{Eps: c.Eps}, t.In(0), t.In(1), dy) {
		t.SetGradient(i, d)
	}
}

var batchNormTrainOp = spec.Declaration{Define: func() *spec.Op {
	spirv.LinkMove()
	spirv.LinkNN()
	spirv.LinkReduce()
	return axiswise.DefineChannels(axiswise.Channels[*BatchNormTrain]{
		Name:     "batch_norm_train",
		Doc:      "Normalises channels by their mean and population variance over the batch, and returns these and the running ones.",
		Source:   "Ioffe and Szegedy, Batch normalization, 2015",
		Defaults: &BatchNormTrain{Eps: 1e-5, Momentum: 0.9},
		Calls:    []*BatchNormTrain{{1e-5, 0.9}, {1e-3, spec.Given(0.0)}, {1e-5, 1}},
		Invalid:  []*BatchNormTrain{{-1e-5, 0.9}, {math.NaN(), 0.9}, {1e-5, -0.1}, {1e-5, 1.1}, {1e-5, math.NaN()}},
		Eps:      func(a *BatchNormTrain) float64 { return a.Eps },
		Momentum: func(a *BatchNormTrain) float64 { return a.Momentum },
	})
}}
