package planner

import "math"

// How far a computed sum may be from the true sum.
//
// The model is the standard one (Higham, "Accuracy and Stability of Numerical
// Algorithms", 2nd edition, chapters 3 and 4). Each operation multiplies its result by
// 1 + δ. Vulkan asks of a device that |δ| is at most ε, the distance from 1 to the next
// number, because a device may round to either neighbour. A term of a sum is multiplied
// by one such factor for each addition between it and the result. The number of these
// additions is called the chain of the term. The order of all other additions does not
// matter. If no chain is longer than h, then for any terms t
//
//	|got − Σ t| ≤ ((1+ε)^h − 1)·Σ|t|
//
// A sum comes near this bound only if all roundings go in the same direction. A device
// that rounds to the nearest number rounds up about as often as down. The factors of a
// chain of length h then multiply to 1 ± ε√h (Higham and Mary, "A new approach to
// probabilistic rounding error analysis", 2019). If all terms have one sign, the partial
// sums grow along the chain, and only a third of the squared errors is left: the error is
// ε√(h/3) of the sum. If the signs are random, a partial sum of j terms is about as large
// as √j terms, and the error of a sum of n terms is about as large as ε√(h·n) terms. The
// conformance suite compares sums of random inputs with this second bound. It is tight
// enough to find mistakes that the first bound, as large as ε·h·n terms, does not find.

// Rounded returns the largest relative error of a product of h factors, each between
// 1 − e and 1 + e.
func Rounded(h, e float64) float64 { return math.Expm1(h * math.Log1p(e)) }
