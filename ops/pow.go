package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Pow is in to the power b, broadcast together, by the rules of C99 (annex F.9.4.4).
type Pow struct{}

// Spec returns the declaration.
func (Pow) Spec() *spec.Op { return powOp }

var powOp = elementwise.DefineBinary[Pow](elementwise.Binary{
	Name: "pow", Shader: "math/pow", DTypes: planner.Floats, ONNX: []string{"Pow"},
	Doc:  "Powers in^b, with broadcasting.",
	F:    power,
	Ulps: 4, Why: "the logarithm is kept as a sum of two numbers, and the exponential is off by a few units", Low: -6, High: 6, Flops: 40,
})

// power is math.Pow, which loses digits of bases far from 1 to the rounding of
// their logarithm, and is wrong for subnormal ones.
func power(x, y float64) float64 {
	m, e := math.Frexp(x)
	if m == 0 || math.IsNaN(m) || math.IsInf(m, 0) || !(math.Abs(y) <= 64) {
		return math.Pow(x, y)
	}
	p := float64(e) * y
	low := math.FMA(float64(e), y, -p)
	n := math.Round(p)
	return math.Ldexp(math.Pow(m, y)*math.Exp2(p-n+low), int(n))
}
