package conformance_test

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"math/rand/v2"
	osexec "os/exec"
	"testing"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestTrimAsImageMagick compares what remains with ImageMagick, if it is installed. It takes the
// colour of the border from three corners, which are the same here.
func TestTrimAsImageMagick(t *testing.T) {
	tool := "convert"
	if v, err := osexec.CommandContext(t.Context(), tool, "-version").Output(); err != nil || !bytes.Contains(v, []byte("ImageMagick")) {
		testkit.NoTool(t, "needs ImageMagick's program %s; install the package imagemagick: %v", tool, err)
	}
	dev := front(t)
	rng := rand.New(rand.NewPCG(11, 7))
	for _, fuzz := range []float64{0, 6, 20} {
		for range 12 {
			src := image.NewNRGBA(image.Rect(0, 0, 1+rng.IntN(90), 1+rng.IntN(70)))
			grey := uint8(rng.IntN(256))
			border := color.NRGBA{grey, grey, grey, 255}
			if rng.IntN(3) == 0 {
				border = color.NRGBA{}
			}
			draw.Draw(src, src.Rect, image.NewUniform(border), image.Point{}, draw.Src)
			for range rng.IntN(4) { // Pixels that differ by up to 20 levels, so that fuzz decides.
				v := uint8(min(max(int(grey)+rng.IntN(41)-20, 0), 255))
				x, y := rng.IntN(src.Rect.Dx()), rng.IntN(src.Rect.Dy())
				if border.A == 255 && x+y > 0 && (x < src.Rect.Dx()-1 || y > 0) && (y < src.Rect.Dy()-1 || x > 0) {
					src.SetNRGBA(x, y, color.NRGBA{v, v, v, 255})
				}
			}
			x, y := src.Rect.Dx()/2, src.Rect.Dy()/2
			if x+y > 0 && x < src.Rect.Dx()-1 && y < src.Rect.Dy()-1 {
				src.SetNRGBA(x, y, color.NRGBA{255 - grey/2, grey ^ 128, 200, 255})
			}
			if solid(src) {
				continue // ImageMagick makes a picture of one pixel of these.
			}
			size := src.Rect.Size()
			args := []string{"-size", fmt.Sprintf("%dx%d", size.X, size.Y), "-depth", "8", "rgba:-", "-fuzz", fmt.Sprintf("%g%%", fuzz), "-trim", "-format", "%w %h %X %Y", "info:-"}
			cmd := osexec.CommandContext(t.Context(), tool, args...)
			cmd.Stdin = bytes.NewReader(src.Pix)
			text, err := cmd.Output()
			var want imageops.Crop
			if _, scan := fmt.Sscanf(string(text), "%d %d %d %d", &want.Width, &want.Height, &want.X, &want.Y); err != nil || scan != nil {
				t.Fatalf("%s %v: %q, %v", tool, args, text, err)
			}
			want.Gravity = "top-left"
			if within(src, border, fuzz) {
				continue // Nothing differs by more than fuzz.
			}
			calls, err := dev.FindCrops(t.Context(), src, imageops.Trim{Fuzz: fuzz})
			if err != nil {
				t.Fatal(err)
			}
			if calls[0] != want {
				t.Errorf("fuzz %g%% of %v, border %v: got %+v, ImageMagick has %+v", fuzz, size, border, calls[0], want)
			}
		}
	}
}

// solid reports whether a picture has one colour.
func solid(m *image.NRGBA) bool {
	for i := range m.Pix {
		if m.Pix[i] != m.Pix[i%4] {
			return false
		}
	}
	return true
}

// within reports whether all components of a picture differ from a colour by fuzz percent at most.
func within(m *image.NRGBA, c color.NRGBA, fuzz float64) bool {
	like := [4]uint8{c.R, c.G, c.B, c.A}
	for i, v := range m.Pix {
		if d := int(v) - int(like[i%4]); float64(max(d, -d)) > fuzz*2.55 {
			return false
		}
	}
	return true
}
