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

// Gradient declares the gradients, of the mean and the variance too.
func (c BatchNorm) Gradient(t *spec.Tape) {
	g, x := wide(t, t.Gradient(0)), wide(t, t.In(0))
	if g == spec.NoValue {
		return
	}
	rest, column := channels(t.Shape(t.In(0)))
	at := func(i int) spec.Value { return t.Reshape(wide(t, t.In(i)), column...) }
	reduced := func(i int, v spec.Value) {
		if t.Needs(i) {
			t.SetGradient(i, as(t, t.Call(ReduceSum{Dims: rest}, v), t.In(i)))
		}
	}
	r := t.Call(Rsqrt{}, plus(t, at(4), c.Eps))
	unit := times(t, difference(t, x, at(3)), r)
	dx := times(t, g, times(t, at(1), r))
	if t.Needs(0) {
		t.SetGradient(0, as(t, dx, t.In(0)))
	}
	reduced(1, times(t, g, unit))
	reduced(2, g)
	reduced(3, minus(t, dx))
	reduced(4, scaled(t, times(t, dx, times(t, unit, r)), -0.5))
}

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
