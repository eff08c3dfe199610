package conformance_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/imageops"
	family "github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// drawComposite draws a call with a picture of any size and any place.
func drawComposite(t *rapid.T) imageops.Composite {
	place := rapid.IntRange(-30, 30)
	return spec.WithDefaults(imageops.Composite{
		Image:   testimg.Noise(rapid.IntRange(1, 50).Draw(t, "image w"), rapid.IntRange(1, 50).Draw(t, "image h"), 5),
		Mode:    rapid.SampledFrom(family.Modes).Draw(t, "mode"),
		Opacity: rapid.SampledFrom([]float64{1, 0.5}).Draw(t, "opacity"),
		Gravity: rapid.SampledFrom(family.Gravities).Draw(t, "gravity"),
		X:       place.Draw(t, "x"), Y: place.Draw(t, "y"),
		Scale: rapid.SampledFrom([]float64{0, 0, 30, 120}).Draw(t, "scale"),
		Tile:  rapid.Bool().Draw(t, "tile"),
	})
}

// TestCompositeInStrips checks that strips of a few rows give the same bits as the whole image, also
// if the result overwrites the image or the picture that is laid over it.
func TestCompositeInStrips(t *testing.T) {
	whole, strips := front(t), front(t, lathe.WithStrip(1))
	rapid.Check(t, func(t *rapid.T) {
		src := testimg.Noise(rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 120).Draw(t, "h"), 6)
		chain := []spec.Call{drawComposite(t)}
		if rapid.Bool().Draw(t, "filter first") {
			chain = append([]spec.Call{imageops.GaussianBlur{Sigma: 1}}, chain...)
		}
		switch rapid.IntRange(0, 3).Draw(t, "then") {
		case 0:
			chain = append(chain, imageops.Flip{})
		case 1:
			chain = append(chain, imageops.InvertColors{}, drawComposite(t))
		}
		want, err := whole.Apply(t.Context(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := strips.Apply(t.Context(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "in strips", got, want)
		own := &image.NRGBA{Pix: bytes.Clone(src.Pix), Stride: src.Stride, Rect: src.Rect}
		if err := strips.ApplyTo(t.Context(), own, own, chain...); err != nil {
			t.Fatal(err)
		}
		diff(t, "in strips over the source", own, want)
		// The picture is the source itself, and the result overwrites both.
		self := append(chain, imageops.Composite{Image: src, Mode: "multiply", Opacity: 1, Gravity: "center", Y: 3})
		if want, err = whole.Apply(t.Context(), src, self...); err != nil {
			t.Fatal(err)
		}
		for _, dev := range []*lathe.Device{whole, strips} {
			own := &image.NRGBA{Pix: bytes.Clone(src.Pix), Stride: src.Stride, Rect: src.Rect}
			self[len(self)-1] = imageops.Composite{Image: own, Mode: "multiply", Opacity: 1, Gravity: "center", Y: 3}
			if err := dev.ApplyTo(t.Context(), own, own, self...); err != nil {
				t.Fatal(err)
			}
			diff(t, "over the picture itself", own, want)
		}
	})
}

// TestCompositeModes compares every mode with the reference, for pictures of every Go type.
func TestCompositeModes(t *testing.T) {
	dev := front(t)
	photo, over := testimg.PhotoAlpha(83, 59, 4), testimg.PhotoAlpha(61, 90, 9)
	line, column := testimg.Noise(97, 1, 1), testimg.Noise(1, 91, 2)
	for _, mode := range family.Modes {
		for _, c := range []struct {
			src  *image.NRGBA
			over image.Image
			call imageops.Composite
		}{
			{photo, over, imageops.Composite{Opacity: 1, Gravity: "bottom", X: 7, Y: -9}},
			{photo, converted(over, image.NewRGBA(over.Rect)), imageops.Composite{Opacity: 0.4, Gravity: "left"}},
			{line, column, imageops.Composite{Opacity: 1, Gravity: "center"}},
			{column, line, imageops.Composite{Opacity: 1, Gravity: "right", Tile: true, Y: 1}},
			{photo, image.NewGray(image.Rect(-5, -5, 20, 20)), imageops.Composite{Opacity: 1, Gravity: "top-right", X: 3}},
		} {
			c.call.Mode = mode
			with := c.call
			with.Image = c.over
			got, err := dev.Apply(t.Context(), c.src, with)
			if err != nil {
				t.Fatalf("%s: %v", mode, err)
			}
			flat, err := dev.Apply(t.Context(), c.over)
			if err != nil {
				t.Fatal(err)
			}
			checkCompositeReference(t, c.call, c.src, flat, got)
		}
	}
}

// checkCompositeReference compares a result with the reference.
func checkCompositeReference(t *testing.T, c imageops.Composite, src, over, got *image.NRGBA) {
	t.Helper()
	host := func(m *image.NRGBA) *tensor.Host {
		return &tensor.Host{Desc: tensor.Contiguous(tensor.U8, m.Rect.Dy(), m.Rect.Dx(), 4), Data: m.Pix}
	}
	want := tensor.NewHost(host(src).Desc)
	c.Spec().Reference(c, []*tensor.Host{host(src), host(over)}, []*tensor.Host{want})
	for i, w := range want.Data {
		if d := int(got.Pix[i]) - int(w); d < -1 || d > 1 {
			t.Fatalf("%s on %v: byte %d: got %d, want %d within 1", spec.FormatCall(c), src.Rect, i, got.Pix[i], w)
		}
	}
}

// TestCompositeAsImageMagick compares with ImageMagick, if it is installed. Its hue, saturation,
// color and luminosity work in another colour space than those of the W3C, so they are left out.
func TestCompositeAsImageMagick(t *testing.T) {
	tool := "convert"
	if v, err := osexec.CommandContext(t.Context(), tool, "-version").Output(); err != nil || !bytes.Contains(v, []byte("ImageMagick")) {
		testkit.NoTool(t, "needs ImageMagick's program %s; install the package imagemagick: %v", tool, err)
	}
	dev := front(t)
	src, over := testimg.PhotoAlpha(64, 48, 7), testimg.PhotoAlpha(64, 48, 8)
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.rgba"), filepath.Join(dir, "b.rgba")
	if err := errors.Join(os.WriteFile(a, src.Pix, 0o666), os.WriteFile(b, over.Pix, 0o666)); err != nil {
		t.Fatal(err)
	}
	for mode, name := range map[string]string{
		"over": "Over", "dst-over": "DstOver", "in": "In", "dst-in": "DstIn", "out": "Out", "dst-out": "DstOut",
		"atop": "Atop", "dst-atop": "DstAtop", "xor": "Xor", "plus": "Plus", "src": "Src", "dst": "Dst", "clear": "Clear",
		"multiply": "Multiply", "screen": "Screen", "overlay": "Overlay", "darken": "Darken", "lighten": "Lighten",
		"color-dodge": "ColorDodge", "color-burn": "ColorBurn", "hard-light": "HardLight", "soft-light": "SoftLight",
		"difference": "Difference", "exclusion": "Exclusion",
	} {
		got, err := dev.Apply(t.Context(), src, imageops.Composite{Image: over, Mode: mode, Opacity: 1, Gravity: "top-left"})
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"-size", "64x48", "-depth", "8", "rgba:" + a, "rgba:" + b, "-compose", name, "-composite", "-depth", "8", "rgba:-"}
		want, err := osexec.CommandContext(t.Context(), tool, args...).Output()
		if err != nil || len(want) != len(got.Pix) {
			t.Fatalf("%s %v: %d bytes, %v", tool, args, len(want), err)
		}
		// ImageMagick has 16 bits a channel between its steps, so it may round to the next level.
		differ(t, mode, got, want, 16, 1)
	}
}

// TestPlacesAsImageMagick compares where a picture lies, its opacity, tiles and masks with ImageMagick.
func TestPlacesAsImageMagick(t *testing.T) {
	tool := "convert"
	if v, err := osexec.CommandContext(t.Context(), tool, "-version").Output(); err != nil || !bytes.Contains(v, []byte("ImageMagick")) {
		testkit.NoTool(t, "needs ImageMagick's program %s; install the package imagemagick: %v", tool, err)
	}
	dev, dir := front(t), t.TempDir()
	src, over := testimg.PhotoAlpha(64, 48, 7), testimg.PhotoAlpha(28, 20, 8)
	a, b := filepath.Join(dir, "a.rgba"), filepath.Join(dir, "b.rgba")
	if err := errors.Join(os.WriteFile(a, src.Pix, 0o666), os.WriteFile(b, over.Pix, 0o666)); err != nil {
		t.Fatal(err)
	}
	picture := []string{"-size", "28x20", "-depth", "8", "rgba:" + b}
	for _, c := range []struct {
		call imageops.Composite
		args string // OVER is the picture
	}{
		{imageops.Composite{Mode: "over", Opacity: 0.6, Gravity: "bottom-right", X: 5, Y: -2}, "( OVER -channel A -evaluate multiply 0.6 +channel ) -gravity southeast -geometry +5-2 -composite"},
		{imageops.Composite{Mode: "over", Opacity: 1, Gravity: "top", X: -9, Y: 3}, "OVER -gravity north -geometry -9+3 -composite"},
		{imageops.Composite{Mode: "multiply", Opacity: 1, Gravity: "left", X: 60}, "OVER -gravity west -geometry +60+0 -compose multiply -composite"},
		{imageops.Composite{Mode: "over", Opacity: 1, Gravity: "top-left", Tile: true}, "( OVER -set option:distort:viewport 64x48 -virtual-pixel tile -filter point -distort SRT 0 ) -composite"},
		// Over black, alpha multiplies the luma.
		{imageops.Composite{Mode: "mask", Opacity: 1, Gravity: "top-left", Tile: true},
			"( OVER -background black -alpha remove -grayscale Rec601Luma -alpha copy -set option:distort:viewport 64x48 -virtual-pixel tile -filter point -distort SRT 0 ) -compose DstIn -composite"},
	} {
		c.call.Image = over
		got, err := dev.Apply(t.Context(), src, c.call)
		if err != nil {
			t.Fatal(err)
		}
		args := []string{"-size", "64x48", "-depth", "8", "rgba:" + a}
		for _, word := range strings.Fields(c.args) {
			if word == "OVER" {
				args = append(args, picture...)
			} else {
				args = append(args, word)
			}
		}
		args = append(args, "-depth", "8", "rgba:-")
		want, err := osexec.CommandContext(t.Context(), tool, args...).Output()
		if err != nil || len(want) != len(got.Pix) {
			t.Fatalf("%s %v: %d bytes, %v", tool, args, len(want), err)
		}
		differ(t, c.args, got, want, 16, 1)
	}
}

// differ reports components of a picture that are not within some levels of those in want, where alpha is
// not below least. Other colours are hardly visible, and results of a division by a small alpha.
func differ(t *testing.T, name string, got *image.NRGBA, want []byte, least byte, levels int) {
	t.Helper()
	wrong, first := 0, 0
	for i, w := range want {
		if i%4 < 3 && want[i|3] < least {
			continue
		}
		if d := int(got.Pix[i]) - int(w); max(d, -d) > levels {
			if wrong++; wrong == 1 {
				first = i
			}
		}
	}
	if wrong > 0 {
		t.Errorf("%s: %d components differ by more than %d; the first at %d: got %d, want %d (a pixel of %v, want %v)", name, wrong, levels, first, got.Pix[first], want[first],
			got.Pix[first&^3:first|3+1], want[first&^3:first|3+1])
	}
}

// TestBlendModesAsLibrsvg compares the blend modes of the W3C, among them those that ImageMagick
// defines in another way, with the SVG renderer of GNOME, on cairo.
func TestBlendModesAsLibrsvg(t *testing.T) {
	tool, dev, dir := testkit.Tool(t, "rsvg-convert"), front(t), t.TempDir()
	for _, alpha := range []bool{false, true} {
		pictures := map[string]*image.NRGBA{"a.png": testimg.Photo(64, 48, 7), "b.png": testimg.Photo(64, 48, 8)}
		least, levels := byte(0), 1
		if alpha {
			// cairo has 8 bits of a colour times alpha, so a colour is as far off as alpha is small.
			pictures, least, levels = map[string]*image.NRGBA{"a.png": testimg.PhotoAlpha(64, 48, 7), "b.png": testimg.PhotoAlpha(64, 48, 8)}, 160, 4
		}
		for name, m := range pictures {
			var file bytes.Buffer
			if err := errors.Join(png.Encode(&file, m), os.WriteFile(filepath.Join(dir, name), file.Bytes(), 0o600)); err != nil {
				t.Fatal(err)
			}
		}
		for _, mode := range []string{"normal", "multiply", "screen", "overlay", "darken", "lighten", "color-dodge", "color-burn", "hard-light",
			"soft-light", "difference", "exclusion", "hue", "saturation", "color", "luminosity"} {
			svg := `<svg xmlns="http://www.w3.org/2000/svg" width="64" height="48"><image href="a.png" width="64" height="48"/>` +
				`<image href="b.png" width="64" height="48" style="mix-blend-mode:` + mode + `"/></svg>`
			if err := os.WriteFile(filepath.Join(dir, "in.svg"), []byte(svg), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := osexec.CommandContext(t.Context(), tool, "in.svg")
			cmd.Dir = dir
			file, err := cmd.Output()
			if err != nil {
				t.Fatalf("rsvg-convert: %v", err)
			}
			made, err := png.Decode(bytes.NewReader(file))
			if err != nil {
				t.Fatal(err)
			}
			want := image.NewNRGBA(made.Bounds())
			draw.Draw(want, want.Rect, made, image.Point{}, draw.Src)
			got, err := dev.Apply(t.Context(), pictures["a.png"], imageops.Composite{Image: pictures["b.png"], Mode: mode, Opacity: 1, Gravity: "top-left"})
			if err != nil {
				t.Fatal(err)
			}
			differ(t, fmt.Sprintf("%s, alpha %v", mode, alpha), got, want.Pix, least, levels)
		}
	}
}

// broken is an image that panics.
type broken struct{ image.Image }

// late is an image whose pixels cannot be read.
type late struct{}

func (late) ColorModel() color.Model { return color.NRGBAModel }
func (late) Bounds() image.Rectangle { return image.Rect(0, 0, 3, 3) }
func (late) At(x, y int) color.Color { panic("no pixels") }

// TestCompositeRefuses checks the errors of pictures that cannot be laid over an image.
func TestCompositeRefuses(t *testing.T) {
	dev := front(t)
	src := testimg.Noise(20, 10, 1)
	for want, m := range map[string]image.Image{
		"attribute image: no image":                             nil,
		"no image":                                              (*image.NRGBA)(nil),
		"an image without pixels (0×0)":                         image.NewNRGBA(image.Rectangle{}),
		"an image without pixels (5×0)":                         image.NewGray(image.Rect(0, 0, 5, 0)),
		"without bounds":                                        broken{},
		"with a stride of 4 and 3 bytes":                        &image.NRGBA{Pix: make([]byte, 3), Stride: 4, Rect: image.Rect(0, 0, 1, 1)},
		`the file "logo.png" has not been read`:                 &spec.PictureFile{Name: "logo.png"},
		"the source cannot be read: no pixels":                  late{},
		"scale (got 10000, which makes a picture of 2000×20000": nil,
	} {
		call := spec.WithDefaults(imageops.Composite{Image: m})
		if strings.HasPrefix(want, "scale") {
			call.Image, call.Scale, want = image.NewGray(image.Rect(0, 0, 1, 90000)), 1e4, "scale (got 10000, which makes a picture of 2000×180000000"
		}
		_, err := dev.Apply(t.Context(), src, call)
		if !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), want) {
			t.Errorf("%T: got %v, want ErrInvalidArgument with %q", m, err, want)
		}
		if _, unread := m.(late); !unread {
			if err := dev.Prepare(t.Context(), src.Rect.Size(), call); !errors.Is(err, lathe.ErrInvalidArgument) {
				t.Errorf("%T: Prepare: %v", m, err)
			}
		}
	}
	call := spec.WithDefaults(imageops.Composite{Image: src})
	if err := dev.Prepare(t.Context(), src.Rect.Size(), call); err != nil {
		t.Error(err)
	}
}

