package ops

import "github.com/lathe-gpu/lathe/spec"

// normal is a contiguous tensor seen as [outer, n, inner], with an operation
// along n.
type normal struct{ outer, n, inner int }

// normalise sees shape so, from its dimension dim.
func normalise(shape []int, dim int) normal {
	v := normal{1, shape[dim], 1}
	for i, n := range shape {
		switch {
		case i < dim:
			v.outer *= n
		case i > dim:
			v.inner *= n
		}
	}
	return v
}

// sizes lists what v is made of.
func (v normal) sizes() []int { return []int{v.outer, v.n, v.inner} }

// piece is a part of a normal form whose elements lie together: whole blocks
// [n, inner], or rows of one block, or columns of one row.
type piece struct {
	o, row, column  int // where it begins
	outer, n, inner int
	start           int // the first element
}

func (x piece) elems() int { return x.outer * x.n * x.inner }

// pieceRoom is how large a piece may be.
type pieceRoom struct {
	elems    int
	states   int  // of what belongs to the columns of each block, or each unit of its rows
	perOuter int  // states of a block
	unit     int  // rows that stay together
	shared   bool // all rows of a block have the same states
	pack     int  // where inner = 1, elements of a pack: pieces begin with one, except a row's first
	byRow    bool // no piece has several rows of a block, except whole blocks
}

// pieces cuts v.
func pieces(v normal, r pieceRoom, f func(piece) error) error {
	block := v.n * v.inner
	if block == 0 || v.outer == 0 {
		return nil
	}
	if block <= r.elems && r.perOuter <= r.states {
		most := min(r.elems/block, r.states/r.perOuter)
		for o := 0; o < v.outer; o += most {
			if err := f(piece{o: o, outer: min(most, v.outer-o), n: v.n, inner: v.inner, start: o * block}); err != nil {
				return err
			}
		}
		return nil
	}
	rows, columns := 1, v.inner
	if r.byRow || v.inner > min(r.elems, r.states) {
		columns = min(v.inner, min(r.elems, r.states)&^63)
	} else {
		if rows = r.elems / v.inner; !r.shared {
			rows = min(rows, r.states/v.inner*r.unit)
		}
		rows = max(rows/r.unit, 1) * r.unit
	}
	for o := range v.outer {
		for row := 0; row < v.n; {
			n := min(rows, v.n-row)
			if row == 0 && r.pack > 1 {
				n = min(rows-o*block%r.pack, v.n)
			}
			for column := 0; column < v.inner; column += columns {
				x := piece{o: o, row: row, column: column, outer: 1, n: n, inner: min(columns, v.inner-column)}
				x.start = o*block + row*v.inner + column
				if err := f(x); err != nil {
					return err
				}
			}
			row += n
		}
	}
	return nil
}

// bindWords is bindPart with base in words of 4 bytes.
func bindWords(t *spec.Target, ref spec.Ref, size, start, count int) (bind spec.Bind, base uint32) {
	bind, base = bindPart(t, ref, 4, start*size/4, count*size/4)
	return bind, base
}

// bindPart binds count elements of size bytes from the start-th on. base is the
// element, counted from the bound offset, that they begin with.
func bindPart(t *spec.Target, ref spec.Ref, size, start, count int) (bind spec.Bind, base uint32) {
	from, to := int64(start)*int64(size), int64(start+count)*int64(size)
	offset := from / windowAlign(t) * windowAlign(t)
	return spec.Bind{Buf: ref, Offset: offset, Size: (to - offset + 15) &^ 15}, uint32((from - offset) / int64(size))
}
