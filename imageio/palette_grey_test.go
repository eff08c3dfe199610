package imageio

import (
	"bytes"
	"image"
	"image/color"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

// TestPaletteForGrey wants the profile for grey in files of pictures that had a palette before their colours
// became those of the profile.
func TestPaletteForGrey(t *testing.T) {
	profile := testimg.GreyProfile(testimg.Gamma(1.8))
	m := image.NewNRGBA(image.Rect(0, 0, 20, 3))
	for y := range 3 {
		for x := range 20 {
			m.Set(x, y, color.Gray{Y: uint8(12 * x)})
		}
	}
	for _, f := range []Format{PNG, TIFF, JPEG} {
		var b bytes.Buffer
		src := &Info{Format: PNG, Palette: 8, Grey: true, Metadata: (*Metadata)(nil).InProfile(profile)}
		if err := Encode(t.Context(), &b, m, f, &EncodeOptions{Source: src}); err != nil {
			t.Fatal(err)
		}
		_, info, err := Decode(t.Context(), &b, nil)
		if err != nil || info.Metadata == nil || !bytes.Equal(info.Metadata.ICC, profile) {
			t.Errorf("%s: the file lacks its profile (%v)", f, err)
		}
	}
}
