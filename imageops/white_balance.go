package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// WhiteBalance makes an image warmer or cooler, and greener or more magenta. Red is multiplied by
// 2^(Temperature/2), green by 2^(−Tint/2) and blue by 2^(−Temperature/2). All are then divided by one
// number, so that white keeps its luma. The result is clamped to 0..1.
type WhiteBalance struct {
	Temperature float64 `attr:"temperature,main" doc:"above 0 is warmer, with more red and less blue; below 0 is cooler; in −1..1"`
	Tint        float64 `attr:"tint" doc:"above 0 is more magenta, below 0 is greener; in −1..1"`
}

// Spec returns the declaration.
func (WhiteBalance) Spec() *spec.Op { return whiteBalanceOp.Op() }

var whiteBalanceOp = spec.Declaration{Define: func() *spec.Op {
	return matrixOp(picture.Pointwise[*WhiteBalance]{
		Name:     "white_balance",
		Aliases:  []string{"temperature"},
		Doc:      "Makes an image warmer or cooler, and greener or more magenta, by factors of red, green and blue. White keeps its luma.",
		Defaults: &WhiteBalance{},
		Check: func(c *WhiteBalance) error {
			if err := within("temperature", c.Temperature, -1, 1); err != nil {
				return err
			}
			return within("tint", c.Tint, -1, 1)
		},
		Calls:   []*WhiteBalance{{Temperature: 0.4, Tint: -0.15}, {}},
		Invalid: []*WhiteBalance{{Temperature: nan}, {Temperature: 1.5}, {Tint: -2}},
	}, func(c *WhiteBalance) (m [12]float64) {
		r, g, b := picture.Exp2(c.Temperature/2), picture.Exp2(-c.Tint/2), picture.Exp2(-c.Temperature/2)
		white := float64(0.299*r) + float64(0.587*g) + float64(0.114*b)
		m[0], m[5], m[10] = r/white, g/white, b/white
		return m
	}, func(c *WhiteBalance, px [3]float64) [3]float64 {
		gains := []float64{math.Exp2(c.Temperature / 2), math.Exp2(-c.Tint / 2), math.Exp2(-c.Temperature / 2)}
		white := picture.Luma(gains)
		for i := range px {
			px[i] *= gains[i] / white
		}
		return px
	})
}}
