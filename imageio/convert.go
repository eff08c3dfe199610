package imageio

import (
	"github.com/lathe-gpu/lathe/internal/pixels"
)

// layRows turns a stored w×h picture upright and writes it into dst. rows writes row y as
// dst has it. Goroutines call it, each with a band of rows.
//
// A turned picture is converted a few rows at a time into a small strip, which
// is then written to its place. So turning needs no memory for a second picture.
func layRows(dst canvas, w, h int, rows func(dst []byte, y int), turn orientation) {
	const band = 32 // rows: a strip of a 4000-pixel row stays in a second-level cache
	n := dst.pixel
	bands := (h + band - 1) / band
	pixels.Parallel(bands, 0, func(next func() (int, bool)) {
		var strip []byte
		for i, ok := next(); ok; i, ok = next() {
			y0, y1 := i*band, min((i+1)*band, h)
			if turn == upright {
				for y := y0; y < y1; y++ {
					o := y * dst.stride
					rows(dst.pix[o:o+n*w], y)
				}
				continue
			}
			if strip == nil {
				strip = make([]byte, band*n*w)
			}
			for y := y0; y < y1; y++ {
				rows(strip[(y-y0)*n*w:(y-y0+1)*n*w], y)
			}
			turn.place(dst, strip, w, h, y0, y1)
		}
	})
}
