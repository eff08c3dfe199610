package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/axiswise"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// RMSNorm divides by the root mean square over dimension Dim and all dimensions after it:
// x/√(mean x² + Eps)·gamma. Gamma has the shape of these dimensions and the dtype of the
// input. If that dtype has 16 bits, gamma may be F32 instead. Gamma is 1 if it is left out.
type RMSNorm struct {
	Dim int     `attr:"dim,required" onnx:"axis" doc:"the first of the dimensions that are normalised together; a negative number counts from the end"`
	Eps float64 `attr:"eps,required" onnx:"epsilon" doc:"a number that is added to the mean square, at least 0"`
}

// Spec returns the declaration.
func (RMSNorm) Spec() *spec.Op { return rmsNormOp.Op() }

// Gradient declares the gradients: with r = 1/√(mean x² + eps), g = dy·gamma and x̂ = x·r, r·(g − x̂·mean(g·x̂)), and the sum of dy·x̂ over the rows.
func (c RMSNorm) Gradient(t *spec.Tape) {
	dy, x := wide(t, t.Gradient(0)), wide(t, t.In(0))
	if dy == spec.NoValue {
		return
	}
	shape := t.Shape(t.In(0))
	var dims, rows []int
	for d := range shape {
		if d >= from(c.Dim, len(shape)) {
			dims = append(dims, d)
		} else {
			rows = append(rows, d)
		}
	}
	mean := func(v spec.Value) spec.Value { return t.Call(ReduceMean{Dims: dims, KeepDims: true}, v) }
	r := t.Call(Rsqrt{}, plus(t, mean(squared(t, x)), c.Eps))
	unit := times(t, x, r)
	if t.Needs(1) {
		dgamma := times(t, dy, unit)
		if len(rows) > 0 {
			dgamma = t.Call(ReduceSum{Dims: rows}, dgamma)
		}
		t.SetGradient(1, as(t, dgamma, t.In(1)))
	}
	if !t.Needs(0) {
		return
	}
	g := dy
	if t.In(1) != spec.NoValue {
		g = times(t, dy, wide(t, t.In(1)))
	}
	t.SetGradient(0, as(t, times(t, r, difference(t, g, times(t, unit, mean(times(t, g, unit))))), t.In(0)))
}

var rmsNormOp = spec.Declaration{Define: func() *spec.Op {
	return axiswise.DefineNorm(axiswise.RMSNorm(axiswise.Norm[*RMSNorm]{
		Name: "rms_norm", ONNX: []string{"RMSNormalization"},
		Doc:    "Divides by the root mean square over the last dimensions: x/√(mean x² + eps)·gamma.",
		Source: "Zhang and Sennrich, Root mean square layer normalization, 2019",
		In: []spec.Arg{
			{Name: "in", Doc: "a tensor of any shape but a scalar"},
			{Name: "gamma", Doc: "of the shape of dimension dim of in and all after it, 1 if left out; of the dtype of in, or F32 if that has 16 bits", Optional: true},
		},
		Defaults: &RMSNorm{Dim: -1, Eps: 1e-5},
		Eps:      func(a *RMSNorm) float64 { return a.Eps },
		Axis:     func(a *RMSNorm) int { return a.Dim },
		Cases: spec.CasesOf[*RMSNorm]{
			Calls: []*RMSNorm{{-1, 1e-5}, {0, 1e-3}},
			Dims:  []spec.Dim{{Name: "rows"}, {Name: "n", Tiles: []int{16}}, {Name: "inputs", Only: []int{2, 1}}},
			Sizes: [][]int{{1, 65535, 2}, {1, 65536, 2}, {3, 100000, 2}, {1, 1000000, 2}, {65535, 3, 2}, {65536, 4, 2}, {100000, 2, 2}, {600, 1024, 2}, {600, 1000, 2}, {1000, 201, 2}},
			Inputs: func(a *RMSNorm, d tensor.DType, dims []int) []tensor.Desc {
				gamma := tensor.Contiguous(d, dims[1])
				if a.Dim == 0 {
					gamma = tensor.Contiguous(d, dims[:2]...)
				}
				return []tensor.Desc{tensor.Contiguous(d, dims[:2]...), gamma}[:dims[2]]
			},
			Invalid: []*RMSNorm{{-1, -1e-5}, {-1, math.NaN()}, {-1, math.Inf(1)}, {2, 1e-5}, {-3, 1e-5}},
			Refused: [][]tensor.Desc{
				{tensor.Contiguous(tensor.F32)}, {tensor.Contiguous(tensor.I32, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F32, 2, 3)},
				{tensor.Contiguous(tensor.F32, 2, 3), tensor.Contiguous(tensor.F16, 3)},
				{tensor.Contiguous(tensor.BF16, 2, 3), tensor.Contiguous(tensor.F16, 3)},
			},
		},
	}))
}}
