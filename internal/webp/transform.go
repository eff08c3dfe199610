package webp

// forward is the cosine transform of the differences between pixels and their prediction.
func forward(src, pred *[16]uint8, out *[16]int32) {
	var t [16]int32
	for i := 0; i < 16; i += 4 {
		d0, d1 := int32(src[i])-int32(pred[i]), int32(src[i+1])-int32(pred[i+1])
		d2, d3 := int32(src[i+2])-int32(pred[i+2]), int32(src[i+3])-int32(pred[i+3])
		a0, a1, a2, a3 := d0+d3, d1+d2, d1-d2, d0-d3
		t[i], t[i+2] = (a0+a1)*8, (a0-a1)*8
		t[i+1] = (a2*2217 + a3*5352 + 1812) >> 9
		t[i+3] = (a3*2217 - a2*5352 + 937) >> 9
	}
	for i := range 4 {
		a0, a1 := t[i]+t[12+i], t[4+i]+t[8+i]
		a2, a3 := t[4+i]-t[8+i], t[i]-t[12+i]
		out[i], out[8+i] = (a0+a1+7)>>4, (a0-a1+7)>>4
		out[4+i] = (a2*2217 + a3*5352 + 12000) >> 16
		if a3 != 0 {
			out[4+i]++
		}
		out[12+i] = (a3*2217 - a2*5352 + 51000) >> 16
	}
}

// forwardDC is the transform of the 16 means of a large block.
func forwardDC(in, out *[16]int32) {
	var t [16]int32
	for i := 0; i < 16; i += 4 {
		a0, a1, a2, a3 := in[i]+in[i+2], in[i+1]+in[i+3], in[i+1]-in[i+3], in[i]-in[i+2]
		t[i], t[i+1], t[i+2], t[i+3] = a0+a1, a3+a2, a3-a2, a0-a1
	}
	for i := range 4 {
		a0, a1, a2, a3 := t[i]+t[8+i], t[4+i]+t[12+i], t[4+i]-t[12+i], t[i]-t[8+i]
		out[i], out[4+i], out[8+i], out[12+i] = (a0+a1)>>1, (a3+a2)>>1, (a3-a2)>>1, (a0-a1)>>1
	}
}

// inverse adds the inverse transform to the prediction, as a decoder does. last is the place of the last
// coefficient in the order of the file that may not be 0, and below 0 if there is none.
func inverse(in *[16]int32, last int, pred, out *[16]uint8) {
	if last <= 0 {
		if in[0] == 0 {
			*out = *pred
			return
		}
		for i, mean := 0, (in[0]+4)>>3; i < 16; i++ {
			out[i] = clip(int32(pred[i]) + mean)
		}
		return
	}
	const c1, c2 = 85627, 35468
	var m [4][4]int32
	for i := range 4 {
		a, b := in[i]+in[8+i], in[i]-in[8+i]
		c := in[4+i]*c2>>16 - in[12+i]*c1>>16
		d := in[4+i]*c1>>16 + in[12+i]*c2>>16
		m[i] = [4]int32{a + d, b + c, b - c, a - d}
	}
	for j := range 4 {
		dc := m[0][j] + 4
		a, b := dc+m[2][j], dc-m[2][j]
		c := m[1][j]*c2>>16 - m[3][j]*c1>>16
		d := m[1][j]*c1>>16 + m[3][j]*c2>>16
		o := 4 * j
		out[o] = clip(int32(pred[o]) + (a+d)>>3)
		out[o+1] = clip(int32(pred[o+1]) + (b+c)>>3)
		out[o+2] = clip(int32(pred[o+2]) + (b-c)>>3)
		out[o+3] = clip(int32(pred[o+3]) + (a-d)>>3)
	}
}

// inverseDC is the inverse of forwardDC, as a decoder does it.
func inverseDC(in, out *[16]int32) {
	var m [16]int32
	for i := range 4 {
		a0, a1, a2, a3 := in[i]+in[12+i], in[4+i]+in[8+i], in[4+i]-in[8+i], in[i]-in[12+i]
		m[i], m[8+i], m[4+i], m[12+i] = a0+a1, a0-a1, a3+a2, a3-a2
	}
	for i := 0; i < 16; i += 4 {
		dc := m[i] + 3
		a0, a1, a2, a3 := dc+m[i+3], m[i+1]+m[i+2], m[i+1]-m[i+2], dc-m[i+3]
		out[i], out[i+1], out[i+2], out[i+3] = (a0+a1)>>3, (a3+a2)>>3, (a0-a1)>>3, (a3-a2)>>3
	}
}

func clip(v int32) uint8 { return uint8(min(max(v, 0), 255)) }

// The modes of prediction. Large blocks have the first four.
const (
	modeDC = iota
	modeTM
	modeVE
	modeHE
	modeRD
	modeVR
	modeLD
	modeVL
	modeHD
	modeHU
	smallModes
	largeModes = modeHE + 1
)

// edges are the pixels around a block of 4 by 4: the column to the left from below, the corner, and eight above.
type edges [13]int32

func (b *workspace) edges(at int) (e edges) {
	for i := range 4 {
		e[3-i] = int32(b[at-1+i*pitch])
	}
	for i, v := range b[at-pitch-1:][:9] {
		e[4+i] = int32(v)
	}
	return e
}

