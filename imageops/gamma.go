package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Gamma makes each colour v into v^(1/Gamma). v is clamped to 0..1 before.
type Gamma struct {
	Gamma float64 `attr:"gamma" doc:"above 1 makes dark colours lighter, below 1 makes them darker; in 0.1..10"`
}

// Spec returns the declaration.
func (Gamma) Spec() *spec.Op { return gammaOp.Op() }

var gammaOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Gamma]{
		Name:     "gamma",
		Doc:      "Makes each colour v into v^(1/gamma).",
		Defaults: &Gamma{Gamma: 2.2},
		Check:    func(c *Gamma) error { return within("gamma", c.Gamma, 0.1, 10) },
		Stage:    func(c *Gamma) picture.Stage { return picture.CurveStage(picture.Gamma(0, 1, c.Gamma, 0, 1)) },
		Pixel: func(c *Gamma, px []float64) {
			for i, v := range px {
				px[i] = math.Pow(picture.Clamp01(v), 1/c.Gamma)
			}
		},
		Tolerance: curveTolerance[*Gamma],
		Flops:     90,
		Calls:     []*Gamma{{2.2}, {0.1}},
		Invalid:   []*Gamma{{}, {nan}, {-1}, {11}},
	})
}}

// curveTolerance is the tolerance of a power of a colour.
func curveTolerance[A spec.Call](_ A, d tensor.DType) spec.Tolerance {
	return picture.Level(d, 2e-6, "a logarithm and an exponential in f32, and the rounded exponent")
}
