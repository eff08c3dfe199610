package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Posterize rounds each colour to the nearest of Levels levels from 0 to 1, at equal distances.
type Posterize struct {
	Levels int `attr:"levels" doc:"the number of levels of each colour, in 2..256"`
}

// Spec returns the declaration.
func (Posterize) Spec() *spec.Op { return posterizeOp.Op() }

var posterizeOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefinePointwise(picture.Pointwise[*Posterize]{
		Name:     "posterize",
		Aliases:  []string{"posterise"},
		Doc:      "Rounds each colour to the nearest of some levels at equal distances.",
		Defaults: &Posterize{Levels: 4},
		Check: func(c *Posterize) error {
			if c.Levels < 2 || c.Levels > 256 {
				return planner.Invalid("levels (got %d, want 2 to 256)", c.Levels)
			}
			return nil
		},
		Stage: func(c *Posterize) picture.Stage {
			p := picture.Straight(0, 1)
			p.Steps = float64(c.Levels - 1)
			return picture.CurveStage(p)
		},
		Pixel: func(c *Posterize, px []float64) {
			n := float64(c.Levels - 1)
			for i, v := range px {
				px[i] = math.Round(picture.Clamp01(v)*n) / n
			}
		},
		Tolerance: func(_ *Posterize, d tensor.DType) spec.Tolerance {
			if d == tensor.U8 {
				return picture.Level(d, 0, "")
			}
			return spec.Tolerance{Abs: 3e-7, Flips: 0.001, Why: "a colour near the middle of two levels may become either, and levels are rounded to f32"}
		},
		Flops:   6,
		Calls:   []*Posterize{{4}, {256}},
		Invalid: []*Posterize{{}, {1}, {-3}, {257}},
	})
}}
