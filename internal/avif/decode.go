package avif

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// maxWasm is the most memory that a codec in WebAssembly can have: its addresses have 32 bits.
const maxWasm = 4<<30 - 64<<20

// memory is the most bytes that decoding one of the pictures takes in the codec, beside its file.
func (h *Header) memory() int64 {
	// The planes of several pictures that AV1 keeps to predict from, with borders, of which there are
	// more than pixels in small pictures; then the colours twice.
	w, ht := int64(h.whole.X)+320, int64(h.whole.Y)+320
	n := 32 * w * ht
	if h.Depth > 8 || h.alpha != nil && h.alpha.depth > 8 {
		n *= 2
	}
	return n + 64<<20
}

// Memory is about how many bytes Decode takes at once.
func (h *Header) Memory() int64 {
	n := int64(h.whole.X) * int64(h.whole.Y) * 4
	if h.Depth > 8 {
		n *= 2
	}
	var data int64
	for _, it := range h.colour.items {
		data += it.length()
	}
	return h.memory()/2 + n + 3*data // the codec seldom needs as much as it may have
}

// Decode decodes the picture. It returns what writes row y of it as R, G, B and A, not multiplied by alpha: of
// 8 bits, or of 16 bits, high byte first, if wide is set.
// Errors: as ReadHeader, and ErrUnsupported if the program has no codec.
func (h *Header) Decode(ctx context.Context, r io.ReaderAt, wide bool) (func(dst []byte, y int), error) {
	pix, err := h.decode(ctx, r, h.colour)
	if err != nil {
		return nil, err
	}
	var alpha []byte
	deepAlpha := false
	if h.alpha != nil {
		if alpha, err = h.decode(ctx, r, h.alpha); err != nil {
			return nil, fmt.Errorf("its alpha: %w", err)
		}
		deepAlpha = h.alpha.depth > 8
	}
	deep, width := h.colour.depth > 8, h.whole.X
	sample := func(b []byte, deep bool, i int) uint32 {
		if deep {
			return uint32(binary.LittleEndian.Uint16(b[2*i:]))
		}
		return uint32(b[i]) * 257
	}
	return func(dst []byte, y int) {
		at := (y+h.crop.Min.Y)*width + h.crop.Min.X
		if !deep && !wide && alpha == nil {
			copy(dst, pix[4*at:4*(at+h.Width)])
			return
		}
		for x := range h.Width {
			i := 4 * (at + x)
			v := [4]uint32{sample(pix, deep, i), sample(pix, deep, i+1), sample(pix, deep, i+2), 0xffff}
			if alpha != nil {
				v[3] = sample(alpha, deepAlpha, i)
				if h.premultiplied && v[3] > 0 {
					for c := range 3 {
						v[c] = min((v[c]*0xffff+v[3]/2)/v[3], 0xffff)
					}
				}
			}
			for c, v := range v {
				if wide {
					binary.BigEndian.PutUint16(dst[8*x+2*c:], uint16(v))
				} else {
					dst[4*x+c] = byte((v + 128) / 257)
				}
			}
		}
	}, nil
}

// decode decodes one of the pictures, from a file that has nothing else.
func (h *Header) decode(ctx context.Context, r io.ReaderAt, p *picture) ([]byte, error) {
	codec, err := codec()
	if err != nil {
		return nil, err
	}
	most := h.memory()
	if most > maxWasm {
		return nil, fmt.Errorf("%w: AVIF of %d×%d pixels, which takes more memory than its codec can have", errs.ErrUnsupported, h.whole.X, h.whole.Y)
	}
	var out []part
	for i, it := range p.items {
		data, err := p.c.data(r, it)
		if err != nil {
			return nil, err
		}
		if it.kind == "av01" {
			if err := still(data); err != nil {
				return nil, err
			}
		}
		most += 2 * int64(len(data))
		own := part{kind: it.kind, data: data}
		for _, q := range it.props {
			if forCodec[q.kind] || q.kind == "colr" && len(q.body) > 4 && string(q.body[:4]) == "nclx" {
				own.props = append(own.props, prop{q.whole, q.essential})
			}
		}
		if i > 0 {
			out[0].tiles = append(out[0].tiles, i+1)
		}
		out = append(out, own)
	}
	n := 4 * h.whole.X * h.whole.Y
	if p.depth > 8 {
		n *= 2
	}
	pix, err := codec.Decode(ctx, file(out), h.whole.X, h.whole.Y, p.depth, min(most, maxWasm))
	if err == nil && len(pix) != n {
		err = fmt.Errorf("the codec returned %d bytes of %d", len(pix), n)
	}
	return pix, err
}

// still returns an error if AV1 data have more pictures than a still picture needs. There may be several of
// growing quality, of which the last one counts. A file of many pictures that are not shown would take
// hours.
func still(data []byte) error {
	const most = 16
	pictures := 0
	for len(data) > 0 {
		head := data[0]
		data = data[1:]
		if head&4 != 0 && len(data) > 0 { // an extension
			data = data[1:]
		}
		size := uint64(len(data))
		if head&2 != 0 {
			n := 0
			if size, n = binary.Uvarint(data); n <= 0 {
				return errors.New("AV1 data are damaged")
			}
			data = data[n:]
		}
		if size > uint64(len(data)) {
			return io.ErrUnexpectedEOF
		}
		data = data[size:]
		if kind := head >> 3 & 15; kind == 3 || kind == 6 { // the header of a picture, and a picture
			if pictures++; pictures > most {
				return fmt.Errorf("%w: AVIF with AV1 data of more than %d pictures", errs.ErrUnsupported, most)
			}
		}
	}
	return nil
}
