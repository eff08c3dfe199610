package view

import (
	"slices"

	"github.com/lathe-gpu/lathe/tensor"
)

// Axis is a dimension of a view, or a part of one: Size indices, each of them Stride elements after the one before.
type Axis struct{ Size, Stride int }

// Axes are the axes of a view, one for each dimension.
func Axes(d tensor.Desc) [][]Axis {
	dims := make([][]Axis, len(d.Shape))
	for i, s := range d.ElementStrides() {
		dims[i] = []Axis{{Size: d.Shape[i], Stride: s}}
	}
	return dims
}

// Through sees through a copy: dims and offset, in elements, are a view of the copy, whose elements are those of a view d in row-major order. The result is the
// same view of what d is a view of. It reports false if no axes are that, and for a view without elements.
func Through(dims [][]Axis, offset int, d tensor.Desc) ([][]Axis, int, bool) {
	var sizes, steps, strides []int // of the dimensions of d that have more than one index: steps are those in the copy
	n := d.Elems()
	if n == 0 {
		return nil, 0, false
	}
	own := d.ElementStrides()
	for i, size := range d.Shape {
		if size > 1 {
			n /= size
			sizes, steps, strides = append(sizes, size), append(steps, n), append(strides, own[i])
		} else {
			n /= max(size, 1)
		}
	}
	last, from := make([]int, len(sizes)), 0 // the largest index that the view reads of each dimension
	for j, size := range sizes {
		last[j] = offset / steps[j] % size
		from += last[j] * strides[j]
	}
	walk := func(size, step int) (list []Axis, ok bool) { // the innermost axis first
		for size > 1 && step > 0 {
			j := slices.IndexFunc(steps, func(s int) bool { return s <= step })
			if j < 0 || step%steps[j] != 0 {
				return nil, false
			}
			by := step / steps[j]
			if (size-1)*by < sizes[j] {
				last[j] += (size - 1) * by
				return append(list, Axis{Size: size, Stride: by * strides[j]}), true
			}
			turn := sizes[j] / by // how many indices until the next dimension counts on
			if sizes[j]%by != 0 || size%turn != 0 {
				return nil, false
			}
			last[j] += (turn - 1) * by
			list = append(list, Axis{Size: turn, Stride: by * strides[j]})
			size, step = size/turn, step*turn
		}
		return append(list, Axis{Size: size}), true
	}
	seen := make([][]Axis, len(dims))
	for i, axes := range dims {
		for _, a := range slices.Backward(axes) {
			list, ok := walk(a.Size, a.Stride)
			if !ok {
				return nil, 0, false
			}
			seen[i] = append(seen[i], list...)
		}
		slices.Reverse(seen[i])
		seen[i] = merged(seen[i])
	}
	for j, at := range last {
		if at >= sizes[j] {
			return nil, 0, false
		}
	}
	return seen, from, true
}

// merged joins axes that walk on where the next ones end, and leaves out those with one index. One axis at least stays.
func merged(axes []Axis) []Axis {
	var list []Axis
	for _, a := range axes {
		k := len(list) - 1
		switch {
		case a.Size == 1:
		case k >= 0 && list[k].Stride == a.Stride*a.Size:
			list[k] = Axis{Size: list[k].Size * a.Size, Stride: a.Stride}
		default:
			list = append(list, a)
		}
	}
	if len(list) == 0 {
		return []Axis{{Size: 1}}
	}
	return list
}
