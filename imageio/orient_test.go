package imageio

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/webp"
)

func pngWith(data []byte, kind string, body []byte) []byte {
	chunk := binary.BigEndian.AppendUint32(nil, uint32(len(body)))
	chunk = append(append(chunk, kind...), body...)
	chunk = binary.BigEndian.AppendUint32(chunk, crc32.ChecksumIEEE(chunk[4:]))
	const head = 8 + 25 // signature and IHDR
	return append(append(append([]byte(nil), data[:head]...), chunk...), data[head:]...)
}

func webpWith(data, exif []byte) []byte {
	chunk := func(kind string, body []byte) []byte {
		c := append([]byte(kind), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...)
		c = append(c, body...)
		if len(body)%2 == 1 {
			c = append(c, 0)
		}
		return c
	}
	body := append([]byte("WEBP"), chunk("VP8X", []byte{1<<3 | 1<<4, 0, 0, 0, 0, 0, 0, 0, 0, 0})...)
	body = append(body, data[12:]...)
	body = append(body, chunk("EXIF", exif)...)
	return append(append([]byte("RIFF"), binary.LittleEndian.AppendUint32(nil, uint32(len(body)))...), body...)
}

// tiffWith sets the orientation in the TIFF that x/image/tiff writes, by
// putting it in the place of a tag that does not matter (ResolutionUnit).
func tiffWith(data []byte, o int) []byte {
	out := append([]byte(nil), data...)
	le := binary.LittleEndian
	dir := out[le.Uint32(out[4:]):]
	n := int(le.Uint16(dir))
	at := -1
	for i := range n {
		if le.Uint16(dir[2+12*i:]) == 0x0128 {
			at = i
		}
	}
	if at < 0 {
		panic("no ResolutionUnit to replace")
	}
	// Tags are sorted: move those between to make room.
	to := at
	for to > 0 && le.Uint16(dir[2+12*(to-1):]) > 0x0112 {
		copy(dir[2+12*to:2+12*to+12], dir[2+12*(to-1):2+12*(to-1)+12])
		to--
	}
	e := dir[2+12*to:]
	le.PutUint16(e, 0x0112)
	le.PutUint16(e[2:], 3)
	le.PutUint32(e[4:], 1)
	le.PutUint32(e[8:], uint32(o))
	return out
}

// oriented returns files that show seen with the orientation, by how they say so.
func oriented(seen *image.NRGBA, o int) map[string][]byte {
	undo := orientation(o)
	if o == 6 || o == 8 {
		undo = orientation(14 - o)
	}
	stored := turned(seen, undo)
	j, p := encoded(stored, ".jpg"), encoded(stored, ".png")
	xmp := "http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"
	tag := "Exif\x00\x00" + string(testimg.Exif(uint16(o), binary.BigEndian))
	return map[string][]byte{
		"jpeg":               testimg.WithSegments(j, tag),
		"jpeg little-endian": testimg.WithSegments(j, "Exif\x00\x00"+string(testimg.Exif(uint16(o), binary.LittleEndian))),
		"jpeg, XMP first":    testimg.WithSegments(j, xmp, tag),
		"png":                pngWith(p, "eXIf", testimg.Exif(uint16(o), binary.BigEndian)),
		"tiff":               tiffWith(encoded(stored, ".tiff"), o),
	}
}

func TestOrientation(t *testing.T) {
	seen := testimg.Quarters(32, 16)
	for o := 1; o <= 8; o++ {
		for name, data := range oriented(seen, o) {
			for what, r := range map[string]io.Reader{"in place": bytes.NewReader(data), "as a stream": iotest.OneByteReader(bytes.NewReader(data))} {
				m, info, err := Decode(t.Context(), r, nil)
				if err != nil {
					t.Fatalf("orientation %d, %s %s: %v", o, name, what, err)
				}
				if m.Bounds() != image.Rect(0, 0, 32, 16) || info.Width != 32 || info.Height != 16 || info.Orientation != o {
					t.Errorf("orientation %d, %s %s: bounds %v, %+v", o, name, what, m.Bounds(), info)
					continue
				}
				if text := corners(m, seen); text != "" {
					t.Errorf("orientation %d, %s %s: %s", o, name, what, text)
				}
			}
			// As it is stored, the file shows what the orientation would turn upright.
			m, info, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{AsStored: true})
			if err != nil {
				t.Fatal(err)
			}
			if got := m.Bounds().Size(); got != image.Pt(info.Width, info.Height) || (got == image.Pt(16, 32)) != (o >= 5) || info.Orientation != o {
				t.Errorf("orientation %d, %s as stored: %v, %+v", o, name, got, info)
			}
			if text := corners(turned(m.(*image.NRGBA), orientation(o)), seen); text != "" {
				t.Errorf("orientation %d, %s as stored: %s", o, name, text)
			}
		}
	}
	// A 1×1 WebP shows no turning, so its tag is read by itself.
	for o := 1; o <= 8; o++ {
		data := webpWith([]byte(testimg.WebP), testimg.Exif(uint16(o), binary.BigEndian))
		p := must(webp.ReadHeader(bytes.NewReader(data), int64(len(data))))
		if got := testimg.Exif(uint16(o), binary.BigEndian); !bytes.Equal(p.EXIF, got) {
			t.Errorf("webp: EXIF %x, want %x", p.EXIF, got)
		}
		if info, err := DecodeConfig(t.Context(), bytes.NewReader(data), nil); err != nil || info.Orientation != o || info.Format != WebP {
			t.Errorf("webp: %+v, %v", info, err)
		}
	}
}

// corners says where m differs from want, in the middle of the quarters of 32×16 pixels.
func corners(m image.Image, want *image.NRGBA) string {
	for _, at := range []image.Point{{4, 4}, {28, 4}, {4, 12}, {28, 12}} {
		got := color.NRGBAModel.Convert(m.At(at.X, at.Y)).(color.NRGBA)
		if want := want.NRGBAAt(at.X, at.Y); testimg.Distance(got, want) > 12 {
			return fmt.Sprintf("at %v got %v, want %v", at, got, want)
		}
	}
	return ""
}

func TestOrientationNonsense(t *testing.T) {
	j := encoded(testimg.Quarters(8, 8), ".jpg")
	for name, body := range map[string]string{
		"zero":      string(testimg.Exif(0, binary.BigEndian)),
		"nine":      string(testimg.Exif(9, binary.LittleEndian)),
		"huge":      string(testimg.Exif(65535, binary.LittleEndian)),
		"cut":       string(testimg.Exif(6, binary.BigEndian)[:14]),
		"empty":     "",
		"loop":      "II*\x00\x08\x00\x00\x00\x00\x00\x08\x00\x00\x00",
		"offset":    "II*\x00\xff\xff\xff\xff\x00\x00",
		"no tiff":   "hello, world, this is no TIFF header",
		"wrong tag": strings.Replace(string(testimg.Exif(6, binary.BigEndian)), "\x01\x12", "\x01\x13", 1),
	} {
		data := testimg.WithSegments(j, "Exif\x00\x00"+body)
		if got := scanJPEG(bytes.NewReader(data)).turn; got != upright {
			t.Errorf("%s: got orientation %d, want 1", name, got)
		}
	}
	for n := range len(j) {
		scanJPEG(bytes.NewReader(j[:n])) // must end, whatever is cut off
	}
}
