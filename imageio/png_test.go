package imageio

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os/exec"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// greyPicture has greys of so many bits, and alpha of more than one level on request.
func greyPicture(w, h, depth int, alpha bool) image.Image {
	m := image.NewNRGBA64(image.Rect(0, 0, w, h))
	var noise = make([]byte, 4*w*h)
	testimg.Fill(uint64(w), noise)
	most := 1<<depth - 1
	for i := range w * h {
		v := (int(noise[4*i])<<8 | int(noise[4*i+1])) % (most + 1) * 65535 / most
		a := 65535
		if alpha {
			a = (int(noise[4*i+2])<<8 | int(noise[4*i+3])) % (most + 1) * 65535 / most
		}
		m.SetNRGBA64(i%w, i/w, color.NRGBA64{uint16(v), uint16(v), uint16(v), uint16(a)})
	}
	if depth == 16 {
		return m
	}
	return toNRGBA(m)
}

// kindOf is the depth and the kind in the header of a PNG file, and whether it has a palette.
func kindOf(file []byte) string {
	return fmt.Sprint(file[24], file[25], bytes.Contains(file, []byte("PLTE")))
}

// Grey PNG files of few bits stay so, and so do those with alpha. Other readers read the same pixels.
func TestGreyPNG(t *testing.T) {
	profile := testimg.ICC("GRAY", 300)
	for _, c := range []struct {
		depth int
		alpha bool
		want  string
	}{
		{1, false, "1 0 false"}, {2, false, "2 0 false"}, {4, false, "4 0 false"}, {8, false, "8 0 false"}, {16, false, "16 0 false"},
		{8, true, "8 4 false"}, {16, true, "16 4 false"}, {1, true, "8 4 false"},
	} {
		for _, w := range []int{1, 7, 8, 9, 33, 501} {
			what := fmt.Sprintf("%+v, %d pixels wide", c, w)
			m := greyPicture(w, 5, c.depth, c.alpha)
			if c.alpha {
				type setter interface{ Set(x, y int, c color.Color) }
				m.(setter).Set(0, 0, color.NRGBA{77, 77, 77, 99}) // not opaque, however narrow it is
			}
			src := &Info{Grey: true, Depth: c.depth, Metadata: &Metadata{ICC: profile, XMP: testimg.XMP("1")}}
			var file bytes.Buffer
			if err := Encode(t.Context(), &file, m, PNG, &EncodeOptions{Source: src}); err != nil {
				t.Fatal(what, err)
			}
			if got := kindOf(file.Bytes()); got != c.want {
				t.Errorf("%s: kind %s, want %s", what, got, c.want)
			}
			got, info, err := Decode(t.Context(), bytes.NewReader(file.Bytes()), &DecodeOptions{Depth: 16})
			if err != nil || !info.Grey || info.Palette != 0 || info.Metadata == nil || !bytes.Equal(info.Metadata.ICC, profile) || len(info.Metadata.XMP) == 0 {
				t.Fatalf("%s: %+v, %v", what, info, err)
			}
			if c.depth == 16 {
				if !bytes.Equal(got.(*image.NRGBA64).Pix, m.(*image.NRGBA64).Pix) {
					t.Errorf("%s: other pixels", what)
				}
			} else if text := testimg.Differ(got.(*image.NRGBA), m.(*image.NRGBA), 0); text != "" {
				t.Errorf("%s: %s", what, text)
			}
			other, err := png.Decode(bytes.NewReader(file.Bytes()))
			if err != nil {
				t.Fatal(what, err)
			}
			if text := testimg.Differ(toNRGBA(other), toNRGBA(m), 0); text != "" {
				t.Errorf("%s, as others read it: %s", what, text)
			}
		}
	}
	// What is no longer such is written so: a level between, a colour, alpha of opaque pixels.
	for _, c := range []struct {
		name string
		src  Info
		m    func(*image.NRGBA)
		want string
	}{
		{"a level between", Info{Grey: true, Depth: 1}, func(m *image.NRGBA) { m.SetNRGBA(3, 2, color.NRGBA{7, 7, 7, 255}) }, "8 0 false"},
		{"a colour", Info{Grey: true, Depth: 1}, func(m *image.NRGBA) { m.SetNRGBA(3, 2, color.NRGBA{7, 0, 7, 255}) }, "8 2 false"},
		{"a transparent pixel", Info{Grey: true, Depth: 1}, func(m *image.NRGBA) { m.SetNRGBA(3, 2, color.NRGBA{}) }, "8 4 false"},
		{"a transparent colour", Info{Grey: true, Depth: 8}, func(m *image.NRGBA) { m.SetNRGBA(3, 2, color.NRGBA{7, 0, 7, 9}) }, "8 6 false"},
		{"a hidden colour", Info{Grey: true, Depth: 8}, func(m *image.NRGBA) { m.SetNRGBA(3, 2, color.NRGBA{7, 0, 7, 0}) }, "8 6 false"},
		{"a depth that PNG has not", Info{Grey: true, Depth: 3}, func(*image.NRGBA) {}, "8 0 false"},
		{"a coloured source", Info{Depth: 8}, func(m *image.NRGBA) { m.SetNRGBA(3, 2, color.NRGBA{}) }, "8 6 false"},
	} {
		m := greyPicture(9, 5, 1, false).(*image.NRGBA)
		c.m(m)
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, PNG, &EncodeOptions{Source: &c.src}); err != nil {
			t.Fatal(c.name, err)
		}
		if got := kindOf(file.Bytes()); got != c.want {
			t.Errorf("%s: kind %s, want %s", c.name, got, c.want)
		}
		got, _, err := Decode(t.Context(), &file, nil)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if text := testimg.Differ(got.(*image.NRGBA), m, 0); text != "" {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}

// ImageMagick reads the same kinds.
func TestGreyPNGAsImageMagick(t *testing.T) {
	tool := testkit.Tool(t, "convert")
	for _, c := range []struct {
		depth int
		alpha bool
		want  string
	}{{1, false, "1 0 Grayscale"}, {2, false, "2 0 Grayscale"}, {8, true, "8 4 GrayscaleAlpha"}, {16, true, "16 4 GrayscaleAlpha"}} {
		m := greyPicture(21, 13, c.depth, c.alpha)
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, PNG, &EncodeOptions{Source: &Info{Grey: true, Depth: c.depth}}); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), tool, "-", "-format", "%[png:IHDR.bit_depth] %[png:IHDR.color_type]", "info:")
		cmd.Stdin = &file
		out, err := cmd.CombinedOutput()
		if err != nil || !bytes.HasPrefix(out, []byte(c.want[:3])) {
			t.Errorf("%+v: %s, %v", c, out, err)
		}
	}
}
