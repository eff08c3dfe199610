package webp

import (
	"errors"
	"image"
	"io"
)

// Play returns a function that reads the frames of an animation. pix is the whole picture as a viewer shows it
// then, with four bytes for each pixel, not premultiplied, and is valid until the next call. delay is how long it is
// shown, in milliseconds. The error is io.EOF after the last frame. Other errors are as those of ReadHeader.
func (h *Header) Play(r io.ReaderAt) func() (pix []byte, delay int, err error) {
	var canvas, line []byte
	var cleared image.Rectangle // what is to become transparent before the next frame
	at := int64(12)
	return func() ([]byte, int, error) {
		for {
			if at >= h.end {
				return nil, 0, io.EOF
			}
			id, c, err := readChunk(r, at)
			if err != nil {
				return nil, 0, eof(err)
			}
			at = c.at + c.size + c.size&1
			if id != "ANMF" {
				continue
			}
			if c.at+c.size > h.file {
				return nil, 0, io.ErrUnexpectedEOF
			}
			f := &Header{Width: h.Width, Height: h.Height, file: h.file}
			if err := f.readFrame(r, c); err != nil {
				return nil, 0, err
			}
			if f.data.size == 0 {
				return nil, 0, errors.New("a frame holds no picture")
			}
			if err := f.checkStream(r, true); err != nil {
				return nil, 0, err
			}
			var b [16]byte
			if _, err := r.ReadAt(b[:], c.at); err != nil {
				return nil, 0, eof(err)
			}
			row, err := f.decodeFrame(r)
			if err != nil {
				return nil, 0, eof(err)
			}
			if canvas == nil {
				canvas, line = make([]byte, 4*h.Width*h.Height), make([]byte, 4*h.Width)
			}
			rows := func(r image.Rectangle, f func(dst []byte, y int)) {
				for y := range r.Dy() {
					i := 4 * ((r.Min.Y+y)*h.Width + r.Min.X)
					f(canvas[i:i+4*r.Dx()], y)
				}
			}
			rows(cleared, func(dst []byte, _ int) { clear(dst) })
			cleared = image.Rectangle{}
			if b[15]&disposed != 0 {
				cleared = f.frame
			}
			rows(f.frame, func(dst []byte, y int) {
				if b[15]&unblended != 0 {
					row(dst, y)
					return
				}
				src := line[:len(dst)]
				row(src, y)
				blend(dst, src)
			})
			return canvas, uint24(b[12:]), nil
		}
	}
}

// Flags of a frame.
const (
	disposed  = 1 << 0 // it becomes transparent before the next frame
	unblended = 1 << 1 // it replaces what was there, and is not laid over it
)

// blend lays a row over another one. Both are not premultiplied.
func blend(dst, src []byte) {
	for i := 0; i+3 < len(src); i += 4 {
		s, d := src[i:i+4:i+4], dst[i:i+4:i+4]
		switch a, under := uint32(s[3]), uint32(d[3]); {
		case a == 0:
		case a == 255 || under == 0:
			copy(d, s)
		default:
			// The shares of both, multiplied by 255.
			top, rest := a*255, under*(255-a)
			sum := top + rest
			for c := range 3 {
				d[c] = byte((uint32(s[c])*top + uint32(d[c])*rest + sum/2) / sum)
			}
			d[3] = byte((sum + 127) / 255)
		}
	}
}
