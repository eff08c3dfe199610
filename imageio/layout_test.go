package imageio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

// drawn returns dst with the picture drawn on it.
func drawnOn(dst draw.Image, m image.Image) image.Image {
	draw.Draw(dst, dst.Bounds(), m, m.Bounds().Min, draw.Src)
	return dst
}

// A file is of the kind of its source: grey, by palette, black and white.
func TestLike(t *testing.T) {
	r := image.Rect(0, 0, 45, 31)
	photo := testimg.Photo(45, 31, 1)
	grey := drawnOn(image.NewGray(r), photo)
	black := drawnOn(image.NewPaletted(r, color.Palette{color.Gray{}, color.Gray{Y: 255}}), photo)
	four := drawnOn(image.NewPaletted(r, color.Palette{color.NRGBA{1, 2, 3, 255}, color.NRGBA{200, 0, 0, 255}, color.NRGBA{0, 0, 200, 255}, color.NRGBA{9, 99, 9, 255}}), photo)
	clear := drawnOn(image.NewPaletted(r, color.Palette{color.NRGBA{}, color.NRGBA{200, 0, 0, 255}, color.NRGBA{0, 0, 200, 128}}), testimg.PhotoAlpha(45, 31, 1))
	for _, c := range []struct {
		name string
		m    image.Image
		in   Format
		out  Format
		want string // type, bits, size of the palette
	}{
		{"grey", grey, PNG, PNG, "*image.Gray 8 0"}, {"grey", grey, JPEG, JPEG, "*image.Gray 8 0"}, {"grey", grey, TIFF, TIFF, "*image.Gray 8 0"},
		{"grey", grey, JPEG, PNG, "*image.Gray 8 0"}, {"grey", grey, PNG, TIFF, "*image.Gray 8 0"}, {"grey", grey, TIFF, JPEG, "*image.Gray 8 0"},
		{"black and white", black, PNG, PNG, "*image.Paletted 1 2"}, {"black and white", black, PNG, TIFF, "*image.Paletted 8 256"},
		{"four colours", four, PNG, PNG, "*image.Paletted 2 4"}, {"four colours", four, PNG, TIFF, "*image.Paletted 8 256"}, {"four colours", four, TIFF, PNG, "*image.Paletted 2 4"},
		{"four colours", four, GIF, PNG, "*image.Paletted 2 4"}, {"four colours", four, BMP, PNG, "*image.Paletted 2 4"}, {"four colours", four, PNG, JPEG, "*image.YCbCr 8 0"},
		{"transparent", clear, PNG, PNG, "*image.Paletted 2 4"}, {"transparent", clear, PNG, TIFF, "*image.NRGBA 8 0"},
		{"colours", photo, PNG, PNG, "*image.RGBA 8 0"}, {"colours", photo, PNG, TIFF, "*image.RGBA 8 0"}, {"colours", photo, PNG, JPEG, "*image.YCbCr 8 0"},
	} {
		what := fmt.Sprintf("%s, %s to %s", c.name, c.in, c.out)
		var first, file bytes.Buffer
		if c.in == GIF || c.in == BMP {
			first.Write(encoded(c.m, "."+string(c.in)))
		} else if err := Encode(t.Context(), &first, c.m, c.in, nil); err != nil {
			t.Fatal(what, err)
		}
		m, info, err := Decode(t.Context(), bytes.NewReader(first.Bytes()), nil)
		if err != nil {
			t.Fatal(what, err)
		}
		if err := Encode(t.Context(), &file, m, c.out, &EncodeOptions{Source: &info}); err != nil {
			t.Fatal(what, err)
		}
		got, _, err := image.Decode(bytes.NewReader(file.Bytes()))
		if err != nil {
			t.Fatal(what, err)
		}
		again, info2, err := Decode(t.Context(), &file, nil)
		if err != nil {
			t.Fatal(what, err)
		}
		if text := fmt.Sprintf("%T %d %d", got, info2.Depth, info2.Palette); text != c.want {
			t.Errorf("%s: %s, want %s", what, text, c.want)
		}
		if c.out != JPEG {
			if text := testimg.Differ(again.(*image.NRGBA), m.(*image.NRGBA), 0); text != "" {
				t.Errorf("%s: %s", what, text)
			}
		}
		// What has become coloured is written so.
		coloured := image.NewNRGBA(r)
		copy(coloured.Pix, photo.Pix)
		file.Reset()
		if err := Encode(t.Context(), &file, coloured, c.out, &EncodeOptions{Source: &info}); err != nil {
			t.Fatal(what, err)
		}
		again, info2, err = Decode(t.Context(), &file, nil)
		if err != nil || info2.Grey || info2.Palette != 0 {
			t.Errorf("%s, coloured: %+v, %v", what, info2, err)
		}
		if text := testimg.Differ(again.(*image.NRGBA), coloured, 0); c.out != JPEG && text != "" {
			t.Errorf("%s, coloured: %s", what, text)
		}
	}
}

