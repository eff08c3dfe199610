package webp

import "math"

// macroblock chooses the modes of a macroblock, and records its coefficients.
func (e *rowEncoder) macroblock(mx, my int) macroblock {
	var m macroblock
	for i := range e.luma {
		e.luma[i] = source(e.y, 16*e.across, 16*mx+4*(i%4), 4*(i/4))
	}
	large, mode, best := e.bestLarge(mx, my)
	m.large = true
	for i := range m.modes {
		m.modes[i] = uint8(mode)
	}
	if e.limit == 0 {
		before := e.work
		kept := e.levels
		if modes, ok := e.smallBlocks(mx, my, best); ok {
			m.large, m.modes = false, modes
		} else {
			e.work, e.levels = before, kept
		}
	}
	if m.large {
		for y := range 16 {
			copy(e.work[lumaAt+y*pitch:][:16], large[16*y:16*y+16])
		}
	}
	m.chroma = e.bestChroma(mx, my)
	for i := range 4 {
		e.upModes[4*mx+i], e.leftModes[i] = m.modes[12+i], m.modes[4*i+3]
	}
	m.empty = e.record(mx, m.large)
	return m
}

// lengths of the modes of large blocks
var largeCost = [largeModes]int32{
	modeDC: cost(false, 156) + cost(false, 163), modeVE: cost(false, 156) + cost(true, 163),
	modeHE: cost(true, 156) + cost(false, 128), modeTM: cost(true, 156) + cost(true, 128),
}

// bestLarge predicts the luma as one block. Its levels stay in e.levels.
func (e *rowEncoder) bestLarge(mx, my int) (pix [256]uint8, mode int, best int64) {
	best = math.MaxInt64
	var pred, out [256]uint8
	var levels [25][16]int16
	for try := range largeModes {
		if e.limit == 2 && try != modeDC {
			break
		}
		predictLarge(try, &e.work, lumaAt, 16, my > 0, mx > 0, pred[:])
		if s := e.largeScore(mx, try, best, &pred, &out, &levels); s < best {
			best, mode, pix = s, try, out
			copy(e.levels[:16], levels[:])
			e.levels[24] = levels[24]
		}
	}
	return pix, mode, best
}

// largeScore returns what a large block takes with a prediction, and how it becomes. It gives up when that is not better than best.
func (e *rowEncoder) largeScore(mx, mode int, best int64, pred, out *[256]uint8, levels *[25][16]int16) int64 {
	var coefs [16][16]int32
	var pred4 [16][16]uint8
	var means, back, dc [16]int32
	for i := range 16 {
		x, y := 4*(i%4), 4*(i/4)
		pred4[i] = source(pred[:], 16, x, y)
		forward(&e.luma[i], &pred4[i], &coefs[i])
		means[i] = coefs[i][0]
	}
	forwardDC(&means, &dc)
	last := quantize(&dc, &e.dcStep, 0, &levels[24])
	inverseDC(&dc, &back)
	bits, _ := e.costs.block(lumaDC, int(e.upSome[mx][8]+e.leftSome[8]), 0, last, &levels[24])
	bits += largeCost[mode] + cost(true, 145)
	var wrong int64
	up, left := e.upSome[mx], e.leftSome
	for i := range 16 {
		x, y := i%4, i/4
		last := quantize(&coefs[i], &e.lumaStep, 1, &levels[i])
		n, some := e.costs.block(lumaAC, int(up[x]+left[y]), 1, last, &levels[i])
		up[x], left[y] = some, some
		bits += n
		coefs[i][0] = back[i]
		var pix4 [16]uint8
		inverse(&coefs[i], last, &pred4[i], &pix4)
		wrong += distance(&e.luma[i], &pix4)
		if e.score(wrong, bits) >= best {
			return math.MaxInt64
		}
		for r := range 4 {
			copy(out[(4*y+r)*16+4*x:][:4], pix4[4*r:])
		}
	}
	return e.score(wrong, bits)
}

// modeBits calls f with the bits of a small block's mode and their probabilities.
func modeBits(p *[9]uint8, mode int, f func(on bool, prob uint8)) {
	for i, m := range []int{modeDC, modeTM, modeVE} {
		f(mode != m, p[i])
		if mode == m {
			return
		}
	}
	if mode == modeHE || mode == modeRD || mode == modeVR {
		f(false, p[3])
		f(mode != modeHE, p[4])
		if mode != modeHE {
			f(mode == modeVR, p[5])
		}
		return
	}
	f(true, p[3])
	for i, m := range []int{modeLD, modeVL, modeHD} {
		f(mode != m, p[6+i])
		if mode == m {
			return
		}
	}
}

// modeCosts are the lengths of the modes, by the modes above and to the left.
var modeCosts = func() (t [smallModes][smallModes][smallModes]int32) {
	for up := range t {
		for left := range t {
			for mode := range t {
				modeBits(&modeProbs[up][left], mode, func(on bool, prob uint8) { t[up][left][mode] += cost(on, prob) })
			}
		}
	}
	return t
}()

