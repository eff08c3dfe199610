// Package bmp reads BMP pictures of Windows and OS/2: every header there has
// been, 1 to 32 bits a pixel, colour and alpha masks, run lengths, rows from the
// bottom or from the top, and palettes shorter than they might be.
//
// An index past the palette is black. A pixel that run lengths leave out has
// the palette's first colour. Alpha counts where the header has a mask for it,
// unless it is 0 in the whole picture, which is what programs write that have
// none.
package bmp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// coding is how pixels are stored.
type coding int

const (
	plain coding = iota
	rle4
	rle8
	rle24
)

// Header is what a file tells of its picture.
type Header struct {
	Width, Height int // pixels

	topDown bool
	depth   int // bits a pixel
	coding  coding
	masks   [4]mask       // of red, green, blue and alpha, for depths 16 and 32
	palette [256][4]uint8 // RGBA, for depths up to 8
	data    int64         // where the pixels begin
	size    int64         // of the file
}

// IsBMP reports whether a file that begins with head, of 18 bytes or more, is a
// BMP file, or an OS/2 array of them. Much else begins with the same two letters,
// so the length of the second header must be one.
func IsBMP(head []byte) bool {
	if len(head) < 18 {
		return len(head) >= 2 && string(head[:2]) == "BM" // cut off
	}
	if string(head[:2]) == "BA" {
		return string(head[14:16]) == "BM"
	}
	return string(head[:2]) == "BM" && le32(head[14:]) <= 1<<16
}

const fileHeader = 14

// Palette is the most colours that the palette has, 0 if there is none.
func (h *Header) Palette() int {
	if h.depth > 8 {
		return 0
	}
	return 1 << h.depth
}

// ReadHeader reads the headers and the palette of a file of the size.
// Errors: ErrUnsupported naming the feature, io.ErrUnexpectedEOF, the reader's
// own; any other error says what is damaged.
func ReadHeader(r io.ReaderAt, size int64) (*Header, error) {
	h := &Header{size: size}
	base := int64(0)
	head := make([]byte, fileHeader+4)
	if err := readAt(r, head, 0); err != nil {
		return nil, err
	}
	if string(head[:2]) == "BA" { // an array: the first picture follows its header
		base = fileHeader
		if err := readAt(r, head, base); err != nil {
			return nil, err
		}
	}
	if string(head[:2]) != "BM" {
		return nil, errors.New("it does not begin as a BMP file")
	}
	h.data = int64(le32(head[10:]))
	length := int64(le32(head[14:]))
	if length < 12 || length > 1<<16 {
		return nil, fmt.Errorf("a header of %d bytes", length)
	}
	// What a short header leaves out is zero.
	info := make([]byte, max(length, 124))
	if err := readAt(r, info[:length], base+fileHeader); err != nil {
		return nil, err
	}
	after := base + fileHeader + length // of the header: masks or the palette
	planes, used := 0, uint32(0)
	var compression uint32
	if length == 12 {
		h.Width, h.Height = int(le16(info[4:])), int(le16(info[6:]))
		planes, h.depth = int(le16(info[8:])), int(le16(info[10:]))
	} else {
		h.Width, h.Height = int(int32(le32(info[4:]))), int(int32(le32(info[8:])))
		planes, h.depth = int(le16(info[12:])), int(le16(info[14:]))
		compression, used = le32(info[16:]), le32(info[32:])
	}
	if h.Height < 0 {
		h.Height, h.topDown = -h.Height, true
	}
	if h.Width <= 0 || h.Height <= 0 {
		return nil, fmt.Errorf("its size is %d×%d", h.Width, h.Height)
	}
	if planes > 1 {
		return nil, fmt.Errorf("BMP with %d planes: %w", planes, errs.ErrUnsupported)
	}
	os2 := length == 64 || length > 12 && length < 40
	masks, err := h.compression(compression, os2)
	if err != nil {
		return nil, err
	}
	if err := h.readMasks(r, info, length, after, masks); err != nil {
		return nil, err
	}
	if length == 40 {
		after += 4 * int64(masks)
	}
	if h.depth <= 8 {
		entry := int64(4)
		if length == 12 || length == 64 && h.data-after == 3<<h.depth { // the latter by mistake
			entry = 3
		}
		return h, h.readPalette(r, after, entry, used)
	}
	if h.data == 0 {
		h.data = after + 4*int64(min(used, 256))
	}
	h.data = max(h.data, after)
	return h, h.checkSize()
}

