// Package convolution declares the operations that are convolutions: the convolution itself,
// its gradients, and the transposed convolution. All of them are one computation over
// different strides, which a geometry describes.
package convolution

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// extent is a number for each spatial axis. Tensors with fewer axes have ones before.
type extent [3]int

// elems returns the number of indices.
func (e extent) elems() int { return e[0] * e[1] * e[2] }

// plane is one operand of a geometry. Its spatial elements, or taps, follow each other
// without gaps.
type plane struct {
	ref   spec.Ref
	dtype tensor.DType
	// first is the number of the first element.
	first int
	// b, g, k and c are the strides along the images, the groups, the channels of the result in a
	// group, and the channels that are added up in a group. 0 means that it does not vary.
	b, g, k, c int
}

// geometry describes
//
//	out[b, g, k, o] = bias[g, k] + Σ in[b, g, c, (o·S + r·D − P) / L] · filter[g, k, c, r]
//
// over c and r. An element that lies outside of in, or between two elements of it because the
// division has a remainder, counts as 0.
type geometry struct {
	in, filter, out plane
	// bias is the bias [g·k], or nil.
	bias *plane
	// b, g, k and c are the numbers of images, groups and channels.
	b, g, k, c int
	// o, r and i are the sizes of the result, of the taps and of the input.
	o, r, i extent
	// s, d, p and l are S, D, P and L.
	s, d, p, l extent
	// flip says that the taps lie in reverse order in memory.
	flip bool
	// rest is not 0 if the groups are parts of one sum. The last group has only so many channels
	// that are added up.
	rest int
}

// window says how a filter moves over a tensor.
type window struct {
	// in, taps and out are the sizes of the tensor, of the filter, and of the result.
	in, taps, out extent
	strides       extent
	dilations     extent
	begin         extent
	group         int
}

// channels are the sizes of a convolution besides the spatial ones: images, and channels of a
// group of the input and of the result.
type channels struct{ n, c, k int }

// forward returns the geometry of the convolution of x [N,G·C,...] with w [G·K,C,...].
func forward(v window, m channels, x, w, y plane, bias *plane) geometry {
	x.c = v.in.elems()
	x.g = m.c * x.c
	x.b = v.group * x.g
	w.c = v.taps.elems()
	w.k = m.c * w.c
	w.g = m.k * w.k
	y.k = v.out.elems()
	y.g = m.k * y.k
	y.b = v.group * y.g
	return geometry{
		in: x, filter: w, out: y, bias: bias, b: m.n, g: v.group, k: m.k, c: m.c,
		o: v.out, r: v.taps, i: v.in, s: v.strides, d: v.dilations, p: v.begin, l: extent{1, 1, 1},
	}
}

// backwardData returns the geometry of the gradient of x, or of the transposed convolution of dy.
func backwardData(v window, m channels, dy, w, dx plane, bias *plane) geometry {
	f := forward(v, m, dx, w, dy, nil)
	in, filter, out := f.out, f.filter, f.in
	in.k, in.c = 0, in.k
	out.k, out.c = out.c, 0
	filter.k, filter.c = filter.c, filter.k
	g := geometry{
		in: in, filter: filter, out: out, bias: bias, b: m.n, g: v.group, k: m.c, c: m.k,
		o: v.in, r: v.taps, i: v.out, s: extent{1, 1, 1}, d: v.dilations, l: v.strides, flip: true,
	}
	for a := range g.p {
		g.p[a] = (v.taps[a]-1)*v.dilations[a] - v.begin[a]
	}
	return g
}

// backwardFilter returns the geometry of the gradient of w. The elements of dy are its taps, and
// the images are added up.
func backwardFilter(v window, m channels, x, dy, dw plane) geometry {
	f := forward(v, m, x, dw, dy, nil)
	in, filter, out := f.in, f.out, f.filter
	in.b, in.c = in.c, in.b
	filter.c, filter.b = filter.b, 0
	out.b, out.c = out.c, 0
	return geometry{
		in: in, filter: filter, out: out, b: m.c, g: v.group, k: m.k, c: m.n,
		o: v.taps, r: v.out, i: v.in, s: v.dilations, d: v.strides, p: v.begin, l: extent{1, 1, 1},
	}
}

// span is a range of indices.
type span struct{ from, n int }

// part is a part of a geometry that one launch computes, or adds to. Along the spatial axes a
// part is shorter than the whole only if it has one index along each axis before, so that its
// elements follow each other in memory.
type part struct {
	b, g, k, c span
	o, r       [3]span
}

// whole returns the part that is all of x.
func (x *geometry) whole() part {
	p := part{b: span{0, x.b}, g: span{0, x.g}, k: span{0, x.k}, c: span{0, x.c}}
	for a := range p.o {
		p.o[a], p.r[a] = span{0, x.o[a]}, span{0, x.r[a]}
	}
	return p
}

