package conformance

import (
	"errors"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// effort bounds the sizes that are tried for one call.
type effort struct {
	// call and dtype are indices into the operation's Calls and DTypes.
	call, dtype int
	// combos is the largest number of combinations of sizes.
	combos int
	// elems is the largest number of elements of all inputs together.
	elems int64
	// flops is the largest number of arithmetic operations, as Cost says.
	flops int64
	// big adds a dimension of 16384, and one case that is larger than any tiny limit.
	big bool
	// patterns adds inputs with patterns that are not random.
	patterns bool
	// specials adds NaN, infinities and subnormals, if the operation allows them.
	specials bool
	// sizes adds Cases.Sizes.
	sizes bool
	modes []mode
}

// level returns the effort for the call with index call and the element type with index
// dtype. The everyday call and type get the most, because sizes change plans in every
// dtype in the same way.
func level(quick bool, call, dtype int) effort {
	e := effortOf(quick, call, dtype)
	e.call, e.dtype = call, dtype
	return e
}

// effortOf is level without the indices of the call and the dtype.
func effortOf(quick bool, call, dtype int) effort {
	switch first := call == 0 && dtype == 0; {
	case quick && first:
		return effort{combos: 14, elems: 1 << 15, flops: 1 << 25, patterns: true, specials: true, modes: allModes}
	case quick && call == 0:
		return effort{combos: 6, elems: 1 << 14, flops: 1 << 24, modes: fewModes}
	case quick:
		return effort{combos: 4, elems: 1 << 14, flops: 1 << 24, modes: fewModes}
	case first:
		return effort{combos: 64, elems: 1 << 19, flops: 1 << 27, big: true, patterns: true, specials: true, sizes: true, modes: allModes}
	case call == 0:
		return effort{combos: 24, elems: 1 << 18, flops: 1 << 26, big: true, specials: true, sizes: true, modes: fewModes}
	case dtype == 0:
		return effort{combos: 20, elems: 1 << 18, flops: 1 << 26, big: true, specials: true, sizes: true, modes: allModes}
	}
	return effort{combos: 8, elems: 1 << 16, flops: 1 << 24, modes: fewModes}
}

// combo is a choice of sizes, of a pattern and of modes.
type combo struct {
	dims []int
	// shape, if not nil, is the shape of all inputs, instead of the one that dims give.
	shape []int
	// pattern says which values the inputs have.
	pattern string
	modes   []mode
	// own says that only the device's own plans are tried.
	own bool
}

// awkward lists the sizes of a dimension that are worth trying, without the large one.
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

// combine chooses combinations of sizes for one call. The corners come first.
// Combinations that cover all pairs of sizes follow, as far as the effort allows.
func combine(op *spec.Op, c spec.Call, d tensor.DType, e effort) []combo {
	dims := op.Cases.Dims
	values := make([][]int, len(dims))
	for i, dim := range dims {
		values[i] = awkward(dim)
	}
	fits := func(v []int, scale int64) bool {
		n, flops, ok := caseSize(op, c, d, v, e.call == 0)
		return ok && n <= e.elems*scale && flops <= e.flops*scale
	}
	var out []combo
	take := func(v []int, scale int64, modes []mode) {
		dup := slices.ContainsFunc(out, func(k combo) bool { return slices.Equal(k.dims, v) })
		if !dup && fits(v, scale) {
			out = append(out, combo{dims: v, pattern: "random", modes: modes})
		}
	}
	take(sizesAt(dims, values, 13), 1, allModes)
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
	for _, n := range []int{37, 13, 7, 5, 3, 2} { // These are sizes for the patterns, the largest first.
		mid := sizesAt(dims, values, n)
		if !fits(mid, 1) {
			continue
		}
		var names []string
		if e.patterns {
			names = append(names, patterns...)
		}
		if e.specials && op.Cases.Specials {
			names = append(names, specialPatterns(op.Cases.InputsFor(c, d, mid))...)
		}
		for _, pattern := range names {
			out = append(out, combo{dims: mid, pattern: pattern, modes: fewModes[:1]})
		}
		if e.patterns {
			for _, pattern := range sortedKeys(repeatModes) {
				out = append(out, combo{dims: mid, pattern: pattern, modes: repeatModes[pattern]})
			}
		}
		break
	}
	if e.big {
		side, most := fewModes, bigModes
		if e.call > 0 || e.dtype > 0 {
			side, most = fewModes[1:], fewModes[1:]
		}
		// A dimension of 16384 must work under all limits.
		for i := range dims {
			if v := sizesAt(dims, values, 1); len(dims[i].Only) == 0 {
				v[i] = 16384
				take(v, 4, side)
			}
		}
		if v := largeSizes(op, d, dims, values); v != nil {
			take(v, 16, most)
		}
	}
	if e.sizes {
		out = append(out, declaredSizes(op, c, d, e)...)
	}
	if e.call == 0 && e.dtype == 0 {
		out = append(out, otherRanks(op, c, d)...)
	}
	return out
}

// otherRanks returns inputs with other ranks than the declaration's. That is possible if
// all inputs have the same shape and the operation accepts other shapes.
func otherRanks(op *spec.Op, c spec.Call, d tensor.DType) []combo {
	values := make([][]int, len(op.Cases.Dims))
	for i, dim := range op.Cases.Dims {
		values[i] = awkward(dim)
	}
	dims := sizesAt(op.Cases.Dims, values, 5)
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
			out = append(out, combo{dims: dims, shape: shape, pattern: "random", modes: allModes})
		}
	}
	return out
}

