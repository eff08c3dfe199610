package jpeg

import (
	"errors"
	mathbits "math/bits"
)

// scanning is what a scan says about itself.
type scanning struct {
	parts       []*part
	means       []*decoding // of each part
	others      []*decoding
	first, last int // the coefficients that it has
	low         uint
	refines     bool // one more bit of each
}

// scan reads the bits of some parts.
func (d *decoder) scan(b []byte) error {
	s, err := d.readScan(b)
	if err != nil {
		return err
	}
	for i, p := range s.parts {
		if p.room(d.progressive); s.first == 0 {
			p.seen = true
		}
		if err := p.scales(d); err != nil && !d.progressive {
			return err
		}
		if s.first == 0 && !s.refines && s.means[i] == nil || (s.last > 0 && s.others[i] == nil) {
			return errors.New("a table of codes is missing")
		}
	}
	d.begin()
	d.restart(s)
	single := len(s.parts) == 1
	across, down := d.mcusX, d.mcusY
	if single {
		across, down = s.parts[0].colsIn, s.parts[0].rowsIn
	}
	left, expect := d.interval, byte(markRST0)
	for y := range down {
		for x := range across {
			if d.interval > 0 {
				if left == 0 {
					if err := d.resume(s, expect); err != nil {
						return err
					}
					left, expect = d.interval, markRST0+(expect+1)&7
				}
				left--
			}
			if single {
				if err := d.unit(s, 0, x, y); err != nil {
					return err
				}
				continue
			}
			for i, p := range s.parts {
				for v := range p.v {
					for h := range p.h {
						if err := d.unit(s, i, x*p.h+h, y*p.v+v); err != nil {
							return err
						}
					}
				}
			}
		}
	}
	if d.ends > 0 {
		return errors.New("more blocks than the picture has")
	}
	return nil
}

// restart forgets what lies before.
func (d *decoder) restart(s *scanning) {
	d.ends = 0
	for _, p := range s.parts {
		p.mean = 0
	}
}

// resume reads the marker of a restart.
func (d *decoder) resume(s *scanning, expect byte) error {
	if d.ends > 0 {
		return errors.New("more blocks than a restart allows")
	}
	m, err := d.marker()
	if err != nil {
		return err
	}
	if m != expect {
		return errors.New("a restart is missing")
	}
	d.begin()
	d.restart(s)
	return nil
}

// readScan reads the header of a scan.
func (d *decoder) readScan(b []byte) (*scanning, error) {
	wrong := errors.New("a wrong scan")
	if d.parts == nil || len(b) < 6 || len(b) != 4+2*int(b[0]) || int(b[0]) > len(d.parts) {
		return nil, wrong
	}
	n, s := int(b[0]), &scanning{last: 63}
	blocks := 0
	for i := range n {
		var found *part
		for _, p := range d.parts {
			if p.id == b[1+2*i] {
				found = p
			}
		}
		mean, other := b[2+2*i]>>4, b[2+2*i]&15
		if found == nil || mean > 3 || other > 3 || d.sequential && max(mean, other) > 1 {
			return nil, wrong
		}
		for _, p := range s.parts {
			if p == found {
				return nil, wrong
			}
		}
		blocks += found.h * found.v
		s.parts = append(s.parts, found)
		s.means, s.others = append(s.means, d.codes[0][mean]), append(s.others, d.codes[1][other])
	}
	if n > 1 && blocks > 10 {
		return nil, wrong
	}
	if !d.progressive {
		return s, nil
	}
	b = b[1+2*n:]
	high := uint(b[2] >> 4)
	s.first, s.last, s.low, s.refines = int(b[0]), int(b[1]), uint(b[2]&15), high != 0
	if s.first == 0 && s.last != 0 || s.first > s.last || s.last > 63 || s.low > 13 || s.refines && high != s.low+1 || s.first > 0 && n > 1 {
		return nil, wrong
	}
	return s, nil
}

// unit reads a block of part i of a scan.
func (d *decoder) unit(s *scanning, i, x, y int) error {
	p := s.parts[i]
	if !d.progressive {
		rows, flat, err := d.whole(p, s.means[i], s.others[i])
		if err == nil {
			p.paint(&d.block, rows, flat, x, y)
		}
		return err
	}
	at := y*p.cols + x
	kept := p.kept[at*p.count:][:p.count]
	switch {
	case s.first == 0 && s.refines:
		bit, err := d.number(1)
		kept[0] |= int16(bit << s.low)
		return err
	case s.first == 0:
		v, err := d.nextMean(p, s.means[i])
		if err != nil {
			return err
		}
		return store(kept, 0, v<<s.low)
	case s.refines:
		return d.refine(s, p, &p.known[at], kept)
	}
	return d.band(s, p, &p.known[at], kept)
}

// store keeps a coefficient.
func store(kept []int16, slot int8, v int) error {
	if v != int(int16(v)) {
		return errRange
	}
	if slot >= 0 {
		kept[slot] = int16(v)
	}
	return nil
}

// nextMean reads the mean of a block, which the file has as the difference from the last one.
func (d *decoder) nextMean(p *part, code *decoding) (int, error) {
	e, err := d.symbol(code)
	if err != nil {
		return 0, err
	}
	if e&255 > 15 {
		return 0, errRange
	}
	v, err := d.number(e.size())
	if err != nil {
		return 0, err
	}
	p.mean += signed(v, e.size())
	if p.mean != int(int16(p.mean)) {
		return 0, errRange
	}
	return p.mean, nil
}

