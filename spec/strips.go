package spec

import "github.com/lathe-gpu/lathe/tensor"

// RowRange is a range of rows of a picture: row From and all after it, up to row To, which is not
// one of them.
type RowRange struct{ From, To int }

// Strips says how an operation on pictures is computed a strip of rows at a time.
type Strips = StripsOf[Call]

// StripsOf says how an operation with attributes of type A, whose inputs are pictures [H,W,C]
// and whose output is one, is computed a strip of rows at a time. A large picture goes through
// a device in strips. Operations need it whose result has another size than the first input,
// or depends on where a pixel lies, or depends on pixels that are farther away than a fixed
// distance. For other operations Definition.Halo is enough.
//
// All strips together are the result of the whole picture, bit for bit.
type StripsOf[A Call] struct {
	// Need returns the rows of input i on which rows out of the result depend. in describes
	// the whole inputs.
	Need func(a A, in []tensor.Desc, i int, out RowRange) RowRange
	// Part returns a call of the same operation for inputs that are parts of whole pictures:
	// only rows have[i] of input i, which are at least those of Need. The result of the call
	// has rows made of the whole result, which are at least rows out. Rows that are in made
	// but not in out may have any values.
	Part func(a A, in []tensor.Desc, have []RowRange, out RowRange) (part A, made RowRange)
}

// erase returns the functions for calls of any type. They panic for a call of another type
// than A.
func (s *StripsOf[A]) erase() *Strips {
	if s == nil || s.Need == nil || s.Part == nil {
		return nil
	}
	return &Strips{
		Need: func(c Call, in []tensor.Desc, i int, out RowRange) RowRange { return s.Need(c.(A), in, i, out) },
		Part: func(c Call, in []tensor.Desc, have []RowRange, out RowRange) (Call, RowRange) {
			return s.Part(c.(A), in, have, out)
		},
	}
}

// checkedStrips returns the functions for calls that attrs accepts. For other calls they
// return no rows.
func (op *Op) checkedStrips(s *Strips) *Strips {
	if s == nil {
		return nil
	}
	return &Strips{
		Need: func(c Call, in []tensor.Desc, i int, out RowRange) RowRange {
			a, err := op.attrs(c)
			if err != nil {
				return RowRange{}
			}
			return s.Need(a, in, i, out)
		},
		Part: func(c Call, in []tensor.Desc, have []RowRange, out RowRange) (Call, RowRange) {
			a, err := op.attrs(c)
			if err != nil {
				return c, RowRange{}
			}
			part, made := s.Part(a, in, have, out)
			return op.remarked(op.calls.plain(part)), made
		},
	}
}