// smallBlocks predicts the luma as 16 blocks. It gives up when that is not better than best.
func (e *rowEncoder) smallBlocks(mx, my int, best int64) (modes [16]uint8, ok bool) {
	total := e.score(0, cost(false, 145))
	up, left := e.upSome[mx], e.leftSome
	for i := range 16 {
		x, y := i%4, i/4
		at := lumaAt + 4*y*pitch + 4*x
		upMode, leftMode := e.upModes[4*mx+x], e.leftModes[y]
		if y > 0 {
			upMode = modes[i-4]
		}
		if x > 0 {
			leftMode = modes[i-1]
		}
		length := &modeCosts[upMode][leftMode]
		around := e.work.edges(at)
		ctx := int(up[x] + left[y])
		src := &e.luma[i]
		least, found := best-total, false // what is more would not help
		var keep [16]uint8
		any := uint8(0)
		var pred, pix [16]uint8
		var c [16]int32
		var levels [16]int16
		for mode := range smallModes {
			predictSmall(mode, &around, &pred)
			forward(src, &pred, &c)
			last := quantize(&c, &e.lumaStep, 0, &levels)
			bits, some := e.costs.block(lumaFull, ctx, 0, last, &levels)
			bits += length[mode]
			if e.score(0, bits) >= least {
				continue
			}
			inverse(&c, last, &pred, &pix)
			if s := e.score(distance(src, &pix), bits); s < least {
				least, keep, any, found = s, pix, some, true
				modes[i] = uint8(mode)
				e.levels[i] = levels
			}
		}
		if !found {
			return modes, false
		}
		total += least
		up[x], left[y] = any, any
		e.work.store(at, &keep)
	}
	return modes, true
}

var chromaCost = [largeModes]int32{
	modeDC: cost(false, 142), modeVE: cost(true, 142) + cost(false, 114),
	modeHE: cost(true, 142) + cost(true, 114) + cost(false, 183),
	modeTM: cost(true, 142) + cost(true, 114) + cost(true, 183),
}

// bestChroma predicts both chroma blocks, by the same mode.
func (e *rowEncoder) bestChroma(mx, my int) (mode uint8) {
	best := int64(math.MaxInt64)
	var pix, out [8][16]uint8
	var levels [8][16]int16
	for try := range largeModes {
		if e.limit == 2 && try != modeDC {
			break
		}
		if s := e.chromaScore(mx, my, try, best, &out, &levels); s < best {
			best, mode, pix = s, uint8(try), out
			copy(e.levels[16:24], levels[:])
		}
	}
	for k := range pix {
		from := []int{blueAt, redAt}[k/4]
		e.work.store(from+k%4/2*4*pitch+k%2*4, &pix[k])
	}
	return mode
}

// chromaScore returns what the chroma blocks take with a mode, and how they become. It gives up when that is not better than best.
func (e *rowEncoder) chromaScore(mx, my, mode int, best int64, out *[8][16]uint8, levels *[8][16]int16) int64 {
	bits, wrong := chromaCost[mode], int64(0)
	up, left := e.upSome[mx], e.leftSome
	for plane, from := range [2]int{blueAt, redAt} {
		var pred [64]uint8
		predictLarge(mode, &e.work, from, 8, my > 0, mx > 0, pred[:])
		all := e.u
		if plane > 0 {
			all = e.v
		}
		for i := range 4 {
			x, y, k := i%2, i/2, 4*plane+i
			src := source(all, 8*e.across, 8*mx+4*x, 4*y)
			p4 := source(pred[:], 8, 4*x, 4*y)
			var c [16]int32
			forward(&src, &p4, &c)
			last := quantize(&c, &e.chromaStep, 0, &levels[k])
			u, l := 4+2*plane+x, 4+2*plane+y
			n, some := e.costs.block(chroma, int(up[u]+left[l]), 0, last, &levels[k])
			up[u], left[l] = some, some
			bits += n
			inverse(&c, last, &p4, &out[k])
			wrong += distance(&src, &out[k])
			if e.score(wrong, bits) >= best {
				return math.MaxInt64
			}
		}
	}
	return e.score(wrong, bits)
}

// record records the coefficients of a macroblock. It reports whether there are none.
func (e *rowEncoder) record(mx int, large bool) (empty bool) {
	up, left := &e.upSome[mx], &e.leftSome
	first, kind := 0, lumaFull
	if large {
		first, kind = 1, lumaAC
	}
	empty = !large || e.levels[24] == [16]int16{}
	for i := range 24 {
		l := e.levels[i]
		if i < 16 && large {
			l[0] = 0
		}
		empty = empty && l == [16]int16{}
	}
	if empty {
		dcUp, dcLeft := up[8], left[8]
		*up, *left = [9]uint8{}, [9]uint8{}
		if !large {
			up[8], left[8] = dcUp, dcLeft
		}
		return true
	}
	put := func(kind, first, u, l, i int) {
		some := uint8(bit(e.tokens.block(kind, int(up[u]+left[l]), first, &e.levels[i])))
		up[u], left[l] = some, some
	}
	if large {
		put(lumaDC, 0, 8, 8, 24)
	}
	for i := range 16 {
		put(kind, first, i%4, i/4, i)
	}
	for i := range 8 {
		put(chroma, 0, 4+i/4*2+i%2, 4+i/4*2+i%4/2, 16+i)
	}
	return false
}