// whole reads all coefficients of a block, and multiplies those that count by the steps of
// quantisation. rows and flat are as paint has them.
func (d *decoder) whole(p *part, means, others *decoding) (rows uint, flat bool, err error) {
	mean, err := d.nextMean(p, means)
	if err != nil {
		return 0, false, err
	}
	if p.last > 0 {
		clear(d.block[:])
	}
	d.block[0] = int32(mean) * p.scale[0]
	flat = true
	b := &d.bits
	acc, n := b.acc, b.n
	for k := 1; k < 64; {
		if n < 32 {
			b.acc, b.n = acc, n
			b.refill()
			acc, n = b.acc, b.n
		}
		e := others.short[acc>>(64-lookup)]
		if e == 0 {
			if e = others.long(acc); e == 0 {
				return 0, false, errCode
			}
		}
		total, size := e.total(), e.size()
		if total > n {
			return 0, false, errShort
		}
		if size == 0 {
			acc <<= total
			n -= total
			if e.zeros() == 15 {
				k += 16
				continue
			}
			if e.zeros() != 0 {
				return 0, false, errCode
			}
			break
		}
		if k += e.zeros(); k > 63 {
			return 0, false, errRange
		}
		if k <= p.last {
			if p.slots[k] >= 0 {
				v, at := signed(int(acc<<e.code()>>(64-size)), size), zigzag[k]&63
				d.block[at] = int32(v) * p.scale[at]
				rows |= 1 << (at / 8)
				flat = false
			}
		}
		acc <<= total
		n -= total
		k++
	}
	b.acc, b.n = acc, n
	return rows, flat, nil
}

// band reads some coefficients of a block of a progressive file for the first time.
func (d *decoder) band(s *scanning, p *part, known *uint64, kept []int16) error {
	if d.ends > 0 {
		d.ends--
		return nil
	}
	for k := s.first; k <= s.last; {
		e, err := d.symbol(s.others[0])
		if err != nil {
			return err
		}
		size, zeros := e.size(), e.zeros()
		if size == 0 {
			if zeros == 15 {
				k += 16
				continue
			}
			more, err := d.number(uint(zeros))
			d.ends = 1<<zeros + more - 1
			return err
		}
		v, err := d.number(size)
		if err != nil {
			return err
		}
		if k += zeros; k > s.last {
			return errRange
		}
		*known |= 1 << k
		if err := store(kept, p.slots[k], signed(v, size)<<s.low); err != nil {
			return err
		}
		k++
	}
	return nil
}

// refine reads one more bit of some coefficients of a block, and those that had been 0 until now.
func (d *decoder) refine(s *scanning, p *part, known *uint64, kept []int16) error {
	k := s.first
	for d.ends == 0 && k <= s.last {
		e, err := d.symbol(s.others[0])
		if err != nil {
			return err
		}
		zeros, v := e.zeros(), 0
		switch e.size() {
		case 0:
			if zeros < 15 {
				more, err := d.number(uint(zeros))
				if err != nil {
					return err
				}
				d.ends = 1<<zeros + more
			}
		case 1:
			bit, err := d.number(1)
			if err != nil {
				return err
			}
			v = (2*bit - 1) << s.low
		default:
			return errCode
		}
		if d.ends > 0 {
			break
		}
		for ; k <= s.last; k++ {
			if *known>>k&1 == 0 {
				if zeros == 0 {
					break
				}
				zeros--
			} else if err := d.oneMore(s, p, k, kept); err != nil {
				return err
			}
		}
		if k > s.last {
			return errRange
		}
		if v != 0 {
			*known |= 1 << k
			if err := store(kept, p.slots[k], v); err != nil {
				return err
			}
		}
		k++
	}
	if d.ends == 0 {
		return nil
	}
	d.ends--
	for rest := *known >> k << k & (2<<s.last - 1); rest != 0; rest &= rest - 1 {
		if err := d.oneMore(s, p, mathbits.TrailingZeros64(rest), kept); err != nil {
			return err
		}
	}
	return nil
}

// oneMore reads one more bit of coefficient k, which is not 0.
func (d *decoder) oneMore(s *scanning, p *part, k int, kept []int16) error {
	bit, err := d.number(1)
	slot := p.slots[k]
	if bit == 0 || slot < 0 || err != nil {
		return err
	}
	v := int(kept[slot])
	if v < 0 {
		return store(kept, slot, v-1<<s.low)
	}
	return store(kept, slot, v+1<<s.low)
}

// finish makes the pixels of a part of a progressive file.
func (c *part) finish(d *decoder) error {
	if err := c.scales(d); err != nil {
		return err
	}
	for y := range c.rowsIn {
		for x := range c.colsIn {
			kept, rows, flat := c.kept[(y*c.cols+x)*c.count:][:c.count], uint(0), true
			clear(d.block[:])
			for k, slot := range c.slots[:c.last+1] {
				if slot < 0 || kept[slot] == 0 {
					continue
				}
				at := zigzag[k]
				d.block[at] = int32(kept[slot]) * c.scale[at]
				rows |= 1 << (at / 8)
				flat = flat && k == 0
			}
			c.paint(&d.block, rows, flat, x, y)
		}
	}
	c.known, c.kept = nil, nil
	return nil
}
