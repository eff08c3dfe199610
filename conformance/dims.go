package conformance

import (
	"errors"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// effort bounds the sizes tried for one call.
type effort struct {
	call, dtype int   // which ones of the operation's
	combos      int   // size combinations
	elems       int64 // elements of all inputs together
	flops       int64 // of the operation, by its Cost
	big         bool  // a side of 16384, and one case that is larger than any forced limit
	images      bool  // the special images too
	specials    bool  // NaN, infinities and subnormals, where the operation takes them
	sizes       bool  // Cases.Sizes
	modes       []mode
}

// level is the effort for the call-th attribute setting of an operation and its
// dtype-th element type. The first one of each, the defaults, gets the most:
// what sizes do to a plan, they do in every dtype.
func level(quick bool, call, dtype int) effort {
	e := effortOf(quick, call, dtype)
	e.call, e.dtype = call, dtype
	return e
}

func effortOf(quick bool, call, dtype int) effort {
	switch first := call == 0 && dtype == 0; {
	case quick && first:
		return effort{combos: 14, elems: 1 << 15, flops: 1 << 25, images: true, specials: true, modes: allModes}
	case quick && call == 0:
		return effort{combos: 6, elems: 1 << 14, flops: 1 << 24, modes: fewModes}
	case quick:
		return effort{combos: 4, elems: 1 << 14, flops: 1 << 24, modes: fewModes}
	case first:
		return effort{combos: 64, elems: 1 << 19, flops: 1 << 27, big: true, images: true, specials: true, sizes: true, modes: allModes}
	case call == 0:
		return effort{combos: 24, elems: 1 << 18, flops: 1 << 26, big: true, specials: true, sizes: true, modes: fewModes}
	case dtype == 0:
		return effort{combos: 20, elems: 1 << 18, flops: 1 << 26, big: true, specials: true, sizes: true, modes: allModes}
	}
	return effort{combos: 8, elems: 1 << 16, flops: 1 << 24, modes: fewModes}
}

// combo is a choice of sizes, the inputs to fill them with, and the ways the
// operands are placed in memory.
type combo struct {
	dims  []int
	shape []int // of all inputs instead of what dims give, if not nil
	image string
	modes []mode
	own   bool // only for the device's own plans
}

// awkward lists the sizes worth trying for a dimension, without the large one.
func awkward(d spec.Dim) []int {
	if len(d.Only) > 0 {
		return slices.Clone(d.Only)
	}
	vs := []int{0, 1, 2, 3, 4, 5, 7, 13, 31, 67}
	for _, t := range d.Tiles {
		vs = append(vs, t-1, t, t+1, 2*t+1)
	}
	slices.Sort(vs)
	vs = slices.Compact(vs)
	return slices.DeleteFunc(vs, func(v int) bool { return v < 0 })
}

// combine chooses size combinations for one call: the corners first, then
// combinations that cover all pairs of values as far as the effort reaches.
func combine(op *spec.Op, c spec.Call, d tensor.DType, e effort) []combo {
	dims := op.Cases.Dims
	values := make([][]int, len(dims))
	for i, dim := range dims {
		values[i] = awkward(dim)
	}
	fits := func(v []int, scale int64) bool {
		n, flops, ok := weigh(op, c, d, v, e.call == 0)
		return ok && n <= e.elems*scale && flops <= e.flops*scale
	}
	var out []combo
	take := func(v []int, scale int64, modes []mode) {
		dup := slices.ContainsFunc(out, func(k combo) bool { return slices.Equal(k.dims, v) })
		if !dup && fits(v, scale) {
			out = append(out, combo{dims: v, image: "random", modes: modes})
		}
	}
	take(at(dims, values, 13), 1, allModes)
	for _, v := range corners(dims, values) {
		take(v, 1, e.modes)
	}
	for _, v := range pairs(values) {
		if len(out) >= e.combos {
			break
		}
		modes := fewModes
		if len(out)%4 == 0 {
			modes = e.modes
		}
		take(v, 1, modes)
	}
	for _, n := range []int{37, 13, 7, 5, 3, 2} { // the images, at a size the operation can afford
		mid := at(dims, values, n)
		if !fits(mid, 1) {
			continue
		}
		var names []string
		if e.images {
			names = append(names, images...)
		}
		if e.specials && op.Cases.Specials {
			names = append(names, specialImages(op.Cases.InputsFor(c, d, mid))...)
		}
		for _, image := range names {
			out = append(out, combo{dims: mid, image: image, modes: fewModes[:1]})
		}
		if e.images {
			for _, image := range sortedKeys(repeatModes) {
				out = append(out, combo{dims: mid, image: image, modes: repeatModes[image]})
			}
		}
		break
	}
	if e.big {
		side, most := fewModes, bigModes
		if e.call > 0 || e.dtype > 0 {
			side, most = fewModes[1:], fewModes[1:]
		}
		// A side of 16384 must work whatever the limits.
		for i := range dims {
			if v := at(dims, values, 1); len(dims[i].Only) == 0 {
				v[i] = 16384
				take(v, 4, side)
			}
		}
		if v := bigger(op, d, dims, values); v != nil {
			take(v, 16, most)
		}
	}
	if e.sizes {
		out = append(out, sizes(op, c, d, e)...)
	}
	if e.call == 0 && e.dtype == 0 {
		out = append(out, ranks(op, c, d)...)
	}
	return out
}

// ranks are inputs of other ranks than the declaration's own, where all inputs
// have one shape and the operation takes such ones.
func ranks(op *spec.Op, c spec.Call, d tensor.DType) []combo {
	values := make([][]int, len(op.Cases.Dims))
	for i, dim := range op.Cases.Dims {
		values[i] = awkward(dim)
	}
	dims := at(op.Cases.Dims, values, 5)
	in := op.Cases.InputsFor(op.Defaults, d, dims)
	if len(in) == 0 || slices.ContainsFunc(in, func(t tensor.Desc) bool { return !slices.Equal(t.Shape, in[0].Shape) }) {
		return nil
	}
	var out []combo
	for _, shape := range [][]int{{}, {5}, {4, 3}, {3, 0, 2}, {2, 1, 3, 1, 2, 1, 1, 5}, {1, 1, 1, 1, 1, 1, 1, 1}} {
		if len(shape) == len(in[0].Shape) {
			continue
		}
		if _, err := op.Shape(c, reshaped(in, shape)); err == nil {
			out = append(out, combo{dims: dims, shape: shape, image: "random", modes: allModes})
		}
	}
	return out
}

// reshaped is the descs with another shape.
func reshaped(in []tensor.Desc, shape []int) []tensor.Desc {
	out := slices.Clone(in)
	for i := range out {
		out[i].Shape = shape
	}
	return out
}

// sizes are the cases of Cases.Sizes: in every variant for the default call
// of the first dtype, which is where plans differ, and else in the device's own.
func sizes(op *spec.Op, c spec.Call, d tensor.DType, e effort) []combo {
	first := e.call == 0 && e.dtype == 0
	var out []combo
	for _, v := range op.Cases.Sizes {
		n, flops, ok := weigh(op, c, d, v, e.call == 0)
		if !ok || !first && (n > e.elems*16 || flops > e.flops*4) {
			continue
		}
		k := combo{dims: v, image: "random", modes: fewModes, own: !first}
		if n > light || !first {
			k.modes = fewModes[1:]
		}
		out = append(out, k)
	}
	return out
}

// heavy is the number of input elements from which on a case has the machine
// for itself.
const heavy = 1 << 22

// light is the number of input elements up to which a case of Cases.Sizes runs
// as any other: more than once.
const light = 1 << 17

// weigh returns the input elements and the operations of a choice of sizes; ok
// is false where the operation has no such case: Inputs gives none, no value
// is in range, or a call other than the default one is refused.
func weigh(op *spec.Op, c spec.Call, d tensor.DType, v []int, defaults bool) (elems, flops int64, ok bool) {
	in := op.Cases.InputsFor(c, d, v)
	if in == nil || len(in) == 0 && len(op.In) > 0 {
		return 0, 0, false
	}
	for i, t := range in {
		if low, high, _ := bounds(op, c, i, in); low > high && t.Elems() > 0 {
			return 0, 0, false
		}
		elems += int64(t.Elems())
	}
	if !defaults || len(in) == 0 {
		out, err := op.Shape(c, in)
		if errors.Is(err, errs.ErrInvalidArgument) {
			return 0, 0, false
		}
		if len(in) == 0 && err == nil { // the call decides the dtype
			for _, o := range out {
				elems += int64(o.Elems())
			}
			if len(out) > 0 && out[0].DType != d {
				return 0, 0, false
			}
		}
	}
	if op.Cost != nil {
		flops = op.Cost(c, in).Flops
	}
	return elems, flops, true
}

// at gives every free dimension the size n (and other ones their first value).
func at(dims []spec.Dim, values [][]int, n int) []int {
	v := make([]int, len(dims))
	for i := range dims {
		if v[i] = n; len(dims[i].Only) > 0 {
			v[i] = values[i][0]
		}
	}
	return v
}

// corners are the shapes that break kernels most often: all ones, thin in each
// direction, empty in each, a prime everywhere.
func corners(dims []spec.Dim, values [][]int) [][]int {
	out := [][]int{at(dims, values, 1), at(dims, values, 13)}
	for i := range dims {
		if len(dims[i].Only) > 0 {
			for _, o := range dims[i].Only {
				v := at(dims, values, 7)
				v[i] = o
				out = append(out, v)
			}
			continue
		}
		for _, n := range []int{0, 257} {
			thin := at(dims, values, 1)
			thin[i] = n
			out = append(out, thin)
		}
		empty := at(dims, values, 5)
		empty[i] = 0
		out = append(out, empty)
	}
	return out
}

// bigger returns sizes whose first input is larger than 1.5 MiB, so that
// forced limits of 1 MiB must split it; nil if no free dimension can grow.
func bigger(op *spec.Op, d tensor.DType, dims []spec.Dim, values [][]int) []int {
	for _, n := range []int{7, 11, 17, 23, 31, 43, 67, 97, 131, 193, 257, 331, 373, 461, 521, 661, 1031, 1459, 2053, 65537, 200003, 400009, 800011, 1600033} {
		v := at(dims, values, n)
		in := op.Cases.InputsFor(op.Defaults, d, v)
		if len(in) > 0 && in[0].Bytes() > 3<<19 {
			return v
		}
	}
	return nil
}
