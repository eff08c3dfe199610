package tiff

import (
	"bytes"
	"cmp"
	"compress/zlib"
	"encoding/binary"
	"image"
	"math/bits"
	"math/rand/v2"
	"slices"
)

// kind is one way of storing a picture. The zero values are the common ones.
type kind struct {
	photometric int
	bits        int
	extra       []int // meanings of the samples past the colours
	planar      bool
	tile        int // side of a tile, 0 = strips
	rows        int // of a strip, 0 = all
	compression int
	predict     bool
	lsbFirst    bool
	sub         [2]int
	bigEndian   bool
	big         bool
	omit        uint16 // a tag to leave out
	add         []tag  // and some more
	as          []byte // what every chunk is stored as, once for all
	claim       uint64 // how long every chunk is said to be, 0 = as it is
}

type tag struct {
	id, kind uint16
	values   []uint64
}

// drawn is a picture as samples: those of a pixel side by side.
type drawn struct {
	w, h, n int
	s       []uint32
}

func (d *drawn) at(x, y int) []uint32 { return d.s[(y*d.w+x)*d.n:][:d.n] }

// draw makes noise with smooth parts.
func (k *kind) draw(w, h int, seed uint64) *drawn {
	r := rand.New(rand.NewPCG(seed, 3))
	d := &drawn{w: w, h: h, n: colours[k.photometric] + len(k.extra)}
	d.s = make([]uint32, w*h*d.n)
	var v uint32
	for i := range d.s {
		if r.IntN(4) == 0 {
			v = r.Uint32()
		}
		d.s[i] = v >> (32 - k.bits)
	}
	if k.photometric != ycbcr || k.sub[0]*k.sub[1] <= 1 {
		return d
	}
	for y := range h { // pixels that share a colour
		for x := range w {
			copy(d.at(x, y)[1:], d.at(x/k.sub[0]*k.sub[0], y/k.sub[1]*k.sub[1])[1:])
		}
	}
	return d
}

// file writes the picture.
func (k *kind) file(d *drawn) []byte {
	var order binary.AppendByteOrder = binary.LittleEndian
	if k.bigEndian {
		order = binary.BigEndian
	}
	cw, ch := d.w, d.h
	if k.rows > 0 {
		ch = k.rows
	}
	if k.tile > 0 {
		cw, ch = k.tile, k.tile
	}
	planes := 1
	if k.planar {
		planes = d.n
	}
	out := []byte("II*\x00\x00\x00\x00\x00")
	if k.bigEndian {
		out = []byte("MM\x00*\x00\x00\x00\x00")
	}
	if k.big {
		if !k.bigEndian {
			out = []byte("II+\x00\x08\x00\x00\x00")
		} else {
			out = []byte("MM\x00+\x00\x08\x00\x00")
		}
		out = append(out, make([]byte, 8)...)
	}
	var offsets, counts []uint64
	for p := range planes {
		for top := 0; top < d.h; top += ch {
			for left := 0; left < d.w; left += cw {
				rows := ch
				if k.tile == 0 {
					rows = min(ch, d.h-top)
				}
				b := k.as
				if b == nil {
					b = k.pack(k.chunk(d, left, top, cw, rows, p, planes, order))
				}
				at := uint64(len(out))
				if k.as != nil && len(offsets) > 0 {
					at = offsets[0]
				} else {
					out = append(out, b...)
				}
				offsets, counts = append(offsets, at), append(counts, cmp.Or(k.claim, uint64(len(b))))
			}
		}
	}
	out = append(out, make([]byte, len(out)&1)...)
	depths := make([]uint64, d.n)
	for i := range depths {
		depths[i] = uint64(k.bits)
	}
	flag := func(b bool, yes, no uint64) []uint64 {
		if b {
			return []uint64{yes}
		}
		return []uint64{no}
	}
	tags := []tag{{256, 4, []uint64{uint64(d.w)}}, {257, 3, []uint64{uint64(d.h)}}, {258, 3, depths},
		{259, 3, []uint64{uint64(max(k.compression, 1))}}, {262, 3, []uint64{uint64(k.photometric)}},
		{266, 3, flag(k.lsbFirst, 2, 1)}, {277, 3, []uint64{uint64(d.n)}}, {284, 3, flag(k.planar, 2, 1)},
		{317, 3, flag(k.predict, 2, 1)}}
	if k.tile > 0 {
		tags = append(tags, tag{322, 3, []uint64{uint64(cw)}}, tag{323, 3, []uint64{uint64(ch)}}, tag{324, 4, offsets}, tag{325, 4, counts})
	} else {
		tags = append(tags, tag{273, 4, offsets}, tag{278, 4, []uint64{uint64(ch)}}, tag{279, 4, counts})
	}
	if k.photometric == paletted {
		tags = append(tags, tag{320, 3, table(k.bits)})
	}
	if k.sub[0] > 0 {
		tags = append(tags, tag{530, 3, []uint64{uint64(k.sub[0]), uint64(k.sub[1])}})
	}
	if len(k.extra) > 0 {
		var v []uint64
		for _, e := range k.extra {
			v = append(v, uint64(e))
		}
		tags = append(tags, tag{338, 3, v})
	}
	tags = slices.DeleteFunc(tags, func(t tag) bool { return t.id == k.omit })
	return k.directory(out, append(tags, k.add...), order)
}