// compression sets how pixels are stored, and returns how many masks follow.
func (h *Header) compression(c uint32, os2 bool) (masks int, err error) {
	no := func(what string) (int, error) {
		return 0, fmt.Errorf("BMP with %s: %w", what, errs.ErrUnsupported)
	}
	want := func(c coding, depth int) (int, error) {
		if h.coding = c; h.depth != depth {
			return 0, fmt.Errorf("run lengths of %d-bit pixels in a picture of %d-bit ones", depth, h.depth)
		}
		return 0, nil
	}
	switch {
	case c == 1:
		return want(rle8, 8)
	case c == 2:
		return want(rle4, 4)
	case c == 3 && os2:
		return no("Huffman compression")
	case c == 4 && os2:
		return want(rle24, 24)
	case c == 4:
		return no("a JPEG picture inside")
	case c == 5:
		return no("a PNG picture inside")
	case c == 11 || c == 12 || c == 13:
		return no("CMYK colours")
	case c == 3:
		masks = 3
	case c == 6:
		masks = 4
	case c != 0:
		return no(fmt.Sprintf("compression %d", c))
	}
	switch h.depth {
	case 1, 2, 4, 8, 24:
		if masks > 0 {
			return 0, fmt.Errorf("colour masks of %d-bit pixels", h.depth)
		}
	case 16, 32:
	default:
		return no(fmt.Sprintf("%d bits a pixel", h.depth))
	}
	return masks, nil
}

// readMasks sets the masks of 16- and 32-bit pixels: those of the file, or those
// that hold when it has none.
func (h *Header) readMasks(r io.ReaderAt, info []byte, length, after int64, masks int) error {
	var m [4]uint32
	switch {
	case h.depth == 16:
		m = [4]uint32{0x7c00, 0x03e0, 0x001f}
	case h.depth == 32:
		m = [4]uint32{0xff0000, 0x00ff00, 0x0000ff}
	default:
		return nil
	}
	if length >= 56 && !(length == 64) {
		m[3] = le32(info[52:]) // of alpha; counts with and without the others
	}
	if masks > 0 {
		b := info[40:]
		if length == 40 {
			b = make([]byte, 4*masks)
			if err := readAt(r, b, after); err != nil {
				return err
			}
		}
		for i := range 3 {
			m[i] = le32(b[4*i:])
		}
		if masks == 4 {
			m[3] = le32(b[12:])
		}
	}
	for i, v := range m {
		h.masks[i] = newMask(v)
		if v != 0 && (h.masks[i].width != bits.OnesCount32(v) || bits.Len32(v) > h.depth) {
			return fmt.Errorf("a colour mask of %#x in %d-bit pixels", v, h.depth)
		}
	}
	return nil
}

// readPalette reads as much of a palette as there is room for.
func (h *Header) readPalette(r io.ReaderAt, at, entry int64, used uint32) error {
	full := int64(1) << h.depth
	n := full
	if used > 0 {
		n = int64(used)
	}
	if h.data == 0 {
		h.data = at + n*entry
	}
	if h.data < at {
		return fmt.Errorf("its pixels begin at byte %d, in the header", h.data)
	}
	n = min(n, full, (h.data-at)/entry)
	b := make([]byte, n*entry)
	if err := readAt(r, b, at); err != nil {
		return err
	}
	for i := range h.palette {
		h.palette[i] = [4]uint8{0, 0, 0, 255}
	}
	for i := range int(n) {
		c := b[i*int(entry):]
		h.palette[i] = [4]uint8{c[2], c[1], c[0], 255}
	}
	return h.checkSize()
}

// rowBytes is the length of a row that is not run-length coded: whole 32-bit words.
func (h *Header) rowBytes() int64 { return (int64(h.Width)*int64(h.depth) + 31) / 32 * 4 }

