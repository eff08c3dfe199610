package lathe_test

import (
	"context"
	"errors"
	"image"
	"image/color"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// TestCompareEqual wants equal pictures to be equal exactly, whatever their type and size, and
// whatever hides behind transparent pixels.
func TestCompareEqual(t *testing.T) {
	dev := open(t)
	photo := testimg.PhotoAlpha(61, 43, 1)
	hidden := image.NewNRGBA(photo.Rect)
	copy(hidden.Pix, photo.Pix)
	for i := 0; i < len(hidden.Pix); i += 4 {
		if hidden.Pix[i+3] == 0 {
			hidden.Pix[i] ^= 0x55
		}
	}
	grey := image.NewGray16(image.Rect(-3, 2, 10, 9))
	testimg.Fill(3, grey.Pix)
	pairs := map[string][2]image.Image{
		"empty":           {image.NewNRGBA(image.Rect(0, 0, 0, 5)), image.NewGray(image.Rect(7, 7, 7, 12))},
		"one pixel":       {noise(1, 1), noise(1, 1)},
		"a photo":         {photo, photo},
		"hidden colours":  {photo, hidden},
		"16 bits":         {grey, grey},
		"types":           {opaqueNoise(31, 17), premultiplied(opaqueNoise(31, 17))},
		"8 and 16 bits":   {image.NewGray(grey.Rect), image.NewGray16(grey.Rect)},
		"other positions": {opaqueNoise(5, 5), &image.NRGBA{Pix: opaqueNoise(5, 5).Pix, Stride: 20, Rect: image.Rect(-9, 4, -4, 9)}},
	}
	for name, pair := range pairs {
		got, err := dev.Compare(t.Context(), pair[0], pair[1])
		if want := (lathe.Difference{PSNR: math.Inf(1), SSIM: 1}); err != nil || got != want {
			t.Errorf("%s: %+v, %v; want %+v", name, got, err, want)
		}
	}
}

// TestCompareByHand has figures that can be computed in the head.
func TestCompareByHand(t *testing.T) {
	dev := open(t)
	flat := func(c color.Color, w, h int) image.Image {
		m := image.NewNRGBA64(image.Rect(0, 0, w, h))
		for i := range w * h {
			m.Set(i%w, i/w, c)
		}
		return m
	}
	near := func(a, b float64) bool { return math.Abs(a-b) <= 1e-4*max(math.Abs(b), 1) }
	const c1, c2 = 1e-4, 9e-4
	for _, x := range []struct {
		name string
		a, b image.Image
		want lathe.Difference
	}{
		{"black and white", flat(color.Black, 20, 20), flat(color.White, 20, 20), lathe.Difference{Max: 255, Mean: 255, RMSE: 255, SSIM: c1 / (1 + c1)}},
		{"one level of 16 bits", flat(color.Gray16{1000}, 3, 2), flat(color.Gray16{1001}, 3, 2),
			lathe.Difference{Max: 1 / 257.0, Mean: 1 / 257.0, RMSE: 1 / 257.0, PSNR: 20 * math.Log10(65535), SSIM: 1}},
		{"one channel", flat(color.NRGBA{0, 0, 0, 255}, 7, 1), flat(color.NRGBA{0, 0, 30, 255}, 7, 1),
			lathe.Difference{Max: 30, Mean: 10, RMSE: math.Sqrt(300), PSNR: 10 * math.Log10(255*255/300.0), SSIM: c1 / (math.Pow(.114*30/255, 2) + c1)}},
		// Black is black at any alpha: only alpha differs. Luma has an SSIM of 1.
		{"alpha", flat(color.NRGBA{}, 12, 12), flat(color.NRGBA{0, 0, 0, 255}, 12, 12),
			lathe.Difference{Max: 255, Mean: 255.0 / 4, RMSE: 127.5, PSNR: 20 * math.Log10(2), SSIM: (1 + c1/(1+c1)) / 2}},
		{"hidden colours", flat(color.NRGBA{200, 100, 0, 0}, 12, 12), flat(color.NRGBA{R: 200, A: 51}, 12, 12),
			lathe.Difference{Max: 51, Mean: (51 + 40) / 4.0, RMSE: math.Sqrt((51*51 + 40*40) / 4.0), PSNR: 10 * math.Log10(255*255*4/(51*51+40*40.0)),
				SSIM: (c1/(math.Pow(.299*40/255, 2)+c1) + c1/(.04+c1)) / 2}},
	} {
		got, err := dev.Compare(t.Context(), x.a, x.b)
		w := x.want
		if err != nil || !near(got.Max, w.Max) || !near(got.Mean, w.Mean) || !near(got.RMSE, w.RMSE) || !near(got.PSNR, w.PSNR) || !near(got.SSIM, w.SSIM) {
			t.Errorf("%s: %+v, %v; want %+v", x.name, got, err, w)
		}
	}
}

// TestDifferenceImage looks at single pixels of a picture of differences.
func TestDifferenceImage(t *testing.T) {
	dev := open(t)
	a, b := image.NewNRGBA(image.Rect(0, 0, 4, 1)), image.NewNRGBA(image.Rect(0, 0, 4, 1))
	for x, c := range [][2]color.NRGBA{
		{{9, 9, 9, 255}, {9, 9, 9, 255}}, {{10, 20, 200, 255}, {13, 10, 0, 255}},
		{{0, 0, 0, 255}, {0, 0, 0, 250}}, {{255, 1, 1, 0}, {1, 1, 255, 0}},
	} {
		a.SetNRGBA(x, 0, c[0])
		b.SetNRGBA(x, 0, c[1])
	}
	got, err := dev.DifferenceImage(t.Context(), a, b, 2.5)
	if err != nil {
		t.Fatal(err)
	}
	for x, want := range []color.NRGBA{{0, 0, 0, 255}, {8, 25, 255, 255}, {13, 13, 13, 255}, {0, 0, 0, 255}} {
		// 7.5 is 8 and 12.5 is 12 or 13: the device may lie to either side of a half.
		if c := got.NRGBAAt(x, 0); testimg.Distance(c, want) > 1 {
			t.Errorf("pixel %d is %v, want %v", x, c, want)
		}
	}
	if got, err := dev.DifferenceImage(t.Context(), image.NewGray(image.Rectangle{}), image.NewGray(image.Rectangle{}), 1); err != nil || !got.Rect.Empty() {
		t.Errorf("without pixels: %v, %v", got, err)
	}
}

func TestCompareErrors(t *testing.T) {
	dev := open(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	good := noise(20, 30)
	for _, x := range []struct {
		name string
		ctx  context.Context
		a, b image.Image
		gain float64
		want error
		text string
	}{
		{"sizes", t.Context(), good, noise(30, 20), 1, lathe.ErrInvalidArgument, "size of the second picture (got 30×20, want 20×30 as the first)"},
		{"nil", t.Context(), nil, good, 1, lathe.ErrInvalidArgument, ""},
		{"short", t.Context(), good, &image.NRGBA{Rect: good.Rect}, 1, lathe.ErrInvalidArgument, ""},
		{"short and deep", t.Context(), &image.NRGBA64{Stride: 160, Rect: good.Rect}, good, 1, lathe.ErrInvalidArgument, ""},
		{"ended", ended, good, good, 1, context.Canceled, ""},
		{"no context", nil, good, good, 1, lathe.ErrInvalidArgument, ""},
		{"gain 0", t.Context(), good, good, 0, lathe.ErrInvalidArgument, "gain (got 0"},
		{"gain NaN", t.Context(), good, good, math.NaN(), lathe.ErrInvalidArgument, "gain (got NaN"},
		{"gain without end", t.Context(), good, good, math.Inf(1), lathe.ErrInvalidArgument, "gain"},
	} {
		if x.gain == 1 {
			if got, err := dev.Compare(x.ctx, x.a, x.b); !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) || got != (lathe.Difference{}) {
				t.Errorf("%s: %+v, %v", x.name, got, err)
			}
		}
		if got, err := dev.DifferenceImage(x.ctx, x.a, x.b, x.gain); !errors.Is(err, x.want) || !strings.Contains(err.Error(), x.text) || got != nil {
			t.Errorf("%s: image: %v, %v", x.name, got, err)
		}
	}
	closed := open(t)
	closed.Close()
	if _, err := closed.Compare(t.Context(), good, good); !errors.Is(err, lathe.ErrClosed) {
		t.Errorf("a closed device: %v", err)
	}
}
