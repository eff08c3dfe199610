package webp

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math"
)

// MaxSide is the most pixels that a side of a WebP picture has.
const MaxSide = 16383

// Picture is a picture to be written.
type Picture struct {
	Width, Height int                     // 1 to MaxSide
	Row           func(dst []byte, y int) // writes a row as RGBA, not premultiplied; called for a row several times
	Alpha         bool                    // whether there is a pixel that is not opaque
	Lossless      bool
	Quality       int // 1 to 100, of a picture that is not lossless
	// ICC, EXIF and XMP are what the file has beside the picture.
	ICC, EXIF, XMP []byte
}

// ErrTooLong says that a picture does not fit into a file.
var ErrTooLong = errors.New("a WebP file has no place for so much")

// Flags of an extended file.
const (
	hasFrames = 1 << 1
	hasXMP    = 1 << 2
	hasEXIF   = 1 << 3
	hasAlpha  = 1 << 4
	hasICC    = 1 << 5
)

// Encode writes a picture. Errors: ctx.Err(), that of w, ErrTooLong.
func Encode(ctx context.Context, w io.Writer, p *Picture) error {
	parts, err := p.encode(ctx)
	if err != nil {
		return err
	}
	return p.writeStill(w, parts)
}

// encode returns the chunks that have the pixels: ALPH, which may be empty, and VP8 or VP8L.
func (p *Picture) encode(ctx context.Context) ([]part, error) {
	var body, alpha []byte
	var err error
	name := "VP8 "
	if p.Lossless {
		name = "VP8L"
		body, err = lossless(ctx, p.pixels(0), p.Width, p.Height, p.Alpha)
	} else {
		body, err = lossy(ctx, p)
	}
	if err == nil && p.Alpha && !p.Lossless {
		b := &bitWriter{out: []byte{1}} // without loss, and not filtered
		err = b.plane(ctx, p.pixels(24), p.Width, p.Height)
		alpha = b.end()
	}
	if errors.Is(err, errHeader) {
		err = ErrTooLong
	}
	return []part{{"ALPH", alpha}, {name, body}}, err
}

// writeStill writes a file of one picture.
func (p *Picture) writeStill(w io.Writer, pixels []part) error {
	flags := p.flags()
	var parts []part
	if flags&^hasAlpha != 0 || pixels[0].data != nil {
		parts = []part{{"VP8X", extended(flags, p.Width, p.Height)}}
	}
	parts = append(append(parts, part{"ICCP", p.ICC}), pixels...)
	return writeParts(w, append(parts, part{"EXIF", p.EXIF}, part{"XMP ", p.XMP}))
}

// flags says what an extended file has.
func (p *Picture) flags() uint32 {
	return bit(len(p.ICC) > 0)*hasICC | bit(p.Alpha)*hasAlpha | bit(len(p.EXIF) > 0)*hasEXIF | bit(len(p.XMP) > 0)*hasXMP
}

// extended is the header of an extended file.
func extended(flags uint32, width, height int) []byte {
	x, y := width-1, height-1
	return []byte{byte(flags), 0, 0, 0, byte(x), byte(x >> 8), 0, byte(y), byte(y >> 8), 0}
}

// part is a chunk of a file.
type part struct {
	name string
	data []byte
}

// writeParts writes the chunks that are not empty.
func writeParts(w io.Writer, parts []part) error {
	size := int64(4)
	for _, c := range parts {
		if n := int64(len(c.data)); n > 0 {
			size += 8 + n + n&1
		}
	}
	if size > math.MaxUint32-10 {
		return ErrTooLong
	}
	head := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(size))
	if _, err := w.Write(append(head, "WEBP"...)); err != nil {
		return err
	}
	return writeChunks(w, parts)
}

// writeChunks writes the chunks that are not empty, without what stands before them in a file.
func writeChunks(w io.Writer, parts []part) error {
	for _, c := range parts {
		if len(c.data) == 0 {
			continue
		}
		head := binary.LittleEndian.AppendUint32([]byte(c.name), uint32(len(c.data)))
		for _, b := range [][]byte{head, c.data, make([]byte, len(c.data)&1)} {
			if _, err := w.Write(b); err != nil {
				return err
			}
		}
	}
	return nil
}

// pixels returns the pixels as numbers of alpha, red, green and blue. If shift is not 0, green is the byte
// at shift, and nothing else is there.
func (p *Picture) pixels(shift int) []uint32 {
	pix := make([]uint32, 0, p.Width*p.Height)
	row := make([]byte, 4*p.Width)
	for y := range p.Height {
		p.Row(row, y)
		for i := 0; i < len(row); i += 4 {
			v := uint32(row[i+3])<<24 | uint32(row[i])<<16 | uint32(row[i+1])<<8 | uint32(row[i+2])
			if shift > 0 {
				v = 0xff000000 | v>>shift&0xff<<8
			}
			pix = append(pix, v)
		}
	}
	return pix
}