// roots returns the parts that are all of x together.
func (x *geometry) roots() []part {
	p := x.whole()
	if x.rest == 0 || x.rest == x.c {
		return []part{p}
	}
	last := p
	p.g.n, last.g, last.c.n = x.g-1, span{x.g - 1, 1}, x.rest
	return []part{p, last}
}

// sizes returns the numbers of indices of spatial spans.
func sizes(s [3]span) extent { return extent{s[0].n, s[1].n, s[2].n} }

// flat returns the number of the first index of spatial spans of a tensor of that size.
func flat(s [3]span, size extent) int {
	return (s[0].from*size[1]+s[1].from)*size[2] + s[2].from
}

// halve splits a span at a multiple of unit, if it is longer than unit. It returns false if the span
// has one index.
func (s span) halve(unit int) (low, high span, ok bool) {
	if s.n <= 1 {
		return s, s, false
	}
	half := (s.n + 1) / 2
	if s.n > unit {
		half = planner.CeilDiv(half, unit) * unit
	}
	return span{s.from, half}, span{s.from + half, s.n - half}, true
}

// dim names a dimension of a part.
type dim uint8

const (
	dimB dim = iota
	dimG
	dimK
	dimC
	dimO
	dimR
)

// halve splits a part along the first of dims that has more than one index.
func (p part) halve(dims ...dim) (low, high part, ok bool) {
	low, high = p, p
	for _, d := range dims {
		switch d {
		case dimB:
			low.b, high.b, ok = p.b.halve(1)
		case dimG:
			low.g, high.g, ok = p.g.halve(1)
		case dimK:
			low.k, high.k, ok = p.k.halve(64)
		case dimC:
			low.c, high.c, ok = p.c.halve(4)
		case dimO, dimR:
			for a := 0; a < 3 && !ok; a++ {
				if d == dimO {
					low.o[a], high.o[a], ok = p.o[a].halve(1)
				} else {
					low.r[a], high.r[a], ok = p.r[a].halve(1)
				}
			}
		}
		if ok {
			return low, high, true
		}
	}
	return p, p, false
}

// again reports whether the launches of an earlier part have made sums that this part adds to.
func (p part) again() bool {
	return p.c.from+p.r[0].from+p.r[1].from+p.r[2].from > 0
}

// reach returns the first element of the input that a part reads, counted from a channel's first
// one, and the number of elements from there to the last one. It is 0 if all that the part reads
// lies outside.
func (x *geometry) reach(p part) (first, n int) {
	last := 0
	for a := range x.i {
		low := x.position(p, a)
		high := low + (p.o[a].n-1)*x.s[a] + (p.r[a].n-1)*x.d[a]
		if high < 0 || low > (x.i[a]-1)*x.l[a] {
			return 0, 0
		}
		low, high = planner.CeilDiv(max(low, 0), x.l[a]), min(high/x.l[a], x.i[a]-1)
		if low > high {
			return 0, 0
		}
		first, last = first*x.i[a]+low, last*x.i[a]+high
	}
	return first, last - first + 1
}

// position returns o·S + r·D − P at the first indices of a part along an axis.
func (x *geometry) position(p part, a int) int {
	return p.o[a].from*x.s[a] + p.r[a].from*x.d[a] - x.p[a]
}

// inExtent, filterExtent and outExtent return the number of elements from the first to the
// last one that a part uses.
func (x *geometry) inExtent(p part) int64 {
	_, n := x.reach(p)
	return int64(p.b.n-1)*int64(x.in.b) + int64(p.g.n-1)*int64(x.in.g) + int64(p.c.n-1)*int64(x.in.c) + int64(n)
}

func (x *geometry) filterExtent(p part) int64 {
	return int64(p.g.n-1)*int64(x.filter.g) + int64(p.k.n-1)*int64(x.filter.k) + int64(p.c.n-1)*int64(x.filter.c) + int64(sizes(p.r).elems())
}

func (x *geometry) outExtent(p part) int64 {
	return int64(p.b.n-1)*int64(x.out.b) + int64(p.g.n-1)*int64(x.out.g) + int64(p.k.n-1)*int64(x.out.k) + int64(sizes(p.o).elems())
}

// tapsExtent returns the number of elements from the first to the last one of a channel that one element of
// the result uses, if none of them lie outside of the input.
func (x *geometry) tapsExtent(p part) int64 {
	last := int64(0)
	for a := range x.i {
		last = last*int64(x.i[a]) + int64(min((p.r[a].n-1)*x.d[a]/x.l[a], x.i[a]-1))
	}
	return last + 1
}

// tapStep is the distance from tap to tap of the filter.
func (x *geometry) tapStep() uint32 {
	if x.flip {
		return ^uint32(0)
	}
	return 1
}
