package convolution

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

const (
	// busyInvocations is the number of invocations that keep a device busy.
	busyInvocations = 4096
	// mostPartial is the largest number of partial sums.
	mostPartial = 1 << 20
	// mostGroups is the largest number of groups whose sums are divided one after the other.
	mostGroups = 16
)

// sumReducer adds partial sums.
var sumReducer = reduction.Reducer{Shader: "reduce/reduce_sum", Values: 1}

// sumParts returns into how many parts to divide the sums over the channels, and the channels of a
// part. The gradient of a small filter has few elements, and each is a sum over all images. Without
// parts, a few invocations would make thousands of products each, in one launch after the other.
func (x *geometry) sumParts() (parts, chunk int) {
	n, terms := x.outputs(), int64(x.c)*int64(x.r.elems())
	if n != x.g*x.out.g { // A group of the result is not contiguous.
		return 1, x.c
	}
	if x.bias != nil || n > busyInvocations || terms <= run || x.g > mostGroups || x.c < 8 {
		return 1, x.c
	}
	// A part of at most run products is one launch.
	want := max(terms/run, int64(busyInvocations/n))
	want = min(want, int64(mostPartial/n), int64(x.c))
	chunk = planner.CeilDiv(planner.CeilDiv(x.c, int(want)), 4) * 4 // four channels are a texel
	return planner.CeilDiv(x.c, chunk), chunk
}

// addSums appends the steps for a geometry whose sums are divided into parts. add appends those of
// a geometry. Each part makes a result, as a group of its own, and the results are added.
// Errors: *LimitError.
func (x *geometry) addSums(plan *spec.Plan, t *spec.Target, parts, chunk int, add func(geometry) error) error {
	n := x.outputs() / x.g
	partial := planner.AddScratch(plan, int64(x.g)*int64(parts)*int64(n)*int64(x.out.dtype.Size()))
	for g := range x.g {
		y := *x
		y.g, y.c, y.rest = parts, chunk, x.c-(parts-1)*chunk
		y.in.first, y.filter.first, y.out.first = g*x.in.g, g*x.filter.g, g*parts*n
		y.in.g, y.filter.g, y.out.g = chunk*x.in.c, chunk*x.filter.c, n
		y.out.ref = partial
		if err := add(y); err != nil {
			return err
		}
	}
	_, err := reduction.Add(plan, t, sumReducer, x.out.dtype, planner.AxisView{Outer: x.g, N: parts, Inner: n}, x.out.ref, partial)
	return err
}
