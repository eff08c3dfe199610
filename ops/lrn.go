package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// LRN is the local response normalisation of a tensor [N,C,spatial...]. It divides each element by
// (bias + alpha/size·s)^beta, where s is the sum of the squares of the elements at the same place in Size
// channels: (size−1)/2 before the element's one, rounded down, the own one, and size/2 after it. Channels that
// do not exist count as zeros. Where a square overflows in the type of the arithmetic, the sum is infinite.
type LRN struct {
	Size  int     `attr:"size,required" onnx:"size" doc:"the number of channels that are summed"`
	Alpha float64 `attr:"alpha" onnx:"alpha" doc:"the factor of the mean of squares, at least 0"`
	Beta  float64 `attr:"beta" onnx:"beta" doc:"the power"`
	Bias  float64 `attr:"bias" onnx:"bias" doc:"added to the mean of squares, above 0"`
}

// Spec returns the declaration.
func (LRN) Spec() *spec.Op { return lrnOp.Op() }

// Gradient declares the gradient: with b the base of the power and s = alpha/size, dy·b^(−beta) − 2·s·beta·x·Σ dy·x·b^(−beta−1), where the sum is over
// the channels whose result has x in its sum.
func (c LRN) Gradient(t *spec.Tape) {
	dy, x := wide(t, t.Gradient(0)), wide(t, t.In(0))
	if dy == spec.NoValue {
		return
	}
	shape, size := t.Shape(t.In(0)), float64(c.Size)
	before, after := (c.Size-1)/2, c.Size/2
	// The channels are the rows of pictures, whose windows are Size high.
	rows := func(v spec.Value, before, after int) spec.Value {
		v = t.Reshape(v, shape[0], 1, shape[1], -1)
		v = t.Call(AvgPool{Kernel: []int{c.Size, 1}, Pads: []int{before, 0, after, 0}, CountIncludePad: true}, v)
		return t.Reshape(scaled(t, v, size), shape...)
	}
	base := plus(t, scaled(t, rows(squared(t, x), before, after), c.Alpha/size), c.Bias)
	power := t.Call(Pow{}, base, t.Scalar(-c.Beta, x))
	others := rows(over(t, times(t, times(t, dy, x), power), base), after, before)
	t.SetGradient(0, as(t, difference(t, times(t, dy, power), scaled(t, times(t, x, others), 2*c.Alpha*c.Beta/size)), t.In(0)))
}

var lrnOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.DefineResponse(spec.Definition[*LRN]{
		Name: "lrn", Traits: spec.Traits{ONNX: []string{"LRN"}},
		Doc:      "Local response normalisation: divides each element by a power of a bias and the mean of the squares in neighbouring channels.",
		Source:   "Krizhevsky, Sutskever and Hinton, ImageNet classification with deep convolutional neural networks, 2012, 3.3",
		Defaults: &LRN{5, 1e-4, 0.75, 1},
		Cases: spec.CasesOf[*LRN]{
			DTypes:  []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64},
			Calls:   []*LRN{{5, 1e-4, 0.75, 1}, {4, 2, 0.5, 2}, {1, 1, -1, 0.5}, {70000, 3, 1.25, 1}},
			Invalid: []*LRN{{-1, 1, 1, 1}, {5, -1, 1, 1}, {5, 1, 1, -1}, {5, math.NaN(), 1, 1}, {5, 1, math.Inf(1), 1}, {1 << 30, 1, 1, 1}},
			Refused: [][]tensor.Desc{{tensor.Contiguous(tensor.F32, 3)}, {tensor.Contiguous(tensor.I32, 1, 2, 3)}},
			Dims:    []spec.Dim{{Name: "pictures"}, {Name: "channels", Tiles: []int{4}}, {Name: "plane", Tiles: []int{4, 256}}},
			Inputs: func(_ *LRN, d tensor.DType, dims []int) []tensor.Desc {
				x := tensor.Contiguous(d, dims[0], dims[1], dims[2])
				if int64(dims[0])*int64(dims[1]) > 1<<20 || int64(dims[0])*int64(dims[1])*int64(dims[2]) > 1<<21 {
					return nil
				}
				return []tensor.Desc{x}
			},
			Bench: func(d tensor.DType) []spec.BenchCase {
				var cases []spec.BenchCase
				for _, n := range []int{7, 28, 56} {
					cases = append(cases, spec.BenchCase{Call: LRN{5, 1e-4, 0.75, 1}, In: []tensor.Desc{tensor.Contiguous(d, 1, 64, n, n)}})
				}
				return cases
			},
			Low: -3, High: 3, Specials: true,
		},
	}, func(a *LRN) pooling.Response {
		return pooling.Response{Size: a.Size, Alpha: a.Alpha, Beta: a.Beta, Bias: a.Bias}
	})
}}
