package batch

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

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

func TestOrientation(t *testing.T) {
	seen := testimg.Quarters(32, 16)
	xmp := "http://ns.adobe.com/xap/1.0/\x00<x:xmpmeta xmlns:x='adobe:ns:meta/'/>"
	for o := 1; o <= 8; o++ {
		// Store the scene so that orientation o shows it upright: turn it by
		// the orientation that undoes o.
		undo := orientation(o)
		if o == 6 || o == 8 {
			undo = orientation(14 - o)
		}
		h := header{width: 32, height: 16, turn: undo}
		w, ht := h.size()
		stored := image.NewNRGBA(image.Rect(0, 0, w, ht))
		toNRGBA(stored, seen, undo, 1)

		j, p := encoded(stored, ".jpg"), encoded(stored, ".png")
		tag := "Exif\x00\x00" + string(testimg.Exif(uint16(o), binary.BigEndian))
		files := map[string][]byte{
			"in/jpeg.jpg":     testimg.WithSegments(j, tag),
			"in/jpegle.jpg":   testimg.WithSegments(j, "Exif\x00\x00"+string(testimg.Exif(uint16(o), binary.LittleEndian))),
			"in/xmpfirst.jpg": testimg.WithSegments(j, xmp, tag),
			"in/png.png":      pngWith(p, "eXIf", testimg.Exif(uint16(o), binary.BigEndian)),
			"in/tiff.tiff":    tiffWith(encoded(stored, ".tiff"), o),
		}
		tree(t, files)
		rep, err := Run(t.Context(), nil, nil, must(Plan(must(Find(t.Context(), []string{"in"}, FindOptions{})), Naming{Format: PNG})), Options{Folder: "out"})
		if err != nil || rep.Count(OK) != len(files) {
			t.Fatalf("orientation %d: %v\n%s", o, err, lines(rep))
		}
		for _, f := range rep.Files {
			got := must(png.Decode(bytes.NewReader(must(os.ReadFile(f.Output)))))
			if got.Bounds().Size() != image.Pt(32, 16) || f.Width != 32 || f.Height != 16 {
				t.Errorf("orientation %d, %s: size %v", o, f.Input, got.Bounds())
				continue
			}
			for _, at := range []image.Point{{4, 4}, {28, 4}, {4, 12}, {28, 12}} {
				g := color.NRGBAModel.Convert(got.At(at.X, at.Y)).(color.NRGBA)
				if want := seen.NRGBAAt(at.X, at.Y); testimg.Distance(g, want) > 12 {
					t.Errorf("orientation %d, %s: at %v got %v, want %v", o, f.Input, at, g, want)
				}
			}
		}
	}
	// A 1×1 WebP shows no turning, so its tag is read by itself.
	for o := 1; o <= 8; o++ {
		data := webpWith([]byte(testimg.WebP), testimg.Exif(uint16(o), binary.BigEndian))
		p := must(webp.ReadHeader(bytes.NewReader(data), int64(len(data))))
		if got := readOrientation(nil, "webp", p.EXIF); got != orientation(o) {
			t.Errorf("webp: orientation %d, want %d", got, o)
		}
	}
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
		if got := readOrientation(bytes.NewReader(data), "jpeg", scanJPEG(bytes.NewReader(data)).exif); got != upright {
			t.Errorf("%s: got orientation %d, want 1", name, got)
		}
	}
	for n := range len(j) {
		scanJPEG(bytes.NewReader(j[:n])) // must end, whatever is cut off
	}
}
