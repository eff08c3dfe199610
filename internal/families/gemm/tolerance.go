package gemm

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// dotRun is how many products a sum takes one after the other in f32. The sums of such
// runs are added in turn, so that the error of long k stays small.
const dotRun = 4096

// dotChain is the longest chain of a product of k terms: one rounding of the product;
// runs of dotRun terms, or as many as fit a binding; the sum of the runs, some of them
// in parts side by side; the lanes of a vector and a bias.
func dotChain(k int) float64 {
	return float64(min(k, dotRun) + planner.CeilDiv(k, dotRun) + 12)
}

const dotChainText = "h = min(k, 4096) + ⌈k/4096⌉ + 12"

// DotTolerance is the tolerance of a sum of k products of factors of such a size, made
// in f32 (f64 for f64) and rounded to d.
func DotTolerance(d tensor.DType, k int, size float64) spec.Tolerance {
	e, n, h := planner.AccumulatorEpsilon(d), float64(k), dotChain(k)
	run := math.Min(n, dotRun)
	if d == tensor.F64 {
		run, h = n, n+12 // the reference is a plain sum itself
	}
	return spec.Tolerance{
		Abs: size*e*(2+math.Sqrt(run*n)) + planner.Tiny(d), Rel: e*(2+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
		Law: "ε·(2 + √(r·k)) + ε·(2 + √(h/3)) of the value, r = min(k, 4096), " + dotChainText + "; of f64 r = k and h = k + 12, as the reference is a plain sum itself",
		Any: planner.Rounded(h, e), AnyLaw: "((1 + ε)^h − 1)·Σ|a·b|",
		Why: "a product is added up in runs of 4096 and these in turn, so that it is rounded at most h times; what is at random, operands and roundings, adds up as roots do",
	}
}
