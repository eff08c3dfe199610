package conformance

import "slices"

const (
	// past is a side at which a count of 16 bits overflows, as that of the workgroups
	// of a dimension does; a prime number.
	past = 65537
	// cut is more bytes than a binding has under tiny limits.
	cut = 3 << 19
)

// longest are sizes to try until an operand has more than cut bytes.
var longest = []int{7, 31, 97, 257, 521, 1031, 2053, 4099, 16411, past, 99_991, 200_003, 400_009, 800_011, 1_600_033}

// large is a case of many elements.
type large struct {
	dims  []int
	cut   bool // its place is in lanes with small limits
	whole bool // all sides are long, and it costs accordingly
}

// long chooses large cases: each free dimension past 65 535 elements, and as long as
// makes small limits cut the operands. At the quick level that is the default call,
// the sides by the device's own plans and what is cut under small limits, of the first
// element type and another one. At the full level there are larger ones as well, and
// all of them meet every call, element type and lane.
func (c *chooser) long() {
	if c.opts.Quick {
		other := 0
		if n := len(c.op.Cases.DTypes); n > 1 {
			other = 1 + c.rng.IntN(n-1)
		}
		for i, k := range c.largeOf(0, 0) {
			switch {
			case k.whole:
			case k.cut:
				for j := range c.lanes {
					if c.lanes[j].small {
						c.add(0, 0, combo{dims: k.dims, image: "random", modes: fewModes[1:]}, "", j)
					}
				}
			default:
				c.add(0, []int{0, other}[i%2], combo{dims: k.dims, image: "random", modes: fewModes[1:]}, "", 0)
			}
		}
		for _, k := range c.largeOf(0, other) {
			if small := slices.IndexFunc(c.lanes, func(l *lane) bool { return l.small }); k.cut && other > 0 && small >= 0 {
				c.add(0, other, combo{dims: k.dims, image: "random", modes: fewModes[1:]}, "", small)
				break
			}
		}
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
	cover := covering{levels: []int{len(c.op.Cases.Calls), len(c.op.Cases.DTypes), len(c.lanes), kinds}, ok: func(row []int) bool {
		list := cases[[2]int{row[0], row[1]}]
		if row[3] >= len(list) {
			return false
		}
		l := c.lanes[row[2]]
		return !l.Distinct || row[2] == 0 || c.changes(l, &job{op: c.op, call: c.op.Cases.Calls[row[0]], dtype: c.op.Cases.DTypes[row[1]], dims: list[row[3]].dims, image: "random"})
	}}
	rows, _ := cover.rows(c.rng)
	for _, row := range rows {
		k := combo{dims: cases[[2]int{row[0], row[1]}][row[3]].dims, image: "random", modes: fewModes[1:]}
		c.add(row[0], row[1], k, "", row[2])
	}
}

// largeOf lists the large cases of a call and element type that it can afford.
func (c *chooser) largeOf(call, dtype int) (list []large) {
	flops, elems := int64(1<<27), int64(1<<19)
	if !c.opts.Quick {
		flops, elems = 1<<28, 1<<21
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
		_ = add(large{dims: with(3, past)}, flops, elems) || add(large{dims: with(1, past)}, flops, elems)
		for _, others := range []int{5, 1} {
			n := slices.IndexFunc(longest, func(n int) bool { return c.bytes(call, dtype, with(others, n)) > cut })
			if n >= 0 && add(large{dims: with(others, longest[n]), cut: true}, flops, 4*elems) {
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

// named are the sizes that the declaration asks for: at the quick level those that
// are light, in the first lane.
func (c *chooser) named() {
	for call := range c.op.Cases.Calls {
		for dtype := range c.op.Cases.DTypes {
			if call > 0 && dtype > 0 || c.opts.Quick && call+dtype > 0 {
				continue
			}
			e := level(false, call, dtype)
			e.call, e.dtype = call, dtype
			for _, k := range sizes(c.op, c.op.Cases.Calls[call], c.op.Cases.DTypes[dtype], e) {
				lanes := []int{0}
				if c.opts.Quick && !c.fits(call, dtype, k.dims, light, 1<<26) {
					continue
				}
				if !c.opts.Quick && !k.own {
					lanes = nil
				}
				c.add(call, dtype, k, "", lanes...)
			}
		}
	}
}
