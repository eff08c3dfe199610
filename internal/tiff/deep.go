package tiff

import "encoding/binary"

// deepPainter is painter for 16 bits a channel. The picture is grey, RGB or CMYK.
func (h *Header) deepPainter() func(dst []byte, s []uint32) {
	n, alpha, top := h.samples, h.alpha, uint64(1)<<h.bits-1
	scaled := func(v uint32) uint64 { return (uint64(v)*2*0xffff + top) / (2 * top) }
	if h.bits == 16 {
		scaled = func(v uint32) uint64 { return uint64(v) }
	}
	return func(dst []byte, s []uint32) {
		var c [4]uint64
		for x := 0; 8*x < len(dst); x++ {
			p := s[x*n : x*n+n]
			switch h.photometric {
			case rgb:
				c[0], c[1], c[2] = scaled(p[0]), scaled(p[1]), scaled(p[2])
			case cmyk:
				light := 0xffff - scaled(p[3])
				for i := range 3 {
					c[i] = ((0xffff-scaled(p[i]))*light + 0x7fff) / 0xffff
				}
			default:
				v := scaled(p[0])
				if h.photometric == whiteIsZero {
					v = 0xffff - v
				}
				c[0], c[1], c[2] = v, v, v
			}
			if c[3] = 0xffff; alpha > 0 {
				if c[3] = scaled(p[alpha]); h.multiplied {
					for i := range 3 {
						if c[3] == 0 {
							c[i] = 0
						} else {
							c[i] = min((c[i]*0xffff+c[3]/2)/c[3], 0xffff)
						}
					}
				}
			}
			for i, v := range c {
				binary.BigEndian.PutUint16(dst[8*x+2*i:], uint16(v))
			}
		}
	}
}
