package planner

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Operand is a tensor as a kernel walks it. All operands of a kernel share one index
// space.
type Operand struct {
	// Ref names the buffer.
	Ref spec.Ref
	// DType is the type of the elements.
	DType tensor.DType
	// Strides is the distance from one index to the next in each dimension of the index
	// space, in elements. It is 0 in dimensions over which the operand is broadcast.
	// It is negative where a copy reads backwards. Operands of flat kernels, which walk
	// elements in the order of memory, have no Strides.
	Strides []int
	// Base is the position of the element at index 0 of all dimensions, in elements from
	// the start of the operand. It may be negative if only later indices are used.
	Base int
}

// OperandOf returns the operand that covers all elements of d. Its index space is
// d.Shape.
func OperandOf(ref spec.Ref, d tensor.Desc) Operand {
	return Operand{Ref: ref, DType: d.DType, Strides: d.ElementStrides()}
}

// Region is a part of an index space.
type Region struct {
	// From is the first index in each dimension.
	From []int
	// N is the number of indices in each dimension.
	N []int
}

// RegionOf returns the region that covers an index space of that shape.
func RegionOf(shape []int) Region { return Region{make([]int, len(shape)), slices.Clone(shape)} }

// Clone returns a copy that shares no memory with r.
func (r Region) Clone() Region { return Region{slices.Clone(r.From), slices.Clone(r.N)} }

// Elems returns the number of indices.
func (r Region) Elems() int {
	n := 1
	for _, k := range r.N {
		n *= k
	}
	return n
}

// Extent returns the number of elements from the first to the last element of the operand
// in the region, both included. Elements between them that belong to no index count too.
func (o Operand) Extent(r Region) int64 {
	first, last := o.reach(r)
	return last - first + 1
}

// reach returns how far the elements of the operand in the region lie before and after that
// of the region's first index, in elements. Negative strides lead before it.
func (o Operand) reach(r Region) (first, last int64) {
	for i, n := range r.N {
		far := int64(n-1) * int64(o.Strides[i])
		first, last = first+min(far, 0), last+max(far, 0)
	}
	return first, last
}

// First returns the position of the operand's element at the first index of the region,
// in elements from the start of the operand.
func (o Operand) First(r Region) int64 {
	first := int64(o.Base)
	for i, from := range r.From {
		first += int64(from) * int64(o.Strides[i])
	}
	return first
}

// Window returns a binding for the operand's elements in the region. base is the position
// of the region's first element, in elements from the offset of the binding.
func (o Operand) Window(t *spec.Target, r Region) (bind spec.Bind, base uint32) {
	before, _ := o.reach(r)
	bind, base = Window(t, o.Ref, o.DType.Size(), o.First(r)+before, o.Extent(r))
	return bind, base + uint32(-before)
}

// Window returns a binding for count elements of size bytes each, from element first on.
// base is the position of the first of them, in elements from the offset of the binding.
func Window(t *spec.Target, ref spec.Ref, size int, first, count int64) (bind spec.Bind, base uint32) {
	from, to := first*int64(size), (first+count)*int64(size)
	offset := WindowOffset(t, from, 1)
	return spec.Bind{Buf: ref, Offset: offset, Size: (to - offset + Pack - 1) &^ (Pack - 1)}, uint32((from - offset) / int64(size))
}

// WindowOffset returns the last offset that is not after byte from, that devices can
// bind, and that is a multiple of unit bytes. All offsets of plans are aligned here.
func WindowOffset(t *spec.Target, from, unit int64) int64 {
	align := WindowAlign(t)
	a, b := align, unit
	for b != 0 {
		a, b = b, a%b
	}
	align *= unit / a // align is now the least common multiple of both.
	return from / align * align
}

// WordWindow is Window for elements that consist of whole words of 4 bytes. base counts
// words.
func WordWindow(t *spec.Target, ref spec.Ref, size, first, count int) (bind spec.Bind, base uint32) {
	return Window(t, ref, 4, int64(first*size/4), int64(count*size/4))
}

// BroadcastStrides returns the element strides of d in the index space shape. d must be
// broadcastable to shape by the rule of NumPy: dimensions are matched from the last one
// on, and a dimension of size 1 repeats, with stride 0.
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

// BroadcastShape returns the shape to which a and b are broadcast by the rule of NumPy.
// It returns false if they cannot be broadcast together.
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

// BroadcastIndex returns the number, in row-major order, of the element of a tensor of that shape that
// is broadcast to an index.
func BroadcastIndex(index, shape []int) int {
	at := 0
	for d, n := range shape {
		at = at*n + min(index[len(index)-len(shape)+d], n-1)
	}
	return at
}

// Collapse merges neighbouring dimensions that every operand can walk as one dimension,
// and drops dimensions of size 1. The operands keep their order. If no dimension is left,
// the result has one dimension of size 1.
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

// Inward writes the sizes or strides of a region's dimensions for a kernel that walks any strides: innermost first, and the outermost of
// several in the last place, which the kernel reads without a loop.
func Inward(values []int, to []uint32) {
	last := len(values) - 1
	for i, v := range values {
		at := last - i
		if i == 0 && last > 0 {
			at = len(to) - 1
		}
		to[at] = uint32(v)
	}
}

// Split splits r into regions and calls f with each of them, in the order of the indices.
// The regions are so small that the elements of each operand fit a binding of at most
// span bytes. If multiple is more than 1, the last dimension is split only at multiples
// of it, counted from r. An empty region has no parts.
// Errors: those of f, and *LimitError if even one index does not fit.
func Split(t *spec.Target, span int64, r Region, operands []Operand, multiple int, f func(Region) error) error {
	if slices.Contains(r.N, 0) {
		return nil
	}
	return split(t, span, r, operands, max(multiple, 1), f)
}

func split(t *spec.Target, span int64, r Region, operands []Operand, multiple int, f func(Region) error) error {
	// A window may have to begin up to an alignment before its first element.
	room := span&^(Pack-1) - WindowAlign(t)
	for _, o := range operands {
		size := int64(o.DType.Size())
		if o.Extent(r)*size <= room {
			continue
		}
		// Halve the dimension that makes this operand's range longest.
		d, far := -1, int64(0)
		for i, n := range r.N {
			unit := 1
			if i == len(r.N)-1 {
				unit = multiple
			}
			reach := int64(n-1) * int64(o.Strides[i])
			if reach = max(reach, -reach); n > unit && reach > far {
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

// Halve splits the region in dimension d. low has the first n indices, and high has the
// rest.
func (r Region) Halve(d, n int) (low, high Region) {
	low, high = r.Clone(), r.Clone()
	low.N[d] = n
	high.From[d] += n
	high.N[d] -= n
	return low, high
}

// Tiles splits r into regions of at most step[d] indices in each dimension d, and calls f
// with each of them in the order of the indices. It stops at the first error of f and
// returns it.
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
