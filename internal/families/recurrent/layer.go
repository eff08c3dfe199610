package recurrent

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/tensor"
)

// Attributes are those of the three layers.
type Attributes struct {
	// Hidden is the number of hidden units. 0 means what the weights have.
	Hidden int
	// Direction is forward, reverse or bidirectional.
	Direction string
	// Activations are names of ONNX, Alpha and Beta their numbers.
	Activations []string
	Alpha, Beta []float64
	// Clip bounds the arguments of activations. 0 means that they have no bound.
	Clip float64
	// Layout is 0 if steps come first, and 1 if sequences do.
	Layout int
	// Coupled says that the forget gate is 1 less the input gate.
	Coupled bool
	// After says that the reset gate comes after the product with the weights.
	After bool
}

// These are the inputs of the layers, in the order of ONNX. A GRU and an RNN have the first six.
const (
	inX = iota
	inW
	inR
	inB
	inLengths
	inHidden
	inCell
	inPeepholes
)

// kind is what differs between the layers.
type kind struct {
	gates int
	// order names the gates in the order of the weights.
	order       []string
	activations []string
	inputs      int
	// steps are the kernels of a step. after are those with the reset gate after the product.
	steps, after []string
}

var (
	lstmKind = &kind{gates: 4, order: []string{"input", "output", "forget", "cell"}, activations: []string{"Sigmoid", "Tanh", "Tanh"}, inputs: 8, steps: []string{"nn/lstm_step"}}
	gruKind  = &kind{gates: 3, order: []string{"update", "reset", "hidden"}, activations: []string{"Sigmoid", "Tanh"}, inputs: 6, steps: []string{"nn/gru_gates", "nn/gru_hidden"}, after: []string{"nn/gru_step"}}
	rnnKind  = &kind{gates: 1, activations: []string{"Tanh"}, inputs: 6, steps: []string{"nn/rnn_step"}}
)

// layer is a call of one of the layers.
type layer struct {
	*kind
	Attributes
	seq, batch, input, hidden, directions int
	// clip bounds the arguments of activations.
	clip float32
	// functions are the activations of all directions.
	functions []activation
	// given says which inputs there are.
	given [8]bool
}

// backward is the direction from the last step to the first one.
const backward = "reverse"

// newLayer checks the attributes and the inputs.
// Errors: ErrInvalidArgument.
func newLayer(k *kind, a Attributes, in []tensor.Desc) (*layer, error) {
	l := &layer{kind: k, Attributes: a, directions: 1, clip: float32(math.Inf(1))}
	switch a.Direction {
	case "bidirectional":
		l.directions = 2
	case "forward", backward:
	default:
		return nil, planner.Invalid("direction (got %q, want forward, reverse or bidirectional)", a.Direction)
	}
	if a.Layout != 0 && a.Layout != 1 {
		return nil, planner.Invalid("layout (got %d, want 0 or 1)", a.Layout)
	}
	if c := float32(a.Clip); a.Clip != 0 {
		if l.clip = c; !(c > 0) || math.IsInf(float64(c), 0) {
			return nil, planner.Invalid("clip (got %v, want a number of f32 above 0, or 0 for none)", a.Clip)
		}
	}
	var err error
	if l.functions, err = a.activations(k, l.directions); err != nil {
		return nil, err
	}
	for i, d := range in {
		// A tensor of shape [0] stands for an input that is left out.
		l.given[i] = i < inB || !slices.Equal(d.Shape, []int{0})
		if l.given[i] && i != inLengths && d.DType != in[0].DType {
			return nil, planner.Invalid("%s (got %v, want the dtype of x, %v)", k.arguments()[i].Name, d, in[inX].DType)
		}
	}
	x, w, r := in[inX].Shape, in[inW].Shape, in[inR].Shape
	if len(x) != 3 || len(w) != 3 || len(r) != 3 {
		return nil, planner.Invalid("x %v, w %v, r %v (want three dimensions of each)", in[inX], in[inW], in[inR])
	}
	l.seq, l.batch, l.input, l.hidden = x[0], x[1], x[2], r[2]
	if a.Layout == 1 {
		l.seq, l.batch = x[1], x[0]
	}
	if a.Hidden != 0 && a.Hidden != l.hidden || l.hidden < 1 {
		return nil, planner.Invalid("hidden_size (got %d, r is %v)", a.Hidden, in[inR])
	}
	for i, want := range [][]int{
		inX:         x,
		inW:         {l.directions, l.gates * l.hidden, l.input},
		inR:         {l.directions, l.gates * l.hidden, l.hidden},
		inB:         {l.directions, 2 * l.gates * l.hidden},
		inLengths:   {l.batch},
		inHidden:    l.stateShape(),
		inCell:      l.stateShape(),
		inPeepholes: {l.directions, 3 * l.hidden},
	} {
		if i < len(in) && l.given[i] && !slices.Equal(in[i].Shape, want) {
			return nil, planner.Invalid("%s (got %v, want the shape %v)", k.arguments()[i].Name, in[i], want)
		}
	}
	return l, nil
}

// stateShape is the shape of a state of each sequence.
func (l *layer) stateShape() []int {
	if l.Layout == 1 {
		return []int{l.batch, l.directions, l.hidden}
	}
	return []int{l.directions, l.batch, l.hidden}
}

// outputs describes the results: Y, Y_h and, of an LSTM, Y_c.
func (l *layer) outputs(d tensor.DType) []tensor.Desc {
	y := []int{l.seq, l.directions, l.batch, l.hidden}
	if l.Layout == 1 {
		y = []int{l.batch, l.seq, l.directions, l.hidden}
	}
	out := []tensor.Desc{tensor.Contiguous(d, y...), tensor.Contiguous(d, l.stateShape()...)}
	if l.kind == lstmKind {
		out = append(out, tensor.Contiguous(d, l.stateShape()...))
	}
	return out
}

// reversed reports whether a direction goes from the last step to the first one.
func (l *layer) reversed(direction int) bool { return direction == 1 || l.Direction == backward }

// of returns the activations of a direction.
func (l *layer) of(direction int) []activation {
	n := len(l.kind.activations)
	return l.functions[direction*n : direction*n+n]
}
