package batch

import (
	"image"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// toNRGBA turns src upright and writes it into dst. dst has the size of the turned picture.
func toNRGBA(dst *image.NRGBA, src image.Image, turn orientation, workers int) {
	layRows(dst, src.Bounds().Dx(), src.Bounds().Dy(), pixels.Rows(src), turn, workers)
}

// layRows turns a stored w×h picture upright and writes it into dst. rows writes row y as
// 4·w bytes. Up to workers goroutines call it, each with a band of rows.
//
// A turned picture is converted a few rows at a time into a small strip, which
// is then written to its place. So turning needs no memory for a second picture.
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
