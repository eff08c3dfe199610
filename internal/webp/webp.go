// Package webp reads and writes WebP pictures. To read one, it finds its way through the container,
// leaves the two bit streams to golang.org/x/image/vp8 and vp8l, and turns the
// planes of the lossy one into colours.
//
// The last is why this package is there: golang.org/x/image/webp takes the
// planes for those of a JPEG file, with samples from 0 to 255. Those of WebP
// are video's, with luma from 16 to 235, and come out washed out that way.
//
// Of an animation it reads the first frame, laid on a transparent canvas.
package webp

import (
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"io"

	"golang.org/x/image/vp8"
	"golang.org/x/image/vp8l"
	xwebp "golang.org/x/image/webp"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// chunk is where the contents of a chunk lie in the file.
type chunk struct{ at, size int64 }

func (c chunk) open(r io.ReaderAt) *io.SectionReader { return io.NewSectionReader(r, c.at, c.size) }

// Header is what the container tells of a picture.
type Header struct {
	Width, Height int // of the canvas, pixels
	Frames        int // of an animation
	Plays         int // how many times an animation is shown; 0 means for ever
	// EXIF is the file's EXIF block, nil if it has none.
	EXIF []byte
	// XMP and ICC are those of the file, nil if it has none.
	XMP, ICC []byte
	// Lost says which of these could not be read, and why.
	Lost []error

	frame    image.Rectangle // where the picture lies on the canvas
	alpha    chunk           // compressed alpha of a lossy picture; empty = opaque
	data     chunk           // the bit stream
	lossless bool
	file     int64 // bytes
	end      int64 // where the file says that it ends
}

// maxBytes bounds what is read of EXIF, XMP and ICC each: nobody writes as much.
const maxBytes = 8 << 20

// IsWebP reports whether a file that begins with head is a WebP file.
func IsWebP(head []byte) bool {
	return len(head) >= 12 && string(head[:4]) == "RIFF" && string(head[8:12]) == "WEBP"
}

// ReadHeader reads the container of a file of the size. It decodes nothing.
// Errors: ErrUnsupported naming the feature, io.ErrUnexpectedEOF, the reader's
// own; any other error says what is damaged.
func ReadHeader(r io.ReaderAt, size int64) (*Header, error) {
	h := &Header{file: size}
	if _, c, err := readChunk(r, 0); err == nil {
		h.end = c.at + c.size
	}
	at, end := int64(12), int64(1)<<33
	canvas := false
	for at < end {
		id, c, err := readChunk(r, at)
		if errors.Is(err, io.EOF) && h.data.size > 0 {
			break // chunks after the picture may be missing
		}
		if err != nil {
			return nil, eof(err)
		}
		at = c.at + c.size + c.size&1
		switch id {
		case "VP8X":
			var b [10]byte
			if c.size < 10 {
				return nil, errors.New("its header is too short")
			}
			if _, err := r.ReadAt(b[:], c.at); err != nil {
				return nil, eof(err)
			}
			h.Width, h.Height = 1+uint24(b[4:]), 1+uint24(b[7:])
			h.frame = image.Rect(0, 0, h.Width, h.Height)
			canvas = true
		case "ANIM":
			var b [6]byte
			if _, err := r.ReadAt(b[:], c.at); err == nil && c.size >= 6 {
				h.Plays = int(b[4]) | int(b[5])<<8
			}
		case "ANMF":
			h.Frames++
			if h.data.size == 0 {
				if err := h.readFrame(r, c); err != nil {
					return nil, err
				}
			}
		case "ALPH", "VP8 ", "VP8L":
			if h.data.size == 0 {
				h.note(id, c)
			}
		case "EXIF":
			h.keep(&h.EXIF, r, id, c)
		case "XMP ":
			h.keep(&h.XMP, r, id, c)
		case "ICCP":
			h.keep(&h.ICC, r, id, c)
		}
	}
	if h.data.size == 0 {
		return nil, errors.New("it holds no picture")
	}
	return h, h.checkStream(r, canvas)
}

// keep reads a chunk of metadata. A picture is good without it.
func (h *Header) keep(to *[]byte, r io.ReaderAt, id string, c chunk) {
	if *to != nil {
		return
	}
	if c.size > maxBytes {
		h.Lost = append(h.Lost, fmt.Errorf("%s: more than %d MiB", id, maxBytes>>20))
		return
	}
	b := make([]byte, min(c.size, max(h.file-c.at, 0)))
	if _, err := io.ReadFull(c.open(r), b); err != nil || int64(len(b)) < c.size {
		h.Lost = append(h.Lost, fmt.Errorf("%s: it ends too early", id))
		return
	}
	*to = b
}

// readFrame finds the chunks of an animation's frame.
func (h *Header) readFrame(r io.ReaderAt, c chunk) error {
	var b [16]byte
	if c.size < 16 {
		return errors.New("a frame is too short")
	}
	if _, err := r.ReadAt(b[:], c.at); err != nil {
		return eof(err)
	}
	x, y := 2*uint24(b[0:]), 2*uint24(b[3:])
	h.frame = image.Rect(x, y, x+1+uint24(b[6:]), y+1+uint24(b[9:]))
	if !h.frame.In(image.Rect(0, 0, h.Width, h.Height)) {
		return fmt.Errorf("a frame at %v lies outside the picture of %d×%d", h.frame, h.Width, h.Height)
	}
	for at, end := c.at+16, c.at+c.size; at < end && h.data.size == 0; {
		id, sub, err := readChunk(r, at)
		if err != nil {
			return eof(err)
		}
		if sub.at+sub.size > end {
			return errors.New("a frame's data go past its end")
		}
		h.note(id, sub)
		at = sub.at + sub.size + sub.size&1
	}
	return nil
}

// note keeps a chunk that holds a part of the picture.
func (h *Header) note(id string, c chunk) {
	switch id {
	case "ALPH":
		h.alpha = c
	case "VP8 ", "VP8L":
		h.data, h.lossless = c, id == "VP8L"
	}
}

// checkStream holds the size in the bit stream against the container's.
func (h *Header) checkStream(r io.ReaderAt, canvas bool) error {
	if h.data.size > h.file-h.data.at { // the decoder makes room for what a chunk claims to hold
		return io.ErrUnexpectedEOF
	}
	w, ht, err := h.streamSize(r)
	if err != nil {
		return eof(err)
	}
	if w == 0 || ht == 0 {
		return fmt.Errorf("its size is %d×%d", w, ht)
	}
	if !canvas {
		h.Width, h.Height = w, ht
		h.frame = image.Rect(0, 0, w, ht)
	}
	if h.frame.Dx() != w || h.frame.Dy() != ht {
		return fmt.Errorf("it holds %d×%d pixels and says %d×%d", w, ht, h.frame.Dx(), h.frame.Dy())
	}
	return nil
}

func (h *Header) streamSize(r io.ReaderAt) (w, ht int, err error) {
	if h.lossless {
		c, err := vp8l.DecodeConfig(h.data.open(r))
		return c.Width, c.Height, err
	}
	d := vp8.NewDecoder()
	d.Init(h.data.open(r), int(h.data.size))
	f, err := d.DecodeFrameHeader()
	if err != nil {
		return 0, 0, err
	}
	if !f.KeyFrame {
		return 0, 0, fmt.Errorf("WebP that begins with a dependent frame: %w", errs.ErrUnsupported)
	}
	return f.Width, f.Height, nil
}

// Kind is "lossless" or "lossy".
func (h *Header) Kind() string {
	if h.lossless {
		return "lossless"
	}
	return "lossy"
}

// Memory is about how many bytes Decode and the rows it returns hold at once.
func (h *Header) Memory() int64 {
	w, ht := int64(h.frame.Dx()), int64(h.frame.Dy())
	if h.lossless {
		// The pixels, once more while a palette is applied, and the code tables.
		return 9*w*ht + h.data.size
	}
	n := (w+15)&^15*((ht+15)&^15)*3/2 + h.data.size
	if h.alpha.size > 0 {
		n += 10 * w * ht // decoded as a lossless picture whose green is the alpha
	}
	return n
}

// Decode decodes the picture. Row y of the canvas, counted from the top, is
// written by row as 4·Width bytes, not premultiplied RGBA; row is safe for
// concurrent use. Errors are as those of ReadHeader.
func (h *Header) Decode(r io.ReaderAt) (row func(dst []byte, y int), err error) {
	inner, err := h.decodeFrame(r)
	if err != nil {
		return nil, eof(err)
	}
	f := h.frame
	if f.Dx() == h.Width && f.Dy() == h.Height {
		return inner, nil
	}
	return func(dst []byte, y int) {
		clear(dst[:4*h.Width])
		if y >= f.Min.Y && y < f.Max.Y {
			inner(dst[4*f.Min.X:4*f.Max.X], y-f.Min.Y)
		}
	}, nil
}

func (h *Header) decodeFrame(r io.ReaderAt) (func(dst []byte, y int), error) {
	switch {
	case h.lossless:
		m, err := vp8l.Decode(h.data.open(r))
		if err != nil {
			return nil, err
		}
		n, ok := m.(*image.NRGBA)
		if !ok || n.Rect.Size() != h.frame.Size() {
			return nil, errors.New("its size changes")
		}
		return func(dst []byte, y int) { copy(dst, n.Pix[y*n.Stride:y*n.Stride+4*n.Rect.Dx()]) }, nil
	case h.alpha.size > 0:
		// x/image undoes the filters of the alpha channel in its own container only.
		m, err := xwebp.Decode(h.wrapped(r))
		if err != nil {
			return nil, err
		}
		n, ok := m.(*image.NYCbCrA)
		if !ok || n.Rect.Size() != h.frame.Size() {
			return nil, errors.New("its size changes")
		}
		return func(dst []byte, y int) {
			videoRow(dst, &n.YCbCr, y)
			for x, a := range n.A[y*n.AStride : y*n.AStride+n.Rect.Dx()] {
				dst[4*x+3] = a
			}
		}, nil
	}
	d := vp8.NewDecoder()
	d.Init(h.data.open(r), int(h.data.size))
	if _, err := d.DecodeFrameHeader(); err != nil {
		return nil, err
	}
	m, err := d.DecodeFrame()
	if err != nil {
		return nil, err
	}
	if m.Rect.Size() != h.frame.Size() {
		return nil, errors.New("its size changes")
	}
	return func(dst []byte, y int) { videoRow(dst, m, y) }, nil
}

// wrapped returns the frame as a file of its own: a canvas of its size, its
// alpha and its colours.
func (h *Header) wrapped(r io.ReaderAt) io.Reader {
	w, ht := uint32(h.frame.Dx()-1), uint32(h.frame.Dy()-1)
	head := binary.LittleEndian.AppendUint32([]byte("VP8X"), 10)
	head = append(head, 1<<4, 0, 0, 0, byte(w), byte(w>>8), byte(w>>16), byte(ht), byte(ht>>8), byte(ht>>16))
	part := func(id string, c chunk) io.Reader {
		b := binary.LittleEndian.AppendUint32([]byte(id), uint32(c.size))
		return io.MultiReader(sliceReader(b), c.open(r), sliceReader(make([]byte, c.size&1)))
	}
	even := func(n int64) int64 { return n + n&1 }
	total := 4 + int64(len(head)) + 8 + even(h.alpha.size) + 8 + even(h.data.size)
	riff := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(total))
	riff = append(append(riff, "WEBP"...), head...)
	return io.MultiReader(sliceReader(riff), part("ALPH", h.alpha), part("VP8 ", h.data))
}

// readChunk reads the head of the chunk at an offset. The error is io.EOF if
// the file ends there.
func readChunk(r io.ReaderAt, at int64) (id string, c chunk, err error) {
	var b [8]byte
	if _, err := r.ReadAt(b[:], at); err != nil {
		return "", chunk{}, err
	}
	return string(b[:4]), chunk{at + 8, int64(binary.LittleEndian.Uint32(b[4:]))}, nil
}

func uint24(b []byte) int { return int(b[0]) | int(b[1])<<8 | int(b[2])<<16 }

// eof makes the end of the file where there should be more an error that says so.
func eof(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}