// Fax pages stay pages of one bit, and their greys of four levels stay so.
func TestLikeBits(t *testing.T) {
	for _, w := range []int{1, 7, 8, 9, 64} {
		m := image.NewNRGBA(image.Rect(0, 0, w, 3))
		for i := range m.Pix {
			m.Pix[i] = 255
			if p := i / 4; i%4 < 3 && p*7%5 < 2 {
				m.Pix[i] = 0
			}
		}
		page := &Info{Grey: true, Depth: 1}
		for _, f := range []Format{PNG, TIFF} {
			var file bytes.Buffer
			if err := Encode(t.Context(), &file, m, f, &EncodeOptions{Source: page}); err != nil {
				t.Fatal(err)
			}
			got, info, err := Decode(t.Context(), bytes.NewReader(file.Bytes()), nil)
			if err != nil || info.Depth != 1 || !info.Grey || info.Palette != 0 {
				t.Fatalf("%d %s: %+v, %v", w, f, info, err)
			}
			other, _, err := image.Decode(&file)
			if err != nil {
				t.Fatal(err)
			}
			if text := testimg.Differ(got.(*image.NRGBA), m, 0); text != "" {
				t.Errorf("%d %s: %s", w, f, text)
			}
			if text := testimg.Differ(toNRGBA(other), m, 0); text != "" {
				t.Errorf("%d %s, as others read it: %s", w, f, text)
			}
		}
		// A level between is no longer a page.
		m.Pix[0], m.Pix[1], m.Pix[2] = 7, 7, 7
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, TIFF, &EncodeOptions{Source: page}); err != nil {
			t.Fatal(err)
		}
		if info, err := DecodeConfig(t.Context(), &file, nil); err != nil || info.Depth != 8 || !info.Grey {
			t.Errorf("%d: %+v, %v", w, info, err)
		}
	}
}

// A profile goes where its colours are.
func TestLikeProfile(t *testing.T) {
	m := drawnOn(image.NewNRGBA(image.Rect(0, 0, 9, 9)), image.NewUniform(color.Gray{Y: 77}))
	for _, c := range []struct {
		profile string
		f       Format
		grey    bool
		kept    bool
	}{
		{"GRAY", PNG, true, true}, {"GRAY", JPEG, true, true}, {"GRAY", TIFF, true, true},
		{"RGB ", PNG, false, true}, {"RGB ", JPEG, true, true}, {"RGB ", TIFF, true, true},
	} {
		var file bytes.Buffer
		src := &Info{Grey: true, Depth: 8, Metadata: &Metadata{ICC: testimg.ICC(c.profile, 300)}}
		if err := Encode(t.Context(), &file, m, c.f, &EncodeOptions{Source: src}); err != nil {
			t.Fatal(err)
		}
		info, err := DecodeConfig(t.Context(), &file, nil)
		if err != nil || info.Grey != c.grey || (info.Metadata != nil && info.Metadata.ICC != nil) != c.kept {
			t.Errorf("%+v: %+v, %v", c, info, err)
		}
	}
	// Libraries that others use take the file.
	var file bytes.Buffer
	if err := Encode(t.Context(), &file, m, PNG, &EncodeOptions{Source: &Info{Grey: true, Depth: 8, Metadata: &Metadata{ICC: testimg.ICC("GRAY", 300)}}}); err != nil {
		t.Fatal(err)
	}
	if got, err := png.Decode(&file); err != nil || !strings.HasSuffix(fmt.Sprintf("%T", got), "Gray") {
		t.Errorf("%T, %v", got, err)
	}
}
