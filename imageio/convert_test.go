package imageio

import (
	"image"
	"testing"

	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// turned is the picture that is stored as m, upright.
func turned(m *image.NRGBA, o orientation) *image.NRGBA {
	h := header{width: m.Rect.Dx(), height: m.Rect.Dy(), turn: o}
	w, ht := h.size()
	dst := image.NewNRGBA(image.Rect(0, 0, w, ht))
	layRows(onNRGBA(dst), h.width, h.height, pixels.Rows(m), o)
	return dst
}

func TestTurn(t *testing.T) {
	// Where the stored pixel (x, y) of a w×h picture is seen, straight from
	// the EXIF definition: which edge row 0 and column 0 are.
	seen := map[orientation]func(x, y, w, h int) (int, int){
		1: func(x, y, w, h int) (int, int) { return x, y },                 // row 0 top, column 0 left
		2: func(x, y, w, h int) (int, int) { return w - 1 - x, y },         // top, right
		3: func(x, y, w, h int) (int, int) { return w - 1 - x, h - 1 - y }, // bottom, right
		4: func(x, y, w, h int) (int, int) { return x, h - 1 - y },         // bottom, left
		5: func(x, y, w, h int) (int, int) { return y, x },                 // left, top
		6: func(x, y, w, h int) (int, int) { return h - 1 - y, x },         // right, top
		7: func(x, y, w, h int) (int, int) { return h - 1 - y, w - 1 - x }, // right, bottom
		8: func(x, y, w, h int) (int, int) { return y, w - 1 - x },         // left, bottom
	}
	for _, size := range []image.Point{{1, 1}, {1, 5}, {7, 1}, {33, 65}, {64, 32}, {100, 31}} {
		m := image.NewNRGBA(image.Rectangle{Max: size})
		testimg.Fill(5, m.Pix)
		for o, f := range seen {
			got := turned(m, o)
			for y := range size.Y {
				for x := range size.X {
					gx, gy := f(x, y, size.X, size.Y)
					if g, w := got.NRGBAAt(gx, gy), m.NRGBAAt(x, y); g != w {
						t.Fatalf("orientation %d of %v: stored (%d, %d) seen at (%d, %d): got %v, want %v", o, size, x, y, gx, gy, g, w)
					}
				}
			}
		}
	}
}

func BenchmarkLayRows(b *testing.B) {
	m := image.NewYCbCr(image.Rect(0, 0, 4000, 3000), image.YCbCrSubsampleRatio420)
	for i := range m.Y { // a smooth scene: noise would measure mispredicted branches
		m.Y[i] = byte(40 + i/4000/20)
	}
	for i := range m.Cb {
		m.Cb[i], m.Cr[i] = byte(100+i%2000/50), byte(110+i/2000/50)
	}
	for _, o := range []orientation{1, 6} {
		h := header{width: 4000, height: 3000, turn: o}
		w, ht := h.size()
		dst := image.NewNRGBA(image.Rect(0, 0, w, ht))
		b.Run(map[orientation]string{1: "upright", 6: "turned"}[o], func(b *testing.B) {
			b.SetBytes(12e6)
			for b.Loop() {
				layRows(onNRGBA(dst), 4000, 3000, pixels.Rows(m), o)
			}
		})
	}
}
