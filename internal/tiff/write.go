package tiff

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"image/color"
	"io"
	"math"

	"github.com/lathe-gpu/lathe/internal/exif"
)

// Picture is a picture to be written.
type Picture struct {
	Width, Height int // pixels
	Samples       int // of a pixel: 1 grey, 2 grey and alpha, 3 RGB, 4 RGB and alpha, which colours are not multiplied by
	Bits          int // of a sample: 1 (grey only, 0 is black), 8 or 16
	// Row writes row y: Samples of 8 bits, or of 16 with the high byte first, or 8 pixels a byte.
	Row func(dst []byte, y int)
	// Palette, if there is one, has the colours that samples of 8 bits stand for.
	Palette color.Palette
	// Head, if it is not empty, is an EXIF block with which the file begins. So what it has stays
	// where it was, and tags may lead to it. Its byte order is that of the fiorder.
	Head []byte
	// Tags are written beside those of the pixels, with values in the byte order of Head, or
	// with the low byte first.
	Tags []exif.Entry
	// Level is how much is compressed, as in compress/zlib.
	Level int
}

// stripBytes is about how many bytes of pixels are compressed at a time.
const stripBytes = 1 << 20

type byteOrder interface {
	binary.ByteOrder
	binary.AppendByteOrder
}

// order is the byte order of the fiorder.
func (p *Picture) order() byteOrder {
	if bytes.HasPrefix(p.Head, []byte("MM")) {
		return binary.BigEndian
	}
	return binary.LittleEndian
}

// RowBytes is the length of a row.
func (p *Picture) RowBytes() int { return (p.Width*p.Samples*p.Bits + 7) / 8 }

// Write writes a TIFF file, compressed by deflate in strips. The compressed pixels are in memory
// until all are there, because the file begins with where its directory lies.
// Errors: those of w, and a file of more than 4 GiB.
func Write(w io.Writer, p *Picture) error {
	row := p.RowBytes()
	rows := min(max(stripBytes/row, 1), p.Height)
	var strips [][]byte
	order := p.order()
	head := bytes.Clone(p.Head)
	if len(head) < 8 {
		head = append([]byte("II*\x00"), 0, 0, 0, 0)
	}
	head = append(head, make([]byte, len(head)&1)...)
	at := int64(len(head))
	offsets, counts := []byte{}, []byte{}
	line, z := make([]byte, row), (*zlib.Writer)(nil)
	for y := 0; y < p.Height; {
		var b bytes.Buffer
		if z == nil {
			var err error
			if z, err = zlib.NewWriterLevel(&b, p.Level); err != nil {
				return err
			}
		}
		z.Reset(&b)
		for end := min(y+rows, p.Height); y < end; y++ {
			p.Row(line, y)
			p.predict(line)
			if _, err := z.Write(line); err != nil {
				return err
			}
		}
		if err := z.Close(); err != nil {
			return err
		}
		strip := bytes.Clone(b.Bytes()) // without the room to grow
		strips = append(strips, strip)
		offsets, counts = order.AppendUint32(offsets, uint32(at)), order.AppendUint32(counts, uint32(len(strip)))
		if at += int64(len(strip)); at > math.MaxUint32-1<<16 {
			return errTooLong
		}
	}
	at += at & 1
	short := func(tag uint16, v ...int) exif.Entry {
		e := exif.Entry{Tag: tag, Kind: 3, Count: uint32(len(v))}
		for _, x := range v {
			e.Data = order.AppendUint16(e.Data, uint16(x))
		}
		return e
	}
	long := func(tag uint16, data []byte) exif.Entry {
		return exif.Entry{Tag: tag, Kind: 4, Count: uint32(len(data) / 4), Data: data}
	}
	number := func(tag uint16, v int) exif.Entry { return long(tag, order.AppendUint32(nil, uint32(v))) }
	bits := make([]int, p.Samples)
	for i := range bits {
		bits[i] = p.Bits
	}
	colours := blackIsZero
	switch {
	case p.Palette != nil:
		colours = paletted
	case p.Samples > 2:
		colours = rgb
	}
	tags := []exif.Entry{
		number(256, p.Width), number(257, p.Height), short(258, bits...), short(259, deflate), short(262, colours),
		long(273, offsets), short(277, p.Samples), number(278, rows), long(279, counts), short(284, 1),
	}
	if p.Palette != nil {
		table := make([]int, 3*256)
		for i, c := range p.Palette[:min(len(p.Palette), 256)] {
			r, g, b, _ := c.RGBA()
			table[i], table[256+i], table[512+i] = int(r), int(g), int(b)
		}
		tags = append(tags, short(320, table...))
	} else if p.Bits > 1 {
		tags = append(tags, short(317, 2))
	}
	if p.Samples%2 == 0 {
		tags = append(tags, short(338, 2))
	}
	// The directories inside come first, and the first directory last.
	tail, dir := exif.Append(nil, at, order, append(tags, p.Tags...))
	if at+int64(len(tail)) > math.MaxUint32 {
		return errTooLong
	}
	order.PutUint32(head[4:], uint32(dir))
	out := bufio.NewWriter(w)
	out.Write(head)
	end := int64(len(head))
	for _, s := range strips {
		out.Write(s)
		end += int64(len(s))
	}
	out.Write(make([]byte, at-end))
	out.Write(tail)
	return out.Flush()
}

var errTooLong = errors.New("TIFF ends at 4 GiB")

// IsTooLong reports whether Write has refused a file of more than 4 GiB.
func IsTooLong(err error) bool { return err == errTooLong }

// predict replaces samples by how far they are from those of the pixel before.
func (p *Picture) predict(row []byte) {
	if p.Palette != nil {
		return // their numbers mean nothing
	}
	switch n := p.Samples; p.Bits {
	case 8:
		for i := len(row) - 1; i >= n; i-- {
			row[i] -= row[i-n]
		}
	case 16:
		order, high := p.order(), binary.BigEndian
		for i := len(row) - 2; i >= 0; i -= 2 {
			v := high.Uint16(row[i:])
			if i >= 2*n {
				v -= high.Uint16(row[i-2*n:])
			}
			order.PutUint16(row[i:], v)
		}
	}
}
