package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Opening erodes and then dilates. Bright things that are smaller than the square or disc go, and what is
// larger keeps its size. The result is that of Erode and then Dilate.
//
// Colours are weighted by alpha: they are multiplied by it before, and divided by the alpha of the
// result afterwards. So the hidden colours of transparent pixels have no effect. Where alpha
// becomes 0, the colours are 0. Outside of the image the pixels of the edge are repeated.
type Opening struct {
	Radius      int  `attr:"radius" doc:"pixels on each side of a pixel, 1 to 128; 1 is three by three pixels"`
	Disc        bool `attr:"disc" doc:"a disc instead of a square; its cost grows with the square of the radius"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"choose colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (Opening) Spec() *spec.Op { return openingOp.Op() }

var openingOp = spec.Declaration{Define: func() *spec.Op {
	return defineMorphology(morphology[*Opening]{
		name: "opening", aliases: []string{"open"},
		doc:      "Erodes and then dilates, which takes small bright things away.",
		defaults: &Opening{Radius: 1},
		attrs:    func(c *Opening) (int, bool, bool) { return c.Radius, c.Disc, c.IgnoreAlpha },
		opaque:   func(c *Opening) *Opening { c.IgnoreAlpha = true; return c },
		folds:    []picture.Fold{picture.Least, picture.Most},
		calls:    []*Opening{{Radius: 1}, {Radius: 2, IgnoreAlpha: true}, {Radius: 3, Disc: true, IgnoreAlpha: true}},
		invalid:  []*Opening{{}, {Radius: -1}, {Radius: 129}},
	})
}}
