package webp

// write makes the stream of what was recorded.
func (e *lossyEncoder) write() ([]byte, error) {
	b := newBoolWriter()
	b.number(0, 2) // colours of video; a decoder must clip
	b.number(0, 1) // one segment
	b.number(0, 1) // the filter for all edges
	b.number(e.filterLevel(), 6)
	b.number(0, 3) // its sharpness
	b.number(0, 1) // the filter is the same everywhere
	b.number(0, 2) // one partition of coefficients
	b.number(e.quality, 7)
	b.number(0, 5) // no other quantizers
	b.number(0, 1) // probabilities are for this picture
	probs := e.tokens.fitted()
	each(func(at int, old, stays uint8) {
		if b.put(probs[at] != old, stays) {
			b.number(int(probs[at]), 8)
		}
	})
	empty := 0
	for i := range e.blocks {
		empty += int(bit(e.blocks[i].empty))
	}
	n := len(e.blocks)
	full := uint8(min(max(256*(n-empty)/n, 1), 255))
	b.number(1, 1)
	b.number(int(full), 8)
	up := make([]uint8, 4*e.across)
	var left [4]uint8
	for i := range e.blocks {
		m := &e.blocks[i]
		if i%e.across == 0 {
			left = [4]uint8{}
		}
		b.put(m.empty, full)
		e.writeModes(b, m, up[4*(i%e.across):][:4], &left)
	}
	first := b.end()
	if len(first) >= 1<<19 {
		return nil, errHeader
	}
	coder := newBoolWriter()
	for _, t := range e.tokens.list {
		prob := uint8(t)
		if t&tokenFixed == 0 {
			prob = probs[t&(tokenFixed-1)]
		}
		coder.put(t&tokenOn != 0, prob)
	}
	second := coder.end()
	w, h := e.p.Width, e.p.Height
	tag := 1<<4 | len(first)<<5 // a key frame that is shown
	out := make([]byte, 0, 10+len(first)+len(second))
	out = append(out, byte(tag), byte(tag>>8), byte(tag>>16), 0x9d, 0x01, 0x2a, byte(w), byte(w>>8), byte(h), byte(h>>8))
	out = append(out, first...)
	return append(out, second...), nil
}

// writeModes writes the modes of a macroblock.
func (e *lossyEncoder) writeModes(b *boolWriter, m *macroblock, up []uint8, left *[4]uint8) {
	b.put(m.large, 145)
	if m.large {
		switch mode := m.modes[0]; mode {
		case modeDC, modeVE:
			b.put(false, 156)
			b.put(mode == modeVE, 163)
		default:
			b.put(true, 156)
			b.put(mode == modeTM, 128)
		}
	} else {
		for i, mode := range m.modes {
			above, before := up[i%4], left[i/4]
			if i >= 4 {
				above = m.modes[i-4]
			}
			if i%4 > 0 {
				before = m.modes[i-1]
			}
			modeBits(&modeProbs[above][before], int(mode), func(on bool, prob uint8) { b.put(on, prob) })
		}
	}
	for i := range 4 {
		up[i], left[i] = m.modes[12+i], m.modes[4*i+3]
	}
	if b.put(m.chroma != modeDC, 142) && b.put(m.chroma != modeVE, 114) {
		b.put(m.chroma == modeTM, 183)
	}
}

// filterLevel is how much a decoder smooths the edges of blocks: more for larger steps.
func (e *lossyEncoder) filterLevel() int {
	level := e.lumaStep[1].step / 4
	if level < 2 {
		return 0
	}
	return int(min(level, 63))
}
