package conformance

import (
	"fmt"
	"slices"
)

const (
	// past is a side at which a count of 16 bits overflows, as that of the workgroups
	// of a dimension does; a prime number.
	past = 65537
	// cut is more bytes than a binding has under tiny limits.
	cut = 9 << 17
)

// widest is the side of a picture that works under any limits.
const widest = 16384

// longest are sizes to try until an operand has more than cut bytes.
var longest = []int{7, 31, 97, 257, 521, 1031, 2053, 4099, 16411, past, 99_991, 150_001, 300_007, 600_011, 1_200_007}

// large is a case of many elements.
type large struct {
	dims  []int
	cut   bool // its place is in lanes with small limits
	wide  bool // a picture too wide for small limits
	whole bool // all sides are long, and it costs accordingly
}

// belongs reports whether a large case can find mistakes in a lane; first says that it is
// the first one.
func (k *large) belongs(l *lane, first bool) bool {
	switch {
	case k.wide && (l.small || l.Distinct && !first):
		return false // a binding has to hold a few rows of a picture
	case k.whole:
		return true
	case k.cut:
		return l.small || l.Distinct && !first // bindings of other lanes hold the operands
	}
	return first || !l.Distinct && (!l.Guard || l.Limits != nil) // zones alone change no plan
}

// long chooses large cases: each free dimension past 65 535 elements, and as long as
// makes small limits cut the operands. At the quick level that is the default call,
// the sides by the device's own plans and what is cut under small limits, of the first
// element type and another one. At the full level there are larger ones as well, all of
// them meet every lane, one of those that are Distinct, and every call and element type
// has one. Which call and element type meet which lane is drawn by the seed: a large case
// costs as much as a hundred small ones, and those have tried these pairs.
func (c *chooser) long() {
	if c.opts.Quick {
		c.fewLong()
		return
	}
	kinds := 0
	cases := map[[2]int][]large{}
	for call := range c.op.Cases.Calls {
		for dtype := range c.op.Cases.DTypes {
			list := c.largeOf(call, dtype)
			cases[[2]int{call, dtype}] = list
			kinds = max(kinds, len(list))
		}
	}
	if kinds == 0 {
		return
	}
	everyday := c.everyday()
	distinct := max(1, len(c.lanes)-everyday)
	turn := c.rng.IntN(distinct)
	cover := covering{levels: []int{len(c.op.Cases.Calls), len(c.op.Cases.DTypes), len(c.lanes), kinds}, ok: func(row []int) bool {
		list := cases[[2]int{row[0], row[1]}]
		if row[3] >= len(list) {
			return false
		}
		l := c.lanes[row[2]]
		if !list[row[3]].belongs(l, row[2] == 0) {
			return false
		}
		if row[2] >= everyday && (row[3]+turn)%distinct != row[2]-everyday {
			return false
		}
		return !l.Distinct || row[2] == 0 || c.changes(l, &job{op: c.op, call: c.op.Cases.Calls[row[0]], dtype: c.op.Cases.DTypes[row[1]], dims: list[row[3]].dims, image: "random"})
	}, want: func(a, b int) bool { return a == 2 && b == 3 }}
	rows, _ := cover.rows(c.rng)
	for _, row := range rows {
		k := combo{dims: cases[[2]int{row[0], row[1]}][row[3]].dims, image: "random", modes: fewModes[1:]}
		c.add(row[0], row[1], k, "", row[2])
	}
}

// fewLong is long at the quick level.
func (c *chooser) fewLong() {
	var small, distinct []int
	for i, l := range c.lanes {
		switch {
		case l.small:
			small = append(small, i)
		case l.Distinct && i > 0:
			distinct = append(distinct, i)
		}
	}
	other := 0
	if n := len(c.op.Cases.DTypes); n > 1 {
		other = 1 + c.rng.IntN(n-1)
	}
	for n, dtype := range []int{0, other} {
		if n > 0 && other == 0 {
			break
		}
		turn := c.rng.IntN(len(c.lanes))
		for i, k := range c.largeOf(0, dtype) {
			add := func(lanes ...int) {
				if len(lanes) > 0 {
					c.add(0, dtype, combo{dims: k.dims, image: "random", modes: fewModes[1:]}, "", lanes[(turn+i)%len(lanes)])
				}
			}
			if !k.cut && n == 0 {
				add(0)
			}
			if k.cut {
				add(small...)
			}
			if k.cut && n == 0 {
				add(distinct...)
			}
		}
	}
}

