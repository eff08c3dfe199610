package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Erode makes each colour the smallest one of the pixels around it. Dark areas and holes grow, and
// what is brighter than its surroundings shrinks.
//
// Colours are weighted by alpha: they are multiplied by it before, and divided by the alpha of the
// result afterwards. So the hidden colours of transparent pixels have no effect. Where alpha
// becomes 0, the colours are 0. Outside of the image the pixels of the edge are repeated.
type Erode struct {
	Radius      int  `attr:"radius" doc:"pixels on each side of a pixel, 1 to 128; 1 is three by three pixels"`
	Disc        bool `attr:"disc" doc:"a disc instead of a square; its cost grows with the square of the radius"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"choose colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (Erode) Spec() *spec.Op { return erodeOp.Op() }

var erodeOp = spec.Declaration{Define: func() *spec.Op {
	return defineMorphology(morphology[*Erode]{
		name:     "erode",
		doc:      "Makes each colour the smallest one of the pixels around it, so that dark areas grow.",
		defaults: &Erode{Radius: 1},
		attrs:    func(c *Erode) (int, bool, bool) { return c.Radius, c.Disc, c.IgnoreAlpha },
		opaque:   func(c *Erode) *Erode { c.IgnoreAlpha = true; return c },
		folds:    []picture.Fold{picture.Least},
		calls:    []*Erode{{Radius: 1}, {Radius: 9, IgnoreAlpha: true}, {Radius: 4, Disc: true}, {Radius: 20}},
		invalid:  []*Erode{{}, {Radius: -1}, {Radius: 129}},
	})
}}
