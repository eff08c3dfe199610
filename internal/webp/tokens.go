package webp

// Kinds of blocks, which have probabilities of their own.
const (
	lumaAC   = iota // luma whose means are in a lumaDC block
	lumaDC          // the 16 means of a large block
	chroma          //
	lumaFull        // luma of a small block
	kinds
)

// bands are what place a coefficient has among the probabilities. There are 32 so that an index with 5 bits is in it.
var bands = [32]uint8{0, 1, 2, 3, 6, 4, 5, 6, 6, 6, 6, 6, 6, 6, 6, 7, 0}

// zigzag is the order in which coefficients are written.
var zigzag = [16]uint8{0, 1, 4, 8, 5, 2, 3, 6, 9, 12, 13, 10, 7, 11, 14, 15}

// maxLevel is the largest coefficient that can be written.
const maxLevel = 2047

// tails are the probabilities of the last bits of large levels, of which the first is given, and how
// many there are.
var tails = []struct {
	from  int
	probs []uint8
}{
	{11, []uint8{173, 148, 140}}, {19, []uint8{176, 155, 140, 135}}, {35, []uint8{180, 157, 141, 134, 130}},
	{67, []uint8{254, 254, 243, 230, 196, 177, 153, 140, 133, 130, 129}},
}

// tailOf is the row of tails for a level above 10.
func tailOf(v int) int {
	switch {
	case v < 19:
		return 0
	case v < 35:
		return 1
	case v < 67:
		return 2
	}
	return 3
}

// tailCosts are the lengths of the bits of levels that do not depend on the picture, with the sign.
var tailCosts = func() (t [maxLevel + 1]int32) {
	for v := 1; v < len(t); v++ {
		t[v] = 256
		switch {
		case v > 10:
			row := tails[tailOf(v)]
			for i, p := range row.probs {
				t[v] += cost((v-row.from)>>(len(row.probs)-1-i)&1 != 0, p)
			}
		case v > 6:
			t[v] += cost(v >= 9, 165) + cost(v&1 == 0, 145)
		case v > 4:
			t[v] += cost(v == 6, 159)
		}
	}
	return t
}()

// levelCost is the length of a level from 2 on, without the bits before and the tail.
func levelCost(p *[11]uint8, v int) int32 {
	switch {
	case v == 2:
		return cost(false, p[3]) + cost(false, p[4])
	case v <= 4:
		return cost(false, p[3]) + cost(true, p[4]) + cost(v == 4, p[5])
	case v <= 10:
		return cost(true, p[3]) + cost(false, p[6]) + cost(v > 6, p[7])
	}
	tail := tailOf(v)
	return cost(true, p[3]) + cost(true, p[6]) + cost(tail > 1, p[8]) + cost(tail&1 != 0, p[9+tail/2])
}

// costs are the lengths of coefficients with the probabilities that the picture has had so far.
type costs [kinds][8][3]struct {
	levels [tableLevels]uint16 // of a level: whether it is 0, what it is, and its sign
	end    int32               // that no further coefficient follows
	more   int32               // that one follows
}

// tableLevels is one more than the largest level in the table. Larger ones differ in their tails only.
const tableLevels = 68

// set computes the lengths.
func (t *costs) set(probs *[kinds * 8 * 3 * 11]uint8) {
	for kind := range t {
		for band := range t[kind] {
			for ctx := range t[kind][band] {
				p, c := (*[11]uint8)(probs[((kind*8+band)*3+ctx)*11:]), &t[kind][band][ctx]
				c.end, c.more = cost(false, p[0]), cost(true, p[0])
				c.levels[0] = uint16(cost(false, p[1]))
				for v := 1; v < tableLevels; v++ {
					n := cost(true, p[1]) + cost(v > 1, p[2]) + tailCosts[v]
					if v > 1 {
						n += levelCost(p, v)
					}
					c.levels[v] = uint16(n)
				}
			}
		}
	}
}

// block returns the length of a block whose last level that is not 0 is at last, in 1/256 bits, and 1 if it has anything.
func (t *costs) block(kind, ctx, first, last int, levels *[16]int16) (bits int32, some uint8) {
	all := &t[kind]
	at := &all[bands[first]][ctx]
	if last < first {
		return at.end, 0
	}
	bits = at.more
	for n := first; ; {
		v := int32(levels[n&15])
		if v < 0 {
			v = -v
		}
		n++
		next := &all[bands[n&31]&7]
		switch {
		case v == 0:
			bits += int32(at.levels[0])
			at = &next[0]
			continue
		case v < tableLevels:
			bits += int32(at.levels[v])
		default:
			bits += int32(at.levels[tableLevels-1]) + tailCosts[v] - tailCosts[tableLevels-1]
		}
		if n == 16 {
			return bits, 1
		}
		at = &next[min(v, 2)]
		if n > last {
			return bits + at.end, 1
		}
		bits += at.more
	}
}

