package axiswise

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const layerNorm = "nn/layer_norm"

// momentsReducer computes the mean and the sum of squared deviations of rows.
var momentsReducer = statReducer(layerNorm, 4)

// LayerNorm completes o with the kernels, reference and tolerance of layer norm.
func LayerNorm[A spec.Call](o Norm[A]) Norm[A] {
	o.Shader, o.Values, o.Longest, o.Flops = layerNorm, momentsReducer.Values, 16384, 8
	o.Row = func(row []float64, eps float64) {
		mean, variance := center(row)
		for i := range row {
			row[i] = (row[i] - mean) / math.Sqrt(variance+eps)
		}
	}
	o.Tolerance = func(_ A, d tensor.DType, n int) spec.Tolerance {
		e, h := planner.AccumulatorEpsilon(d), rowChain(n)
		return spec.Tolerance{
			Abs: e*(32+3*math.Sqrt(h)) + planner.Tiny(d), Rel: 16*e + planner.StoreEpsilon(d),
			Law: "ε·(32 + 3·√h) + 16ε of the value, " + rowChainText + ", where elements are within a few standard deviations and weights up to 2",
			Why: "deviations are relative to one element, so that only their sums are rounded; the mean of them, at most a few standard deviations, changes at most h times and is rounded each time",
		}
	}
	return o
}

// center subtracts the first element from all elements, and returns the mean and the
// population variance of the differences. Without that, float64 would not be exact enough
// to check F64.
func center(row []float64) (mean, variance float64) {
	origin := row[0]
	for i := range row {
		row[i] -= origin
	}
	n := float64(len(row))
	mean = reduction.Sum(len(row), func(i int) float64 { return row[i] }) / n
	variance = reduction.Sum(len(row), func(i int) float64 { return (row[i] - mean) * (row[i] - mean) }) / n
	return mean, variance
}

// RMSNorm completes o with the kernels, reference and tolerance of RMS norm.
func RMSNorm[A spec.Call](o Norm[A]) Norm[A] {
	o.Shader, o.Values, o.Longest, o.Flops = "nn/rms_norm", 1, 4096, 4
	o.Row = func(row []float64, eps float64) {
		square := reduction.Sum(len(row), func(i int) float64 { return row[i] * row[i] }) / float64(len(row))
		for i := range row {
			row[i] /= math.Sqrt(square + eps)
		}
	}
	o.Tolerance = func(a A, d tensor.DType, n int) spec.Tolerance {
		e, h := planner.AccumulatorEpsilon(d), rowChain(n)
		return spec.Tolerance{
			Abs: planner.Tiny(d) * (2 + 2/math.Sqrt(o.Eps(a)+0x1p-60)), Rel: e*(8+math.Sqrt(h/3)/2) + planner.StoreEpsilon(d),
			Law: "ε·(8 + ½·√(h/3)) of the value, " + rowChainText,
			Any: planner.Rounded(h/2+12, e), AnyLaw: "((1 + ε)^(12+h/2) − 1) of the value",
			Why: "nothing cancels: a square is rounded at most h times on its way through the sum, and the root halves that; " +
				"elements below the least normal number, which devices may take for 0, are multiplied by up to 1/√eps",
		}
	}
	return o
}
