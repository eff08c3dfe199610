package batch

import (
	"image"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// toNRGBA writes src, turned upright, into dst. dst has the size src has after
// turning. Bands of rows are converted in parallel by up to workers goroutines.
//
// A turned picture is converted a few rows at a time into a small strip, which
// is then laid down in place, so that turning costs no second full picture.
func toNRGBA(dst *image.NRGBA, src image.Image, turn orientation, workers int) {
	b := src.Bounds()
	const band = 32 // rows: a strip of a 4000-pixel row stays in a second-level cache
	bands := (b.Dy() + band - 1) / band
	rows := pixels.Rows(src)
	pixels.Parallel(bands, workers, func(next func() (int, bool)) {
		var strip []byte
		for i, ok := next(); ok; i, ok = next() {
			y0, y1 := i*band, min((i+1)*band, b.Dy())
			if turn == upright {
				for y := y0; y < y1; y++ {
					o := y * dst.Stride
					rows(dst.Pix[o:o+4*b.Dx()], y)
				}
				continue
			}
			w := 4 * b.Dx()
			if strip == nil {
				strip = make([]byte, band*w)
			}
			for y := y0; y < y1; y++ {
				rows(strip[(y-y0)*w:(y-y0+1)*w], y)
			}
			turn.place(dst, strip, b.Dx(), b.Dy(), y0, y1)
		}
	})
}
