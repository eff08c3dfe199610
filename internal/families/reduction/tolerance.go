package reduction

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Chain bounds the longest chain of a reduction of n elements. internal/planner explains
// chains. An invocation adds 128 blocks of 4 or 16 elements one after the other. A block
// is added as a tree of at most 4 levels, and the sums of 64 invocations as a tree of 6
// levels. Accumulators are merged 32 at a time, and the last up to 64 at once. The bound
// is n/4 + 3 where a binding holds fewer than four rows of Inner elements. That takes
// tensors of gigabytes.
func Chain(n int) float64 {
	levels := math.Ceil(math.Log(float64(max(n, 1))) / math.Log(mergeFew))
	return math.Min(float64(n), 128+4+6+1+mergeFew+mergeFew*levels)
}

// ChainText is the formula of Chain as a text for documentation.
const ChainText = "min(n, 171 + 32·⌈log₃₂ n⌉)"

const passesText = "h the sum of " + ChainText + " over runs of dimensions"

// ExactTolerance is the tolerance of operations that return one of the elements.
func ExactTolerance(tensor.DType, int, float64) spec.Tolerance {
	return spec.Tolerance{Why: "the result is one of the elements"}
}

// SumTolerance bounds the error of a sum of n values of at most 1. h is the longest
// chain.
func SumTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	if isInteger(d) {
		return spec.Tolerance{Why: "integers add exactly"}
	}
	e := planner.AccumulatorEpsilon(d)
	return spec.Tolerance{
		Abs: e*(4+float64(n)/4) + planner.Tiny(d), Rel: e*(4+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
		Law: "ε·(4 + n/4) + ε·(4 + √(h/3)) of the value, " + passesText,
		Any: planner.Rounded(h+1, e), AnyLaw: "((1 + ε)^(h+1) − 1)·Σ|x|",
		Why: "elements are added in blocks, and the sums of the blocks are added again, so that each element is rounded at most h times; sorted values of both signs make partial sums of up to n/4 before they cancel; random rounding errors grow with the square root of their number",
	}
}

// MeanTolerance bounds the error of a mean of n values of at most 1. h is the longest
// chain.
func MeanTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	tol := SumTolerance(d, n, h+3)
	tol.Abs = tol.Abs/float64(max(n, 1)) + planner.Tiny(d)
	tol.Law = "ε·(4/n + 1/4) + ε·(4 + √(h/3 + 1)) of the value, " + passesText
	tol.AnyLaw = "((1 + ε)^(h+4) − 1)·Σ|x|/n"
	tol.Why += "; the quotient may be off by 2.5 units in the last place"
	return tol
}

// ProductTolerance bounds the error of a product of n values near 1.
func ProductTolerance(d tensor.DType, n int, _ float64) spec.Tolerance {
	h, e := float64(n)+2, planner.AccumulatorEpsilon(d)
	return spec.Tolerance{
		Abs: planner.Tiny(d), Rel: planner.Rounded(h, e/2) + planner.StoreEpsilon(d), Any: planner.Rounded(h, e),
		Law:    "((1 + ε/2)^(n+2) − 1) of the value where a device rounds to the nearest",
		AnyLaw: "((1 + ε)^(n+2) − 1) of the value",
		Why:    "each of the n − 1 products is rounded once, and with factors near 1 all roundings may go in the same direction",
	}
}

// MagnitudesTolerance bounds the error of a sum of n numbers between 0 and 1. h is the longest chain.
func MagnitudesTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	tol := SumTolerance(d, n, h+1)
	tol.Any, tol.AnyLaw = 0, ""
	tol.Why = "each term is rounded at most h + 1 times, and nothing cancels"
	return tol
}

// RootTolerance bounds the error of the root of a sum of n squares of at most 1. h is the longest
// chain.
func RootTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	e := planner.AccumulatorEpsilon(d)
	return spec.Tolerance{
		Abs: e*(4+math.Sqrt(float64(n))/4) + math.Sqrt(float64(n)*planner.Tiny(planner.Accumulator(d))) + planner.Tiny(d),
		Rel: e*(6+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
		Law: "ε·(4 + √n/4) + ε·(6 + √(h/3)) of the value, " + passesText,
		Why: "the root halves the error of a sum; subnormal squares may be 0",
	}
}

// LogTolerance bounds the error of the logarithm of a sum of n elements between 0.1 and 1. h is the
// longest chain.
func LogTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	e := planner.AccumulatorEpsilon(d)
	return spec.Tolerance{
		Abs: e*(12+math.Sqrt(h/3)) + planner.Tiny(d), Rel: 4*e + planner.StoreEpsilon(d), Repeated: e * h,
		Law: "ε·(12 + √(h/3)) + 4ε of the value, " + passesText, RepeatedLaw: "ε·h",
		Why: "the logarithm makes an absolute error of the relative error of the sum",
	}
}

// LogSumExpTolerance bounds the error of the logarithm of a sum of exponentials of n elements that
// differ by up to 16. h is the longest chain.
func LogSumExpTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	tol := LogTolerance(d, n, h)
	tol.Abs += 16 * planner.AccumulatorEpsilon(d)
	tol.Law = "ε·(28 + √(h/3)) + 4ε of the value, " + passesText
	tol.Why += "; differences of up to 16 are rounded before their exponential"
	return tol
}

// SumOf returns a reference for Reduction.Rows: the sum of f of the elements.
func SumOf(f func(float64) float64) func(x []float64) float64 {
	return func(x []float64) float64 { return Sum(len(x), func(i int) float64 { return f(x[i]) }) }
}

// RunningSumTolerance bounds the error of running sums of up to n values of at most 1. h is the longest
// chain. Each addition errs by at most ε/2 of the largest running sum: n/4 where values of both signs
// are sorted, and about 2√n where they are random. The errors of h additions are random.
func RunningSumTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	e, all := planner.AccumulatorEpsilon(d), float64(n)
	return spec.Tolerance{
		Abs: e*(4+math.Sqrt(h)*max(all/4, 2*math.Sqrt(all))/2) + planner.Tiny(d), Rel: e*(4+math.Sqrt(h/3)) + planner.StoreEpsilon(d),
		Repeated: e * h * all / 4,
		Law:      "ε·(4 + ½·√h·max(n/4, 2·√n)) + ε·(4 + √(h/3)) of the value, h up to 64 for each power of 64 in n", RepeatedLaw: "ε·h·n/4",
		Why: "each of h additions is rounded at the largest running sum",
	}
}
