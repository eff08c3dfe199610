package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Equalize makes the histogram of an image as even as possible: a colour becomes the part of
// the pixels that have no more luma, without those of the lowest. Pixels whose alpha is 0 do not
// count. An image of one colour stays as it is. In f32, colours become one of 1024 levels.
//
// A picture of more than 1 431 655 765 pixels is ErrUnsupported.
type Equalize struct {
	Each bool `attr:"each" doc:"equalise each colour by itself, which changes colours; otherwise all are mapped by the luma"`
}

// Spec returns the declaration.
func (Equalize) Spec() *spec.Op { return equalizeOp.Op() }

var equalizeOp = spec.Declaration{Define: func() *spec.Op {
	return defineTone(toneOp[*Equalize]{
		Name: "equalize", Aliases: []string{"equalise"},
		Doc:    "Makes the histogram of an image even, so that all levels occur about as often.",
		Source: "Gonzalez and Woods, Digital Image Processing, histogram equalization",
		Tone:   func(a *Equalize) picture.Tone { return picture.Tone{Equalize: true, Each: a.Each} },
		Calls:  []*Equalize{{}, {Each: true}},
	})
}}
