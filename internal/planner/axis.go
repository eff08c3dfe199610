package planner

import "github.com/lathe-gpu/lathe/tensor"

// AxisView is a contiguous tensor seen as [Outer, N, Inner], for an operation along N.
// Each size is a number of elements.
type AxisView struct{ Outer, N, Inner int }

// ViewAxis returns the view of a contiguous tensor of that shape whose N is dimension
// dim. dim counts from 0, as Axis returns it.
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

// Sizes returns Outer, N and Inner in this order.
func (v AxisView) Sizes() []int { return []int{v.Outer, v.N, v.Inner} }

// Axis checks dimension dim of a tensor with rank dimensions. A negative dim counts from
// the end. The result counts from 0.
// Errors: ErrInvalidArgument.
func Axis(dim, rank int) (int, error) {
	k := dim
	if k < 0 {
		k += rank
	}
	if rank == 0 {
		return 0, Invalid("dimension %d of a scalar, which has none", dim)
	}
	if k < 0 || k >= rank {
		return 0, Invalid("dimension %d of a tensor of rank %d (want %d to %d)", dim, rank, -rank, rank-1)
	}
	return k, nil
}

// Chunk is a part of an axis view whose elements lie together in memory. It consists of
// whole blocks [N, Inner], or of rows of one block, or of columns of one row.
type Chunk struct {
	// Block, Row and Column are the outer, axis and inner index of its first element.
	Block, Row, Column int
	// Outer, N and Inner are its size.
	Outer, N, Inner int
	// Start is the position of its first element in the tensor, counted in elements.
	Start int
}

// Elems returns the number of elements in the chunk.
func (c Chunk) Elems() int { return c.Outer * c.N * c.Inner }

// ChunkRoom bounds the chunks that Chunks makes.
type ChunkRoom struct {
	// Elems is the largest number of elements in a chunk.
	Elems int
	// Accumulators is the largest number of accumulators that a chunk may write.
	Accumulators int
	// PerBlock is the number of accumulators that a whole block [N, Inner] writes.
	PerBlock int
	// Unit is the number of rows that share one row of Inner accumulators. A chunk holds
	// whole units, except the last one of a block.
	Unit int
	// Shared says that all rows of a block share the same accumulators, whatever Unit is.
	Shared bool
	// Pack is the number of elements in a pack. It is set only where Inner is 1. Chunks
	// then begin at the start of a pack, except the first chunk of a block. With 0, a
	// chunk may begin anywhere.
	Pack int
	// ByRow says that a chunk is either a number of whole blocks or a part of one row.
	ByRow bool
}

// Chunks splits v into chunks that fit r, and calls f with each of them in the order of
// memory. It stops at the first error of f and returns it.
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

// Accumulator returns the dtype in which kernels compute with elements of d. It is F32
// for F16 and BF16, I32 for integers of less than 32 bits, and d itself for all others.
func Accumulator(d tensor.DType) tensor.DType {
	switch {
	case d == tensor.F16 || d == tensor.BF16:
		return tensor.F32
	case d.Valid() && d.Size() < 4:
		return tensor.I32
	}
	return d
}
