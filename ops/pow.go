package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Pow raises the elements of in to the power b, by the rules of C99 (annex F.9.4.4). Both
// tensors are broadcast together.
type Pow struct{}

// Spec returns the declaration.
func (Pow) Spec() *spec.Op { return powOp.Op() }

// Gradient declares the gradients: dy·b·a^(b − 1), which is 0 where b is 0, and dy·y·ln a, which is 0 unless a is above 0.
func (Pow) Gradient(t *spec.Tape) {
	dy, a, b := t.Gradient(0), t.In(0), t.In(1)
	if t.Needs(0) {
		t.SetGradient(0, unless(t, t.Call(Equal{}, b, t.Scalar(0, b)), times(t, times(t, dy, b), t.Call(Pow{}, a, plus(t, b, -1)))))
	}
	if t.Needs(1) {
		t.SetGradient(1, where(t, t.Call(Greater{}, a, t.Scalar(0, a)), times(t, times(t, dy, t.Out(0)), t.Call(Log{}, a))))
	}
}

var powOp = spec.Declaration{Define: func() *spec.Op {
	return elementwise.DefineBinary[Pow](elementwise.Binary{
		Name: "pow", Shader: "math/pow", Wide: "math/pow_wide", DTypes: planner.Floats, ONNX: []string{"Pow"},
		Doc:  "The power in^b of two tensors, with broadcasting.",
		F:    power,
		Ulps: 4, Why: "the logarithm is kept as a sum of two numbers, and the exponential is off by a few units", Low: -6, High: 6, Flops: 40,
	})
}}

// power is x^y with an error of 1.3 units in the last place. The error of math.Pow is three
// units, and more for bases far from 1. With x = m·2^e and m near 1, it is the product of a whole power
// of m (as the sum of two numbers), of e^rest for a rest below 1, and of a power of two.
func power(x, y float64) float64 {
	m, e := math.Frexp(x)
	if m == 0 || math.IsNaN(m) || math.IsInf(m, 0) || !(math.Abs(y) <= 64) || m < 0 && y != math.Trunc(y) {
		return math.Pow(x, y)
	}
	if math.Abs(m) < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	whole := math.RoundToEven(y)
	high, low := wholePower(m, int(math.Abs(whole)))
	if whole < 0 {
		q := 1 / high
		high, low = q, q*(math.FMA(-q, high, 1)-q*low)
	}
	p := float64(e) * y
	n := math.RoundToEven(p)
	rest := (y-whole)*math.Log(math.Abs(m)) + (p-n+math.FMA(float64(e), y, -p))*math.Ln2
	return math.Ldexp(high+(low+high*math.Expm1(rest)), int(n))
}

// wholePower is m^n as the sum of two numbers. The second number is much smaller than the
// first.
func wholePower(m float64, n int) (high, low float64) {
	high = 1
	for range n {
		p := high * m
		high, low = p, math.FMA(high, m, -p)+low*m
	}
	return high, low
}
