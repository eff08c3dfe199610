package imageio

import (
	"bytes"
	"encoding/json"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// A WebP file is as its source was, lossless or lossy, unless the options say how.
func TestWebPKind(t *testing.T) {
	m := testimg.Photo(70, 50, 1)
	for _, c := range []struct{ source, option, want string }{
		{"", "", "lossy"}, {"", "lossless", "lossless"}, {"", "lossy", "lossy"},
		{"lossless", "", "lossless"}, {"lossless", "lossy", "lossy"}, {"lossy", "", "lossy"}, {"lossy", "lossless", "lossless"},
	} {
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, WebP, &EncodeOptions{WebP: c.option, Source: &Info{WebP: c.source}}); err != nil {
			t.Fatal(err)
		}
		got, info, err := Decode(t.Context(), &file, nil)
		if err != nil || info.WebP != c.want || info.Format != WebP {
			t.Errorf("%+v: %+v, %v", c, info, err)
			continue
		}
		if exact := bytes.Equal(got.(*image.NRGBA).Pix, m.Pix); exact != (c.want == "lossless") {
			t.Errorf("%+v: the same pixels is %v", c, exact)
		}
	}
}

// Greys, palettes and 16 bits become colours of 8 bits.
func TestWebPColours(t *testing.T) {
	deep := image.NewGray16(image.Rect(3, 5, 40, 31))
	for i := range deep.Pix {
		deep.Pix[i] = byte(i * 7)
	}
	palette := image.NewPaletted(image.Rect(0, 0, 40, 31), color.Palette{color.Black, color.NRGBA{255, 0, 0, 255}, color.NRGBA{0, 255, 0, 255}, color.White})
	for i := range palette.Pix {
		palette.Pix[i] = byte(i * i % 4)
	}
	for name, m := range map[string]image.Image{"16 bits": deep, "palette": palette} {
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, WebP, &EncodeOptions{WebP: "lossless", Source: &Info{Grey: true, Palette: 4, Depth: 2}}); err != nil {
			t.Fatal(err)
		}
		got, _, err := Decode(t.Context(), &file, nil)
		if err != nil {
			t.Fatal(err)
		}
		b := m.Bounds()
		for y := range b.Dy() {
			for x := range b.Dx() {
				want := color.NRGBAModel.Convert(m.At(b.Min.X+x, b.Min.Y+y)).(color.NRGBA)
				if c := got.(*image.NRGBA).NRGBAAt(x, y); testimg.Distance(c, want) > 1 {
					t.Fatalf("%s: pixel %d,%d is %v (want %v)", name, x, y, c, want)
				}
			}
		}
	}
}

// exiftool finds the metadata in lossy and lossless files.
func TestWebPMetadata(t *testing.T) {
	exiftool := testkit.Tool(t, "exiftool")
	for name, data := range described(testimg.ICC("RGB ", 400)) {
		m, info, err := Decode(t.Context(), bytes.NewReader(data), nil)
		if err != nil {
			t.Fatal(err)
		}
		had := len(info.Metadata.IPTC) > 0
		if info.Metadata, err = info.Metadata.Fit(WebP); (err != nil) != had || info.Metadata.IPTC != nil {
			t.Fatalf("%s: IPTC stays: %v", name, err)
		}
		for _, kind := range []string{"lossy", "lossless"} {
			var file bytes.Buffer
			if err := Encode(t.Context(), &file, m, WebP, &EncodeOptions{WebP: kind, Source: &info}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(t.TempDir(), "x.webp")
			if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(exiftool, "-json", "-G", "-n", path).Output()
			var tags []map[string]any
			if err != nil || json.Unmarshal(out, &tags) != nil || len(tags) != 1 {
				t.Fatalf("exiftool: %v\n%s", err, out)
			}
			if tags[0]["EXIF:Make"] != "Lathe Works" || tags[0]["ICC_Profile:ColorSpaceData"] != "RGB " || tags[0]["ExifTool:Warning"] != nil {
				t.Errorf("%s, %s: exiftool finds %v", name, kind, tags[0])
			}
			_, again, err := Decode(t.Context(), &file, nil)
			if err != nil || again.Metadata == nil || !bytes.Equal(again.Metadata.ICC, info.Metadata.ICC) ||
				!bytes.Equal(again.Metadata.XMP, info.Metadata.XMP) || again.Orientation != 1 {
				t.Errorf("%s, %s: the metadata are %+v, %v", name, kind, again.Metadata, err)
			}
		}
	}
}
