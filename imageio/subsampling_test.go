package imageio

import (
	"bytes"
	"errors"
	"image"
	"io"
	"os/exec"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// A CMYK file, of which vips and other programs write the colours at full resolution, is a JPEG file of
// RGB with the colours at full resolution.
func TestSubsamplingOfCMYK(t *testing.T) {
	frame := func(sampling ...byte) string {
		j := &jpegInfo{}
		b := []byte{8, 0, 9, 0, 9, byte(len(sampling))}
		for i, s := range sampling {
			b = append(b, byte(i+1), s, 0)
		}
		j.frame(bytes.NewReader(b), 0xc0, int64(len(b)))
		return j.sampling
	}
	for _, c := range []struct {
		want     string
		sampling []byte
	}{
		{"4:4:4", []byte{0x11, 0x11, 0x11, 0x11}}, {"4:4:4", []byte{0x22, 0x22, 0x22, 0x22}}, {"4:2:0", []byte{0x22, 0x11, 0x11, 0x22}},
		{"4:2:2", []byte{0x21, 0x11, 0x11, 0x21}}, {"", []byte{0x22, 0x11, 0x11, 0x11}}, {"", []byte{0x22, 0x11, 0x21, 0x22}},
		{"4:4:4", []byte{0x11, 0x11, 0x11}}, {"4:2:0", []byte{0x22, 0x11, 0x11}}, {"", []byte{0x11}},
	} {
		if got := frame(c.sampling...); got != c.want {
			t.Errorf("%x: %q, want %q", c.sampling, got, c.want)
		}
	}
	tool := testkit.Tool(t, "convert")
	file, err := exec.CommandContext(t.Context(), tool, "-size", "40x30", "plasma:red-blue", "-colorspace", "CMYK", "-sampling-factor", "1x1", "-quality", "95", "jpeg:-").Output()
	if err != nil {
		t.Fatal(err)
	}
	m, info, err := Decode(t.Context(), bytes.NewReader(file), nil)
	if err != nil || info.Subsampling != "4:4:4" {
		t.Fatalf("%+v, %v", info, err)
	}
	var out bytes.Buffer
	if err := Encode(t.Context(), &out, m, JPEG, &EncodeOptions{Source: &info}); err != nil {
		t.Fatal(err)
	}
	if again, err := DecodeConfig(t.Context(), &out, nil); err != nil || again.Subsampling != "4:4:4" {
		t.Errorf("%+v, %v", again, err)
	}
}

// Colours are stored as those of the source are, or as the option says.
func TestSubsampling(t *testing.T) {
	m := testimg.Photo(61, 35, 1)
	for _, from := range []string{"4:4:4", "4:2:2", "4:4:0", "4:2:0"} {
		var first, second, third bytes.Buffer
		if err := Encode(t.Context(), &first, m, JPEG, &EncodeOptions{Subsampling: from, Quality: 95}); err != nil {
			t.Fatal(err)
		}
		img, info, err := Decode(t.Context(), &first, nil)
		if err != nil || info.Subsampling != from {
			t.Fatalf("%s: %+v, %v", from, info, err)
		}
		info.Metadata = &Metadata{DensityX: 100, DensityY: 100, XMP: testimg.XMP("1")}
		if err = Encode(t.Context(), &second, img, JPEG, &EncodeOptions{Source: &info}); err != nil {
			t.Fatal(err)
		}
		if again, err := DecodeConfig(t.Context(), &second, nil); err != nil || again.Subsampling != from || again.Metadata == nil || again.Metadata.DensityX != 100 {
			t.Errorf("%s: %+v, %v", from, again, err)
		}
		if err = Encode(t.Context(), &third, img, JPEG, &EncodeOptions{Source: &info, Subsampling: "4:2:2"}); err != nil {
			t.Fatal(err)
		}
		if again, err := DecodeConfig(t.Context(), &third, nil); err != nil || again.Subsampling != "4:2:2" {
			t.Errorf("%s to 4:2:2: %+v, %v", from, again, err)
		}
	}
	// Grey has none, and other formats take no notice.
	var file bytes.Buffer
	grey := &Info{Grey: true, Depth: 8, Subsampling: "4:4:4"}
	if err := Encode(t.Context(), &file, image.NewGray(image.Rect(0, 0, 9, 9)), JPEG, &EncodeOptions{Source: grey, Subsampling: "4:4:4"}); err != nil {
		t.Fatal(err)
	}
	if info, err := DecodeConfig(t.Context(), &file, nil); err != nil || !info.Grey || info.Subsampling != "" {
		t.Errorf("%+v, %v", info, err)
	}
	if err := Encode(t.Context(), io.Discard, m, JPEG, &EncodeOptions{Subsampling: "4:1:1"}); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Error(err)
	}
	if err := Encode(t.Context(), io.Discard, testimg.PhotoAlpha(9, 9, 1), JPEG, &EncodeOptions{Subsampling: "4:4:4"}); err != nil {
		t.Error(err)
	}
}
