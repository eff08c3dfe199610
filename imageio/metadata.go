package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/lathe-gpu/lathe/internal/exif"
)

// Metadata is what a file has beside its pixels, for the image that Decode returns: the
// orientation in EXIF and XMP is 1, unless the image is as stored, and EXIF has no thumbnail,
// which would show the picture as it was. Encode writes it if EncodeOptions.Source has it. All
// fields may be empty.
type Metadata struct {
	// EXIF is a TIFF structure that begins with II or MM. Of a TIFF file it has the tags that
	// describe the picture.
	EXIF []byte
	// XMP is a packet of XML in UTF-8.
	XMP []byte
	// IPTC has the records of IPTC-IIM.
	IPTC []byte
	// ICC is the colour profile.
	ICC []byte
	// DensityX and DensityY are pixels an inch, 0 if the file does not say them.
	DensityX, DensityY float64

	from   Format
	colour []byte // chunks of PNG that say what colours mean, for files of the format from
	own    []byte // other chunks or segments, for files of the format from
}

// maxMetadata is the most bytes that a field has. It is more than cameras and editors write.
const maxMetadata = exif.MaxBytes

// Stripped returns what metadata says of the look of the picture: the colour profile and the
// density. EXIF, XMP, IPTC and texts are left out. m may be nil.
func (m *Metadata) Stripped() *Metadata {
	if m == nil {
		return nil
	}
	return &Metadata{ICC: m.ICC, DensityX: m.DensityX, DensityY: m.DensityY, from: m.from, colour: m.colour}
}

// InSRGB returns the metadata for the picture with colours that have become those of sRGB, for example by
// imageops.ToSRGB. It has no colour profile, nor what PNG files say of colours beside it, and EXIF
// says that colours are sRGB. m may be nil.
func (m *Metadata) InSRGB() *Metadata {
	if m == nil {
		return nil
	}
	own := *m
	own.ICC, own.colour = nil, nil
	if len(own.EXIF) > 0 {
		own.EXIF = exif.SRGB(own.EXIF)
	}
	return &own
}

// InProfile returns the metadata for the picture with colours that have become those of an ICC profile, for
// example by imageops.ToProfile. It has that profile, and EXIF says that colours are not sRGB. m may be nil.
func (m *Metadata) InProfile(icc []byte) *Metadata {
	var own Metadata
	if m != nil {
		own = *m
	}
	own.ICC, own.colour = icc, nil
	if len(own.EXIF) > 0 {
		own.EXIF = exif.Uncalibrated(own.EXIF)
	}
	return &own
}

// Fit returns the part of the metadata that a file of the format can have. The error names what
// is left out and why, and is nil if nothing is. m may be nil.
// Errors: ErrTooLarge (more than a JPEG can have: 65 527 bytes of EXIF, 65 504 of XMP, 65 506
// of IPTC, 16 707 345 of ICC), ErrUnsupported (a format that Encode does not write, IPTC data for
// WebP and AVIF, which have no place for them, or any metadata for GIF).
func (m *Metadata) Fit(f Format) (*Metadata, error) {
	if m == nil {
		return nil, nil
	}
	if !f.CanEncode() {
		return nil, fmt.Errorf("imageio: fit: %w", notWritten(f))
	}
	fit := *m
	if m.from != f {
		fit.colour, fit.own = nil, nil
	}
	if f == GIF {
		var names []string
		for _, x := range []struct {
			name string
			data []byte
		}{{"EXIF", m.EXIF}, {"XMP", m.XMP}, {"IPTC", m.IPTC}, {"ICC", m.ICC}} {
			if len(x.data) > 0 {
				names = append(names, x.name)
			}
		}
		if len(names) > 0 {
			return nil, fmt.Errorf("imageio: fit: %w", fmt.Errorf("%w: GIF has no place for %s data", ErrUnsupported, strings.Join(names, ", ")))
		}
		return nil, nil
	}
	if (f == WebP || f == AVIF) && len(fit.IPTC) > 0 {
		fit.IPTC = nil
		name := map[Format]string{WebP: "WebP", AVIF: "AVIF"}[f]
		return &fit, fmt.Errorf("imageio: fit: %w: %s has no place for IPTC data", ErrUnsupported, name)
	}
	if f != JPEG {
		return &fit, nil
	}
	var lost []error
	for _, x := range []struct {
		name string
		data *[]byte
		most int
	}{
		{"EXIF", &fit.EXIF, jpegBody - len(exifMark)}, {"XMP", &fit.XMP, jpegBody - len(xmpMark)},
		{"IPTC", &fit.IPTC, jpegBody - len(photoshopMark) - iptcHead - 1}, {"ICC", &fit.ICC, 255 * iccPart},
	} {
		if n := len(*x.data); n > x.most {
			lost = append(lost, fmt.Errorf("%w: %s data of %d bytes; a JPEG can have %d", ErrTooLarge, x.name, n, x.most))
			*x.data = nil
		}
	}
	if len(lost) > 0 {
		return &fit, fmt.Errorf("imageio: fit: %w", errors.Join(lost...))
	}
	return &fit, nil
}

// upright makes the metadata those of the upright picture.
func (m *Metadata) upright() {
	if m == nil {
		return
	}
	m.EXIF = exif.Upright(m.EXIF)
	for _, at := range xmpOrientation.FindAllSubmatchIndex(m.XMP, -1) {
		m.XMP[at[4]] = '1'
	}
}

// size is how many bytes of memory the metadata takes.
func (m *Metadata) size() int64 {
	if m == nil {
		return 0
	}
	return int64(len(m.EXIF) + len(m.XMP) + len(m.IPTC) + len(m.ICC) + len(m.colour) + len(m.own))
}

