package lathe_test

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/spec"
)

// hidden is an image whose type says nothing of its pixels.
type hidden struct{ image.Image }

// An opaque picture has the result that it has where nothing is known of it, with
// fewer launches; a picture with a transparent pixel has the same launches either way.
func TestApplyOpaque(t *testing.T) {
	dev := open(t)
	chain := []spec.Call{imageops.GaussianBlur{Sigma: 2}, imageops.Brightness{Factor: 1.5}, imageops.Sharpen{}, &imageops.SobelEdges{Magnitude: true}}
	m := image.NewNRGBA(image.Rect(3, 2, 64, 45))
	for i := range m.Pix {
		m.Pix[i] = byte(i*i*7 + i/61)
	}
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 0xFF
	}
	launches := func(src image.Image) int {
		null := null.NewRecorder(nil)
		d, err := lathe.Open(t.Context(), lathe.WithGPU(null), lathe.WithoutCache())
		if err != nil {
			t.Fatal(err)
		}
		defer d.Close()
		if _, err := d.Apply(t.Context(), src, chain...); err != nil {
			t.Fatal(err)
		}
		return len(null.Recorded())
	}
	for n := 1; n <= len(chain); n++ {
		known, err := dev.Apply(t.Context(), m, chain[:n]...)
		if err != nil {
			t.Fatal(err)
		}
		unknown, err := dev.Apply(t.Context(), hidden{m}, chain[:n]...)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(known.Pix, unknown.Pix) {
			t.Errorf("%d operations: an opaque picture differs where its type hides that it is one", n)
		}
	}
	if a, b := launches(m), launches(hidden{m}); a >= b {
		t.Errorf("an opaque picture takes %d launches, one of which nothing is known %d", a, b)
	}
	m.SetNRGBA(20, 20, color.NRGBA{R: 255})
	if a, b := launches(m), launches(hidden{m}); a != b {
		t.Errorf("a picture with a transparent pixel takes %d launches, one of which nothing is known %d", a, b)
	}
}
