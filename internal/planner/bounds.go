package planner

import "math"

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

// Rounded is the greatest relative error of h roundings by factors of up to 1 ± e.
func Rounded(h, e float64) float64 { return math.Expm1(h * math.Log1p(e)) }