// table is the colour map.
func table(bits int) []uint64 {
	r := rand.New(rand.NewPCG(1, 1))
	v := make([]uint64, 3<<bits)
	for i := range v {
		v[i] = uint64(r.Uint32() & 0xffff)
	}
	return v
}

// directory appends the tags and says where they are.
func (k *kind) directory(out []byte, tags []tag, order binary.AppendByteOrder) []byte {
	put := func(b []byte, kind uint16, v uint64) []byte {
		switch kind {
		case 3:
			return order.AppendUint16(b, uint16(v))
		case 4:
			return order.AppendUint32(b, uint32(v))
		case 5:
			return order.AppendUint32(order.AppendUint32(b, uint32(v)), 1000)
		}
		return append(b, byte(v))
	}
	inline := 4
	if k.big {
		inline = 8
	}
	var entries []byte
	n := 0
	for _, t := range tags {
		n++
		var v []byte
		for _, x := range t.values {
			v = put(v, t.kind, x)
		}
		count := uint64(len(t.values))
		entries = order.AppendUint16(order.AppendUint16(entries, t.id), t.kind)
		if k.big {
			entries = order.AppendUint64(entries, count)
		} else {
			entries = order.AppendUint32(entries, uint32(count))
		}
		if len(v) <= inline {
			entries = append(append(entries, v...), make([]byte, inline-len(v))...)
			continue
		}
		if k.big {
			entries = order.AppendUint64(entries, uint64(len(out)))
		} else {
			entries = order.AppendUint32(entries, uint32(len(out)))
		}
		out = append(append(out, v...), make([]byte, len(v)&1)...)
	}
	at := len(out)
	if k.big {
		copy(out[8:], order.AppendUint64(nil, uint64(at)))
		out = order.AppendUint64(out, uint64(n))
		return append(append(out, entries...), make([]byte, 8)...)
	}
	copy(out[4:], order.AppendUint32(nil, uint32(at)))
	out = order.AppendUint16(out, uint16(n))
	return append(append(out, entries...), make([]byte, 4)...)
}

