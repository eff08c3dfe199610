package imageio

import (
	"bufio"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdgif "image/gif"
	"image/jpeg"
	"image/png"
	"io"
	"time"

	"github.com/lathe-gpu/lathe/internal/bmp"
	"github.com/lathe-gpu/lathe/internal/gif"
	"github.com/lathe-gpu/lathe/internal/tiff"
	"github.com/lathe-gpu/lathe/internal/webp"
)

// readers read the headers of the formats. They call fits with the size as soon as they know it.
var readers = map[Format]func(v *view, fits func(w, h int) error) (*header, error){
	JPEG: readJPEG, PNG: readPNG, TIFF: readTIFF, BMP: readBMP, GIF: readGIF, WebP: readWebP, AVIF: readAVIF,
}

func readWebP(v *view, fits func(w, h int) error) (*header, error) {
	size, err := v.whole()
	if err != nil {
		return nil, err
	}
	p, err := webp.ReadHeader(v, size)
	if err != nil {
		return nil, err
	}
	h := &header{width: p.Width, height: p.Height, depth: 8, webp: p.Kind()}
	g := &gathered{turn: upright, lost: p.Lost}
	h.frames, h.plays = max(p.Frames-1, 0), p.Plays
	h.play = func(v *view) (func() ([]byte, time.Duration, error), error) { return playWebP(v, p), nil }
	if p.EXIF != nil {
		g.exif(p.EXIF)
	}
	g.put(&g.m.XMP, "XMP", p.XMP)
	if p.ICC != nil {
		g.icc(p.ICC)
	}
	h.describe(g, WebP)
	h.cost = 4*int64(p.Width)*int64(p.Height) + p.Memory()
	h.read = func(v *view, dst canvas) error {
		rows, err := p.Decode(v)
		if err == nil {
			layRows(dst, p.Width, p.Height, rows, h.turn)
		}
		return err
	}
	return h, fits(p.Width, p.Height)
}

func readBMP(v *view, fits func(w, h int) error) (*header, error) {
	size, err := v.whole()
	if err != nil {
		return nil, err
	}
	p, err := bmp.ReadHeader(v, size)
	if err != nil {
		return nil, err
	}
	h := &header{width: p.Width, height: p.Height, turn: upright, depth: 8, palette: p.Palette()}
	h.cost = 4*int64(p.Width)*int64(p.Height) + p.Memory()
	h.read = func(v *view, dst canvas) error { return p.Decode(v, h.lay(dst)) }
	return h, fits(p.Width, p.Height)
}

func readTIFF(v *view, fits func(w, h int) error) (*header, error) {
	size, err := v.whole()
	if err != nil {
		return nil, err
	}
	pages := 0
	if v.page > 0 {
		pages = tiff.Pages(v, size)
		if err := v.hasPage(pages, TIFF); err != nil {
			return nil, err
		}
	}
	p, err := tiff.ReadPage(v, size, v.page)
	if err != nil {
		return nil, err
	}
	if pages == 0 {
		pages = tiff.Pages(v, size)
	}
	h := &header{width: p.Width, height: p.Height, grey: p.Grey(), depth: p.Depth(), deep: p.Deep(), palette: p.Palette()}
	h.frames = pages - 1
	g := gatherTIFF(v, size, p.At())
	g.turn = orientation(p.Orientation)
	h.describe(g, TIFF)
	h.cost = 4*int64(p.Width)*int64(p.Height) + p.Memory()
	h.read = func(v *view, dst canvas) error { return p.Decode(v, dst.wide(), h.lay(dst)) }
	return h, fits(p.Width, p.Height)
}

// describe keeps what was found beside the pixels.
func (h *header) describe(g *gathered, f Format) {
	colours := "RGB"
	if h.grey {
		colours = "GRAY"
	}
	h.turn = g.turn
	h.meta, h.metaErr = g.done(f, colours)
	h.cost += h.meta.size()
}

// lay returns a function that writes a band of stored rows to its place in dst. y is the
// first row of the band. The function may be called for several bands at once.
func (h *header) lay(dst canvas) func(y int, band []byte) error {
	return func(y int, band []byte) error {
		rows := len(band) / (dst.pixel * h.width)
		if h.turn == upright && dst.stride == dst.pixel*h.width {
			copy(dst.pix[y*dst.stride:], band)
		} else {
			h.turn.place(dst, band, h.width, h.height, y, y+rows)
		}
		return nil
	}
}

