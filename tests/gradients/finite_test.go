// Package gradients_test compares the gradients that operations declare with finite differences of their references, which share no code
// with them, and the gradients of whole networks with finite differences of the same networks in float64.
package gradients_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// sample is a call with inputs in float64, and a factor for each element of its results. What is differentiated is the sum of their products.
type sample struct {
	call    spec.Call
	in      []tensor.Desc // as the device gets them
	values  [][]float64
	out     []tensor.Desc
	factors [][]float64 // nil for results that are no floating-point numbers
}

func floating(d tensor.DType) bool {
	return d == tensor.F64 || d == tensor.F32 || d == tensor.F16 || d == tensor.BF16
}

// host is a tensor of such elements. Floating-point numbers are F64.
func host(d tensor.Desc, values []float64) *tensor.Host {
	if floating(d.DType) {
		d.DType = tensor.F64
	}
	h := tensor.NewHost(tensor.Contiguous(d.DType, d.Shape...))
	h.SetFloats(values)
	return h
}

// loss is the sum of the results times the factors, as the reference computes it in float64.
func (s *sample) loss() float64 {
	in, out := make([]*tensor.Host, len(s.in)), make([]*tensor.Host, len(s.out))
	for i, d := range s.in {
		in[i] = host(d, s.values[i])
	}
	for i, d := range s.out {
		out[i] = host(d, make([]float64, d.Elems()))
	}
	s.call.Spec().Reference(s.call, in, out)
	sum := 0.0
	for i, f := range s.factors {
		for k, v := range out[i].Floats() {
			if f != nil {
				sum += f[k] * v
			}
		}
	}
	return sum
}

// slope is the derivative of the loss by one element: central differences of two steps, of 1e-5 and half of that, extrapolated (Richardson). It
// reports false near a kink: where the differences to both sides differ by more than a thousandth, or those of the two steps by more than 1e-5. So
// second derivatives of up to 100 are no kinks.
func (s *sample) slope(i, k int) (float64, bool) {
	x := s.values[i][k]
	h := 1e-5 * max(1, math.Abs(x))
	at := func(v float64) float64 {
		s.values[i][k] = v
		loss := s.loss()
		s.values[i][k] = x
		return loss
	}
	up, down, here := at(x+h), at(x-h), at(x)
	whole, half := (up-down)/(2*h), (at(x+h/2)-at(x-h/2))/h
	slope := (4*half - whole) / 3
	kink := math.Abs((up-here)-(here-down))/h > 1e-3*max(1, math.Abs(slope)) || math.Abs(whole-half) > 1e-5*max(1, math.Abs(slope))
	return slope, !kink && !math.IsNaN(slope)
}

// samples are small cases of each call of an operation, for elements of dtype d.
func samples(op *spec.Op, d tensor.DType, rng *rand.Rand) []*sample {
	var list []*sample
	for _, c := range op.Cases.Calls {
		call, err := spec.Resolve(c)
		if err != nil {
			continue
		}
		seen := map[string]bool{}
		for round := range 16 {
			dims := make([]int, len(op.Cases.Dims))
			for i, dim := range op.Cases.Dims {
				if dims[i] = 1 + (round*(i+2)+2*i+2)%5 + round/12*6; len(dim.Only) > 0 {
					dims[i] = dim.Only[round%len(dim.Only)]
				}
			}
			in := op.Cases.InputsFor(call, d, dims)
			key := fmt.Sprint(in)
			if in == nil || seen[key] || len(seen) == 3 {
				continue
			}
			if s := newSample(op, call, in, rng); s != nil {
				list, seen[key] = append(list, s), true
			}
		}
	}
	return list
}

// newSample draws values for inputs. It is nil if these are too large, or have no elements.
func newSample(op *spec.Op, call spec.Call, in []tensor.Desc, rng *rand.Rand) *sample {
	s := &sample{call: call, in: in}
	elems := 0
	for _, d := range in {
		elems += d.Elems()
	}
	out, err := op.Shape(call, in)
	if err != nil || elems == 0 || elems > 600 || slices.ContainsFunc(out, func(d tensor.Desc) bool { return d.Elems() == 0 || d.Elems() > 20_000 }) || !floating(out[0].DType) {
		return nil
	}
	s.out = out
	for i, d := range in {
		low, high := op.Cases.Low, op.Cases.High
		if op.Cases.Range != nil {
			low, high = op.Cases.Range(call, i, in)
		}
		if low == high && op.Cases.Range == nil {
			low, high = -2, 2
		}
		if op.Name == "pow" && i == 0 {
			low = 0.1 // There is no slope below 0.
		}
		if floating(d.DType) { // steps of 1e-5 must be small, and large enough
			if middle := (low + high) / 2; math.Abs(middle) > 100 {
				low, high = low-middle, high-middle
			}
			if low < 3 && high > 3 {
				high = 3
			}
			if low < -3 && high > -3 {
				low = -3
			}
		}
		values := make([]float64, d.Elems())
		for k := range values {
			switch v := low + (high-low)*rng.Float64(); {
			case floating(d.DType):
				values[k] = v
			case d.DType == tensor.Bool:
				values[k] = float64(rng.IntN(2))
			default:
				values[k] = math.Round(v)
			}
		}
		if op.Cases.Settle != nil {
			op.Cases.Settle(call, i, d, values)
		}
		if floating(d.DType) && d.DType != tensor.F64 { // the device and the reference get the same numbers
			h := tensor.NewHost(tensor.Contiguous(d.DType, d.Shape...))
			h.SetFloats(values)
			values = h.Floats()
		}
		s.values = append(s.values, slices.Clone(values))
	}
	for _, d := range out {
		var f []float64
		if floating(d.DType) {
			for range d.Elems() {
				f = append(f, float64(float32(rng.Float64()*2-1)))
			}
		}
		s.factors = append(s.factors, f)
	}
	return s
}
