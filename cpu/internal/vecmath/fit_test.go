package vecmath

import (
	"flag"
	"math"
	"slices"
	"testing"
)

var printFits = flag.Bool("fits", false, "print the coefficients that TestFits finds, as in polynomials.go")

// fit is a polynomial to be found: the one with the smallest weight(x)*|p(x)-target(x)| on
// [lo, hi]. weight makes that the error of the function relative to its value.
type fit struct {
	name           string
	coefs          []float64 // those of polynomials.go
	bits           float64   // the error of those is at most 2 to the power of minus bits
	double         bool      // the coefficients are float64
	lo, hi         float64
	target, weight func(x float64) float64
}

// series evaluates the sum of term(k)*x^k for k from 0 on. It is for |x| up to 0.6.
func series(x float64, term func(k int) float64) float64 {
	sum := 0.0
	for k := 80; k >= 0; k-- {
		sum = sum*x + term(k)
	}
	return sum
}

// factorial returns n! as a float64. It is infinite for n above 170.
func factorial(n int) float64 { return math.Gamma(float64(n) + 1) }

// sign returns (-1)^k.
func sign(k int) float64 { return float64(1 - 2*(k&1)) }

func fits() []fit {
	const (
		r  = math.Ln2 / 2 * 1.001 // rounding moves the bound a little
		pi = math.Pi / 4 * 1.001
	)
	// The arguments of sin and cos are squares.
	atanTarget := func(z float64) float64 {
		if z < 0.1 {
			return series(z, func(k int) float64 { return -sign(k) / float64(2*k+3) })
		}
		return (math.Atan(math.Sqrt(z))/math.Sqrt(z) - 1) / z
	}
	// The terms of arcsin(x) are (2k)!/(4^k k!^2 (2k+1)) x^(2k+1).
	asinTerm := func(k int) float64 {
		c := 1.0
		for i := 1; i <= k; i++ {
			c *= float64(2*i-1) / float64(2*i)
		}
		return c / float64(2*k+1)
	}
	return []fit{
		{"expRest", widen(expRest), 28.2, false, -r, r,
			func(x float64) float64 { return series(x, func(k int) float64 { return 1 / factorial(k+2) }) },
			func(x float64) float64 { return x * x / math.Exp(x) }},
		{"expm1Rest", widen(expm1Rest), 26.1, false, -r, r,
			func(x float64) float64 { return series(x, func(k int) float64 { return 1 / factorial(k+2) }) },
			func(x float64) float64 { return math.Abs(x) / (1 + x/2) }},
		{"exp2Rest", widen(exp2Rest), 28.3, false, -0.5, 0.5,
			func(x float64) float64 {
				return series(x, func(k int) float64 { return math.Pow(math.Ln2, float64(k+1)) / factorial(k+1) })
			},
			func(x float64) float64 { return math.Abs(x) / math.Exp2(x) }},
		{"sinhRest", widen(sinhRest), 26.1, false, 0, r * r,
			func(z float64) float64 { return series(z, func(k int) float64 { return 1 / factorial(2*k+3) }) },
			func(z float64) float64 { return z }},
		{"coshRest", widen(coshRest), 33.2, false, 0, r * r,
			func(z float64) float64 { return series(z, func(k int) float64 { return 1 / factorial(2*k+2) }) },
			func(z float64) float64 { return z }},
		{"sinRest", widen(sinRest), 27.9, false, 0, pi * pi,
			func(z float64) float64 { return series(z, func(k int) float64 { return -sign(k) / factorial(2*k+3) }) },
			func(z float64) float64 { return z }},
		{"cosRest", widen(cosRest), 32.9, false, 0, pi * pi,
			func(z float64) float64 { return series(z, func(k int) float64 { return sign(k) / factorial(2*k+4) }) },
			func(z float64) float64 { return z * z / math.Cos(math.Sqrt(z)) }},
		{"logRest", widen(logRest), 27.3, false, math.Sqrt(0.5)*0.9999 - 1, math.Sqrt2*1.0001 - 1,
			func(x float64) float64 {
				return series(x, func(k int) float64 { return sign(k) / float64(k+3) })
			},
			func(x float64) float64 {
				if x == 0 {
					return 0
				}
				return x * x * x / math.Log1p(x)
			}},
		{"log2Rest", widen(log2Rest), 27.6, false, math.Sqrt(0.5)*0.9999 - 1, math.Sqrt2*1.0001 - 1,
			func(x float64) float64 {
				return series(x, func(k int) float64 { return -sign(k) / float64(k+2) }) / math.Ln2
			},
			func(x float64) float64 {
				if x == 0 {
					return 0
				}
				return math.Abs(x * x / math.Log1p(x) * math.Ln2)
			}},
		{"asinRest", widen(asinRest), 27.5, false, 0, 0.25,
			func(z float64) float64 { return series(z, func(k int) float64 { return asinTerm(k + 1) }) },
			func(z float64) float64 { return z }},
		{"atanRest", widen(atanRest), 25.8, false, 0, 1, atanTarget,
			func(z float64) float64 {
				if z == 0 {
					return 0
				}
				return z * math.Sqrt(z) / math.Atan(math.Sqrt(z))
			}},
		// The logarithm of (1+s)/(1-s).
		{"log2Ratio", log2Ratio, 37.7, true, 0, 0.02946,
			func(z float64) float64 {
				return series(z, func(k int) float64 { return 2 / math.Ln2 / float64(2*k+1) })
			},
			func(z float64) float64 { return math.Ln2 / 2 }},
	}
}

