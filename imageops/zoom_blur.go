package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ZoomBlur makes each pixel the mean of a part of the line from it to a centre, as when a lens zooms.
// Its cost grows with the length of that part: there is a point for each pixel of it, up to 4096.
// Alpha is blurred too, and weighs colours, which become 0 where it does.
type ZoomBlur struct {
	Strength    float64 `attr:"strength,main" doc:"which part of the line to the centre is mixed; above 0 and up to 1"`
	X           float64 `attr:"x,zero" doc:"the centre, where 0 is the left edge and 1 the right one"`
	Y           float64 `attr:"y,zero" doc:"the centre, where 0 is the top edge and 1 the bottom one"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"blur colours regardless of alpha, which stays; for data that is not colour"`
	part        picture.Part
}

// Spec returns the declaration.
func (ZoomBlur) Spec() *spec.Op { return zoomBlurOp.Op() }

func (c *ZoomBlur) zoom() picture.Zoom {
	return picture.Zoom{Strength: c.Strength, X: c.X, Y: c.Y, Weigh: !c.IgnoreAlpha}
}

var zoomBlurOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*ZoomBlur]{
		Name:     "zoom_blur",
		Doc:      "Makes each pixel the mean of a part of the line from it to a centre, as when a lens zooms. Alpha is blurred too, and weighs colours, which become 0 where it does.",
		Defaults: &ZoomBlur{Strength: 0.1, X: 0.5, Y: 0.5},
		Kernels:  picture.ZoomKernels(),
		Check: func(c *ZoomBlur) error {
			if !(c.Strength > 0 && c.Strength <= 1) {
				return planner.Invalid("strength (got %v, want above 0 and up to 1)", c.Strength+0)
			}
			if err := within("x", c.X, 0, 1); err != nil {
				return err
			}
			return within("y", c.Y, 0, 1)
		},
		Plan: func(c *ZoomBlur, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanZoom(t, in, out, c.zoom(), c.part.Height(in.Shape[0]), c.part.From())
		},
		Strips: picture.PlacedStrips(func(c *ZoomBlur, p picture.Part) *ZoomBlur { own := *c; own.part = p; return &own },
			func(c *ZoomBlur, h, w int, out spec.RowRange) spec.RowRange { return c.zoom().Rows(h, w, out) }),
		ForOpaque: func(c *ZoomBlur) *ZoomBlur { own := *c; own.IgnoreAlpha = true; return &own },
		Reference: func(c *ZoomBlur, in, out *tensor.Host) { picture.ZoomReference(c.zoom(), in, out) },
		Tolerance: func(c *ZoomBlur, d tensor.DType, in []tensor.Desc) spec.Tolerance {
			length := 0.0
			if len(in) == 1 && len(in[0].Shape) == 3 {
				length = c.Strength * math.Hypot(float64(in[0].Shape[0]), float64(in[0].Shape[1]))
			}
			return picture.LineTolerance(d, 4*length)
		},
		Flops:   func(c *ZoomBlur) int64 { return int64(40 * (1 + 1000*c.Strength)) },
		Calls:   []*ZoomBlur{{Strength: 0.1, X: 0.5, Y: 0.5}, {Strength: 0.5, X: 1, IgnoreAlpha: true}, {Strength: 0.02, X: 0.3, Y: 0.8}},
		Invalid: []*ZoomBlur{{}, {Strength: -1}, {Strength: nan}, {Strength: 0.1, X: 2}, {Strength: 0.1, Y: nan}},
	})
}}
