package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/recurrent"
	"github.com/lathe-gpu/lathe/spec"
)

// RNN is a simple recurrent layer: H' = f(x·W + H·R + b) at each step, where H is the state before it, b is the sum of
// both biases, and f is Tanh unless Activations says another. Directions, lengths, limits, activations and inputs that are left out are
// those of LSTM, with one activation for each direction.
type RNN struct {
	HiddenSize      int       `attr:"hidden_size" onnx:"hidden_size" doc:"the number of hidden units; 0: as r has"`
	Direction       string    `attr:"direction" onnx:"direction" doc:"forward, reverse or bidirectional"`
	Activations     []string  `attr:"activations" onnx:"activations" doc:"the activation of each direction; empty means Tanh"`
	ActivationAlpha []float64 `attr:"activation_alpha" onnx:"activation_alpha" doc:"the alpha of those activations that have one; empty means the defaults"`
	ActivationBeta  []float64 `attr:"activation_beta" onnx:"activation_beta" doc:"the beta of those activations that have one; empty means the defaults"`
	Clip            float64   `attr:"clip" onnx:"clip" doc:"the bound of the arguments of activations; 0: none"`
	Layout          int       `attr:"layout" onnx:"layout" doc:"0: steps come first in x and y; 1: sequences do, also in the states"`
}

// Spec returns the declaration.
func (RNN) Spec() *spec.Op { return rnnOp.Op() }

var rnnOp = spec.Declaration{Define: func() *spec.Op {
	return recurrent.DefineRNN(recurrent.Layer[*RNN]{
		Name: "rnn", ONNX: []string{"RNN"}, Source: "ONNX RNN; Elman, Finding structure in time, 1990",
		Doc:      "A simple recurrent layer, with directions and lengths of sequences.",
		Defaults: &RNN{Direction: "forward"},
		Attributes: func(a *RNN) recurrent.Attributes {
			return recurrent.Attributes{
				Hidden: a.HiddenSize, Direction: a.Direction, Activations: a.Activations, Alpha: a.ActivationAlpha, Beta: a.ActivationBeta,
				Clip: a.Clip, Layout: a.Layout,
			}
		},
		Calls: []*RNN{
			{Direction: "bidirectional"}, {Direction: "reverse", Layout: 1, Clip: 0.4}, {Direction: "bidirectional", Layout: 1, Activations: []string{"Relu", "Sigmoid"}},
			{Direction: "forward", Activations: []string{"Affine"}, ActivationAlpha: []float64{0.5}, ActivationBeta: []float64{0.25}},
		},
		Invalid: []*RNN{
			{Direction: "backward"}, {Direction: "forward", Layout: 2}, {Direction: "forward", Clip: -1},
			{Direction: "bidirectional", Activations: []string{"Relu"}}, {Direction: "forward", Activations: []string{"Affine"}, ActivationAlpha: []float64{1, 2}},
		},
	})
}}
