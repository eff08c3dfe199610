package lathe_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/color/palette"
	"image/draw"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// opaqueNoise is noise without transparent pixels.
func opaqueNoise(w, h int) *image.NRGBA {
	m := noise(w, h)
	for i := 3; i < len(m.Pix); i += 4 {
		m.Pix[i] = 0xFF
	}
	return m
}

// premultiplied is m as an *image.RGBA.
func premultiplied(m image.Image) *image.RGBA {
	p := image.NewRGBA(image.Rectangle{Max: m.Bounds().Size()})
	draw.Draw(p, p.Rect, m, m.Bounds().Min, draw.Src)
	return p
}

// view is a part of a larger picture with other pixels around it. around returns them.
func view(w, h int) (m *image.RGBA, around func() []byte) {
	base := image.NewRGBA(image.Rect(-3, -2, w+5, h+4))
	for i := range base.Pix {
		base.Pix[i] = byte(7 * i)
	}
	m = base.SubImage(image.Rect(0, 0, w, h)).(*image.RGBA)
	return m, func() []byte {
		b := bytes.Clone(base.Pix)
		for y := range h {
			clear(b[base.PixOffset(0, y):][:4*w])
		}
		return b
	}
}

// plainImage has the methods of a draw.Image and a type that nobody knows.
type plainImage struct{ m *image.NRGBA }

func (p plainImage) ColorModel() color.Model     { return p.m.ColorModel() }
func (p plainImage) Bounds() image.Rectangle     { return p.m.Rect }
func (p plainImage) At(x, y int) color.Color     { return p.m.At(x, y) }
func (p plainImage) Set(x, y int, c color.Color) { p.m.Set(x, y, c) }

// TestApplyToTypes writes results into images of several types. Each holds what draw.Draw
// makes of the result of Apply, and the bytes around a view stay.
func TestApplyToTypes(t *testing.T) {
	const w, h = 203, 61
	r := image.Rect(0, 0, w, h)
	ycbcr := image.NewYCbCr(r, image.YCbCrSubsampleRatio420)
	testimg.Fill(4, ycbcr.Y, ycbcr.Cb, ycbcr.Cr)
	onePixel := opaqueNoise(w, h)
	onePixel.Pix[len(onePixel.Pix)-1] = 0xFE
	sources := map[string]image.Image{
		"NRGBA": noise(w, h), "opaque NRGBA": opaqueNoise(w, h), "NRGBA opaque but for its last pixel": onePixel,
		"RGBA": premultiplied(noise(w, h)), "opaque RGBA": premultiplied(opaqueNoise(w, h)),
		"YCbCr": ycbcr, "a type nobody knows": hidden{opaqueNoise(w, h)},
	}
	targets := map[string]func() draw.Image{
		"RGBA":                func() draw.Image { return image.NewRGBA(r.Add(image.Pt(5, -7))) },
		"NRGBA":               func() draw.Image { return image.NewNRGBA(r) },
		"RGBA64":              func() draw.Image { return image.NewRGBA64(r) },
		"Gray":                func() draw.Image { return image.NewGray(r.Add(image.Pt(1, 2))) },
		"Paletted":            func() draw.Image { return image.NewPaletted(r, palette.Plan9) },
		"a type nobody knows": func() draw.Image { return plainImage{image.NewNRGBA(r)} },
	}
	chains := [][]spec.Call{{}, {imageops.InvertColors{}}, {imageops.GaussianBlur{Sigma: 1.5}, imageops.Brightness{Factor: 1.25}}}
	for _, strip := range []int64{4 * w * 25, 1 << 20} {
		dev := open(t, lathe.WithStrip(strip))
		for from, src := range sources {
			for i, calls := range chains {
				result := must(dev.Apply(t.Context(), src, calls...))(t)
				for to, make := range targets {
					want, got := make(), make()
					draw.Draw(want, want.Bounds(), result, image.Point{}, draw.Src)
					if err := dev.ApplyTo(t.Context(), got, src, calls...); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(pixelsOf(got), pixelsOf(want)) {
						t.Errorf("%s to %s, chain %d, strips of %d bytes: not what draw.Draw makes of Apply", from, to, i, strip)
					}
				}
				part, around := view(w, h)
				before := around()
				if err := dev.ApplyTo(t.Context(), part, src, calls...); err != nil {
					t.Fatal(err)
				}
				if !bytes.Equal(premultiplied(part).Pix, premultiplied(result).Pix) {
					t.Errorf("%s to a view, chain %d, strips of %d bytes: not what draw.Draw makes of Apply", from, i, strip)
				}
				if !bytes.Equal(around(), before) {
					t.Errorf("%s to a view, chain %d, strips of %d bytes: bytes around the view changed", from, i, strip)
				}
			}
		}
	}
}

func pixelsOf(m draw.Image) []byte {
	switch m := m.(type) {
	case *image.NRGBA:
		return m.Pix
	case *image.RGBA:
		return m.Pix
	case *image.RGBA64:
		return m.Pix
	case *image.Gray:
		return m.Pix
	case *image.Paletted:
		return m.Pix
	}
	return m.(plainImage).m.Pix
}

