package pixels

import (
	"image"
	"image/color"
	"testing"
)

// A single pixel that is not opaque is found wherever it is, and only inside the
// picture.
func TestOpaque(t *testing.T) {
	for _, w := range []int{1, 2, 7, 8, 9, 15, 16, 17, 31, 40} {
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

// Premultiply does what image/color does with every colour and alpha, in rows of any length
// with bytes between them that stay.
func TestPremultiply(t *testing.T) {
	for _, w := range []int{1, 7, 8, 9, 256, 300} {
		const h, gap = 256, 5
		pix := make([]byte, (4*w+gap)*h-gap)
		for i := range pix {
			pix[i] = 0xEE
		}
		at := func(x, y int) []byte { return pix[y*(4*w+gap)+4*x:][:4] }
		colour := func(x, y int) color.NRGBA {
			c := color.NRGBA{byte(x), byte(y + x), byte(255 - x), byte(y)}
			if x%32 < 16 || y%4 == 0 {
				c.A = 255 // eight opaque pixels in a row, too
			}
			return c
		}
		for y := range h {
			for x := range w {
				c := colour(x, y)
				copy(at(x, y), []byte{c.R, c.G, c.B, c.A})
			}
		}
		Premultiply(pix, 4*w+gap, w, h)
		for y := range h {
			for x := range w {
				want := color.RGBAModel.Convert(colour(x, y)).(color.RGBA)
				if got := at(x, y); got[0] != want.R || got[1] != want.G || got[2] != want.B || got[3] != want.A {
					t.Fatalf("width %d, %v: got %v, want %v", w, colour(x, y), got, want)
				}
			}
			if y < h-1 {
				for i, v := range pix[y*(4*w+gap)+4*w:][:gap] {
					if v != 0xEE {
						t.Fatalf("width %d: byte %d behind row %d changed", w, i, y)
					}
				}
			}
		}
	}
	Premultiply(nil, 0, 0, 0)
}

func BenchmarkUnpremultiply(b *testing.B) {
	src, dst := make([]byte, 4*1920), make([]byte, 4*1920)
	for i := range src {
		src[i] = byte(i * 7)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		unpremultiply(dst, src)
	}
}

func BenchmarkPremultiply(b *testing.B) {
	src, dst := make([]byte, 4*1920), make([]byte, 4*1920)
	for i := range src {
		src[i] = byte(i * 7)
	}
	b.SetBytes(int64(len(src)))
	for b.Loop() {
		copy(dst, src)
		premultiply(dst)
	}
}
