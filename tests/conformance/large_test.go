package conformance_test

import (
	"image"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// bars compares a filtered picture with the same filter on narrow bars of the source,
// from top to bottom and from side to side. Wherever a large picture was split, a bar
// crosses the seam. margin is the halo of the calls in pixels.
func bars(t *testing.T, dev *lathe.Device, src, got *image.NRGBA, margin int, calls ...spec.Call) {
	t.Helper()
	w, h := src.Rect.Dx(), src.Rect.Dy()
	rng := rand.New(rand.NewPCG(3, 4))
	const wide = 24
	check := func(keep image.Rectangle) {
		cut := keep.Inset(-margin).Intersect(src.Rect)
		want, err := dev.Apply(t.Context(), src.SubImage(cut), calls...)
		if err != nil {
			t.Fatal(err)
		}
		wrong := 0
		for y := keep.Min.Y; y < keep.Max.Y; y++ {
			for x := keep.Min.X; x < keep.Max.X; x++ {
				a := got.NRGBAAt(x, y)
				b := want.NRGBAAt(x-cut.Min.X+want.Rect.Min.X, y-cut.Min.Y+want.Rect.Min.Y)
				if a == b {
					continue
				}
				if wrong++; wrong < 4 {
					t.Errorf("pixel (%d,%d) of %v is %v, in a bar it is %v", x, y, src.Rect, a, b)
				}
			}
		}
		if wrong > 3 {
			t.Errorf("%d pixels of the bar %v differ", wrong, keep)
		}
	}
	for _, x := range []int{0, rng.IntN(max(w-wide, 1)), max(w-wide, 0)} {
		check(image.Rect(x, 0, min(x+wide, w), h))
	}
	for _, y := range []int{0, rng.IntN(max(h-wide, 1)), max(h-wide, 0)} {
		check(image.Rect(0, y, w, min(y+wide, h)))
	}
}

// largeChains are the chains that are applied to large pictures, with their halo in
// pixels.
var largeChains = []struct {
	margin int
	calls  []spec.Call
}{
	{9, []spec.Call{imageops.GaussianBlur{Sigma: 3}}},
	{12, []spec.Call{imageops.Grayscale{}, imageops.GaussianBlur{Sigma: 3}, imageops.Sharpen{}, imageops.SobelEdges{Magnitude: true}, imageops.InvertColors{}, imageops.Sharpen{}}},
}

// TestLarge checks a picture that a small device has to split, at its seams.
func TestLarge(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // The picture has tens of megapixels.
	dev := front(t)
	src := testimg.PhotoAlpha(5003, 3001, 8)
	for _, c := range largeChains {
		got, err := dev.Apply(t.Context(), src, c.calls...)
		if err != nil {
			t.Fatal(err)
		}
		bars(t, dev, src, got, c.margin, c.calls...)
	}
}

// TestHuge checks a picture of 16384×16384 pixels. Source and result take one gibibyte
// each.
func TestHuge(t *testing.T) {
	testlevel.Need(t, testlevel.Soak) // This takes 4 GiB and some minutes.
	dev := front(t)
	src := testimg.Photo(16384, 16384, 8)
	got := image.NewNRGBA(src.Rect)
	for _, c := range largeChains {
		if err := dev.ApplyTo(t.Context(), got, src, c.calls...); err != nil {
			t.Fatal(err)
		}
		bars(t, dev, src, got, c.margin, c.calls...)
	}
}