func readJPEG(v *view, fits func(w, h int) error) (*header, error) {
	j := scanJPEG(v.reader())
	if j.unread() != "" {
		return nil, fmt.Errorf("JPEG with %s: %w", j.unread(), ErrUnsupported)
	}
	c, err := jpeg.DecodeConfig(bufio.NewReader(v.reader()))
	if err != nil {
		return nil, unsupported(err)
	}
	h := standard(c, JPEG, jpeg.Decode)
	h.grey, h.sampling = c.ColorModel == color.GrayModel, j.sampling
	h.describe(&j.gathered, JPEG)
	h.cost += j.decodeBytes(c)
	h.shrinkable(j, c.ColorModel)
	return h, fits(c.Width, c.Height)
}

func readPNG(v *view, fits func(w, h int) error) (*header, error) {
	c, err := png.DecodeConfig(bufio.NewReader(v.reader()))
	if err != nil {
		return nil, unsupported(err)
	}
	if err := fits(c.Width, c.Height); err != nil {
		return nil, err // The orientation may lie behind the pixels, which are not read then.
	}
	h := standard(c, PNG, png.Decode)
	p := v.scanPNG()
	h.grey, h.depth = p.kind&3 == 0, int(p.depth)
	h.deep = p.depth == 16
	if p.kind == 3 {
		h.palette = 1 << p.depth
	}
	h.frames = max(p.frames-1, 0)
	h.cost += p.decodeBytes(c)
	h.describe(&p.gathered, PNG)
	return h, nil
}

func readGIF(v *view, fits func(w, h int) error) (*header, error) {
	c, err := stdgif.DecodeConfig(bufio.NewReader(v.reader()))
	if err != nil {
		return nil, err
	}
	h := standard(c, GIF, stdgif.Decode)
	h.turn, h.palette = upright, 256
	all := gif.Scan(v.reader())
	h.frames, h.plays, h.play = max(all.Frames-1, 0), all.Plays, playGIF
	h.cost += gifBytes(c)
	return h, fits(c.Width, c.Height)
}

// standard is the header of a picture that a decoder of the standard library reads.
func standard(c image.Config, f Format, decode func(io.Reader) (image.Image, error)) *header {
	h := &header{width: c.Width, height: c.Height, depth: 8, cost: 4 * int64(c.Width) * int64(c.Height)}
	h.read = func(v *view, dst canvas) error {
		m, err := decode(bufio.NewReaderSize(v.reader(), 64<<10))
		if err != nil {
			return unsupported(err)
		}
		return h.layImage(dst, m, f == GIF)
	}
	return h
}

// layImage writes a decoded picture to dst. If it may be a part, what it leaves out is
// transparent: the first frame of a GIF need not cover the screen.
func (h *header) layImage(dst canvas, m image.Image, part bool) error {
	b, whole := m.Bounds(), image.Rect(0, 0, h.width, h.height)
	frame, n := dst.rows(m), dst.pixel
	rows := frame
	switch {
	case part && b != whole && b.In(whole):
		rows = func(row []byte, y int) {
			clear(row)
			if y >= b.Min.Y && y < b.Max.Y {
				frame(row[n*b.Min.X:n*b.Max.X], y-b.Min.Y)
			}
		}
	case b.Size() != whole.Size():
		return fmt.Errorf("it holds %d×%d pixels and says %d×%d", b.Dx(), b.Dy(), h.width, h.height)
	}
	layRows(dst, h.width, h.height, rows, h.turn)
	return nil
}

// unsupported turns the error of a decoder of the standard library that does not support a
// feature into ErrUnsupported. All other errors mean that the file is damaged.
func unsupported(err error) error {
	var j jpeg.UnsupportedError
	var p png.UnsupportedError
	switch {
	case errors.As(err, &j):
		return fmt.Errorf("JPEG with a feature Lathe does not read (%s): %w", string(j), ErrUnsupported)
	case errors.As(err, &p):
		return fmt.Errorf("PNG with a feature Lathe does not read (%s): %w", string(p), ErrUnsupported)
	}
	return err
}
