package imageio

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"image"

	"github.com/lathe-gpu/lathe/internal/avif"
	"github.com/lathe-gpu/lathe/internal/exif"
	"github.com/lathe-gpu/lathe/internal/pixels"
)

func readAVIF(v *view, fits func(w, h int) error) (*header, error) {
	if err := avif.Available(); err != nil {
		return nil, err
	}
	size, err := v.whole()
	if err != nil {
		return nil, err
	}
	p, err := avif.ReadHeader(v, size)
	if err != nil {
		return nil, err
	}
	if err := fits(p.Stored()); err != nil {
		return nil, err
	}
	h := &header{width: p.Width, height: p.Height, depth: p.Depth, deep: p.Depth > 8, grey: p.Grey, sampling: p.Sampling, frames: p.Frames - 1}
	g := &gathered{turn: upright, lost: p.Lost}
	if p.EXIF != nil {
		g.exif(p.EXIF)
	}
	g.turn = orientation(p.Orientation) // The standard says that the one in EXIF does not count.
	g.put(&g.m.XMP, "XMP", p.XMP)
	if p.ICC != nil {
		g.icc(p.ICC)
	}
	h.describe(g, AVIF)
	if h.turn == upright {
		h.meta.upright()
	}
	h.cost = 4*int64(p.Width)*int64(p.Height) + p.Memory()
	h.read = func(v *view, dst canvas) error {
		rows, err := p.Decode(v.ctx, v, dst.wide())
		if err == nil {
			layRows(dst, p.Width, p.Height, rows, h.turn)
		}
		return err
	}
	return h, nil
}

// avifQuality is the quality of AVIF files if none is given. The same number means fewer bytes than for JPEG.
const avifQuality = 60

// writeAVIF writes a picture of any type.
func writeAVIF(ctx context.Context, w *bufio.Writer, img image.Image, meta *Metadata, sampling string, quality int) error {
	size := img.Bounds().Size()
	if sampling == "4:4:0" {
		sampling = "4:4:4" // AVIF has no such, and so loses nothing
	}
	p := &avif.Picture{Width: size.X, Height: size.Y, Row: pixels.Rows(img), Alpha: !opaque(img), Quality: quality, Sampling: sampling, Orientation: 1}
	if meta != nil {
		p.ICC, p.EXIF, p.XMP = meta.ICC, meta.EXIF, meta.XMP
		if len(p.EXIF) > 0 {
			_, p.Orientation, _ = exif.Clean(p.EXIF)
		}
	}
	err := avif.Encode(ctx, w, p)
	if errors.Is(err, avif.ErrTooLarge) {
		return fmt.Errorf("%w: %w: write PNG, JPEG or TIFF", ErrTooLarge, err)
	}
	return err
}