// reshaped returns the descriptions with another shape.
func reshaped(in []tensor.Desc, shape []int) []tensor.Desc {
	out := slices.Clone(in)
	for i := range out {
		out[i].Shape = shape
	}
	return out
}

// declaredSizes returns the cases of Cases.Sizes. For the everyday call and dtype they run
// in every variant, because plans differ there. For others they run with the device's own
// plans.
func declaredSizes(op *spec.Op, c spec.Call, d tensor.DType, e effort) []combo {
	first := e.call == 0 && e.dtype == 0
	var out []combo
	for _, v := range op.Cases.Sizes {
		n, flops, ok := caseSize(op, c, d, v, e.call == 0)
		if !ok || !first && (n > e.elems*16 || flops > e.flops*4) {
			continue
		}
		k := combo{dims: v, pattern: "random", modes: fewModes, own: !first}
		if n > light || !first {
			k.modes = fewModes[1:]
		}
		out = append(out, k)
	}
	return out
}

// heavy is the number of input elements from which on no other case runs at the same
// time.
const heavy = 1 << 22

// light is the largest number of input elements for which a case of Cases.Sizes runs more
// than once, as other cases do.
const light = 1 << 17

// caseSize returns the number of input elements and of arithmetic operations for a choice
// of sizes. ok is false if the operation has no such case: Inputs returns nil, no value
// is in range, or Shape refuses a call that is not the default one.
func caseSize(op *spec.Op, c spec.Call, d tensor.DType, v []int, defaults bool) (elems, flops int64, ok bool) {
	in := op.Cases.InputsFor(c, d, v)
	if in == nil || len(in) == 0 && len(op.In) > 0 {
		return 0, 0, false
	}
	for i, t := range in {
		if low, high, _ := valueBounds(op, c, i, in); low > high && t.Elems() > 0 {
			return 0, 0, false
		}
		elems += int64(t.Elems())
	}
	if !defaults || len(in) == 0 {
		out, err := op.Shape(c, in)
		if errors.Is(err, errs.ErrInvalidArgument) {
			return 0, 0, false
		}
		if len(in) == 0 && err == nil { // The call decides the dtype.
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

// sizesAt returns the size n for every free dimension. Dimensions with fixed sizes get
// their first one.
func sizesAt(dims []spec.Dim, values [][]int, n int) []int {
	v := make([]int, len(dims))
	for i := range dims {
		if v[i] = n; len(dims[i].Only) > 0 {
			v[i] = values[i][0]
		}
	}
	return v
}

// corners returns the shapes that break kernels most often: 1 in all dimensions, long in
// one dimension only, 0 in one dimension, and a prime in all.
func corners(dims []spec.Dim, values [][]int) [][]int {
	out := [][]int{sizesAt(dims, values, 1), sizesAt(dims, values, 13)}
	for i := range dims {
		if len(dims[i].Only) > 0 {
			for _, o := range dims[i].Only {
				v := sizesAt(dims, values, 7)
				v[i] = o
				out = append(out, v)
			}
			continue
		}
		for _, n := range []int{0, 257} {
			thin := sizesAt(dims, values, 1)
			thin[i] = n
			out = append(out, thin)
		}
		empty := sizesAt(dims, values, 5)
		empty[i] = 0
		out = append(out, empty)
	}
	return out
}

// largeSizes returns sizes whose first input is larger than 1.5 MiB, so that limits of 1
// MiB split it. It returns nil if no free dimension can grow.
func largeSizes(op *spec.Op, d tensor.DType, dims []spec.Dim, values [][]int) []int {
	for _, n := range []int{7, 11, 17, 23, 31, 43, 67, 97, 131, 193, 257, 331, 373, 461, 521, 661, 1031, 1459, 2053, 65537, 200003, 400009, 800011, 1600033} {
		v := sizesAt(dims, values, n)
		in := op.Cases.InputsFor(op.Defaults, d, v)
		if len(in) > 0 && in[0].Bytes() > 3<<19 {
			return v
		}
	}
	return nil
}
