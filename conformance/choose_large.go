package conformance

import (
	"fmt"
	"slices"
)

const (
	// past16Bits is a size at which a count in 16 bits overflows, such as the number of
	// workgroups in a dimension. It is prime.
	past16Bits = 65537
	// cutBytes is more than the size of a binding under tiny limits, in bytes.
	cutBytes = 9 << 17
)

// widestPicture is the width of a picture that works under any limits.
const widestPicture = 16384

// longSizes are sizes to try until an operand has more than cutBytes bytes.
var longSizes = []int{7, 31, 97, 257, 521, 1031, 2053, 4099, 16411, past16Bits, 99_991, 150_001, 300_007, 600_011, 1_200_007}

// large is a case with many elements.
type large struct {
	dims []int
	// cut says that the case is for devices with small limits.
	cut bool
	// wide says that a picture is too wide for small limits.
	wide bool
	// whole says that all dimensions are long. Such a case takes long.
	whole bool
}

// belongs reports whether a large case can find mistakes on a device. first says that it
// is the first device.
func (k *large) belongs(l *variantDevice, first bool) bool {
	switch {
	case k.wide && (l.small || l.Distinct && !first):
		return false // A binding has to hold a few rows of a picture.
	case k.whole:
		return true
	case k.cut:
		return l.small || l.Distinct && !first // The bindings of other devices hold the operands.
	}
	return first || !l.Distinct && (!l.Guard || l.Limits != nil) // Zones alone change no plan.
}

// addLarge chooses large jobs. Each free dimension is longer than 65 535 once, and once
// so long that small limits split the operands. At the quick level there are jobs of the
// everyday call only: long dimensions with the device's own plans, and split operands
// under small limits, for the first element type and another one. At the full level there
// are larger jobs too. Every ordinary device and one of the Distinct devices runs all of
// them, and every call and element type has one. The seed decides which call and element
// type run on which device: a large job costs as much as a hundred small ones, and those
// have tried these pairs.
func (c *chooser) addLarge() {
	if c.opts.Quick {
		c.addFewLarge()
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
	everyday := c.ordinaryDevices()
	distinct := max(1, len(c.devices)-everyday)
	turn := c.rng.IntN(distinct)
	cover := covering{levels: []int{len(c.op.Cases.Calls), len(c.op.Cases.DTypes), len(c.devices), kinds}, ok: func(row []int) bool {
		list := cases[[2]int{row[0], row[1]}]
		if row[3] >= len(list) {
			return false
		}
		l := c.devices[row[2]]
		if !list[row[3]].belongs(l, row[2] == 0) {
			return false
		}
		if row[2] >= everyday && (row[3]+turn)%distinct != row[2]-everyday {
			return false
		}
		return !l.Distinct || row[2] == 0 || c.changesPlan(l, &job{op: c.op, call: c.op.Cases.Calls[row[0]], dtype: c.op.Cases.DTypes[row[1]], dims: list[row[3]].dims, pattern: "random"})
	}, want: func(a, b int) bool { return a == 2 && b == 3 }}
	rows, _ := cover.chooseRows(c.rng)
	for _, row := range rows {
		k := combo{dims: cases[[2]int{row[0], row[1]}][row[3]].dims, pattern: "random", modes: fewModes[1:]}
		c.add(row[0], row[1], k, "", row[2])
	}
}

// addFewLarge is addLarge at the quick level.
func (c *chooser) addFewLarge() {
	var small, distinct []int
	for i, l := range c.devices {
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
		turn := c.rng.IntN(len(c.devices))
		for i, k := range c.largeOf(0, dtype) {
			add := func(devices ...int) {
				if len(devices) > 0 {
					c.add(0, dtype, combo{dims: k.dims, pattern: "random", modes: fewModes[1:]}, "", devices[(turn+i)%len(devices)])
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

// largeOf lists the large cases of a call and element type that are within the limits.
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
			v := sizesAt(c.op.Cases.Dims, c.values, others)
			v[i] = n
			return v
		}
		wide := c.op.Group == "image" && d.Name == "W"
		if c.opts.Quick || !add(large{dims: with(3, past16Bits), wide: wide}, flops, elems) {
			add(large{dims: with(1, past16Bits), wide: wide}, flops/4, elems)
		}
		for _, o := range others {
			n := slices.IndexFunc(longSizes, func(n int) bool { return c.largestOperand(call, dtype, with(o, n)) > cutBytes })
			if n < 0 || wide && longSizes[n] > widestPicture {
				continue
			}
			if add(large{dims: with(o, longSizes[n]), cut: true}, flops, 4*elems) {
				break
			}
		}
	}
	if v := largeSizes(c.op, c.op.Cases.DTypes[dtype], c.op.Cases.Dims, c.values); v != nil && !c.opts.Quick {
		add(large{dims: v, whole: true, cut: true}, 1<<30, 1<<23)
	}
	return list
}

// largestOperand returns the size of the largest input or output of a case in bytes.
func (c *chooser) largestOperand(call, dtype int, dims []int) (most int64) {
	in, out, _ := c.operandsOf(call, dtype, dims)
	for _, d := range append(in[:len(in):len(in)], out...) {
		most = max(most, d.Bytes())
	}
	return most
}

// addNamed adds the sizes that the declaration lists. At the quick level, those that are
// light run on the first device. At the full level, all of them run with the everyday call
// and the first element type. They run on the first device and another one, or on every
// device if they are light. On the first device they also run with one other call or
// element type. The seed chooses the other device, the call and the element type.
func (c *chooser) addNamed() {
	for _, k := range c.namedOf(0, 0) {
		isLight := c.fits(0, 0, k.dims, light, 1<<26)
		switch {
		case c.opts.Quick && isLight, !c.opts.Quick && len(c.devices) == 1:
			c.add(0, 0, k, "", 0)
		case !c.opts.Quick && isLight:
			c.add(0, 0, k, "")
		case !c.opts.Quick:
			c.add(0, 0, k, "", 0, 1+c.rng.IntN(len(c.devices)-1))
		}
	}
	if c.opts.Quick {
		return
	}
	type other struct {
		call, dtype int
		combo
	}
	others := map[string][]other{} // the cases of each size
	var names []string             // the keys of others, in the order of the declaration
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

// namedOf returns the sizes that the declaration lists and that are within the limits of
// a call and element type.
func (c *chooser) namedOf(call, dtype int) []combo {
	return declaredSizes(c.op, c.op.Cases.Calls[call], c.op.Cases.DTypes[dtype], level(false, call, dtype))
}
