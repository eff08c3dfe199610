package tiff

import (
	"fmt"
	"io"
)

// Decode decodes the picture in bands of rows: emit is given each band as not
// premultiplied RGBA, 4·Width bytes a row, and the number of its first row,
// counted from the top. If wide is set, which Deep must allow, they are of 16 bits a channel with
// the high byte first, 8·Width bytes a row. It may not keep the band. An error of emit ends it.
// Errors are as those of ReadHeader.
func (h *Header) Decode(r io.ReaderAt, wide bool, emit func(y int, band []byte) error) error {
	// What the header has left in the file is read by r too: it may end earlier, and tell why.
	own, dir := *h, *h.dir
	own.dir, dir.r = &dir, r
	h = &own
	offsets, counts, err := h.places()
	if err != nil {
		return err
	}
	d := &decoder{Header: h, r: r, offsets: offsets, counts: counts, pixel: 4}
	if wide {
		d.paint, d.pixel = h.deepPainter(), 8
	} else if d.paint, err = h.painter(); err != nil {
		return err
	}
	for row := range h.down() {
		if err := d.chunkRow(row, emit); err != nil {
			return early(err)
		}
	}
	return nil
}

// placeTags returns the tags of where the chunks are and how long they are.
func (h *Header) placeTags() (at, length uint16) {
	if _, tiles := h.dir.tags[324]; h.tiled && tiles {
		return 324, 325
	}
	return 273, 279
}

// places returns where the chunks are and how many bytes there are to be read of
// each.
func (h *Header) places() (offsets, counts []uint64, err error) {
	at, length := h.placeTags()
	n := uint64(h.chunks())
	if offsets, err = h.dir.numbers(at, n); err != nil {
		return nil, nil, err
	}
	if counts, err = h.dir.numbers(length, n); err != nil {
		return nil, nil, err
	}
	if len(counts) == 0 && n == 1 && len(offsets) == 1 { // all there is
		counts = []uint64{uint64(h.dir.size)}
	}
	if uint64(len(offsets)) < n || uint64(len(counts)) < n {
		return nil, nil, fmt.Errorf("%d strips or tiles where %d should be", min(len(offsets), len(counts)), n)
	}
	return offsets, counts, h.checkCounts(offsets[:n], counts[:n])
}

// checkCounts cuts the lengths of chunks to what can be read of them, and refuses
// a file that has far more read than it holds. Chunks may share bytes, as the
// blank tiles of some writers do: that is as much as their pixels take.
func (h *Header) checkCounts(offsets, counts []uint64) error {
	chunk := h.chunkBytes()
	most := 4*float64(h.dir.size) + 2*float64(chunk)*float64(len(counts))
	var sum float64
	for i, at := range offsets {
		// What is missing is noticed when it is read.
		counts[i] = min(counts[i], uint64(h.dir.size)-min(at, uint64(h.dir.size)))
		if h.compression == none {
			counts[i] = min(counts[i], uint64(chunk))
		}
		sum += float64(counts[i])
	}
	if sum > most {
		return fmt.Errorf("its strips or tiles take %.0f bytes of a file of %d, one and the same many times", sum, h.dir.size)
	}
	return nil
}

// decoder is one call of Decode.
type decoder struct {
	*Header
	r               io.ReaderAt
	offsets, counts []uint64
	paint           func(dst []byte, s []uint32)
	band            []byte
	pixel           int // bytes of a pixel in band
}

// chunkRow decodes a strip, or a row of tiles.
func (d *decoder) chunkRow(row int, emit func(y int, band []byte) error) error {
	top := row * d.chunkH
	rows := min(d.chunkH, d.Height-top)
	stored := rows // strips end with the picture, tiles are filled up
	if d.tiled {
		stored = d.chunkH
	}
	step := rows
	if !d.tiled { // a strip may be the whole picture, and is handed over in pieces
		step = min(rows, bandRows)
	}
	if n := d.pixel * d.Width * step; cap(d.band) < n {
		d.band = make([]byte, n)
	}
	across := d.across()
	for i := range across {
		src, err := d.source(row*across+i, stored)
		if err != nil {
			return err
		}
		left := i * d.chunkW
		w := min(d.chunkW, d.Width-left)
		for y := range rows {
			s, err := src.row()
			if err != nil {
				return err
			}
			at := d.pixel * ((y%step)*d.Width + left)
			d.paint(d.band[at:at+d.pixel*w], s)
			if last := y == rows-1; !d.tiled && (last || (y+1)%step == 0) {
				from := y - y%step
				if err := emit(top+from, d.band[:d.pixel*d.Width*(y-from+1)]); err != nil {
					return err
				}
			}
		}
	}
	if d.tiled {
		return emit(top, d.band[:d.pixel*d.Width*rows])
	}
	return nil
}

// rowSource gives the rows of a chunk, one after the other, as samples: those of
// a pixel side by side.
type rowSource struct {
	h      *Header
	planes []io.Reader
	width  int // pixels
	raw    []byte
	out    []uint32
	shared [][]uint32 // rows that share their colours, yet to be given
}

