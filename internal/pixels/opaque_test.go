package pixels

import (
	"image"
	"image/color"
	"testing"
)

// A single pixel that is not opaque is found wherever it is, and only inside the
// picture.
func TestOpaque(t *testing.T) {
	for _, w := range []int{1, 2, 7, 8, 9, 31} {
		whole := image.NewNRGBA(image.Rect(0, 0, w+2, 5))
		m := whole.SubImage(image.Rect(1, 1, w+1, 4)).(*image.NRGBA)
		for i := range whole.Pix {
			whole.Pix[i] = 0xFE // around it too
		}
		fill := func() {
			for y := 1; y < 4; y++ {
				for x := 1; x <= w; x++ {
					m.SetNRGBA(x, y, color.NRGBA{1, 2, 3, 0xFF})
				}
			}
		}
		fill()
		rgba := &image.RGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
		if !Opaque(m) || !Opaque(rgba) {
			t.Errorf("width %d: an opaque picture was not found to be one", w)
		}
		for y := 1; y < 4; y++ {
			for x := 1; x <= w; x++ {
				fill()
				m.Pix[m.PixOffset(x, y)+3] = 0xFE
				if Opaque(m) || Opaque(rgba) {
					t.Errorf("width %d: the pixel (%d, %d) was passed over", w, x, y)
				}
			}
		}
	}
	r := image.Rect(0, 0, 3, 3)
	clear := image.NewPaletted(r, color.Palette{color.Transparent, color.Black})
	full := image.NewPaletted(r, color.Palette{color.White, color.Black})
	for _, c := range []struct {
		m    image.Image
		want bool
	}{
		{image.NewYCbCr(r, image.YCbCrSubsampleRatio420), true}, {image.NewGray(r), true}, {image.NewGray16(r), true},
		{image.NewCMYK(r), true}, {clear, false}, {full, true}, {image.NewNRGBA64(r), false},
		{image.NewUniform(color.White), false}, {image.NewNRGBA(image.Rectangle{}), true},
	} {
		if got := Opaque(c.m); got != c.want {
			t.Errorf("%T: %v, want %v", c.m, got, c.want)
		}
	}
}
