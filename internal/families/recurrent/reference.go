package recurrent

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// reference computes the outputs in float64, sequence by sequence.
func (l *layer) reference(in, out []*tensor.Host) {
	values := make([][]float64, 8)
	for i := range in {
		if l.given[i] {
			values[i] = in[i].Floats()
		}
	}
	results := make([][]float64, len(out))
	for i := range out {
		results[i] = make([]float64, out[i].Elems())
	}
	n := l.hidden
	for d := range l.directions {
		for b := range l.batch {
			at := (d*l.batch + b) * n
			if l.Layout == 1 {
				at = (b*l.directions + d) * n
			}
			h, c := make([]float64, n), make([]float64, n)
			if l.given[inHidden] {
				copy(h, values[inHidden][at:])
			}
			if l.given[inCell] {
				copy(c, values[inCell][at:])
			}
			length := l.seq
			if l.given[inLengths] {
				length = int(values[inLengths][b])
			}
			for i := range length {
				t := i
				if l.reversed(d) {
					t = length - 1 - i
				}
				x, y := (t*l.batch+b)*l.input, ((t*l.directions+d)*l.batch+b)*n
				if l.Layout == 1 {
					x, y = (b*l.seq+t)*l.input, ((b*l.seq+t)*l.directions+d)*n
				}
				h, c = l.referenceStep(values, d, values[inX][x:x+l.input], h, c)
				copy(results[0][y:], h)
			}
			copy(results[1][at:], h)
			if len(results) > 2 {
				copy(results[2][at:], c)
			}
		}
	}
	for i := range out {
		out[i].SetFloats(results[i])
	}
}

// referenceStep returns the states after a step.
func (l *layer) referenceStep(values [][]float64, d int, x, h, c []float64) (nextH, nextC []float64) {
	n, f := l.hidden, l.of(d)
	dot := func(weights []float64, row int, v []float64) (sum float64) {
		for k, e := range v {
			sum += e * weights[(d*l.gates*n+row)*len(v)+k]
		}
		return sum
	}
	bias := func(row int) float64 {
		if !l.given[inB] {
			return 0
		}
		return values[inB][d*2*l.gates*n+row]
	}
	fromX := func(gate, i int) float64 { return dot(values[inW], gate*n+i, x) + bias(gate*n+i) }
	fromH := func(gate, i int, hidden []float64) float64 {
		return dot(values[inR], gate*n+i, hidden) + bias((l.gates+gate)*n+i)
	}
	act := func(which int, v float64) float64 {
		return f[which].of(math.Max(-float64(l.clip), math.Min(float64(l.clip), v)))
	}
	peephole := func(which, i int, cell float64) float64 {
		if !l.given[inPeepholes] {
			return 0
		}
		return values[inPeepholes][(d*3+which)*n+i] * cell
	}
	nextH, nextC = make([]float64, n), make([]float64, n)
	switch l.kind {
	case rnnKind:
		for i := range n {
			nextH[i] = act(0, fromX(0, i)+fromH(0, i, h))
		}
	case lstmKind:
		for i := range n {
			take := act(0, fromX(0, i)+fromH(0, i, h)+peephole(0, i, c[i]))
			keep := 1 - take
			if !l.Coupled {
				keep = act(0, fromX(2, i)+fromH(2, i, h)+peephole(2, i, c[i]))
			}
			nextC[i] = keep*c[i] + take*act(1, fromX(3, i)+fromH(3, i, h))
			nextH[i] = act(0, fromX(1, i)+fromH(1, i, h)+peephole(1, i, nextC[i])) * act(2, nextC[i])
		}
	case gruKind:
		reset, kept := make([]float64, n), make([]float64, n)
		for i := range n {
			reset[i] = act(0, fromX(1, i)+fromH(1, i, h))
			kept[i] = reset[i] * h[i]
		}
		for i := range n {
			made := 0.0
			if l.After {
				made = act(1, fromX(2, i)+reset[i]*fromH(2, i, h))
			} else {
				made = act(1, fromX(2, i)+fromH(2, i, kept))
			}
			z := act(0, fromX(0, i)+fromH(0, i, h))
			nextH[i] = (1-z)*made + z*h[i]
		}
	}
	return nextH, nextC
}