// largeOf lists the large cases of a call and element type that it can afford.
func (c *chooser) largeOf(call, dtype int) (list []large) {
	flops, elems, others := int64(1<<26), int64(1<<19), []int{1}
	if !c.opts.Quick {
		flops, elems, others = 1<<28, 1<<21, []int{5, 1}
	}
	add := func(k large, flops, elems int64) bool {
		ok := c.fits(call, dtype, k.dims, elems, flops)
		if ok && !slices.ContainsFunc(list, func(o large) bool { return slices.Equal(o.dims, k.dims) }) {
			list = append(list, k)
		}
		return ok
	}
	for i, d := range c.op.Cases.Dims {
		if len(d.Only) > 0 {
			continue
		}
		with := func(others, n int) []int {
			v := at(c.op.Cases.Dims, c.values, others)
			v[i] = n
			return v
		}
		wide := c.op.Group == "image" && d.Name == "W"
		if c.opts.Quick || !add(large{dims: with(3, past), wide: wide}, flops, elems) {
			add(large{dims: with(1, past), wide: wide}, flops/4, elems)
		}
		for _, o := range others {
			n := slices.IndexFunc(longest, func(n int) bool { return c.bytes(call, dtype, with(o, n)) > cut })
			if n < 0 || wide && longest[n] > widest {
				continue
			}
			if add(large{dims: with(o, longest[n]), cut: true}, flops, 4*elems) {
				break
			}
		}
	}
	if v := bigger(c.op, c.op.Cases.DTypes[dtype], c.op.Cases.Dims, c.values); v != nil && !c.opts.Quick {
		add(large{dims: v, whole: true, cut: true}, 1<<30, 1<<23)
	}
	return list
}

// bytes is the size of the largest input or output of a case.
func (c *chooser) bytes(call, dtype int, dims []int) (most int64) {
	in, out, _ := c.sides(call, dtype, dims)
	for _, d := range append(in[:len(in):len(in)], out...) {
		most = max(most, d.Bytes())
	}
	return most
}

// named are the sizes that the declaration asks for. At the quick level those that are
// light run in the first lane. At the full level all run by the default call and first
// element type, in the first lane and another one, or in every lane if they are light. In
// the first lane they also run by one other call or element type. The seed draws the lane,
// the call and the element type.
func (c *chooser) named() {
	for _, k := range c.namedOf(0, 0) {
		isLight := c.fits(0, 0, k.dims, light, 1<<26)
		switch {
		case c.opts.Quick && isLight, !c.opts.Quick && len(c.lanes) == 1:
			c.add(0, 0, k, "", 0)
		case !c.opts.Quick && isLight:
			c.add(0, 0, k, "")
		case !c.opts.Quick:
			c.add(0, 0, k, "", 0, 1+c.rng.IntN(len(c.lanes)-1))
		}
	}
	if c.opts.Quick {
		return
	}
	type other struct {
		call, dtype int
		combo
	}
	others := map[string][]other{} // by the sizes
	var names []string             // of others, in the declaration's order
	add := func(call, dtype int) {
		for _, k := range c.namedOf(call, dtype) {
			name := fmt.Sprint(k.dims)
			if others[name] == nil {
				names = append(names, name)
			}
			others[name] = append(others[name], other{call, dtype, k})
		}
	}
	for call := 1; call < len(c.op.Cases.Calls); call++ {
		add(call, 0)
	}
	for dtype := 1; dtype < len(c.op.Cases.DTypes); dtype++ {
		add(0, dtype)
	}
	for _, name := range names {
		o := others[name][c.rng.IntN(len(others[name]))]
		c.add(o.call, o.dtype, o.combo, "", 0)
	}
}

// namedOf are the sizes that the declaration asks for, with what a call and element type
// can afford of them.
func (c *chooser) namedOf(call, dtype int) []combo {
	return sizes(c.op, c.op.Cases.Calls[call], c.op.Cases.DTypes[dtype], level(false, call, dtype))
}