func (d *decoder) source(i, rows int) (*rowSource, error) {
	s := &rowSource{h: d.Header, width: d.chunkW}
	for p := range d.planes() {
		k := p*d.across()*d.down() + i
		at, n := d.offsets[k], d.counts[k]
		if at >= uint64(d.dir.size) {
			return nil, io.ErrUnexpectedEOF
		}
		in, err := d.open(d.r, int64(at), int64(n), rows)
		if err != nil {
			return nil, early(err)
		}
		s.planes = append(s.planes, in)
	}
	s.raw = make([]byte, d.rowBytes())
	s.out = make([]uint32, s.width*d.samples)
	return s, nil
}

// row returns the next row. It holds until the next call.
func (s *rowSource) row() ([]uint32, error) {
	h := s.h
	if h.sub[0]*h.sub[1] > 1 {
		return s.sharedRow()
	}
	n := len(s.planes)
	per := h.samples / n // samples of a pixel in a plane
	for p, in := range s.planes {
		if _, err := io.ReadFull(in, s.raw); err != nil {
			return nil, early(err)
		}
		h.unpack(s.out[p:], n, s.raw, s.width*per)
		if h.predict && (h.compression == lzwCoded || h.compression == deflate || h.compression == deflateOld) {
			mask := uint32(1<<h.bits - 1)
			for i := per; i < s.width*per; i++ {
				s.out[p+i*n] = (s.out[p+i*n] + s.out[p+(i-per)*n]) & mask
			}
		}
	}
	return s.out, nil
}

// unpack writes n samples to every step-th place of dst.
func (h *Header) unpack(dst []uint32, step int, raw []byte, n int) {
	switch h.bits {
	case 8:
		for i := range n {
			dst[i*step] = uint32(raw[i])
		}
	case 16:
		for i := range n {
			dst[i*step] = uint32(h.dir.order.Uint16(raw[2*i:]))
		}
	case 32:
		for i := range n {
			dst[i*step] = h.dir.order.Uint32(raw[4*i:])
		}
	default:
		var v uint32
		have, at := 0, 0
		for i := range n {
			for have < h.bits {
				v, have, at = v<<8|uint32(raw[at]), have+8, at+1
			}
			have -= h.bits
			dst[i*step] = v >> have & (1<<h.bits - 1)
		}
	}
}

// sharedRow returns a row of YCbCr whose colours several pixels share: blocks of
// brightnesses, each followed by its two colours.
func (s *rowSource) sharedRow() ([]uint32, error) {
	hs, vs := s.h.sub[0], s.h.sub[1]
	if len(s.shared) == 0 {
		if _, err := io.ReadFull(s.planes[0], s.raw); err != nil {
			return nil, early(err)
		}
		if len(s.out) < 3*s.width*vs {
			s.out = make([]uint32, 3*s.width*vs)
		}
		for v := range vs {
			line := s.out[3*s.width*v : 3*s.width*(v+1)]
			for x := range s.width {
				block := s.raw[x/hs*(hs*vs+2):]
				line[3*x] = uint32(block[v*hs+x%hs])
				line[3*x+1], line[3*x+2] = uint32(block[hs*vs]), uint32(block[hs*vs+1])
			}
			s.shared = append(s.shared, line)
		}
	}
	line := s.shared[0]
	s.shared = s.shared[1:]
	return line, nil
}

// painter returns a function that makes RGBA of the samples of a row.
func (h *Header) painter() (func(dst []byte, s []uint32), error) {
	colour, err := h.colour()
	if err != nil {
		return nil, err
	}
	n, alpha := h.samples, h.alpha
	if h.photometric == rgb && h.bits == 8 { // most files
		return func(dst []byte, s []uint32) {
			for x := 0; 4*x < len(dst); x++ {
				d, p := dst[4*x:4*x+4:4*x+4], s[x*n:x*n+n:x*n+n]
				d[0], d[1], d[2], d[3] = byte(p[0]), byte(p[1]), byte(p[2]), 255
				if alpha > 0 {
					if d[3] = byte(p[alpha]); h.multiplied && d[3] != 255 {
						divide(d)
					}
				}
			}
		}, nil
	}
	widen := widener(h.bits)
	return func(dst []byte, s []uint32) {
		for x := 0; 4*x < len(dst); x++ {
			d, p := dst[4*x:4*x+4:4*x+4], s[x*n:x*n+n]
			colour(d, p)
			if d[3] = 255; alpha == 0 {
				continue
			}
			if d[3] = widen(p[alpha]); h.multiplied {
				divide(d)
			}
		}
	}, nil
}

// divide takes the alpha of a pixel out of its colours.
func divide(d []byte) {
	a := uint32(d[3])
	for c := range 3 {
		if a == 0 {
			d[c] = 0
		} else {
			d[c] = byte(min((uint32(d[c])*255+a/2)/a, 255))
		}
	}
}

// widener returns a function that rounds a sample to 8 bits.
func widener(bits int) func(v uint32) byte {
	switch {
	case bits == 8:
		return func(v uint32) byte { return byte(v) }
	case bits <= 16:
		table := make([]byte, 1<<bits)
		top := uint32(len(table) - 1)
		for v := range table {
			table[v] = byte((uint32(v)*510 + top) / (2 * top))
		}
		return func(v uint32) byte { return table[v] }
	}
	return func(v uint32) byte { return byte((uint64(v)*510 + 1<<32 - 1) / (2 * (1<<32 - 1))) }
}
