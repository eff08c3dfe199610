package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Closing dilates and then erodes. Dark things and holes that are smaller than the square or disc go, and
// what is larger keeps its size. The result is that of Dilate and then Erode.
//
// Colours are weighted by alpha: they are multiplied by it before, and divided by the alpha of the
// result afterwards. So the hidden colours of transparent pixels have no effect. Where alpha
// becomes 0, the colours are 0. Outside of the image the pixels of the edge are repeated.
type Closing struct {
	Radius      int  `attr:"radius" doc:"pixels on each side of a pixel, 1 to 128; 1 is three by three pixels"`
	Disc        bool `attr:"disc" doc:"a disc instead of a square; its cost grows with the square of the radius"`
	IgnoreAlpha bool `attr:"ignore_alpha" doc:"choose colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (Closing) Spec() *spec.Op { return closingOp.Op() }

var closingOp = spec.Declaration{Define: func() *spec.Op {
	return defineMorphology(morphology[*Closing]{
		name: "closing", aliases: []string{"close"},
		doc:      "Dilates and then erodes, which takes small dark things and holes away.",
		defaults: &Closing{Radius: 1},
		attrs:    func(c *Closing) (int, bool, bool) { return c.Radius, c.Disc, c.IgnoreAlpha },
		opaque:   func(c *Closing) *Closing { c.IgnoreAlpha = true; return c },
		folds:    []picture.Fold{picture.Most, picture.Least},
		calls:    []*Closing{{Radius: 1}, {Radius: 8, IgnoreAlpha: true}},
		invalid:  []*Closing{{}, {Radius: -1}, {Radius: 129}},
	})
}}
