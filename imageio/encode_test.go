package imageio

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/draw"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// kinds are images of all types of package image, 45×31 pixels with the origin elsewhere.
func kinds() map[string]image.Image {
	r := image.Rect(-7, 4, 38, 35)
	photo, alpha := testimg.Photo(45, 31, 1), testimg.PhotoAlpha(45, 31, 1)
	all := map[string]image.Image{"uniform part": limited{image.NewUniform(color.NRGBA{200, 100, 50, 128}), r}}
	for name, dst := range map[string]draw.Image{
		"RGBA": image.NewRGBA(r), "NRGBA": image.NewNRGBA(r), "RGBA64": image.NewRGBA64(r), "NRGBA64": image.NewNRGBA64(r), "Gray": image.NewGray(r), "Gray16": image.NewGray16(r),
		"CMYK": image.NewCMYK(r), "Paletted": image.NewPaletted(r, color.Palette{color.Black, color.White, color.NRGBA{255, 0, 0, 128}}), "unknown": &own{image.NewNRGBA(r)},
	} {
		draw.Draw(dst, r, photo, image.Point{}, draw.Src)
		all[name] = dst
	}
	for name, dst := range map[string]draw.Image{"RGBA with alpha": image.NewRGBA(r), "NRGBA with alpha": image.NewNRGBA(r), "NRGBA64 with alpha": image.NewNRGBA64(r), "unknown with alpha": &own{image.NewNRGBA(r)}} {
		draw.Draw(dst, r, alpha, image.Point{}, draw.Src)
		all[name] = dst
	}
	wide := image.NewNRGBA(image.Rect(0, 0, 60, 40))
	draw.Draw(wide, wide.Rect, alpha, image.Point{}, draw.Src)
	all["a view"] = wide.SubImage(image.Rect(5, 3, 50, 34))
	all["YCbCr"] = testimg.PhotoYCbCr(45, 31, 1)
	return all
}

// own is a type that no encoder knows.
type own struct{ *image.NRGBA }

// limited is a part of an endless image.
type limited struct {
	*image.Uniform
	r image.Rectangle
}

func (l limited) Bounds() image.Rectangle { return l.r }
func (l limited) Opaque() bool            { return l.Uniform.Opaque() }

// An image of any type comes back from PNG and TIFF as it was, and from JPEG nearly, laid over
// white. It is not changed.
func TestRoundTrip(t *testing.T) {
	for name, m := range kinds() {
		b := m.Bounds()
		flat := image.NewNRGBA(image.Rectangle{Max: b.Size()})
		exact := image.NewNRGBA(flat.Rect)
		for y := range b.Dy() {
			for x := range b.Dx() {
				exact.Set(x, y, m.At(b.Min.X+x, b.Min.Y+y))
			}
		}
		draw.Draw(flat, flat.Rect, image.White, image.Point{}, draw.Src)
		draw.Draw(flat, flat.Rect, exact, image.Point{}, draw.Over)
		for _, f := range []Format{PNG, TIFF, JPEG, WebP} {
			var file bytes.Buffer
			if err := Encode(t.Context(), &file, m, f, &EncodeOptions{Quality: 100, WebP: "lossless"}); err != nil {
				t.Errorf("%s as %s: %v", name, f, err)
				continue
			}
			got, info, err := Decode(t.Context(), &file, nil)
			if err != nil || info.Format != f || info.Orientation != 1 {
				t.Errorf("%s as %s: %+v, %v", name, f, info, err)
				continue
			}
			want, tol := exact, 1 // two ways to round a colour that is not opaque
			if f == JPEG {
				want, tol = flat, 60 // colours of a few pixels share samples
			}
			if strings.HasSuffix(name, "alpha") || name == "a view" || name == "uniform part" {
				tol += 2 // premultiplied on the way
			}
			if f == JPEG && name == "Paletted" {
				tol = 255 // sharp edges between strong colours
			}
			if far, text := distance(got.(*image.NRGBA), want); far > tol {
				t.Errorf("%s as %s: %s", name, f, text)
			}
		}
		for y := range b.Dy() {
			for x := range b.Dx() {
				if c := color.NRGBAModel.Convert(m.At(b.Min.X+x, b.Min.Y+y)); c != exact.At(x, y) {
					t.Fatalf("%s: Encode has changed pixel %d,%d", name, x, y)
				}
			}
		}
	}
}

