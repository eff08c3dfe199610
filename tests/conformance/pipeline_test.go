package conformance_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
)

// front opens the device that a program gets from lathe.Open.
func front(t *testing.T, opts ...lathe.Option) *lathe.Device {
	t.Helper()
	opts = append([]lathe.Option{lathe.WithoutCache(), lathe.WithLogger(nil)}, opts...)
	dev, err := lathe.Open(context.Background(), opts...)
	return testkit.Device(t, dev, err)
}

// oneByOne applies each of the calls by itself.
func oneByOne(t interface{ Fatal(...any) }, dev *lathe.Device, src image.Image, calls []spec.Call) *image.NRGBA {
	var got *image.NRGBA
	var err error
	for i, c := range calls {
		if i > 0 {
			src = got
		}
		if got, err = dev.Apply(context.Background(), src, c); err != nil {
			t.Fatal(fmt.Sprintf("%s: %v", spec.FormatCall(c), err))
		}
	}
	return got
}

// calls draws a random chain of image operations.
func calls(t *rapid.T) []spec.Call {
	one := rapid.Custom(func(t *rapid.T) spec.Call {
		unit := rapid.Float64Range(0, 1)
		switch rapid.IntRange(0, 18).Draw(t, "op") {
		case 0:
			return imageops.Grayscale{}
		case 1:
			return imageops.InvertColors{}
		case 2:
			return imageops.Threshold{Value: spec.Given(unit.Draw(t, "value"))}
		case 3:
			return imageops.Brightness{Factor: spec.Given(3 * unit.Draw(t, "factor"))}
		case 4:
			return imageops.Contrast{Factor: spec.Given(3 * unit.Draw(t, "factor"))}
		case 5:
			return imageops.Sharpen{}
		case 6:
			return imageops.SobelEdges{Threshold: spec.Given(unit.Draw(t, "threshold"))}
		case 7:
			return imageops.SobelEdges{Magnitude: true}
		case 8:
			return imageops.Gamma{Gamma: 0.1 + 4*unit.Draw(t, "gamma")}
		case 9:
			return imageops.Saturation{Factor: spec.Given(3 * unit.Draw(t, "factor"))}
		case 10:
			return imageops.Hue{Degrees: spec.Given(360 * unit.Draw(t, "degrees"))}
		case 11:
			return imageops.Levels{Black: 0.4 * unit.Draw(t, "black"), White: 0.5 + 0.5*unit.Draw(t, "white"), Gamma: 0.5 + unit.Draw(t, "gamma"), OutWhite: 1}
		case 12:
			return imageops.Posterize{Levels: rapid.IntRange(2, 20).Draw(t, "levels")}
		case 13:
			return imageops.Vibrance{Amount: spec.Given(unit.Draw(t, "amount"))}
		case 14:
			return imageops.Curves{Points: []float64{0, unit.Draw(t, "a"), 0.5, unit.Draw(t, "b"), 1, 1}, Blue: []float64{0.2, unit.Draw(t, "c"), 0.8, 0}}
		case 15:
			return imageops.WhiteBalance{Temperature: unit.Draw(t, "temperature"), Tint: -unit.Draw(t, "tint")}
		case 16:
			return imageops.Exposure{Stops: spec.Given(3*unit.Draw(t, "stops") - 2)}
		case 17:
			return imageops.Brightness{Factor: 1, Offset: unit.Draw(t, "offset") - 0.5}
		}
		return imageops.GaussianBlur{Sigma: 0.2 + 5*unit.Draw(t, "sigma")}
	})
	return rapid.SliceOfN(one, 1, 7).Draw(t, "calls")
}

// TestChainEqualsOneByOne checks that a chain gives the same bits as its operations one
// by one.
func TestChainEqualsOneByOne(t *testing.T) {
	dev := front(t)
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 70).Draw(t, "w"), rapid.IntRange(1, 70).Draw(t, "h")
		src := testimg.Noise(w, h, rapid.Uint64().Draw(t, "seed"))
		chain := calls(t)
		before := bytes.Clone(src.Pix)
		want := oneByOne(t, dev, src, chain)
		got, err := dev.Apply(context.Background(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "in one pass", got, want)
		if !bytes.Equal(src.Pix, before) {
			t.Fatal("the source changed")
		}
		if err := dev.ApplyTo(context.Background(), src, src, chain...); err != nil {
			t.Fatal(err)
		}
		diff(t, "in place", src, want)
	})
}

// diff fails at the first pixel that differs.
func diff(t interface{ Fatalf(string, ...any) }, what string, got, want *image.NRGBA) {
	if got.Bounds() != want.Bounds() {
		t.Fatalf("%s: bounds %v, want %v", what, got.Bounds(), want.Bounds())
	}
	b := got.Bounds()
	for y := b.Min.Y; y < b.Max.Y; y++ {
		for x := b.Min.X; x < b.Max.X; x++ {
			if g, w := got.NRGBAAt(x, y), want.NRGBAAt(x, y); g != w {
				t.Fatalf("%s: pixel (%d,%d) of %v is %v, want %v", what, x, y, b, g, w)
			}
		}
	}
}

