package picture

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Part says which rows of its source a call of a Geometry has, and which rows of the result it
// makes. The zero Part says that it has and makes all rows. A struct of attributes has one in a
// field that is not exported.
type Part [4]int

// NewPart returns the part of a source of h rows of which a call has some rows, and makes some
// rows of the result.
func NewPart(h int, have, made spec.RowRange) Part {
	return Part{h + 1, have.From, made.From, made.To} // h + 1: a part is never the zero Part
}

// Height returns the number of rows of the whole source. The call has h of them.
func (p Part) Height(h int) int {
	if p == (Part{}) {
		return h
	}
	return p[0] - 1
}

// From returns the number of the first row that the call has.
func (p Part) From() int { return p[1] }

// Rows returns the rows of the result that the call makes. h is the height of the whole result.
func (p Part) Rows(h int) spec.RowRange {
	if p == (Part{}) {
		return spec.RowRange{To: h}
	}
	return spec.RowRange{From: p[2], To: p[3]}
}

// PartSize returns a Filter.Size for calls that may have a part. whole returns the height and the
// width of the whole result, for a source of h by w pixels.
func PartSize[A spec.Call](part func(a A) Part, whole func(a A, h, w int) (int, int, error)) func(a A, h, w int) (int, int, error) {
	return func(a A, h, w int) (int, int, error) {
		p := part(a)
		height, width, err := whole(a, p.Height(h), w)
		rows := p.Rows(height)
		return rows.To - rows.From, width, err
	}
}

// PartStrips returns the strips of an operation of which a call makes some rows of the result from
// some rows of the source. need returns the rows of a source of h by w pixels that some rows of the
// result come from. withPart returns a copy of the call for a part.
func PartStrips[A spec.Call](withPart func(a A, p Part) A, need func(a A, h, w int, out spec.RowRange) spec.RowRange) *spec.StripsOf[A] {
	return &spec.StripsOf[A]{
		Need: func(a A, in []tensor.Desc, _ int, out spec.RowRange) spec.RowRange {
			return need(a, in[0].Shape[0], in[0].Shape[1], out)
		},
		Part: func(a A, in []tensor.Desc, have []spec.RowRange, out spec.RowRange) (A, spec.RowRange) {
			return withPart(a, NewPart(in[0].Shape[0], have[0], out)), out
		},
	}
}
