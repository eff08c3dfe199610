package gemm

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// dotRun is the number of products that a sum in F32 adds one after the other. The sums
// of such runs are added again, so that the error of a product with a large k stays
// small.
const dotRun = 4096

// dotChain bounds the longest chain of a product with k terms. internal/planner explains
// chains. It counts the rounding of the product, the additions of a run of dotRun terms,
// and the additions of the runs. 12 more cover parts of k, the components of a vector,
// and a bias.
func dotChain(k int) float64 {
	return float64(min(k, dotRun) + planner.CeilDiv(k, dotRun) + 12)
}

const dotChainText = "h = min(k, 4096) + ⌈k/4096⌉ + 12"

// RepeatedDot is what the tolerance of DotTolerance gains where all products are the same. Their sum
// grows with k, and every addition may round in the same direction: by at most half a unit of i
// products after i of them, in runs of dotRun, and then of the runs.
func RepeatedDot(d tensor.DType, k int, size float64) float64 {
	n := float64(k)
	run := math.Min(n, dotRun)
	return planner.AccumulatorEpsilon(d) * size * n * (run + n/math.Max(run, 1)) / 4
}

// RepeatedDotLaw is RepeatedDot in words, without the size.
const RepeatedDotLaw = "ε·k·(r + k/r)/4"

// DotTolerance is the tolerance of a sum of k products whose factors are at most size.
// The sum is computed in F32, or in F64 for F64, and rounded to d.
func DotTolerance(d tensor.DType, k int, size float64) spec.Tolerance {
	e, n, h := planner.AccumulatorEpsilon(d), float64(k), dotChain(k)
	run := math.Min(n, dotRun)
	if d == tensor.F64 {
		run, h = n, n+12 // The reference is a plain sum too.
	}
	return spec.Tolerance{
		Abs: size*e*(2+math.Sqrt(run*n)) + planner.Tiny(d), Rel: e*(2+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
		Law: "ε·(2 + √(r·k)) + ε·(2 + √(h/3)) of the value, r = min(k, 4096), " + dotChainText + "; for f64, r = k and h = k + 12",
		Any: planner.Rounded(h, e), AnyLaw: "((1 + ε)^h − 1)·Σ|a·b|",
		Why: "runs of 4096 products are added, then the runs, so that each product is rounded at most h times; random errors grow with the root of their number",
	}
}
