package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// How far sums may be from what they should be. The model is the standard one
// (Higham, "Accuracy and Stability of Numerical Algorithms", 2nd edition, chapters 3
// and 4): each operation makes its result times 1 + δ. Vulkan asks of a device that |δ|
// is at most ε, the distance from 1 to the next number: it may round to either
// neighbour. A term of a sum is then multiplied by as many such factors as there are
// additions on its way, its chain, in whatever order the others are made. So with
// chains of at most h
//
//	|got − Σ t| ≤ ((1+ε)^h − 1)·Σ|t|
//
// for any terms t. That is nearly reached only if all roundings go the same way. Where
// a device rounds to the nearest, they go either way like coins: the factors of a chain
// of h come to 1 ± ε√h (Higham and Mary, "A new approach to probabilistic rounding error
// analysis", 2019). Of terms of one sign, whose partial sums grow along the chain, a
// third of the squares is left: ε√(h/3). Of terms of either sign at random, partial
// sums of j terms are as √j, and Σ t of n has ε√(h·n) terms' worth of error. That is
// what the suite holds random inputs to: a constant bound finds mistakes that the first
// one, h·n terms' worth, does not.

// rounded is the greatest relative error of h roundings by factors of up to 1 ± e.
func rounded(h, e float64) float64 { return math.Expm1(h * math.Log1p(e)) }

// dotChain is the longest chain of a product of k terms: one rounding of the product;
// runs of gemmRun terms, or as many as fit a binding; the sum of the runs, some of them
// in parts side by side; the lanes of a vector and a bias.
func dotChain(k int) float64 {
	return float64(min(k, gemmRun) + ceilDiv(k, gemmRun) + 12)
}

const dotChainText = "h = min(k, 4096) + ⌈k/4096⌉ + 12"

// storeEpsilon is planner.StoreEpsilon.
func storeEpsilon(d tensor.DType) float64 { return planner.StoreEpsilon(d) }

// dotTolerance is that of a sum of k products of factors of such a size, made in
// f32 (f64 for f64) and rounded to d.
func dotTolerance(d tensor.DType, k int, size float64) spec.Tolerance {
	e, n, h := workEpsilon(d), float64(k), dotChain(k)
	run := math.Min(n, gemmRun)
	if d == tensor.F64 {
		run, h = n, n+12 // the reference is a plain sum itself
	}
	return spec.Tolerance{
		Abs: size*e*(2+math.Sqrt(run*n)) + tiny(d), Rel: e*(2+math.Sqrt(h/3)) + storeEpsilon(d),
		Law: "ε·(2 + √(r·k)) + ε·(2 + √(h/3)) of the value, r = min(k, 4096), " + dotChainText + "; of f64 r = k and h = k + 12, as the reference is a plain sum itself",
		Any: rounded(h, e), AnyLaw: "((1 + ε)^h − 1)·Σ|a·b|",
		Why: "a product is added up in runs of 4096 and these in turn, so that it is rounded at most h times; what is at random, operands and roundings, adds up as roots do",
	}
}