// every returns one call of each operation on images.
func every() []spec.Call {
	return []spec.Call{
		imageops.GaussianBlur{Sigma: 2.5}, imageops.SobelEdges{Threshold: 0.4}, imageops.SobelEdges{Magnitude: true},
		imageops.Grayscale{}, imageops.Threshold{Value: 0.5}, imageops.Brightness{Factor: 1.3}, imageops.Contrast{Factor: 0.7},
		imageops.InvertColors{}, imageops.Sharpen{}, imageops.Gamma{Gamma: 1.5}, imageops.Sepia{Amount: 1}, imageops.Vibrance{Amount: 0.5},
	}
}

// TestImageTypes checks that the result does not depend on the Go type of a picture. It
// is that of the same pixels as NRGBA.
func TestImageTypes(t *testing.T) {
	dev := front(t)
	photo := testimg.PhotoAlpha(83, 59, 4)
	sources := map[string]image.Image{
		"YCbCr":           testimg.PhotoYCbCr(83, 59, 4),
		"sub-image":       photo.SubImage(image.Rect(5, 7, 70, 41)),
		"shifted":         &image.NRGBA{Pix: photo.Pix, Stride: photo.Stride, Rect: photo.Rect.Add(image.Pt(-20, 300))},
		"generic":         generic{photo},
		"gray":            converted(photo, image.NewGray(photo.Rect)),
		"gray16":          converted(photo, image.NewGray16(photo.Rect)),
		"nrgba64":         converted(photo, image.NewNRGBA64(photo.Rect)),
		"rgba opaque":     converted(testimg.Photo(83, 59, 4), image.NewRGBA(photo.Rect)),
		"paletted opaque": converted(testimg.Photo(83, 59, 4), image.NewPaletted(photo.Rect, []color.Color{color.Black, color.White, color.RGBA{200, 30, 60, 255}})),
	}
	for name, src := range sources {
		flat := image.NewNRGBA(src.Bounds())
		for y := flat.Rect.Min.Y; y < flat.Rect.Max.Y; y++ {
			for x := flat.Rect.Min.X; x < flat.Rect.Max.X; x++ {
				flat.Set(x, y, src.At(x, y))
			}
		}
		for _, c := range []spec.Call{imageops.Sharpen{}, imageops.InvertColors{}} {
			want, err := dev.Apply(t.Context(), flat, c)
			if err != nil {
				t.Fatal(err)
			}
			got, err := dev.Apply(t.Context(), src, c)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got.Rect.Size() != src.Bounds().Size() {
				t.Errorf("%s: size %v, want %v", name, got.Rect.Size(), src.Bounds().Size())
				continue
			}
			// JPEG's colours and colours of 16 bits may be rounded to 8 bits in another way
			// than by Go's color models. Sharpening multiplies such a difference by nine.
			may := 0
			if name == "YCbCr" || strings.HasSuffix(name, "16") || strings.HasSuffix(name, "64") {
				if may = 1; c == spec.Call(imageops.Sharpen{}) {
					may = 9
				}
			}
			if d := furthest(got, want); d > may {
				t.Errorf("%s: %s: off by %d, %d may be", name, spec.FormatCall(c), d, may)
			}
		}
	}
}

// generic hides the Go type of an image.
type generic struct{ image.Image }

func converted(src image.Image, dst draw.Image) image.Image {
	draw.Draw(dst, dst.Bounds(), src, src.Bounds().Min, draw.Src)
	return dst
}

// furthest returns the largest difference between two pictures of the same size.
func furthest(a, b *image.NRGBA) int {
	most := 0
	for y := range a.Rect.Dy() {
		for i := range 4 * a.Rect.Dx() {
			d := int(a.Pix[y*a.Stride+i]) - int(b.Pix[y*b.Stride+i])
			most = max(most, d, -d)
		}
	}
	return most
}

// TestSizes tries thin, tiny and wide pictures, and an empty one.
func TestSizes(t *testing.T) {
	dev := front(t)
	sizes := [][2]int{{1, 1}, {1, 2}, {2, 1}, {1, 1000}, {1000, 1}, {3, 3}, {31, 17}, {16384, 3}, {3, 16384}, {16383, 5}, {70001, 1}, {1, 70001}}
	if !testlevel.IsFull() {
		sizes = sizes[:7]
	}
	for _, s := range sizes {
		src := testimg.Noise(s[0], s[1], uint64(s[0]*7+s[1]))
		for _, c := range every() {
			got, err := dev.Apply(t.Context(), src, c)
			if err != nil {
				t.Errorf("%dx%d %s: %v", s[0], s[1], spec.FormatCall(c), err)
				continue
			}
			checkAgainstReference(t, c, src, got)
		}
	}
	for _, s := range [][2]int{{0, 0}, {0, 5}, {5, 0}} {
		got, err := dev.Apply(t.Context(), image.NewNRGBA(image.Rect(0, 0, s[0], s[1])), imageops.Sharpen{})
		if err != nil || !got.Bounds().Empty() {
			t.Errorf("%dx%d: %v, %v", s[0], s[1], got, err)
		}
	}
}
