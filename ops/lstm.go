package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/recurrent"
	"github.com/lathe-gpu/lathe/spec"
)

// LSTM is a layer of long short-term memory. With σ, g and h the activations, which are Sigmoid, Tanh
// and Tanh unless Activations says others,
//
//	i = σ(x·Wi + H·Ri + Pi⊙C + b)    f = σ(x·Wf + H·Rf + Pf⊙C + b)    c = g(x·Wc + H·Rc + b)
//	C' = f⊙C + i⊙c                   o = σ(x·Wo + H·Ro + Po⊙C' + b)   H' = o⊙h(C')
//
// at each step, where H and C are the states before it, and b is the sum of both biases. The gates lie in the order i, o, f, c, and
// the peepholes in the order i, o, f. A second direction goes from the last step of each sequence to
// the first. The steps that a sequence does not have are 0 in y, and y_h and y_c are the states after
// its own steps. Nil, or a tensor of shape [0], stands for an optional input that is left out before others. The dtype of
// all is that of x. States are F32 between steps, or F64 for F64. A length outside of 0 to seq is the
// error ErrInvalidArgument of the next Sync. More than
// 65 532 hidden units are ErrLimit on a driver that ends loops after 65 535 iterations, as lavapipe does.
//
// The activations are Sigmoid, Tanh, Relu, Affine, LeakyRelu, ThresholdedRelu, ScaledTanh, HardSigmoid,
// Elu, Softsign and Softplus, three for each direction. ActivationAlpha and ActivationBeta are used up in the order
// of those that have such numbers. The default of others is that of ONNX, or 1 for ScaledTanh. Clip and these numbers are rounded to F32.
// ThresholdedRelu is 0 at alpha, as ONNX's operation of that name is.
//
// PyTorch has the gates in the order i, f, c, o.
type LSTM struct {
	HiddenSize      int       `attr:"hidden_size" onnx:"hidden_size" doc:"the number of hidden units; 0: as r has"`
	Direction       string    `attr:"direction" onnx:"direction" doc:"forward, reverse or bidirectional"`
	Activations     []string  `attr:"activations" onnx:"activations" doc:"the activations σ, g and h of each direction; empty means Sigmoid, Tanh and Tanh"`
	ActivationAlpha []float64 `attr:"activation_alpha" onnx:"activation_alpha" doc:"the alpha of those activations that have one; empty means the defaults"`
	ActivationBeta  []float64 `attr:"activation_beta" onnx:"activation_beta" doc:"the beta of those activations that have one; empty means the defaults"`
	Clip            float64   `attr:"clip" onnx:"clip" doc:"the bound of the arguments of activations; 0: none"`
	Layout          int       `attr:"layout" onnx:"layout" doc:"0: steps come first in x and y; 1: sequences do, also in the states"`
	InputForget     bool      `attr:"input_forget" onnx:"input_forget" doc:"the forget gate is 1 less the input gate"`
}

// Spec returns the declaration.
func (LSTM) Spec() *spec.Op { return lstmOp.Op() }

var lstmOp = spec.Declaration{Define: func() *spec.Op {
	return recurrent.DefineLSTM(recurrent.Layer[*LSTM]{
		Name: "lstm", ONNX: []string{"LSTM"}, Source: "ONNX LSTM; Hochreiter and Schmidhuber, Long short-term memory, 1997",
		Doc:      "A layer of long short-term memory, with peepholes, directions and lengths of sequences.",
		Defaults: &LSTM{Direction: "forward"},
		Attributes: func(a *LSTM) recurrent.Attributes {
			return recurrent.Attributes{
				Hidden: a.HiddenSize, Direction: a.Direction, Activations: a.Activations, Alpha: a.ActivationAlpha, Beta: a.ActivationBeta,
				Clip: a.Clip, Layout: a.Layout, Coupled: a.InputForget,
			}
		},
		Calls: []*LSTM{
			{Direction: "bidirectional"}, {Direction: "reverse", Layout: 1, Clip: 0.4}, {Direction: "bidirectional", Layout: 1, InputForget: true},
			{Direction: "forward", Activations: []string{"HardSigmoid", "relu", "Softsign"}, ActivationAlpha: []float64{0.25}},
			{Direction: "bidirectional", Activations: []string{"Sigmoid", "Elu", "Affine", "HardSigmoid", "ScaledTanh", "LeakyRelu"}, ActivationAlpha: []float64{0.5, 0.75}, Clip: 2},
			{Direction: "reverse", Activations: []string{"Sigmoid", "Softplus", "ThresholdedRelu"}, ActivationAlpha: []float64{-3}},
		},
		Invalid: []*LSTM{
			{Direction: "backward"}, {Direction: "forward", Layout: 2}, {Direction: "forward", Clip: -1}, {Direction: "forward", HiddenSize: -1},
			{Direction: "forward", Activations: []string{"Sigmoid", "Tanh"}}, {Direction: "forward", Activations: []string{"Sigmoid", "Tanh", "Sine"}},
			{Direction: "forward", ActivationAlpha: []float64{1}},
		},
	})
}}