// three and two are weighed means of neighbours.
func three(x, y, z int32) uint8 { return uint8((x + 2*y + z + 2) / 4) }
func two(x, y int32) uint8      { return uint8((x + y + 1) / 2) }

// predictSmall predicts a block of 4 by 4 pixels from those around it.
func predictSmall(mode int, e *edges, out *[16]uint8) {
	l3, l2, l1, l0, a := e[0], e[1], e[2], e[3], e[4]
	t0, t1, t2, t3, t4, t5, t6, t7 := e[5], e[6], e[7], e[8], e[9], e[10], e[11], e[12]
	switch mode {
	case modeDC:
		dc := uint8((t0 + t1 + t2 + t3 + l0 + l1 + l2 + l3 + 4) / 8)
		*out = [16]uint8{dc, dc, dc, dc, dc, dc, dc, dc, dc, dc, dc, dc, dc, dc, dc, dc}
	case modeTM:
		for y, l := range [4]int32{l0 - a, l1 - a, l2 - a, l3 - a} {
			out[4*y], out[4*y+1], out[4*y+2], out[4*y+3] = clip(l+t0), clip(l+t1), clip(l+t2), clip(l+t3)
		}
	case modeVE:
		p, q, r, s := three(a, t0, t1), three(t0, t1, t2), three(t1, t2, t3), three(t2, t3, t4)
		*out = [16]uint8{p, q, r, s, p, q, r, s, p, q, r, s, p, q, r, s}
	case modeHE:
		p, q, r, s := three(a, l0, l1), three(l0, l1, l2), three(l1, l2, l3), three(l2, l3, l3)
		*out = [16]uint8{p, p, p, p, q, q, q, q, r, r, r, r, s, s, s, s}
	case modeLD:
		d0, d1, d2, d3 := three(t0, t1, t2), three(t1, t2, t3), three(t2, t3, t4), three(t3, t4, t5)
		d4, d5, d6 := three(t4, t5, t6), three(t5, t6, t7), three(t6, t7, t7)
		*out = [16]uint8{d0, d1, d2, d3, d1, d2, d3, d4, d2, d3, d4, d5, d3, d4, d5, d6}
	case modeRD:
		d0, d1, d2, d3 := three(l3, l2, l1), three(l2, l1, l0), three(l1, l0, a), three(l0, a, t0)
		d4, d5, d6 := three(a, t0, t1), three(t0, t1, t2), three(t1, t2, t3)
		*out = [16]uint8{d3, d4, d5, d6, d2, d3, d4, d5, d1, d2, d3, d4, d0, d1, d2, d3}
	case modeVR:
		pab, qpa := three(l0, a, t0), three(l1, l0, a)
		ab, bc, cd := two(a, t0), two(t0, t1), two(t1, t2)
		abc, bcd := three(a, t0, t1), three(t0, t1, t2)
		*out = [16]uint8{ab, bc, cd, two(t2, t3), pab, abc, bcd, three(t1, t2, t3),
			qpa, ab, bc, cd, three(l2, l1, l0), pab, abc, bcd}
	case modeVL:
		bc, cd, de := two(t1, t2), two(t2, t3), two(t3, t4)
		bcd, cde, def := three(t1, t2, t3), three(t2, t3, t4), three(t3, t4, t5)
		*out = [16]uint8{two(t0, t1), bc, cd, de, three(t0, t1, t2), bcd, cde, def,
			bc, cd, de, three(t4, t5, t6), bcd, cde, def, three(t5, t6, t7)}
	case modeHD:
		pa, qp, rq := two(a, l0), two(l1, l0), two(l2, l1)
		pab, qpa, rqp := three(l0, a, t0), three(l1, l0, a), three(l2, l1, l0)
		*out = [16]uint8{pa, pab, three(a, t0, t1), three(t0, t1, t2), qp, qpa, pa, pab,
			rq, rqp, qp, qpa, two(l3, l2), three(l3, l2, l1), rq, rqp}
	case modeHU:
		qr, rs := two(l1, l2), two(l2, l3)
		qrs, rss, s := three(l1, l2, l3), three(l2, l3, l3), uint8(l3)
		*out = [16]uint8{two(l0, l1), three(l0, l1, l2), qr, qrs, qr, qrs, rs, rss, rs, rss, s, s, s, s, s, s}
	}
}

// predictLarge predicts the block of n by n pixels at b[at]. above and left say whether the block has
// neighbours there.
func predictLarge(mode int, b *workspace, at, n int, above, left bool, out []uint8) {
	top, a := b[at-pitch:][:n], int32(b[at-pitch-1])
	dc := uint8(128)
	if mode == modeDC && (above || left) {
		sum, many := 0, 0
		for i := range n {
			if above {
				sum += int(top[i])
				many++
			}
			if left {
				sum += int(b[at-1+i*pitch])
				many++
			}
		}
		dc = uint8((sum + many/2) / many)
	}
	for y := range n {
		l := b[at-1+y*pitch]
		row := out[y*n:][:n]
		switch mode {
		case modeVE:
			copy(row, top)
			continue
		case modeTM:
			for x := range row {
				row[x] = clip(int32(l) + int32(top[x]) - a)
			}
			continue
		case modeDC:
			l = dc
		}
		for x := range row {
			row[x] = l
		}
	}
}
