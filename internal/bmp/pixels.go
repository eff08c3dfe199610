package bmp

import (
	"bufio"
	"errors"
	"io"
	"math/bits"
)

// mask takes one channel out of a pixel and widens it to 8 bits.
type mask struct {
	bits  uint32
	shift int
	width int // bits; 0 = the channel is not there
	max   uint32
}

func newMask(v uint32) mask {
	m := mask{bits: v}
	if v != 0 {
		m.shift = bits.TrailingZeros32(v)
		m.width = bits.Len32(v) - m.shift
		m.max = uint32(1<<m.width - 1)
	}
	return m
}

// level returns the channel of pixel p, rounded to 8 bits.
func (m *mask) level(p uint32) byte {
	v := p & m.bits >> m.shift
	switch m.width {
	case 0:
		return 0
	case 8:
		return byte(v)
	}
	return byte((uint64(v)*510 + uint64(m.max)) / (2 * uint64(m.max)))
}

// pixel returns pixel x of a stored row of 16- or 32-bit ones.
func (h *Header) pixel(row []byte, x int) uint32 {
	if h.depth == 16 {
		return uint32(le16(row[2*x:]))
	}
	return le32(row[4*x:])
}

// convert writes one stored row as RGBA. solid says to leave alpha out.
func (h *Header) convert(dst, row []byte, solid bool) {
	switch {
	case h.depth == 24:
		for x := range h.Width {
			s, d := row[3*x:3*x+3:3*x+3], dst[4*x:4*x+4:4*x+4]
			d[0], d[1], d[2], d[3] = s[2], s[1], s[0], 255
		}
	case h.coding != plain || h.depth == 8:
		for x := range h.Width {
			copy(dst[4*x:4*x+4], h.palette[row[x]][:])
		}
	case h.depth < 8:
		per := 8 / h.depth
		for x := range h.Width {
			v := row[x/per] >> (8 - h.depth*(x%per+1)) & (1<<h.depth - 1)
			copy(dst[4*x:4*x+4], h.palette[v][:])
		}
	default:
		for x := range h.Width {
			p, d := h.pixel(row, x), dst[4*x:4*x+4:4*x+4]
			for c := range 3 {
				d[c] = h.masks[c].level(p)
			}
			if d[3] = 255; !solid {
				d[3] = h.masks[3].level(p)
			}
		}
	}
}

// unpack undoes run lengths. The result is one byte a pixel, an index into the
// palette, or three for 24-bit pixels, in the order of the stored rows.
func (h *Header) unpack(r io.ReaderAt) ([]byte, error) {
	in := bufio.NewReaderSize(io.NewSectionReader(r, h.data, h.size-h.data), 32<<10)
	per := 1 // bytes a pixel
	if h.coding == rle24 {
		per = 3
	}
	out := make([]byte, per*h.Width*h.Height)
	x, y := 0, 0
	var pixel [3]byte
	set := func() { // what lies outside the picture is dropped
		if x < h.Width {
			copy(out[per*(y*h.Width+x):], pixel[:per])
		}
		x++
	}
	for y < h.Height {
		n, err := in.ReadByte()
		if err != nil {
			return nil, early(err)
		}
		if n > 0 { // a run
			if err := full(in, pixel[:per]); err != nil {
				return nil, err
			}
			both := pixel[0]
			for i := range int(n) {
				if h.coding == rle4 {
					pixel[0] = both >> (4 * (1 - i&1)) & 15
				}
				set()
			}
			continue
		}
		code, err := in.ReadByte()
		if err != nil {
			return nil, early(err)
		}
		switch code {
		case 0:
			x, y = 0, y+1
		case 1:
			return out, nil
		case 2:
			var d [2]byte
			if err := full(in, d[:]); err != nil {
				return nil, err
			}
			x, y = x+int(d[0]), y+int(d[1])
		default: // that many pixels as they are, filled up to 16-bit words
			bytes := per * int(code)
			if h.coding == rle4 {
				bytes = (int(code) + 1) / 2
			}
			var b [3*255 + 1]byte
			if err := full(in, b[:bytes+bytes&1]); err != nil {
				return nil, err
			}
			for i := range int(code) {
				if h.coding == rle4 {
					pixel[0] = b[i/2] >> (4 * (1 - i&1)) & 15
				} else {
					copy(pixel[:per], b[per*i:])
				}
				set()
			}
		}
	}
	return out, nil
}

func full(r io.Reader, b []byte) error {
	_, err := io.ReadFull(r, b)
	return early(err)
}

func early(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