// gathered is the metadata of a file as they are found.
type gathered struct {
	m    Metadata
	turn orientation
	lost []error // why parts are left out
}

func (g *gathered) leave(what string, err error) {
	g.lost = append(g.lost, fmt.Errorf("%s: %w", what, err))
}

var errLong = fmt.Errorf("more than %d MiB", maxMetadata>>20)

// put keeps data that are not too long, unless there are some already.
func (g *gathered) put(to *[]byte, what string, data []byte) {
	switch {
	case len(data) == 0 || *to != nil:
	case len(data) > maxMetadata:
		g.leave(what, errLong)
	default:
		*to = data
	}
}

// exif keeps an EXIF block without its thumbnail, and its orientation.
func (g *gathered) exif(block []byte) {
	block = bytes.TrimPrefix(block, exifMark) // Some writers keep JPEG's mark in other files.
	if len(block) > maxMetadata {
		g.leave("EXIF", errLong)
		return
	}
	clean, turn, err := exif.Clean(block)
	if err != nil {
		g.leave("EXIF", err)
		return
	}
	g.m.EXIF, g.turn = clean, orientation(turn)
}

// icc keeps a colour profile.
func (g *gathered) icc(p []byte) {
	if err := checkICC(p); err != nil {
		g.leave("ICC", err)
		return
	}
	g.put(&g.m.ICC, "ICC", p)
}

// checkICC returns an error if a profile is damaged where every program looks.
func checkICC(p []byte) error {
	switch {
	case len(p) < 132:
		return errors.New("the profile ends too early")
	case string(p[36:40]) != "acsp":
		return errors.New("it is no profile")
	case int64(binary.BigEndian.Uint32(p)) > int64(len(p)):
		return fmt.Errorf("the profile says that it has %d bytes, and has %d", binary.BigEndian.Uint32(p), len(p))
	}
	return nil
}

// profileOf is the kind of colours that a profile is for: "RGB", "GRAY" or another.
func profileOf(icc []byte) string {
	if len(icc) < 20 {
		return ""
	}
	return string(bytes.TrimRight(icc[16:20], " "))
}

// xmpOrientation is the orientation in XMP, as an attribute or an element.
var xmpOrientation = regexp.MustCompile(`tiff:Orientation(\s*=\s*["']|>\s*)([2-8])`)

// done returns the metadata, nil if there is none, and why some are left out.
func (g *gathered) done(f Format, colours string) (*Metadata, error) {
	g.m.from = f
	if p := profileOf(g.m.ICC); p != "" && p != "RGB" && p != "GRAY" || p == "GRAY" && colours != "GRAY" {
		g.leave("ICC", fmt.Errorf("the profile is for %s colours, which have become RGB without it", p))
		g.m.ICC = nil
	}
	var err error
	if len(g.lost) > 0 {
		err = fmt.Errorf("imageio: metadata left out: %w", errors.Join(g.lost...))
	}
	if g.m.size() == 0 && g.m.DensityX == 0 {
		return nil, err
	}
	return &g.m, err
}

// density keeps how many pixels an inch has, if the numbers mean something.
func (g *gathered) density(x, y float64) {
	if x > 0 && y > 0 && x < 1e6 && y < 1e6 {
		g.m.DensityX, g.m.DensityY = x, y
	}
}

// sized returns the metadata for a picture of a size.
func (m *Metadata) sized(w, h int) *Metadata {
	if m == nil {
		return nil
	}
	own := *m
	if len(own.EXIF) > 0 {
		own.EXIF = exif.Sized(own.EXIF, w, h)
	}
	own.XMP = sizedXMP(own.XMP, w, h)
	return &own
}

// xmpSize is a size in pixels in XMP, as an attribute or an element.
var xmpSize = regexp.MustCompile(`((?:exif:Pixel([XY])Dimension|tiff:Image(Width|Length))(?:\s*=\s*["']|>)\s*)[0-9]+`)

// sizedXMP returns the packet with the size in pixels, where it says one. A packet that a JPEG could
// no longer have because of that stays as it is.
func sizedXMP(packet []byte, w, h int) []byte {
	var out []byte
	done := 0
	for _, at := range xmpSize.FindAllSubmatchIndex(packet, -1) {
		n := w
		if at[4] >= 0 && packet[at[4]] == 'Y' || at[6] >= 0 && packet[at[6]] == 'L' {
			n = h
		}
		out = strconv.AppendInt(append(out, packet[done:at[3]]...), int64(n), 10)
		done = at[1]
	}
	if most := jpegBody - len(xmpMark); done == 0 || len(out)+len(packet)-done > most && len(packet) <= most {
		return packet
	}
	return append(out, packet[done:]...)
}

// iptcOf finds the IPTC records in the resources of Photoshop.
func iptcOf(b []byte) []byte {
	for len(b) >= 12 && string(b[:4]) == "8BIM" {
		name := 1 + int(b[6])
		at := 6 + name + name&1
		if len(b) < at+4 {
			return nil
		}
		n := int64(binary.BigEndian.Uint32(b[at:]))
		if at += 4; n > int64(len(b)-at) {
			return nil
		}
		if binary.BigEndian.Uint16(b[4:]) == 0x0404 {
			return b[at : at+int(n)]
		}
		b = b[min(int64(at)+n+n&1, int64(len(b))):]
	}
	return nil
}

// iptcHead is how many bytes are before the records in a resource of Photoshop.
const iptcHead = 12

// resource makes a resource of Photoshop of IPTC records.
func resource(iptc []byte) []byte {
	b := append([]byte("8BIM"), 0x04, 0x04, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(len(iptc)))
	b = append(b, iptc...)
	return append(b, make([]byte, len(iptc)&1)...)
}