// checkSize refuses a file that is too short for its pixels.
func (h *Header) checkSize() error {
	if h.coding != plain {
		if h.data >= h.size {
			return io.ErrUnexpectedEOF
		}
		return nil
	}
	// The last row may lack its padding.
	row := h.rowBytes()
	last := (int64(h.Width)*int64(h.depth) + 7) / 8
	if left := h.size - h.data; int64(h.Height) > left/row+1 || row*int64(h.Height-1)+last > left {
		return io.ErrUnexpectedEOF
	}
	return nil
}

// Memory is about how many bytes Decode holds at once.
func (h *Header) Memory() int64 {
	n := bandRows * (h.rowBytes() + 4*int64(h.Width))
	switch h.coding {
	case plain:
		return n
	case rle24:
		return n + 3*int64(h.Width)*int64(h.Height)
	}
	return n + int64(h.Width)*int64(h.Height)
}

// bandRows is how many rows Decode hands over at once.
const bandRows = 32

// Decode decodes the picture in bands of rows: emit is given each band as
// not premultiplied RGBA, 4·Width bytes a row, and the number of its first row,
// counted from the top. It may not keep the band. An error of emit ends it.
// Errors are as those of ReadHeader.
func (h *Header) Decode(r io.ReaderAt, emit func(y int, band []byte) error) error {
	row := h.storedRows(r)
	if h.coding != plain {
		plane, err := h.unpack(r)
		if err != nil {
			return err
		}
		n := h.Width
		if h.coding == rle24 {
			n *= 3
		}
		row = func(y, rows int) ([]byte, int, error) { return plane[y*n : (y+rows)*n], n, nil }
	}
	solid, err := h.solid(row)
	if err != nil {
		return err
	}
	width := 4 * h.Width
	band := make([]byte, min(bandRows, h.Height)*width)
	for i := 0; i < h.Height; i += bandRows {
		rows := min(bandRows, h.Height-i)
		stored, n, err := row(i, rows)
		if err != nil {
			return err
		}
		for k := range rows {
			to := k
			if !h.topDown {
				to = rows - 1 - k
			}
			h.convert(band[to*width:(to+1)*width], stored[k*n:], solid)
		}
		y := i
		if !h.topDown {
			y = h.Height - i - rows
		}
		if err := emit(y, band[:rows*width]); err != nil {
			return err
		}
	}
	return nil
}

// storedRows returns a function that reads rows in the order in which they are
// stored, and says how many bytes apart they are.
func (h *Header) storedRows(r io.ReaderAt) func(i, rows int) ([]byte, int, error) {
	n := h.rowBytes()
	buf := make([]byte, n*int64(min(bandRows, h.Height)))
	return func(i, rows int) ([]byte, int, error) {
		b := buf[:n*int64(rows)]
		at := h.data + n*int64(i)
		if end := h.size - at; int64(len(b)) > end { // the last row without its padding
			b = b[:end]
		}
		return buf, int(n), readAt(r, b, at)
	}
}

// solid reports whether the picture is to be taken for opaque: it has no alpha
// mask, or all alpha is zero.
func (h *Header) solid(row func(i, rows int) ([]byte, int, error)) (bool, error) {
	if h.masks[3].width == 0 {
		return true, nil
	}
	a := h.masks[3].bits
	for i := 0; i < h.Height; i += bandRows {
		rows := min(bandRows, h.Height-i)
		b, n, err := row(i, rows)
		if err != nil {
			return false, err
		}
		for k := range rows {
			line := b[k*n:]
			for x := range h.Width {
				if h.pixel(line, x)&a != 0 {
					return false, nil
				}
			}
		}
	}
	return true, nil
}

func readAt(r io.ReaderAt, b []byte, at int64) error {
	n, err := r.ReadAt(b, at)
	if n == len(b) {
		return nil
	}
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

func le16(b []byte) uint16 { return binary.LittleEndian.Uint16(b) }
func le32(b []byte) uint32 { return binary.LittleEndian.Uint32(b) }
