package recurrent

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// optional lists which of the optional inputs cases have, by the last of the dimensions of cases.
var optional = [][]int{
	{inB}, {}, {inB, inLengths, inHidden, inCell, inPeepholes}, {inLengths, inHidden, inPeepholes}, {inB, inLengths}, {inB, inHidden, inCell},
}

// inputs returns the inputs of a call for the sizes of steps, sequences, inputs and hidden units.
// some is a number of optional.
func (k *kind) inputsOf(a Attributes, d tensor.DType, seq, batch, input, hidden, some int) []tensor.Desc {
	if hidden == 0 {
		return nil
	}
	l := layer{kind: k, Attributes: a, seq: seq, batch: batch, input: input, hidden: hidden, directions: 1}
	if a.Direction == "bidirectional" {
		l.directions = 2
	}
	x := []int{seq, batch, input}
	if a.Layout == 1 {
		x = []int{batch, seq, input}
	}
	in := []tensor.Desc{
		tensor.Contiguous(d, x...), tensor.Contiguous(d, l.directions, k.gates*hidden, input), tensor.Contiguous(d, l.directions, k.gates*hidden, hidden),
	}
	shapes := map[int][]int{
		inB: {l.directions, 2 * k.gates * hidden}, inLengths: {batch}, inHidden: l.stateShape(), inCell: l.stateShape(), inPeepholes: {l.directions, 3 * hidden},
	}
	for _, i := range optional[some] {
		if i >= k.inputs {
			break
		}
		for len(in) <= i { // Those that are left out have the shape [0].
			if len(in) == inLengths {
				in = append(in, tensor.Contiguous(tensor.I32, 0))
			} else {
				in = append(in, tensor.Contiguous(d, 0))
			}
		}
		in[i] = tensor.Contiguous(in[i].DType, shapes[i]...)
	}
	return in
}

// mostHidden is the largest number of hidden units on devices that end a loop after 65 535 iterations.
const mostHidden = 65_532

// cases returns the cases of a layer.
func cases[A spec.Call](k *kind, m Layer[A]) spec.CasesOf[A] {
	inputs := func(a A, d tensor.DType, dims []int) []tensor.Desc {
		if dims[3] > mostHidden {
			return nil // The docs say that it may be ErrLimit.
		}
		return k.inputsOf(m.Attributes(a), d, dims[0], dims[1], dims[2], dims[3], dims[4])
	}
	shape := func(n ...int) tensor.Desc { return tensor.Contiguous(tensor.F32, n...) }
	x, w, r := shape(5, 2, 3), shape(1, k.gates*4, 3), shape(1, k.gates*4, 4)
	none, lengths := shape(0), tensor.Contiguous(tensor.I32, 2)
	return spec.CasesOf[A]{
		DTypes: planner.Floats, Calls: append([]A{m.Defaults}, m.Calls...),
		Dims: []spec.Dim{
			{Name: "seq", Only: []int{5, 0, 1, 2, 7}}, {Name: "batch"}, {Name: "input", Tiles: []int{8}}, {Name: "hidden", Tiles: []int{8}},
			{Name: "inputs", Only: []int{0, 1, 2, 3, 4, 5}},
		},
		Sizes: [][]int{
			{300, 2, 3, 5, 2}, {1100, 1, 1, 1, 4}, {6, 70, 33, 130, 2}, {3, 5, 1000, 16, 0}, {2, 3, 4, 300, 5}, {40, 900, 3, 36, 2},
		},
		Inputs: inputs,
		Bench: func(d tensor.DType) []spec.BenchCase {
			var list []spec.BenchCase
			for _, s := range [][]int{{32, 1, 128, 128}, {32, 16, 256, 256}, {64, 16, 512, 512}} {
				list = append(list, spec.BenchCase{Call: m.Defaults, In: inputs(m.Defaults, d, append(s, 0))})
			}
			return list
		},
		// Weights are so small that a state is a weighted mean of what is at most 1, whatever the sizes are.
		Range: func(a A, i int, in []tensor.Desc) (low, high float64) {
			most := 1.0
			switch i {
			case inW:
				most = 2 / float64(max(in[inX].Shape[2], 2))
			case inR:
				most = 0.5 / float64(in[inR].Shape[2])
			case inB, inPeepholes:
				most = 0.5
			case inLengths:
				return 0, float64(in[inX].Shape[m.Attributes(a).Layout])
			}
			return -most, most
		},
		Specials: true,
		Invalid:  m.Invalid,
		Refused: [][]tensor.Desc{
			{shape(5, 3), w, r}, {x, shape(k.gates*4, 3), r}, {x, w, shape(1, k.gates*4, 4, 1)}, {x, w, shape(1, k.gates*4, 0)},
			{x, shape(1, k.gates*4, 2), r}, {x, shape(1, k.gates*4+1, 3), r}, {x, shape(2, k.gates*4, 3), shape(2, k.gates*4, 4)},
			{x, w, r, shape(1, k.gates*4)}, {x, w, r, none, tensor.Contiguous(tensor.I32, 3)}, {x, w, r, none, shape(2)},
			{x, w, r, none, lengths, shape(1, 2, 3)}, {x, w, r, none, lengths, tensor.Contiguous(tensor.F16, 1, 2, 4)},
		},
		Faults: func(d tensor.DType) [][]*tensor.Host {
			var sets [][]*tensor.Host
			for _, bad := range []float64{6, -1, 1 << 30} {
				var in []*tensor.Host
				for _, d := range k.inputsOf(m.Attributes(m.Defaults), d, 5, 3, 2, 5, 4) {
					in = append(in, tensor.NewHost(d))
				}
				in[inLengths].SetFloats([]float64{5, 0, bad})
				sets = append(sets, in)
			}
			return sets
		},
	}
}