func widen(c []float32) []float64 {
	w := make([]float64, len(c))
	for i := range c {
		w[i] = float64(c[i])
	}
	return w
}

// nodes are the points at which the error is looked at: those of Chebyshev.
func (f fit) nodes(n int) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = (f.lo+f.hi)/2 - (f.hi-f.lo)/2*math.Cos(math.Pi*(float64(i)+0.5)/float64(n))
	}
	return x
}

func horner(c []float64, x float64) float64 {
	p := 0.0
	for _, v := range slices.Backward(c) {
		p = p*x + v
	}
	return p
}

// error returns the largest weighted error of coefficients.
func (f fit) error(c []float64) float64 {
	worst := 0.0
	for _, x := range f.nodes(4000) {
		worst = max(worst, f.weight(x)*math.Abs(horner(c, x)-f.target(x)))
	}
	return worst
}

// find finds the coefficients one after the other. It rounds the lowest one that is not
// rounded yet, and fits the higher ones anew. Each fit is of least squares, where Lawson's
// rule moves the weights to the points of large errors, so that the largest error shrinks.
func (f fit) find() []float64 {
	n := len(f.coefs)
	xs := f.nodes(150)
	var done []float64
	for len(done) < n {
		c := f.lawson(xs, done)[0]
		if !f.double {
			c = float64(float32(c))
		}
		done = append(done, c)
	}
	return done
}

func (f fit) lawson(xs, done []float64) []float64 {
	k := len(f.coefs) - len(done)
	scale := max(math.Abs(f.lo), math.Abs(f.hi))
	weights := make([]float64, len(xs))
	for i := range weights {
		weights[i] = 1
	}
	var best []float64
	least := math.Inf(1)
	for range 60 {
		// The basis is x^len(done) * (x/scale)^j, and w[i]*weight(x)^2 weighs a square.
		a := make([][]float64, k)
		for j := range a {
			a[j] = make([]float64, k+1)
		}
		for i, x := range xs {
			g := f.weight(x) * math.Pow(x, float64(len(done)))
			miss := f.weight(x) * (f.target(x) - horner(done, x))
			for j := range k {
				gj := g * math.Pow(x/scale, float64(j))
				for l := range k {
					a[j][l] += weights[i] * gj * g * math.Pow(x/scale, float64(l))
				}
				a[j][k] += weights[i] * gj * miss
			}
		}
		c := solve(a)
		for j := range c {
			c[j] /= math.Pow(scale, float64(j))
		}
		sum, worst := 0.0, 0.0
		for i, x := range xs {
			e := f.weight(x) * math.Abs(horner(append(slices.Clone(done), c...), x)-f.target(x))
			worst = max(worst, e)
			weights[i] *= e
			sum += weights[i]
		}
		if worst < least {
			least, best = worst, c
		}
		if sum == 0 {
			break
		}
		for i := range weights {
			weights[i] = max(weights[i]/sum*float64(len(xs)), 1e-9)
		}
	}
	return best
}

// solve solves linear equations, whose right sides are the last column.
func solve(a [][]float64) []float64 {
	n := len(a)
	for i := range n {
		p := i
		for j := i + 1; j < n; j++ {
			if math.Abs(a[j][i]) > math.Abs(a[p][i]) {
				p = j
			}
		}
		a[i], a[p] = a[p], a[i]
		for j := range n {
			if j == i {
				continue
			}
			m := a[j][i] / a[i][i]
			for l := i; l <= n; l++ {
				a[j][l] -= m * a[i][l]
			}
		}
	}
	x := make([]float64, n)
	for i := range x {
		x[i] = a[i][n] / a[i][i]
	}
	return x
}

// TestFits measures the polynomials. With -fits it finds them again and prints them.
func TestFits(t *testing.T) {
	for _, f := range fits() {
		e := f.error(f.coefs)
		t.Logf("%s: error 2^%.1f", f.name, math.Log2(e))
		if e > math.Exp2(-f.bits) {
			t.Errorf("%s: error 2^%.1f, want at most 2^-%v", f.name, math.Log2(e), f.bits)
		}
		if *printFits {
			c := f.find()
			t.Logf("%s: error 2^%.2f", f.name, math.Log2(f.error(c)))
			for _, v := range c {
				if f.double {
					t.Logf("\t%v,", v)
				} else {
					t.Logf("\t%v,", float32(v))
				}
			}
		}
	}
}