// chunk lays out the samples of a strip or tile.
func (k *kind) chunk(d *drawn, left, top, cw, rows, plane, planes int, order binary.AppendByteOrder) []byte {
	at := func(x, y int) []uint32 { // past the edge, the edge
		return d.at(min(left+x, d.w-1), min(top+y, d.h-1))
	}
	var out []byte
	if hs, vs := k.sub[0], k.sub[1]; hs*vs > 1 {
		for y := 0; y < rows; y += vs {
			for x := 0; x < cw; x += hs {
				for j := range vs {
					for i := range hs {
						out = append(out, byte(at(x+i, y+j)[0]))
					}
				}
				out = append(out, byte(at(x, y)[1]), byte(at(x, y)[2]))
			}
		}
		return out
	}
	for y := range rows {
		var line []uint32
		for x := range cw {
			if planes > 1 {
				line = append(line, at(x, y)[plane])
			} else {
				line = append(line, at(x, y)...)
			}
		}
		if k.predict {
			per := d.n / planes
			for i := len(line) - 1; i >= per; i-- {
				line[i] = (line[i] - line[i-per]) & uint32(1<<k.bits-1)
			}
		}
		var v uint64
		have := 0
		for _, s := range line {
			switch k.bits {
			case 16:
				out = order.AppendUint16(out, uint16(s))
			case 32:
				out = order.AppendUint32(out, s)
			default:
				v, have = v<<k.bits|uint64(s), have+k.bits
				for ; have >= 8; have -= 8 {
					out = append(out, byte(v>>(have-8)))
				}
			}
		}
		if have > 0 {
			out = append(out, byte(v<<(8-have)))
		}
	}
	return out
}

// pack compresses a chunk.
func (k *kind) pack(b []byte) []byte {
	switch k.compression {
	case deflate, deflateOld:
		var z bytes.Buffer
		w := zlib.NewWriter(&z)
		w.Write(b)
		w.Close()
		b = z.Bytes()
	case packBits:
		var out []byte
		for i := 0; i < len(b); {
			n := 1
			for i+n < len(b) && n < 128 && b[i+n] == b[i] {
				n++
			}
			if n > 1 {
				out = append(out, byte(257-n), b[i])
			} else {
				for i+n < len(b) && n < 128 && b[i+n] != b[i+n-1] {
					n++
				}
				out = append(append(out, byte(n-1)), b[i:i+n]...)
			}
			i += n
		}
		b = append(out, 128)
	}
	if k.lsbFirst {
		b = bytes.Clone(b)
		for i := range b {
			b[i] = bits.Reverse8(b[i])
		}
	}
	return b
}

// seen is the picture as it must be read, by definition and in float.
func (k *kind) seen(d *drawn) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, d.w, d.h))
	top := float64(uint64(1)<<k.bits - 1)
	for i := range d.w * d.h {
		p := d.s[i*d.n:][:d.n]
		v := make([]float64, d.n)
		for c := range v {
			v[c] = float64(p[c]) / top
		}
		var c [3]float64
		switch k.photometric {
		case whiteIsZero:
			c = [3]float64{1 - v[0], 1 - v[0], 1 - v[0]}
		case blackIsZero:
			c = [3]float64{v[0], v[0], v[0]}
		case rgb:
			c = [3]float64(v[:3])
		case cmyk:
			c = [3]float64{(1 - v[0]) * (1 - v[3]), (1 - v[1]) * (1 - v[3]), (1 - v[2]) * (1 - v[3])}
		case paletted:
			t := table(k.bits)
			for j := range c {
				c[j] = float64(t[j<<k.bits+int(p[0])]) / 65535
			}
		case ycbcr:
			cb, cr := v[1]-128./255, v[2]-128./255
			c = [3]float64{v[0] + 1.402*cr, v[0] - 0.344136*cb - 0.714136*cr, v[0] + 1.772*cb}
		}
		a := 1.0
		for j, e := range k.extra {
			if e == 1 || e == 2 {
				a = v[colours[k.photometric]+j]
			}
			if e == 1 {
				for j := range c {
					if c[j] /= a; a == 0 {
						c[j] = 0
					}
				}
			}
		}
		for j, f := range append(c[:], a) {
			m.Pix[4*i+j] = byte(min(max(f, 0), 1)*255 + 0.5)
		}
	}
	return m
}
