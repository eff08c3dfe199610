package planner

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Operand is a tensor as a kernel walks it, over an index space that the operands of
// the kernel share.
type Operand struct {
	Ref   spec.Ref
	DType tensor.DType
	// Strides is the distance from one index to the next along each dimension of the
	// index space, in elements. It is 0 along dimensions that the operand is broadcast
	// over. Operands of flat kernels, which walk elements in order, have none.
	Strides []int
	// Base is the element at index 0 of all dimensions, counted from the operand's
	// first one. It may be negative where only later indices are used.
	Base int
}

// OperandOf is the whole of a tensor.
func OperandOf(ref spec.Ref, d tensor.Desc) Operand {
	return Operand{Ref: ref, DType: d.DType, Strides: d.ElementStrides()}
}

// Region is a part of an index space: N[d] indices from From[d] on in dimension d.
type Region struct{ From, N []int }

// RegionOf is the whole of an index space.
func RegionOf(shape []int) Region { return Region{make([]int, len(shape)), slices.Clone(shape)} }

// Clone is a copy that can be changed.
func (r Region) Clone() Region { return Region{slices.Clone(r.From), slices.Clone(r.N)} }

// Extent is how many elements lie from the first to the last one that the operand has
// in the region.
func (o Operand) Extent(r Region) int64 {
	last := int64(0)
	for i, n := range r.N {
		last += int64(n-1) * int64(o.Strides[i])
	}
	return last + 1
}

// First is the element of the operand that the region begins with.
func (o Operand) First(r Region) int64 {
	first := int64(o.Base)
	for i, from := range r.From {
		first += int64(from) * int64(o.Strides[i])
	}
	return first
}

// Window binds what the operand has in the region. base is the element that the region
// begins with, counted from the bound offset.
func (o Operand) Window(t *spec.Target, r Region) (bind spec.Bind, base uint32) {
	return Window(t, o.Ref, o.DType.Size(), o.First(r), o.Extent(r))
}

// Window binds count elements of size bytes from element first on. base is the element
// that they begin with, counted from the bound offset.
func Window(t *spec.Target, ref spec.Ref, size int, first, count int64) (bind spec.Bind, base uint32) {
	from, to := first*int64(size), (first+count)*int64(size)
	offset := WindowOffset(t, from, 1)
	return spec.Bind{Buf: ref, Offset: offset, Size: (to - offset + Pack - 1) &^ (Pack - 1)}, uint32((from - offset) / int64(size))
}

// WindowOffset is where to bind what begins with byte from: the last offset before it
// that devices can bind and that is a multiple of unit bytes. It is the one place where
// offsets are aligned.
func WindowOffset(t *spec.Target, from, unit int64) int64 {
	align := WindowAlign(t)
	a, b := align, unit
	for b != 0 {
		a, b = b, a%b
	}
	align *= unit / a // the least common multiple
	return from / align * align
}

// WordWindow is Window with base in words of 4 bytes, for elements of whole words.
func WordWindow(t *spec.Target, ref spec.Ref, size, first, count int) (bind spec.Bind, base uint32) {
	return Window(t, ref, 4, int64(first*size/4), int64(count*size/4))
}

// BroadcastStrides returns the strides of d as seen from shape, which it can be
// broadcast to by NumPy's rule: dimensions are matched from the last one on, and
// those of size 1 repeat.
func BroadcastStrides(d tensor.Desc, shape []int) []int {
	strides := make([]int, len(shape))
	own, skip := d.ElementStrides(), len(shape)-len(d.Shape)
	for i, n := range d.Shape {
		if n != 1 {
			strides[skip+i] = own[i]
		}
	}
	return strides
}

// BroadcastShape is the shape that two are broadcast to by NumPy's rule, or false.
func BroadcastShape(a, b []int) ([]int, bool) {
	if len(a) < len(b) {
		a, b = b, a
	}
	shape := slices.Clone(a)
	for i, n := range b {
		at := &shape[len(a)-len(b)+i]
		if *at == 1 {
			*at = n
		} else if n != 1 && n != *at {
			return nil, false
		}
	}
	return shape, true
}

// Collapse merges neighbouring dimensions that every operand walks through as
// one, and drops those of size 1. Operands keep their order; a scalar becomes
// one dimension of size 1.
func Collapse(shape []int, operands []Operand) ([]int, []Operand) {
	var dims []int
	out := slices.Clone(operands)
	for i := range out {
		out[i].Strides = nil
	}
	for d, n := range shape {
		if n == 1 {
			continue
		}
		last := len(dims) - 1
		merge := last >= 0
		for i := range operands {
			merge = merge && out[i].Strides[last] == n*operands[i].Strides[d]
		}
		for i := range operands {
			if merge {
				out[i].Strides[last] = operands[i].Strides[d]
			} else {
				out[i].Strides = append(out[i].Strides, operands[i].Strides[d])
			}
		}
		if merge {
			dims[last] *= n
		} else {
			dims = append(dims, n)
		}
	}
	if len(dims) == 0 {
		dims = []int{1}
		for i := range out {
			out[i].Strides = []int{0}
		}
	}
	return dims, out
}

// Split calls f with regions that tile r, in order, so small that what each operand
// needs for one fits a binding of at most span bytes. multiple, if above 1, keeps the
// splits of the last dimension at multiples of it.
// Errors: those of f, and *LimitError where no region is small enough.
func Split(t *spec.Target, span int64, r Region, operands []Operand, multiple int, f func(Region) error) error {
	if slices.Contains(r.N, 0) {
		return nil
	}
	return split(t, span, r, operands, max(multiple, 1), f)
}

func split(t *spec.Target, span int64, r Region, operands []Operand, multiple int, f func(Region) error) error {
	room := span&^(Pack-1) - WindowAlign(t) // the window may have to begin that much earlier
	for _, o := range operands {
		size := int64(o.DType.Size())
		if o.Extent(r)*size <= room {
			continue
		}
		// Halve the dimension that takes this operand furthest.
		d, far := -1, int64(0)
		for i, n := range r.N {
			unit := 1
			if i == len(r.N)-1 {
				unit = multiple
			}
			if reach := int64(n-1) * int64(o.Strides[i]); n > unit && reach > far {
				d, far = i, reach
			}
		}
		if d < 0 {
			return &errs.LimitError{Name: "MaxBinding", Want: o.Extent(r) * size, Have: room}
		}
		half := (r.N[d] + 1) / 2
		if d == len(r.N)-1 {
			half = CeilDiv(half, multiple) * multiple
		}
		low, high := r.Halve(d, half)
		if err := split(t, span, low, operands, multiple, f); err != nil {
			return err
		}
		return split(t, span, high, operands, multiple, f)
	}
	return f(r)
}

// Halve splits the region in two along dimension d: the first n indices, and the rest.
func (r Region) Halve(d, n int) (low, high Region) {
	low, high = r.Clone(), r.Clone()
	low.N[d] = n
	high.From[d] += n
	high.N[d] -= n
	return low, high
}

// Tiles calls f with regions of at most step indices that tile r, in order.
func Tiles(r Region, step []int, f func(Region) error) error {
	at := slices.Clone(r.From)
	for {
		tile := Region{slices.Clone(at), make([]int, len(at))}
		for d := range at {
			tile.N[d] = min(step[d], r.From[d]+r.N[d]-at[d])
		}
		if err := f(tile); err != nil {
			return err
		}
		d := len(at) - 1
		for ; d >= 0; d-- {
			if at[d] += max(step[d], 1); at[d] < r.From[d]+r.N[d] {
				break
			}
			at[d] = r.From[d]
		}
		if d < 0 {
			return nil
		}
	}
}
