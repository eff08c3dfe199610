package batch

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	_ "image/gif" // the formats image.Decode knows
	"image/jpeg"
	"image/png"
	"io"

	"github.com/lathe-gpu/lathe/internal/bmp"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/internal/tiff"
	"github.com/lathe-gpu/lathe/internal/webp"
)

// webp reads the header of a WebP file.
func (s *source) webp() (*header, error) {
	p, err := webp.ReadHeader(s, s.size)
	if err != nil {
		return nil, err
	}
	h := &header{format: "webp", width: p.Width, height: p.Height}
	h.turn = readOrientation(s, h.format, p.EXIF)
	h.cost = 4*int64(p.Width)*int64(p.Height) + p.Memory()
	h.read = func(dst *image.NRGBA, workers int) error {
		rows, err := p.Decode(s)
		if err == nil {
			layRows(dst, p.Width, p.Height, rows, h.turn, workers)
		}
		return err
	}
	return h, nil
}

// bmp reads the header of a BMP file.
func (s *source) bmp() (*header, error) {
	p, err := bmp.ReadHeader(s, s.size)
	if err != nil {
		return nil, err
	}
	h := &header{format: "bmp", width: p.Width, height: p.Height, turn: upright}
	h.cost = 4*int64(p.Width)*int64(p.Height) + p.Memory()
	h.read = func(dst *image.NRGBA, _ int) error { return p.Decode(s, h.lay(dst)) }
	return h, nil
}

// tiff reads the header of a TIFF file.
func (s *source) tiff() (*header, error) {
	p, err := tiff.ReadHeader(s, s.size)
	if err != nil {
		return nil, err
	}
	h := &header{format: "tiff", width: p.Width, height: p.Height, turn: orientation(p.Orientation)}
	h.cost = 4*int64(p.Width)*int64(p.Height) + p.Memory()
	h.read = func(dst *image.NRGBA, _ int) error { return p.Decode(s, h.lay(dst)) }
	return h, nil
}

// lay returns a function that writes a band of stored rows to its place in dst. y is the
// first row of the band. The function may be called for several bands at once.
func (h *header) lay(dst *image.NRGBA) func(y int, band []byte) error {
	return func(y int, band []byte) error {
		rows := len(band) / (4 * h.width)
		if h.turn == upright && dst.Stride == 4*h.width {
			copy(dst.Pix[y*dst.Stride:], band)
		} else {
			h.turn.place(dst, band, h.width, h.height, y, y+rows)
		}
		return nil
	}
}

// standard reads the header of a picture that package image has a decoder for.
func (s *source) standard() (*header, error) {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return nil, bare(err)
	}
	cfg, format, err := image.DecodeConfig(bufio.NewReader(s))
	if errors.Is(err, image.ErrFormat) {
		return nil, errFormat
	}
	var j jpegInfo
	if format == "jpeg" {
		if j = scanJPEG(s); j.unread() != "" {
			return nil, fmt.Errorf("JPEG with %s: %w", j.unread(), errs.ErrUnsupported)
		}
	}
	if err != nil {
		return nil, unsupported(err)
	}
	h := &header{format: format, width: cfg.Width, height: cfg.Height}
	h.turn = readOrientation(s, format, j.exif)
	w, ht := int64(cfg.Width), int64(cfg.Height)
	h.cost = 4*w*ht + s.decodeBytes(format, cfg.ColorModel, w, ht, j)
	h.read = func(dst *image.NRGBA, workers int) error { return s.readStandard(dst, h, workers) }
	return h, nil
}

// readStandard decodes with package image.
func (s *source) readStandard(dst *image.NRGBA, h *header, workers int) error {
	if _, err := s.Seek(0, io.SeekStart); err != nil {
		return bare(err)
	}
	m, _, err := image.Decode(bufio.NewReaderSize(s, 64<<10))
	if err != nil {
		return unsupported(err)
	}
	b, whole := m.Bounds(), image.Rect(0, 0, h.width, h.height)
	frame := pixels.Rows(m)
	rows := frame
	switch {
	case h.format == "gif" && b != whole && b.In(whole):
		// The first frame covers a part of the screen; the rest is transparent.
		rows = func(row []byte, y int) {
			clear(row)
			if y >= b.Min.Y && y < b.Max.Y {
				frame(row[4*b.Min.X:4*b.Max.X], y-b.Min.Y)
			}
		}
	case b.Size() != whole.Size():
		return fmt.Errorf("it holds %d×%d pixels and says %d×%d", b.Dx(), b.Dy(), h.width, h.height)
	}
	layRows(dst, h.width, h.height, rows, h.turn, workers)
	return nil
}

// unsupported turns the error of a decoder of the standard library that does not support a
// feature into ErrUnsupported. All other errors mean that the file is damaged.
func unsupported(err error) error {
	var j jpeg.UnsupportedError
	var p png.UnsupportedError
	switch {
	case errors.As(err, &j):
		return fmt.Errorf("JPEG with a feature Lathe does not read (%s): %w", string(j), errs.ErrUnsupported)
	case errors.As(err, &p):
		return fmt.Errorf("PNG with a feature Lathe does not read (%s): %w", string(p), errs.ErrUnsupported)
	}
	return err
}
