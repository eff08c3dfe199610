package pixels

import (
	"image"
	"math"
	"testing"
)

// TestRounded rounds every sample of 16 bits, in a part of a picture too.
func TestRounded(t *testing.T) {
	m := image.NewNRGBA64(image.Rect(0, 0, 130, 130))
	for i := range len(m.Pix) / 2 {
		m.Pix[2*i], m.Pix[2*i+1] = byte(i>>8), byte(i)
	}
	for _, r := range []image.Rectangle{m.Rect, image.Rect(3, 5, 129, 128), {}} {
		part := m.SubImage(r).(*image.NRGBA64)
		got := Rounded(part)
		if got.Rect.Size() != part.Rect.Size() {
			t.Fatalf("%v became %v", part.Rect, got.Rect)
		}
		for y := range got.Rect.Dy() {
			for x := range got.Rect.Dx() {
				c, d := part.NRGBA64At(part.Rect.Min.X+x, part.Rect.Min.Y+y), got.NRGBAAt(x, y)
				for i, v := range []uint16{c.R, c.G, c.B, c.A} {
					if want := math.Round(float64(v) * 255 / 65535); float64([]uint8{d.R, d.G, d.B, d.A}[i]) != want {
						t.Fatalf("%d became %v, want %v", v, d, want)
					}
				}
			}
		}
	}
}
