package pixels

import (
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

// samples returns noisy pictures of every type the decoders make, each also as
// a sub-image that begins at an odd place.
func samples() map[string]image.Image {
	all := map[string]image.Image{}
	r := image.Rect(0, 0, 23, 71)
	sub := image.Rect(3, 5, 20, 66)
	for _, ratio := range []image.YCbCrSubsampleRatio{
		image.YCbCrSubsampleRatio444, image.YCbCrSubsampleRatio422, image.YCbCrSubsampleRatio420,
		image.YCbCrSubsampleRatio440, image.YCbCrSubsampleRatio411, image.YCbCrSubsampleRatio410,
	} {
		m := image.NewYCbCr(r, ratio)
		testimg.Fill(1, m.Y, m.Cb, m.Cr)
		all[ratio.String()] = m
		all[ratio.String()+" sub"] = m.SubImage(sub)
		n := image.NewNYCbCrA(r, ratio)
		testimg.Fill(2, n.Y, n.Cb, n.Cr, n.A)
		all["alpha "+ratio.String()] = n
		all["alpha "+ratio.String()+" sub"] = n.SubImage(sub)
	}
	nrgba, rgba, gray, gray16 := image.NewNRGBA(r), image.NewRGBA(r), image.NewGray(r), image.NewGray16(r)
	nrgba64, rgba64, cmyk := image.NewNRGBA64(r), image.NewRGBA64(r), image.NewCMYK(r)
	pal := image.NewPaletted(r, color.Palette{color.White, color.Transparent, color.NRGBA{200, 100, 50, 128}, color.Black})
	testimg.Fill(3, nrgba.Pix, gray.Pix, gray16.Pix, nrgba64.Pix, cmyk.Pix, pal.Pix)
	for i := range pal.Pix {
		pal.Pix[i] &= 3
	}
	for y := range r.Dy() {
		for x := range r.Dx() {
			rgba.Set(x, y, nrgba.At(x, y))
			rgba64.Set(x, y, nrgba64.At(x, y))
		}
	}
	all["NRGBA"], all["NRGBA sub"] = nrgba, nrgba.SubImage(sub)
	all["RGBA"], all["RGBA sub"] = rgba, rgba.SubImage(sub)
	all["Gray"], all["Gray sub"] = gray, gray.SubImage(sub)
	all["Gray16"], all["Gray16 sub"] = gray16, gray16.SubImage(sub)
	all["NRGBA64"], all["NRGBA64 sub"] = nrgba64, nrgba64.SubImage(sub)
	all["RGBA64"], all["RGBA64 sub"] = rgba64, rgba64.SubImage(sub)
	all["Paletted"], all["Paletted sub"] = pal, pal.SubImage(sub)
	all["CMYK"] = cmyk
	return all
}

// want is the 8-bit pixel for a colour, and how far rounding may be from it:
// image/color truncates 16-bit samples where Rows rounds.
func want(c color.Color) (n color.NRGBA, slack int) {
	switch c := c.(type) {
	case color.Gray16:
		v := uint8(math.Round(float64(c.Y) / 257))
		return color.NRGBA{v, v, v, 255}, 0
	case color.NRGBA64:
		f := func(v uint16) uint8 { return uint8(math.Round(float64(v) / 257)) }
		return color.NRGBA{f(c.R), f(c.G), f(c.B), f(c.A)}, 0
	case color.NYCbCrA:
		r, g, b := color.YCbCrToRGB(c.Y, c.Cb, c.Cr)
		return color.NRGBA{r, g, b, c.A}, 0
	case color.RGBA64, color.RGBA:
		return color.NRGBAModel.Convert(c).(color.NRGBA), 1
	}
	return color.NRGBAModel.Convert(c).(color.NRGBA), 0
}

func TestRowsEveryType(t *testing.T) {
	for name, m := range samples() {
		b := m.Bounds()
		for _, workers := range []int{1, 4} {
			got := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
			testimg.Fill(9, got.Pix) // whatever was there must go
			rows := Rows(m)
			Parallel(b.Dy(), workers, func(next func() (int, bool)) {
				for y, ok := next(); ok; y, ok = next() {
					rows(got.Pix[y*got.Stride:y*got.Stride+4*b.Dx()], y)
				}
			})
			bad := 0
			for y := range b.Dy() {
				for x := range b.Dx() {
					w, slack := want(m.At(b.Min.X+x, b.Min.Y+y))
					g := got.NRGBAAt(x, y)
					if w.A == 0 {
						w, g = color.NRGBA{A: w.A}, color.NRGBA{A: g.A} // colours of nothing do not count
					}
					if testimg.Distance(g, w) > slack {
						if bad++; bad < 3 {
							t.Errorf("%s: pixel (%d, %d): got %v, want %v", name, x, y, g, w)
						}
					}
				}
			}
		}
	}
}

func TestNarrowRounds(t *testing.T) {
	for v := range 1 << 16 {
		if got, want := narrow(byte(v>>8), byte(v)), byte(math.Round(float64(v)/257)); got != want {
			t.Fatalf("%d: got %d, want %d", v, got, want)
		}
	}
}

// TestUnpremultiply divides every colour by every alpha.
func TestUnpremultiply(t *testing.T) {
	for a := range 256 {
		for v := range 256 {
			got, want := [4]byte{}, [4]byte{3: byte(a)}
			if a > 0 {
				v := byte(min(math.Floor(float64(v)*255/float64(a)+0.5), 255))
				want = [4]byte{v, v, v, byte(a)}
			}
			if unpremultiply(got[:], []byte{byte(v), byte(v), byte(v), byte(a)}); got != want {
				t.Fatalf("colour %d of alpha %d: got %v, want %v", v, a, got, want)
			}
		}
	}
}

func TestParallelCarriesPanics(t *testing.T) {
	for _, workers := range []int{1, 4} {
		var fault any
		func() {
			defer func() { fault = recover() }()
			Parallel(100, workers, func(next func() (int, bool)) {
				for i, ok := next(); ok; i, ok = next() {
					if i == 50 {
						panic("broken")
					}
				}
			})
		}()
		if fault != "broken" {
			t.Errorf("%d workers: a panic was lost (got %v)", workers, fault)
		}
	}
}
