package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/recurrent"
	"github.com/lathe-gpu/lathe/spec"
)

// GRU is a layer of gated recurrent units. With σ and g the activations, which are Sigmoid and Tanh unless
// Activations says others,
//
//	z = σ(x·Wz + H·Rz + b)    r = σ(x·Wr + H·Rr + b)    H' = (1 − z)⊙h + z⊙H
//	h = g(x·Wh + (r⊙H)·Rh + b), or g(x·Wh + bw + r⊙(H·Rh + br)) with LinearBeforeReset
//
// at each step, where H is the state before it, and b is the sum of the biases bw and br. The gates lie in the
// order z, r, h. Without LinearBeforeReset, a step is two launches. Directions, lengths, limits, activations and inputs that are left
// out are those of LSTM, with two activations for each direction.
//
// PyTorch's GRU is that with LinearBeforeReset. It has the gates in the order r, z, h.
type GRU struct {
	HiddenSize        int       `attr:"hidden_size" onnx:"hidden_size" doc:"the number of hidden units; 0: as r has"`
	Direction         string    `attr:"direction" onnx:"direction" doc:"forward, reverse or bidirectional"`
	Activations       []string  `attr:"activations" onnx:"activations" doc:"the activations σ and g of each direction; empty means Sigmoid and Tanh"`
	ActivationAlpha   []float64 `attr:"activation_alpha" onnx:"activation_alpha" doc:"the alpha of those activations that have one; empty means the defaults"`
	ActivationBeta    []float64 `attr:"activation_beta" onnx:"activation_beta" doc:"the beta of those activations that have one; empty means the defaults"`
	Clip              float64   `attr:"clip" onnx:"clip" doc:"the bound of the arguments of activations; 0: none"`
	Layout            int       `attr:"layout" onnx:"layout" doc:"0: steps come first in x and y; 1: sequences do, also in the states"`
	LinearBeforeReset bool      `attr:"linear_before_reset" onnx:"linear_before_reset" doc:"the reset gate comes after the product with r"`
}

// Spec returns the declaration.
func (GRU) Spec() *spec.Op { return gruOp.Op() }

var gruOp = spec.Declaration{Define: func() *spec.Op {
	return recurrent.DefineGRU(recurrent.Layer[*GRU]{
		Name: "gru", ONNX: []string{"GRU"}, Source: "ONNX GRU; Cho et al., Learning phrase representations using RNN encoder–decoder, 2014",
		Doc:      "A layer of gated recurrent units, with directions and lengths of sequences.",
		Defaults: &GRU{Direction: "forward"},
		Attributes: func(a *GRU) recurrent.Attributes {
			return recurrent.Attributes{
				Hidden: a.HiddenSize, Direction: a.Direction, Activations: a.Activations, Alpha: a.ActivationAlpha, Beta: a.ActivationBeta,
				Clip: a.Clip, Layout: a.Layout, After: a.LinearBeforeReset,
			}
		},
		Calls: []*GRU{
			{Direction: "bidirectional", LinearBeforeReset: true}, {Direction: "reverse", Layout: 1, Clip: 0.4}, {Direction: "forward", LinearBeforeReset: true},
			{Direction: "bidirectional", Layout: 1, Activations: []string{"HardSigmoid", "Relu", "Sigmoid", "Softsign"}},
			{Direction: "reverse", Activations: []string{"Sigmoid", "LeakyRelu"}, LinearBeforeReset: true, Clip: 2},
		},
		Invalid: []*GRU{
			{Direction: "backward"}, {Direction: "forward", Layout: -1}, {Direction: "forward", Clip: -1},
			{Direction: "forward", Activations: []string{"Sigmoid"}}, {Direction: "forward", ActivationBeta: []float64{1}},
		},
	})
}}
