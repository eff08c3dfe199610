package planner

import "github.com/lathe-gpu/lathe/tensor"

// AxisView is a contiguous tensor seen as [Outer, N, Inner], with an operation along N.
type AxisView struct{ Outer, N, Inner int }

// ViewAxis sees a shape so, from its dimension dim.
func ViewAxis(shape []int, dim int) AxisView {
	v := AxisView{1, shape[dim], 1}
	for i, n := range shape {
		switch {
		case i < dim:
			v.Outer *= n
		case i > dim:
			v.Inner *= n
		}
	}
	return v
}

// Sizes lists what v is made of.
func (v AxisView) Sizes() []int { return []int{v.Outer, v.N, v.Inner} }

// Axis checks a dimension of a tensor of a rank, where negative dimensions count from
// the end, and returns it counted from 0.
// Errors: ErrInvalidArgument.
func Axis(dim, rank int) (int, error) {
	k := dim
	if k < 0 {
		k += rank
	}
	if k < 0 || k >= rank {
		return 0, Invalid("dimension %d of a tensor of rank %d", dim, rank)
	}
	return k, nil
}

// Chunk is a part of an axis view whose elements lie together: whole blocks
// [N, Inner], or rows of one block, or columns of one row.
type Chunk struct {
	Block, Row, Column int // where it begins
	Outer, N, Inner    int // its size
	Start              int // its first element
}

// Elems is the number of elements.
func (c Chunk) Elems() int { return c.Outer * c.N * c.Inner }

// ChunkRoom is how large a chunk may be.
type ChunkRoom struct {
	// Elems is the most elements.
	Elems int
	// Accumulators is the most accumulators of what belongs to the columns of each
	// block, or to each unit of its rows.
	Accumulators int
	// PerBlock is the number of accumulators of a block.
	PerBlock int
	// Unit is the number of rows that stay together.
	Unit int
	// Shared says that all rows of a block have the same accumulators.
	Shared bool
	// Pack is the elements of a pack, where Inner is 1: chunks begin with a pack,
	// except the first one of a row. 0 means that it does not matter.
	Pack int
	// ByRow says that no chunk has several rows of a block, except whole blocks.
	ByRow bool
}

// Chunks calls f with chunks that tile v, in order.
// Errors: those of f.
func Chunks(v AxisView, r ChunkRoom, f func(Chunk) error) error {
	block := v.N * v.Inner
	if block == 0 || v.Outer == 0 {
		return nil
	}
	if block <= r.Elems && r.PerBlock <= r.Accumulators {
		most := min(r.Elems/block, r.Accumulators/r.PerBlock)
		for o := 0; o < v.Outer; o += most {
			if err := f(Chunk{Block: o, Outer: min(most, v.Outer-o), N: v.N, Inner: v.Inner, Start: o * block}); err != nil {
				return err
			}
		}
		return nil
	}
	rows, columns := 1, v.Inner
	if r.ByRow || v.Inner > min(r.Elems, r.Accumulators) {
		columns = min(v.Inner, min(r.Elems, r.Accumulators)&^63)
	} else {
		if rows = r.Elems / v.Inner; !r.Shared {
			rows = min(rows, r.Accumulators/v.Inner*r.Unit)
		}
		rows = max(rows/r.Unit, 1) * r.Unit
	}
	for o := range v.Outer {
		for row := 0; row < v.N; {
			n := min(rows, v.N-row)
			if row == 0 && r.Pack > 1 {
				n = min(rows-o*block%r.Pack, v.N)
			}
			for column := 0; column < v.Inner; column += columns {
				c := Chunk{Block: o, Row: row, Column: column, Outer: 1, N: n, Inner: min(columns, v.Inner-column)}
				c.Start = o*block + row*v.Inner + column
				if err := f(c); err != nil {
					return err
				}
			}
			row += n
		}
	}
	return nil
}

// Accumulator is the dtype in which elements of d are computed: F32 for those of 16
// bits, and d itself for others.
func Accumulator(d tensor.DType) tensor.DType {
	if d.Size() == 2 {
		return tensor.F32
	}
	return d
}
