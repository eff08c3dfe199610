package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Flip mirrors an image so that its top becomes its bottom.
type Flip struct{ part picture.Part }

// Spec returns the declaration.
func (Flip) Spec() *spec.Op { return flipOp.Op() }

var flipOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineGeometry(picture.Geometry[*Flip]{
		Name: "flip",
		Doc:  "Mirrors an image so that its top becomes its bottom.",
		Remap: func(_ *Flip, h, w int) (picture.Remap, int, int, error) {
			return picture.Remap{XX: 1, YY: -1, Y0: h - 1}, h, w, nil
		},
		Part: func(a *Flip) picture.Part { return a.part },
		WithPart: func(a *Flip, part picture.Part) *Flip {
			c := *a
			c.part = part
			return &c
		},
		Reference: func(_ *Flip, in, out *tensor.Host) {
			h := in.Shape[0]
			picture.EachFrom(in, out, func(y, x int) (int, int, bool) { return h - 1 - y, x, true })
		},
		Calls: []*Flip{{}},
	})
}}

// Flop mirrors an image so that its left becomes its right.
type Flop struct{ part picture.Part }

// Spec returns the declaration.
func (Flop) Spec() *spec.Op { return flopOp.Op() }

var flopOp = spec.Declaration{Define: func() *spec.Op {
	return picture.DefineGeometry(picture.Geometry[*Flop]{
		Name: "flop",
		Doc:  "Mirrors an image so that its left becomes its right.",
		Remap: func(_ *Flop, h, w int) (picture.Remap, int, int, error) {
			return picture.Remap{XX: -1, X0: w - 1, YY: 1}, h, w, nil
		},
		Part: func(a *Flop) picture.Part { return a.part },
		WithPart: func(a *Flop, part picture.Part) *Flop {
			c := *a
			c.part = part
			return &c
		},
		Reference: func(_ *Flop, in, out *tensor.Host) {
			w := in.Shape[1]
			picture.EachFrom(in, out, func(y, x int) (int, int, bool) { return y, w - 1 - x, true })
		},
		Calls: []*Flop{{}},
	})
}}
