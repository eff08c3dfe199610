package imageio

import (
	"image"

	"github.com/lathe-gpu/lathe/internal/pixels"
)

// orientation is the EXIF tag of that name. It says how the stored rows and columns lie in
// the upright picture.
type orientation int

// upright is the orientation of a picture that is stored upright.
const upright orientation = 1

// swaps reports whether turning upright exchanges width and height.
func (o orientation) swaps() bool { return o >= 5 && o <= 8 }

// canvas is what pictures are decoded into: non-premultiplied RGBA of 8 bits a channel, or of
// 16 as an *image.NRGBA64 has them.
type canvas struct {
	pix    []byte
	stride int // bytes
	pixel  int // bytes: 4 or 8
}

func onNRGBA(m *image.NRGBA) canvas     { return canvas{m.Pix, m.Stride, 4} }
func onNRGBA64(m *image.NRGBA64) canvas { return canvas{m.Pix, m.Stride, 8} }

// wide is whether the canvas has 16 bits a channel.
func (c canvas) wide() bool { return c.pixel == 8 }

// rows returns what writes rows of an image as the canvas has them.
func (c canvas) rows(m image.Image) func(dst []byte, y int) {
	if c.wide() {
		return pixels.Rows16(m)
	}
	return pixels.Rows(m)
}

// place writes the stored rows y0 to y1−1 of a w×h picture to their place in dst. strip has
// these rows.
func (o orientation) place(dst canvas, strip []byte, w, h, y0, y1 int) {
	// Where stored pixel (0, 0) goes, and the steps in bytes for one stored
	// column and one stored row.
	s, n := dst.stride, dst.pixel
	var origin, dx, dy int
	switch o {
	case 2: // mirrored
		origin, dx, dy = (w-1)*n, -n, s
	case 3: // upside down
		origin, dx, dy = (h-1)*s+(w-1)*n, -n, -s
	case 4: // mirrored and upside down
		origin, dx, dy = (h-1)*s, n, -s
	case 5: // mirrored along the main diagonal
		origin, dx, dy = 0, s, n
	case 6: // to be turned a quarter clockwise
		origin, dx, dy = (h-1)*n, s, -n
	case 7: // mirrored along the other diagonal
		origin, dx, dy = (w-1)*s+(h-1)*n, -s, -n
	case 8: // to be turned a quarter anticlockwise
		origin, dx, dy = (w-1)*s, -s, n
	default:
		origin, dx, dy = 0, n, s
	}
	put := func(to, from int) {
		if n == 4 { // the processor copies as many bytes at once as the compiler knows of
			copy(dst.pix[to:to+4], strip[from:from+4])
		} else {
			copy(dst.pix[to:to+8], strip[from:from+8])
		}
	}
	// Columns in the outer loop when they become rows: writes stay together.
	if o.swaps() {
		for x := range w {
			to, from := origin+x*dx+y0*dy, n*x
			for y := y0; y < y1; y++ {
				put(to, from)
				to += dy
				from += n * w
			}
		}
		return
	}
	for y := y0; y < y1; y++ {
		to := origin + y*dy
		for from := (y - y0) * n * w; from < (y-y0+1)*n*w; from += n {
			put(to, from)
			to += dx
		}
	}
}
