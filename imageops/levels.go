package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// Levels stretches the colours from Black to White to those from OutBlack to OutWhite. With x =
// (v − Black)/(White − Black), clamped to 0..1, the result is OutBlack + x^(1/Gamma)·(OutWhite −
// OutBlack).
type Levels struct {
	Black    float64 `attr:"black" doc:"the colour that becomes out_black, in 0..1"`
	White    float64 `attr:"white" doc:"the colour that becomes out_white, in 0..1, and at least 0.001 above black"`
	Gamma    float64 `attr:"gamma" doc:"above 1 makes what is between lighter, below 1 makes it darker; in 0.1..10"`
	OutBlack float64 `attr:"out_black" doc:"what black becomes, in 0..1"`
	OutWhite float64 `attr:"out_white" doc:"what white becomes, in 0..1; below out_black the result is a negative"`
}

// Spec returns the declaration.
func (Levels) Spec() *spec.Op { return levelsOp.Op() }

var levelsOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Levels]{
		Name:     "levels",
		Aliases:  []string{"level"},
		Doc:      "Stretches the colours between a black and a white point to another range, with a gamma between them.",
		Defaults: &Levels{White: 1, Gamma: 1, OutWhite: 1},
		Check: func(c *Levels) error {
			for _, a := range []struct {
				name         string
				v, low, high float64
			}{{"black", c.Black, 0, 1}, {"white", c.White, 0, 1}, {"gamma", c.Gamma, 0.1, 10}, {"out_black", c.OutBlack, 0, 1}, {"out_white", c.OutWhite, 0, 1}} {
				if err := within(a.name, a.v, a.low, a.high); err != nil {
					return err
				}
			}
			if !(c.White-c.Black >= 0.000999) {
				return planner.Invalid("white (got %v, want at least 0.001 above black, %v)", c.White+0, c.Black+0)
			}
			return nil
		},
		Stage: func(c *Levels) picture.Stage {
			return picture.CurveStage(picture.Gamma(c.Black, c.White, c.Gamma, c.OutBlack, c.OutWhite))
		},
		Pixel: func(c *Levels, px []float64) {
			for i, v := range px {
				x := picture.Clamp01((v - c.Black) / (c.White - c.Black))
				px[i] = c.OutBlack + math.Pow(x, 1/c.Gamma)*(c.OutWhite-c.OutBlack)
			}
		},
		Tolerance: curveTolerance[*Levels],
		Flops:     95,
		Calls: []*Levels{
			{Black: 0.1, White: 0.85, Gamma: 1.4, OutBlack: 0.05, OutWhite: 0.9},
			{Black: 0.25, White: 0.75, Gamma: 1, OutBlack: 1, OutWhite: spec.Given(0.0)}, {Black: 0.5, White: 0.501, Gamma: 0.5, OutWhite: 1},
		},
		Invalid: []*Levels{
			{}, {Black: nan, White: 1, Gamma: 1, OutWhite: 1}, {White: 2, Gamma: 1, OutWhite: 1}, {Black: 0.6, White: 0.5, Gamma: 1, OutWhite: 1},
			{White: 1, Gamma: 100, OutWhite: 1}, {White: 1, Gamma: 1, OutBlack: -1, OutWhite: 1},
		},
	})
}}
