package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Dilate makes each colour the largest one of the pixels around it. Bright areas grow, and dark
// ones and holes shrink.
//
// Colours are weighted by alpha: they are multiplied by it before, and divided by the alpha of the
// result afterwards. So the hidden colours of transparent pixels have no effect. Where alpha
// becomes 0, the colours are 0. Outside of the image the pixels of the edge are repeated.
type Dilate struct {
	Radius      int  `attr:"radius" doc:"pixels on each side of a pixel, 1 to 128; 1 is three by three pixels"`
	Disc        bool `attr:"disc" doc:"a disc instead of a square; its cost grows with the square of the radius"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"choose colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (Dilate) Spec() *spec.Op { return dilateOp.Op() }

var dilateOp = spec.Declaration{Define: func() *spec.Op {
	return defineMorphology(morphology[*Dilate]{
		name:     "dilate",
		doc:      "Makes each colour the largest one of the pixels around it, so that bright areas grow.",
		defaults: &Dilate{Radius: 1},
		attrs:    func(c *Dilate) (int, bool, bool) { return c.Radius, c.Disc, c.IgnoreAlpha },
		opaque:   func(c *Dilate) *Dilate { c.IgnoreAlpha = true; return c },
		folds:    []picture.Fold{picture.Most},
		calls:    []*Dilate{{Radius: 1}, {Radius: 7}, {Radius: 2, IgnoreAlpha: true}, {Radius: 3, Disc: true, IgnoreAlpha: true}},
		invalid:  []*Dilate{{}, {Radius: -1}, {Radius: 129}},
	})
}}
