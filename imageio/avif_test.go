package imageio

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

// A program that does not import package imageio/avif knows AVIF by name, and says what is missing.
func TestWithoutAVIF(t *testing.T) {
	file := []byte("\x00\x00\x00\x14ftypavif\x00\x00\x00\x00mif1")
	if f, ok := DetectFormat(file); f != AVIF || !ok || f.CanEncode() || f.Extension() != ".avif" || f.MediaType() != "image/avif" {
		t.Errorf("%q, %v, %q", f, ok, f.Extension())
	}
	_, _, err := Decode(t.Context(), bytes.NewReader(file), nil)
	_, fitErr := (&Metadata{}).Fit(AVIF)
	for name, err := range map[string]error{
		"decode": err, "encode": Encode(t.Context(), &bytes.Buffer{}, testimg.Photo(2, 2, 1), AVIF, nil), "fit": fitErr,
	} {
		if !errors.Is(err, ErrUnsupported) || !strings.Contains(err.Error(), "lathe/imageio/avif") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
