package batch

import (
	"image"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// toNRGBA writes src, turned upright, into dst. dst has the size src has after
// turning.
func toNRGBA(dst *image.NRGBA, src image.Image, turn orientation, workers int) {
	layRows(dst, src.Bounds().Dx(), src.Bounds().Dy(), pixels.Rows(src), turn, workers)
}

// layRows writes the rows of a stored w×h picture, turned upright, into dst.
// rows writes row y as 4·w bytes and is called by up to workers goroutines,
// each with a band of rows.
//
// A turned picture is converted a few rows at a time into a small strip, which
// is then laid down in place, so that turning costs no second full picture.
func layRows(dst *image.NRGBA, w, h int, rows func(dst []byte, y int), turn orientation, workers int) {
	const band = 32 // rows: a strip of a 4000-pixel row stays in a second-level cache
	bands := (h + band - 1) / band
	pixels.Parallel(bands, workers, func(next func() (int, bool)) {
		var strip []byte
		for i, ok := next(); ok; i, ok = next() {
			y0, y1 := i*band, min((i+1)*band, h)
			if turn == upright {
				for y := y0; y < y1; y++ {
					o := y * dst.Stride
					rows(dst.Pix[o:o+4*w], y)
				}
				continue
			}
			if strip == nil {
				strip = make([]byte, band*4*w)
			}
			for y := y0; y < y1; y++ {
				rows(strip[(y-y0)*4*w:(y-y0+1)*4*w], y)
			}
			turn.place(dst, strip, w, h, y0, y1)
		}
	})
}
