package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// strided is an operand that a kernel walks with strides: how far apart its
// elements lie along each dimension of the kernel's index space, in elements,
// and 0 along dimensions it is broadcast over.
type strided struct {
	ref   spec.Ref
	dtype tensor.DType
	steps []int
}

// broadcastSteps returns the strides of d as seen from shape, which it can be
// broadcast to by NumPy's rule: dimensions are matched from the last one on, and
// those of size 1 repeat.
func broadcastSteps(d tensor.Desc, shape []int) []int {
	steps := make([]int, len(shape))
	own, skip := d.ElementStrides(), len(shape)-len(d.Shape)
	for i, n := range d.Shape {
		if n != 1 {
			steps[skip+i] = own[i]
		}
	}
	return steps
}

// collapse merges neighbouring dimensions that every operand walks through as
// one, and drops those of size 1. Operands keep their order; a scalar becomes
// one dimension of size 1.
func collapse(shape []int, operands []strided) ([]int, []strided) {
	var dims []int
	out := slices.Clone(operands)
	for i := range out {
		out[i].steps = nil
	}
	for d, n := range shape {
		if n == 1 {
			continue
		}
		last := len(dims) - 1
		merge := last >= 0
		for i := range operands {
			merge = merge && out[i].steps[last] == n*operands[i].steps[d]
		}
		for i := range operands {
			if merge {
				out[i].steps[last] = operands[i].steps[d]
			} else {
				out[i].steps = append(out[i].steps, operands[i].steps[d])
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
			out[i].steps = []int{0}
		}
	}
	return dims, out
}

// box is a part of an index space: n[d] indices from from[d] on in dimension d.
type box struct{ from, n []int }

// boxes calls f with boxes that tile shape, in order, so small that what each
// operand needs for one fits a binding of at most span bytes. keep, if above 1,
// keeps the cuts of the last dimension at multiples of it.
// Errors: those of f, and *LimitError where no box is small enough.
func boxes(t *spec.Target, span int64, shape []int, operands []strided, keep int, f func(box) error) error {
	if slices.Contains(shape, 0) {
		return nil
	}
	return cut(t, span, box{make([]int, len(shape)), slices.Clone(shape)}, operands, max(keep, 1), f)
}

func cut(t *spec.Target, span int64, b box, operands []strided, keep int, f func(box) error) error {
	room := span&^15 - windowAlign(t) // the window may have to begin that much earlier
	for _, o := range operands {
		size := int64(o.dtype.Size())
		if o.extent(b)*size <= room {
			continue
		}
		// Halve the dimension that takes this operand furthest.
		d, far := -1, int64(0)
		for i, n := range b.n {
			unit := 1
			if i == len(b.n)-1 {
				unit = keep
			}
			if reach := int64(n-1) * int64(o.steps[i]); n > unit && reach > far {
				d, far = i, reach
			}
		}
		if d < 0 {
			return &errs.LimitError{Name: "MaxBinding", Want: o.extent(b) * size, Have: room}
		}
		half := (b.n[d] + 1) / 2
		if d == len(b.n)-1 {
			half = ceilDiv(half, keep) * keep
		}
		low, high := box{slices.Clone(b.from), slices.Clone(b.n)}, box{slices.Clone(b.from), slices.Clone(b.n)}
		low.n[d] = half
		high.from[d] += half
		high.n[d] -= half
		if err := cut(t, span, low, operands, keep, f); err != nil {
			return err
		}
		return cut(t, span, high, operands, keep, f)
	}
	return f(b)
}

// extent is how many elements lie from the first to the last one that o has in
// the box.
func (o strided) extent(b box) int64 {
	last := int64(0)
	for i, n := range b.n {
		last += int64(n-1) * int64(o.steps[i])
	}
	return last + 1
}

// window binds what o has in the box. base is the element, counted from the
// bound offset, that the box begins with.
func (o strided) window(t *spec.Target, b box) (bind spec.Bind, base uint32) {
	return o.windowAt(t, b, 0)
}

// windowAt is window for an operand whose index space begins at element start.
func (o strided) windowAt(t *spec.Target, b box, start int) (bind spec.Bind, base uint32) {
	first := int64(start)
	for i, from := range b.from {
		first += int64(from) * int64(o.steps[i])
	}
	size := int64(o.dtype.Size())
	offset := first * size / windowAlign(t) * windowAlign(t)
	end := (first + o.extent(b)) * size
	return spec.Bind{Buf: o.ref, Offset: offset, Size: (end - offset + 15) &^ 15}, uint32((first*size - offset) / size)
}