// lightest is an operation of a program with two pictures of the same size.
type lightest struct {
	Other image.Image `attr:"other,required" doc:"the other picture"`
}

func (lightest) Spec() *spec.Op { return lightestOp }

var lightestOp = spec.Define(spec.Definition[lightest]{
	Name: "test_lightest", Group: "image", WritesAll: true,
	In:  []spec.Arg{{Name: "in", Strides: spec.Rows}, {Name: "other"}},
	Out: []spec.Arg{{Name: "out", InPlace: []int{0}}},
	Shape: func(_ lightest, in []tensor.Desc) ([]tensor.Desc, error) {
		return []tensor.Desc{tensor.Contiguous(in[0].DType, in[0].Shape...)}, nil
	},
	Plan: func(_ lightest, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		c := imageops.Composite{Mode: "lighten", Opacity: 1, Gravity: "top-left"}
		return c.Spec().Plan(c, t, in, out)
	},
})

// TestOwnOperationOfTwoPictures checks that an operation of a program gets its second picture, in
// strips too, by nothing but its declaration.
func TestOwnOperationOfTwoPictures(t *testing.T) {
	src, other := testimg.PhotoAlpha(33, 90, 1), testimg.PhotoAlpha(33, 90, 2)
	for _, dev := range []*lathe.Device{front(t), front(t, lathe.WithStrip(1))} {
		want, err := dev.Apply(t.Context(), src, imageops.Composite{Image: other, Mode: "lighten", Opacity: 1, Gravity: "top-left"}, imageops.GaussianBlur{Sigma: 2})
		if err != nil {
			t.Fatal(err)
		}
		got, err := dev.Apply(t.Context(), src, lightest{Other: other}, imageops.GaussianBlur{Sigma: 2})
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "an operation of a program", got, want)
		if _, err := dev.Apply(t.Context(), src, lightest{}); !errors.Is(err, lathe.ErrInvalidArgument) {
			t.Errorf("without the other picture: %v", err)
		}
	}
}
