package imageio

import (
	"bytes"
	"fmt"
	"math"
	"strings"

	"github.com/lathe-gpu/lathe/internal/avif"
	"github.com/lathe-gpu/lathe/internal/bmp"
	"github.com/lathe-gpu/lathe/internal/gif"
	"github.com/lathe-gpu/lathe/internal/tiff"
	"github.com/lathe-gpu/lathe/internal/webp"
)

// Format is a format of picture files, by its name in lower case.
type Format string

// The formats that Decode reads. Encode writes all but BMP. A program reads and writes AVIF only
// if it imports package imageio/avif, which makes it larger.
const (
	JPEG Format = "jpeg"
	PNG  Format = "png"
	TIFF Format = "tiff"
	BMP  Format = "bmp"
	GIF  Format = "gif"
	WebP Format = "webp"
	AVIF Format = "avif"
)

// formats has a row for each Format.
var formats = []struct {
	format     Format
	extensions []string // the usual one first
	written    bool
	begins     func(head []byte) bool
}{
	{JPEG, []string{"jpg", "jpeg", "jpe", "jfif"}, true, func(b []byte) bool { return bytes.HasPrefix(b, []byte("\xff\xd8")) }},
	{PNG, []string{"png"}, true, func(b []byte) bool { return bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")) }},
	{TIFF, []string{"tiff", "tif"}, true, tiff.IsTIFF},
	{BMP, []string{"bmp"}, false, bmp.IsBMP},
	{GIF, []string{"gif"}, true, func(b []byte) bool { return len(b) >= 6 && string(b[:4]) == "GIF8" && b[5] == 'a' }},
	{WebP, []string{"webp"}, true, webp.IsWebP},
	{AVIF, []string{"avif"}, true, avif.IsAVIF},
}

// headBytes is how many bytes DetectFormat looks at.
const headBytes = 64

// ParseFormat returns the format of a name or of a file extension, with or without the dot
// and in any case: "jpeg", "JPG" and ".jpg" are JPEG. For a file name use
// ParseFormat(filepath.Ext(name)). The result is "" and false for others.
func ParseFormat(name string) (Format, bool) {
	name = strings.ToLower(strings.TrimPrefix(name, "."))
	for _, f := range formats {
		for _, e := range f.extensions {
			if name == e {
				return f.format, true
			}
		}
	}
	return "", false
}

// DetectFormat returns the format of a file by its first bytes. It looks at 64 of them, and
// needs no more than the file has. The result is "" and false if Decode does not read such
// files. It is AVIF in every program. A file that begins as a picture may still be damaged.
func DetectFormat(head []byte) (Format, bool) {
	for _, f := range formats {
		if f.begins(head[:min(len(head), headBytes)]) {
			return f.format, true
		}
	}
	return "", false
}

// Extension is the usual file extension with its dot, such as ".jpg". It is "" if f is none
// of the formats.
func (f Format) Extension() string {
	for _, row := range formats {
		if row.format == f {
			return "." + row.extensions[0]
		}
	}
	return ""
}

// MediaType is what HTTP calls the format in the header Content-Type, such as "image/jpeg". It
// is "" if f is none of the formats.
func (f Format) MediaType() string {
	if f.Extension() == "" {
		return ""
	}
	return "image/" + string(f)
}

// CanEncode reports whether Encode writes the format. A program without package imageio/avif does not
// write AVIF.
func (f Format) CanEncode() bool {
	for _, row := range formats {
		if row.format == f {
			return row.written && (f != AVIF || avif.Available() == nil)
		}
	}
	return false
}

// CheckSize returns an error if no file of the format can have a picture of so many pixels. JPEG, GIF and AVIF
// end at 65535 pixels a side, and WebP at 16383. So a program can find out before it makes the picture;
// Encode looks too. That a TIFF file would have more than 4 GiB only Encode can know.
// Errors: ErrTooLarge.
func (f Format) CheckSize(width, height int) error {
	if err := f.fits(width, height); err != nil {
		return fmt.Errorf("imageio: check size: %w", err)
	}
	return nil
}

func (f Format) fits(width, height int) error {
	most, title := math.MaxInt, strings.ToUpper(string(f))
	switch f {
	case JPEG, AVIF:
		most = math.MaxUint16
	case GIF:
		most = gif.MaxSide
	case WebP:
		most, title = webp.MaxSide, "WebP"
	}
	side, others := max(width, height), "PNG or TIFF"
	if side <= most {
		return nil
	}
	if side <= math.MaxUint16 {
		others = "PNG, JPEG or TIFF"
	}
	return fmt.Errorf("%w: %s ends at %d pixels a side and the picture is %d×%d: write %s", ErrTooLarge, title, most, width, height, others)
}
