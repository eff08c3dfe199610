package lathe_test

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/spec"
)

// deepNoise is a picture of random samples of 16 bits.
func deepNoise(w, h int) *image.NRGBA64 {
	m := image.NewNRGBA64(image.Rect(0, 0, w, h))
	testimg.Fill(9, m.Pix)
	return m
}

// TestApplyToDeep wants 16 bits of every result, against arithmetic in float64.
func TestApplyToDeep(t *testing.T) {
	exact := map[string]func(v float64) float64{
		"nothing":  func(v float64) float64 { return v },
		"inverted": func(v float64) float64 { return 1 - v },
		"brighter": func(v float64) float64 { return min(v*1.7+0.01, 1) },
		"square":   func(v float64) float64 { return v * v },
	}
	calls := map[string][]spec.Call{"nothing": nil, "inverted": {imageops.InvertColors{}}, "brighter": {imageops.Brightness{Factor: 1.7, Offset: 0.01}}, "square": {imageops.Gamma{Gamma: 0.5}}}
	for _, strip := range []int64{1, 1 << 20} {
		dev := open(t, lathe.WithStrip(strip))
		for _, size := range []image.Point{{64, 40}, {61, 33}, {1, 97}, {53, 1}} {
			src := deepNoise(size.X, size.Y)
			for name, f := range exact {
				dst := image.NewNRGBA64(image.Rect(3, 5, 3+size.X, 5+size.Y))
				if err := dev.ApplyTo(t.Context(), dst, src, calls[name]...); err != nil {
					t.Fatal(name, err)
				}
				for y := range size.Y {
					for x := range size.X {
						got, from := dst.NRGBA64At(3+x, 5+y), src.NRGBA64At(x, y)
						for i, c := range [][2]uint16{{got.R, from.R}, {got.G, from.G}, {got.B, from.B}} {
							want := 0xffff * f(float64(c[1])/0xffff)
							if math.Abs(float64(c[0])-want) > 0.5+0.05 || got.A != from.A {
								t.Fatalf("%s of %v, strips of %d: pixel %d,%d channel %d: %v of %v, want %v", name, size, strip, x, y, i, got, from, want)
							}
						}
					}
				}
			}
		}
	}
}

// A filter is the same in strips, in place, and on parts of pictures, and gentle steps are not lost.
func TestApplyToDeepStrips(t *testing.T) {
	parsed, err := spec.ParseCalls("resize width=35 height=90 fit=stretch", "image")
	if err != nil {
		t.Fatal(err)
	}
	whole, strips := open(t), open(t, lathe.WithStrip(16*70*20))
	for name, calls := range map[string][]spec.Call{
		"blur":   {imageops.GaussianBlur{Sigma: 2}, imageops.Brightness{Factor: 0.9}},
		"resize": parsed,
		"flip":   {imageops.Flip{}, imageops.Sharpen{}},
	} {
		src := deepNoise(70, 90)
		size, err := imageops.Size(src.Rect.Size(), calls...)
		if err != nil {
			t.Fatal(err)
		}
		want, got := image.NewNRGBA64(image.Rectangle{Max: size}), image.NewNRGBA64(image.Rectangle{Max: size})
		if err := whole.ApplyTo(t.Context(), want, src, calls...); err != nil {
			t.Fatal(err)
		}
		if err := strips.ApplyTo(t.Context(), got, src, calls...); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Pix, want.Pix) {
			t.Errorf("%s: strips differ", name)
		}
		if size == src.Rect.Size() {
			if err := strips.ApplyTo(t.Context(), src, src, calls...); err != nil || !bytes.Equal(src.Pix, want.Pix) {
				t.Errorf("%s: in place: %v", name, err)
			}
		}
	}
	// A ramp of 2 000 levels between two levels of 8 bits.
	ramp := image.NewGray16(image.Rect(0, 0, 2000, 3))
	for y := range 3 {
		for x := range 2000 {
			ramp.SetGray16(x, y, color.Gray16{Y: uint16(20000 + x/8)})
		}
	}
	dst := image.NewNRGBA64(ramp.Rect)
	if err := whole.ApplyTo(t.Context(), dst, ramp, imageops.GaussianBlur{Sigma: 1}); err != nil {
		t.Fatal(err)
	}
	for x := 10; x < 1990; x++ {
		if got, want := int(dst.NRGBA64At(x, 1).G), 20000+x/8; got < want-1 || got > want+1 {
			t.Fatalf("pixel %d: %d, want about %d", x, got, want)
		}
	}
}

// A further picture keeps its 16 bits, in strips too, and may be the result itself.
func TestApplyToDeepComposite(t *testing.T) {
	src, over := deepNoise(37, 61), deepNoise(37, 61)
	testimg.Fill(3, over.Pix)
	for i := 6; i < len(over.Pix); i += 8 {
		over.Pix[i], over.Pix[i+1] = 0xff, 0xff
	}
	for _, strip := range []int64{1, 1 << 20} {
		dev := open(t, lathe.WithStrip(strip))
		dst := image.NewNRGBA64(src.Rect)
		if err := dev.ApplyTo(t.Context(), dst, src, imageops.Composite{Image: over, Opacity: 1}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(dst.Pix, over.Pix) {
			t.Errorf("strips of %d: an opaque picture over another is not itself", strip)
		}
		same := image.NewNRGBA64(src.Rect)
		copy(same.Pix, over.Pix)
		if err := dev.ApplyTo(t.Context(), same, src, imageops.Flip{}, imageops.Composite{Image: same, Opacity: 1}); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(same.Pix, over.Pix) {
			t.Errorf("strips of %d: a further picture was overwritten before it was used", strip)
		}
	}
}