// distance is how far the farthest channel is, where colours are premultiplied.
func distance(got, want *image.NRGBA) (far int, where string) {
	if got.Rect != want.Rect {
		return 1 << 30, "size " + got.Rect.String()
	}
	for i := 0; i < len(got.Pix); i += 4 {
		for c := range 4 {
			a, b := int(got.Pix[i+c]), int(want.Pix[i+c])
			if c < 3 {
				a, b = a*int(got.Pix[i+3])/255, b*int(want.Pix[i+3])/255
			}
			far = max(far, a-b, b-a)
		}
	}
	return far, testimg.Differ(got, want, 0)
}

// PNG and TIFF keep 16 bits and grey.
func TestEncodeKeepsDepth(t *testing.T) {
	m := image.NewGray16(image.Rect(0, 0, 9, 5))
	for i := range m.Pix {
		m.Pix[i] = byte(i * 37)
	}
	for _, f := range []Format{PNG, TIFF} {
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, f, nil); err != nil {
			t.Fatal(err)
		}
		got, _, err := image.Decode(&file)
		if g, ok := got.(*image.Gray16); err != nil || !ok || !bytes.Equal(g.Pix, m.Pix) {
			t.Errorf("%s: %T, %v", f, got, err)
		}
	}
}

// The quality is that of JPEG, and 0 is the default.
func TestQuality(t *testing.T) {
	m := testimg.Photo(64, 64, 1)
	size := func(o *EncodeOptions) int {
		var b bytes.Buffer
		if err := Encode(t.Context(), &b, m, JPEG, o); err != nil {
			t.Fatal(err)
		}
		return b.Len()
	}
	if low, def, none, high := size(&EncodeOptions{Quality: 1}), size(&EncodeOptions{}), size(nil), size(&EncodeOptions{Quality: 100}); low >= def || def != none || none >= high || def != size(&EncodeOptions{Quality: DefaultQuality}) {
		t.Errorf("%d, %d, %d, %d bytes", low, def, none, high)
	}
}