// TestApplyToPremultipliedInPlace applies to an *image.RGBA itself, also in the memory of a
// large picture, and wants what another destination gets.
func TestApplyToPremultipliedInPlace(t *testing.T) {
	for _, strip := range []int64{1, 64 << 10, 8 << 20} {
		dev := open(t, lathe.WithStrip(strip))
		for _, size := range []image.Point{{256, 200}, {253, 40}, {1, 33}} {
			for name, base := range map[string]*image.NRGBA{"opaque": opaqueNoise(size.X, size.Y), "not opaque": noise(size.X, size.Y)} {
				for i, calls := range [][]spec.Call{{imageops.InvertColors{}}, {imageops.GaussianBlur{Sigma: 2}, imageops.Sharpen{}, imageops.Grayscale{}}} {
					m := premultiplied(base)
					want := premultiplied(must(dev.Apply(t.Context(), m, calls...))(t))
					if err := dev.ApplyTo(t.Context(), m, m, calls...); err != nil {
						t.Fatal(err)
					}
					if !bytes.Equal(m.Pix, want.Pix) {
						t.Errorf("%v, %s, chain %d, strips of %d bytes: differs from the result in memory of its own", size, name, i, strip)
					}
				}
			}
		}
	}
}

// half makes every byte of a picture 128, alpha too.
type half struct{}

func (half) Spec() *spec.Op { return halfOp }

var halfOp = spec.Define(spec.Definition[half]{
	Name: "half", Group: "image", Doc: "Makes every byte 128.",
	In:        []spec.Arg{{Name: "in", Doc: "an image"}},
	Out:       []spec.Arg{{Name: "out", Doc: "128", InPlace: []int{0}}},
	Traits:    spec.Traits{Class: spec.Elementwise},
	WritesAll: true,
	Shape:     func(_ half, in []tensor.Desc) ([]tensor.Desc, error) { return in, nil },
	Plan: func(_ half, t *spec.Target, _, out []tensor.Desc) (*spec.Plan, error) {
		return movement.PlanFill(128, t, out[0])
	},
})

// TestApplyToMadeTransparent runs an operation that makes opaque pictures transparent.
func TestApplyToMadeTransparent(t *testing.T) {
	dev := open(t)
	for _, size := range []image.Point{{16, 16}, {256, 200}} {
		m := premultiplied(opaqueNoise(size.X, size.Y))
		if err := dev.ApplyTo(t.Context(), m, m, imageops.InvertColors{}, half{}); err != nil {
			t.Fatal(err)
		}
		for i := range m.Pix {
			if want := []byte{64, 64, 64, 128}[i%4]; m.Pix[i] != want {
				t.Fatalf("%v: byte %d is %d, want %d", size, i, m.Pix[i], want)
			}
		}
	}
}

// TestApplyToBytes takes a caller's own bytes with a stride, as source and as destination.
func TestApplyToBytes(t *testing.T) {
	const w, h = 33, 17
	dev := open(t)
	want := premultiplied(must(dev.Apply(t.Context(), opaqueNoise(w, h), imageops.Sharpen{}))(t))
	for _, stride := range []int{4 * w, 4*w + 4, 4*w + 1, 4 * (w + 7), 1000} {
		from, to := bytes.Repeat([]byte{7}, stride*(h-1)+4*w), bytes.Repeat([]byte{9}, stride*(h-1)+4*w) // the last row ends with its last pixel
		src := &image.RGBA{Pix: from, Stride: stride, Rect: image.Rect(0, 0, w, h)}
		dst := &image.RGBA{Pix: to, Stride: stride, Rect: image.Rect(100, -50, 100+w, h-50)}
		draw.Draw(src, src.Rect, opaqueNoise(w, h), image.Point{}, draw.Src)
		if err := dev.ApplyTo(t.Context(), dst, src, imageops.Sharpen{}); err != nil {
			t.Fatal(err)
		}
		for y := range h {
			if !bytes.Equal(to[y*stride:][:4*w], want.Pix[y*want.Stride:][:4*w]) {
				t.Errorf("stride %d: row %d differs from that of a picture without gaps", stride, y)
			}
			if gap := to[min(y*stride+4*w, len(to)):min((y+1)*stride, len(to))]; !bytes.Equal(gap, bytes.Repeat([]byte{9}, len(gap))) {
				t.Errorf("stride %d: the bytes behind row %d changed", stride, y)
			}
		}
	}
}

// brokenSet is an image that cannot be written.
type brokenSet struct{ plainImage }

func (brokenSet) Set(int, int, color.Color) { panic("read only") }