// tokens are bits of the coefficients, with the number of their probability, or with the probability
// itself if it is fixed.
type tokens struct {
	list []uint16
	seen [kinds * 8 * 3 * 11][2]uint32 // how often a probability's bit was 0 and 1
}

const (
	tokenOn    = 1 << 15
	tokenFixed = 1 << 14
)

func (t *tokens) reset() {
	t.list = t.list[:0]
	clear(t.seen[:])
}

// add appends other tokens.
func (t *tokens) add(o *tokens) {
	t.list = append(t.list, o.list...)
	for i, n := range o.seen {
		t.seen[i][0] += n[0]
		t.seen[i][1] += n[1]
	}
}

func (t *tokens) put(on bool, at int) bool {
	v := uint16(at)
	if on {
		v |= tokenOn
		t.seen[at][1]++
	} else {
		t.seen[at][0]++
	}
	t.list = append(t.list, v)
	return on
}

func (t *tokens) fixed(on bool, prob uint8) {
	v := tokenFixed | uint16(prob)
	if on {
		v |= tokenOn
	}
	t.list = append(t.list, v)
}

// block records the tokens of a block. It reports whether there is anything in the block.
func (t *tokens) block(kind, ctx, first int, levels *[16]int16) bool {
	last := 15
	for last >= first && levels[last] == 0 {
		last--
	}
	at := func(n, ctx int) int { return ((kind*8+int(bands[n]))*3 + ctx) * 11 }
	p := at(first, ctx)
	if !t.put(last >= first, p) {
		return false
	}
	for n := first; ; {
		v, negative := int(levels[n]), levels[n] < 0
		if negative {
			v = -v
		}
		n++
		if !t.put(v != 0, p+1) {
			p = at(n, 0)
			continue
		}
		if !t.put(v > 1, p+2) {
			p = at(n, 1)
		} else {
			t.large(v, p)
			p = at(n, 2)
		}
		t.fixed(negative, 128)
		if n == 16 || !t.put(n <= last, p) {
			return true
		}
	}
}

// large records a level from 2 on.
func (t *tokens) large(v, p int) {
	if !t.put(v > 4, p+3) {
		if t.put(v != 2, p+4) {
			t.put(v == 4, p+5)
		}
		return
	}
	if !t.put(v > 10, p+6) {
		if !t.put(v > 6, p+7) {
			t.fixed(v == 6, 159)
		} else {
			t.fixed(v >= 9, 165)
			t.fixed(v&1 == 0, 145)
		}
		return
	}
	tail := tailOf(v)
	t.put(tail > 1, p+8)
	t.put(tail&1 != 0, p+9+tail/2)
	row := tails[tail]
	for i, prob := range row.probs {
		t.fixed((v-row.from)>>(len(row.probs)-1-i)&1 != 0, prob)
	}
}

// each calls f with each probability at the start, its number, and the probability that it stays.
func each(f func(at int, old, stays uint8)) {
	at := 0
	for i := range firstProbs {
		for j := range firstProbs[i] {
			for k := range firstProbs[i][j] {
				for l := range firstProbs[i][j][k] {
					f(at, firstProbs[i][j][k][l], updateProbs[i][j][k][l])
					at++
				}
			}
		}
	}
}

// fitted returns the probabilities that the tokens so far have, where saying so makes them shorter.
func (t *tokens) fitted() (all [kinds * 8 * 3 * 11]uint8) {
	each(func(at int, old, stays uint8) {
		n0, n1 := int64(t.seen[at][0]), int64(t.seen[at][1])
		all[at] = old
		if n0+n1 == 0 {
			return
		}
		own := uint8(min(max((n0*255+(n0+n1)/2)/(n0+n1), 1), 255))
		length := func(p uint8) int64 { return n0*int64(cost(false, p)) + n1*int64(cost(true, p)) }
		if length(own)+8*256+int64(cost(true, stays)) < length(old)+int64(cost(false, stays)) {
			all[at] = own
		}
	})
	return all
}