func TestEncodeRefuses(t *testing.T) {
	good := image.NewNRGBA(image.Rect(0, 0, 4, 4))
	var noContext context.Context
	for _, c := range []struct {
		name string
		ctx  context.Context
		w    io.Writer
		m    image.Image
		f    Format
		o    *EncodeOptions
		want error
	}{
		{"no context", noContext, io.Discard, good, PNG, nil, errs.ErrInvalidArgument},
		{"no writer", t.Context(), nil, good, PNG, nil, errs.ErrInvalidArgument},
		{"a nil file", t.Context(), (*os.File)(nil), good, PNG, nil, errs.ErrInvalidArgument},
		{"no image", t.Context(), io.Discard, nil, PNG, nil, errs.ErrInvalidArgument},
		{"a nil image", t.Context(), io.Discard, (*image.NRGBA)(nil), JPEG, nil, errs.ErrInvalidArgument},
		{"a nil YCbCr", t.Context(), io.Discard, (*image.YCbCr)(nil), JPEG, nil, errs.ErrInvalidArgument},
		{"an image around nothing", t.Context(), io.Discard, struct{ image.Image }{}, TIFF, nil, errs.ErrInvalidArgument},
		{"no pixels", t.Context(), io.Discard, image.NewNRGBA(image.Rectangle{}), PNG, nil, errs.ErrInvalidArgument},
		{"no rows", t.Context(), io.Discard, image.NewGray(image.Rect(0, 0, 4, 0)), JPEG, nil, errs.ErrInvalidArgument},
		{"no columns", t.Context(), io.Discard, image.NewRGBA(image.Rect(0, 0, 0, 4)), TIFF, nil, errs.ErrInvalidArgument},
		{"an image without an end", t.Context(), io.Discard, image.NewUniform(color.White), PNG, nil, errs.ErrInvalidArgument},
		{"too few bytes", t.Context(), io.Discard, &image.NRGBA{Rect: good.Rect, Stride: 16, Pix: good.Pix[:63]}, PNG, nil, errs.ErrInvalidArgument},
		{"too few grey bytes", t.Context(), io.Discard, &image.Gray{Rect: good.Rect, Stride: 4}, TIFF, nil, errs.ErrInvalidArgument},
		{"no palette", t.Context(), io.Discard, &image.Paletted{Rect: good.Rect, Stride: 4, Pix: good.Pix}, JPEG, nil, errs.ErrInvalidArgument},
		{"no format", t.Context(), io.Discard, good, "", nil, errs.ErrInvalidArgument},
		{"an unknown format", t.Context(), io.Discard, good, "heic", nil, errs.ErrInvalidArgument},
		{"a format that is read only", t.Context(), io.Discard, good, BMP, nil, ErrUnsupported},
		{"quality 101", t.Context(), io.Discard, good, JPEG, &EncodeOptions{Quality: 101}, errs.ErrInvalidArgument},
		{"quality -1", t.Context(), io.Discard, good, PNG, &EncodeOptions{Quality: -1}, errs.ErrInvalidArgument},
		{"too wide for JPEG", t.Context(), io.Discard, image.NewGray(image.Rect(0, 0, 65536, 1)), JPEG, nil, ErrTooLarge},
		{"too wide for WebP", t.Context(), io.Discard, image.NewGray(image.Rect(0, 0, 16384, 1)), WebP, nil, ErrTooLarge},
		{"too high for WebP", t.Context(), io.Discard, image.NewGray(image.Rect(0, 0, 1, 16384)), WebP, &EncodeOptions{WebP: "lossless"}, ErrTooLarge},
		{"a kind of WebP", t.Context(), io.Discard, good, WebP, &EncodeOptions{WebP: "exact"}, errs.ErrInvalidArgument},
		{"IPTC in WebP", t.Context(), io.Discard, good, WebP, &EncodeOptions{Source: &Info{Metadata: &Metadata{IPTC: []byte{28}}}}, ErrUnsupported},
		{"a writer around nothing", t.Context(), struct{ io.Writer }{}, good, PNG, nil, errs.ErrInvalidArgument},
	} {
		if err := Encode(c.ctx, c.w, c.m, c.f, c.o); !errors.Is(err, c.want) || !strings.HasPrefix(err.Error(), "imageio: encode: ") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	if err := Encode(t.Context(), io.Discard, image.NewGray(image.Rect(0, 0, 65535, 1)), JPEG, nil); err != nil {
		t.Errorf("as wide as a JPEG can be: %v", err)
	}
}

// failing fails after n bytes.
type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

// lazy writes less than it is given.
type lazy struct{}

func (lazy) Write(p []byte) (int, error) { return len(p) / 2, nil }

func TestWriterFails(t *testing.T) {
	m := testimg.Noise(600, 500, 1)
	for _, f := range []Format{PNG, TIFF, JPEG, WebP} {
		for _, n := range []int{0, 1, 260 << 10} {
			if err := Encode(t.Context(), &failing{n}, m, f, &EncodeOptions{Quality: 100}); !errors.Is(err, io.ErrClosedPipe) {
				t.Errorf("%s, after %d bytes: %v", f, n, err)
			}
		}
		if err := Encode(t.Context(), lazy{}, m, f, nil); !errors.Is(err, io.ErrShortWrite) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

// A context that ends stops the encoder at its next write.
func TestEncodeContext(t *testing.T) {
	m := testimg.Noise(900, 900, 1)
	for _, f := range []Format{PNG, TIFF, JPEG, WebP} {
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		w := writerFunc(func(p []byte) (int, error) { n++; cancel(); return len(p), nil })
		if err := Encode(ctx, w, m, f, &EncodeOptions{Quality: 100}); !errors.Is(err, context.Canceled) || n != 1 {
			t.Errorf("%s: %v after %d writes", f, err, n)
		}
		n = 0
		if err := Encode(ctx, w, m, f, nil); !errors.Is(err, context.Canceled) || n != 0 {
			t.Errorf("%s, a context that has ended: %v after %d writes", f, err, n)
		}
	}
}

type writerFunc func(p []byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TIFF cannot say where bytes beyond 4 GiB are.
func TestTIFFEnds(t *testing.T) {
	c := &checkedWriter{ctx: t.Context(), w: io.Discard, left: 10}
	if _, err := c.Write(make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if n, err := c.Write(make([]byte, 1)); n != 0 || !errors.Is(err, ErrTooLarge) {
		t.Errorf("%d, %v", n, err)
	}
}