// TestApplyToRefuses returns errors for images whose bytes are too few, and for images that
// cannot be used.
func TestApplyToRefuses(t *testing.T) {
	dev := open(t)
	r := image.Rect(0, 0, 8, 4)
	src, pix := noise(8, 4), make([]byte, 8*4*4)
	short := &image.Gray{Rect: r, Stride: 8, Pix: pix[:31:31]}
	for name, dst := range map[string]draw.Image{
		"no image":                       nil,
		"no RGBA":                        (*image.RGBA)(nil),
		"no Gray":                        (*image.Gray)(nil),
		"a byte too few":                 &image.RGBA{Pix: pix[:127], Stride: 32, Rect: r},
		"a byte too few, NRGBA":          &image.NRGBA{Pix: pix[:127], Stride: 32, Rect: r},
		"no bytes":                       &image.RGBA{Stride: 32, Rect: r},
		"a short stride":                 &image.RGBA{Pix: pix, Stride: 31, Rect: r},
		"no stride":                      &image.RGBA{Pix: pix, Rect: r},
		"a negative stride":              &image.RGBA{Pix: pix, Stride: -32, Rect: r},
		"another size":                   image.NewRGBA(image.Rect(0, 0, 4, 8)),
		"negative size":                  &image.RGBA{Pix: pix, Stride: 32, Rect: image.Rectangle{r.Max, r.Min}},
		"few bytes of another type":      short,
		"no picture inside":              plainImage{},
		"an image that cannot be set":    brokenSet{plainImage{image.NewNRGBA(r)}},
		"rows that overflow an integer":  &image.RGBA{Pix: pix, Stride: math.MaxInt, Rect: r},
		"a size that overflows integers": &image.RGBA{Pix: pix, Stride: 32, Rect: image.Rect(-1e9, -1e9, 1e9, 1e9)},
	} {
		if err := dev.ApplyTo(t.Context(), dst, src, imageops.InvertColors{}); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("into %s: got %v, want ErrInvalidArgument", name, err)
		}
	}
	endless := image.NewUniform(color.White)
	for name, src := range map[string]image.Image{
		"few bytes of another type": short, "no picture inside": hidden{}, "endless": endless,
		"a palette without pixels": &image.Paletted{Rect: r, Palette: palette.Plan9},
		"few bytes":                &image.RGBA{Pix: pix[:127], Stride: 32, Rect: r},
	} {
		for _, call := range []spec.Call{imageops.InvertColors{}, imageops.GaussianBlur{Sigma: 1}} {
			if _, err := dev.Apply(t.Context(), src, call); !errors.Is(err, lathe.ErrInvalidArgument) {
				t.Errorf("from %s: got %v, want ErrInvalidArgument", name, err)
			}
			if err := dev.ApplyTo(t.Context(), image.NewRGBA(r), src, call); !errors.Is(err, lathe.ErrInvalidArgument) {
				t.Errorf("from %s: got %v, want ErrInvalidArgument", name, err)
			}
		}
	}
	for _, dst := range []draw.Image{&image.RGBA{}, &image.NRGBA{}, &image.Gray{}, image.NewRGBA(image.Rect(0, 0, 5, 0))} {
		if err := dev.ApplyTo(t.Context(), dst, image.NewGray(dst.Bounds()), imageops.Sharpen{}); err != nil {
			t.Errorf("an empty %T: %v", dst, err)
		}
	}
}

// BenchmarkApplyTo is a frame of 1920×1080 pixels from and into each of the types that need
// no conversion, opaque and not.
func BenchmarkApplyTo(b *testing.B) {
	dev, err := lathe.Open(b.Context(), quiet)
	if err != nil {
		b.Fatal(err)
	}
	defer dev.Close()
	const w, h = 1920, 1080
	for _, call := range []spec.Call{imageops.InvertColors{}, imageops.GaussianBlur{Sigma: 3}} {
		for _, c := range []struct {
			name     string
			src, dst draw.Image
		}{
			{"NRGBA", opaqueNoise(w, h), image.NewNRGBA(image.Rect(0, 0, w, h))},
			{"RGBA", premultiplied(opaqueNoise(w, h)), image.NewRGBA(image.Rect(0, 0, w, h))},
			{"NRGBAtoRGBA", opaqueNoise(w, h), image.NewRGBA(image.Rect(0, 0, w, h))},
			{"transparentNRGBA", noise(w, h), image.NewNRGBA(image.Rect(0, 0, w, h))},
			{"transparentRGBA", premultiplied(noise(w, h)), image.NewRGBA(image.Rect(0, 0, w, h))},
		} {
			b.Run(fmt.Sprintf("%s/%s", call.Spec().Name, c.name), func(b *testing.B) {
				for b.Loop() {
					if err := dev.ApplyTo(b.Context(), c.dst, c.src, call); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

// huge is an image of more pixels than memory can hold.
type huge struct{ image.Image }

func (huge) Bounds() image.Rectangle { return image.Rect(0, 0, 1e9, 1e9) }

// TestApplyHuge makes pictures of a size that no memory has.
func TestApplyHuge(t *testing.T) {
	dev := open(t)
	src := huge{image.NewNRGBA(image.Rect(0, 0, 1, 1))}
	if _, err := dev.Apply(t.Context(), src, imageops.InvertColors{}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("Apply: %v", err)
	}
	if err := dev.ApplyTo(t.Context(), drawHuge{src}, src, imageops.InvertColors{}); !errors.Is(err, lathe.ErrInvalidArgument) {
		t.Errorf("ApplyTo: %v", err)
	}
}

type drawHuge struct{ huge }

func (drawHuge) Set(int, int, color.Color) {}
