package testimg

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"math/rand/v2"

	"golang.org/x/image/bmp"
	"golang.org/x/image/tiff"
)

// Corners are the colours of the quarters of Quarters: above left, above right, below
// left, below right. They are far apart even in GIF's palette.
var Corners = [4]color.NRGBA{{220, 30, 30, 255}, {30, 200, 30, 255}, {30, 30, 220, 255}, {240, 240, 240, 255}}

// Quarters returns a picture of w by h pixels of which each quarter has one of Corners, so
// that a turned or mirrored one is recognised.
func Quarters(w, h int) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			q := 0
			if x >= w/2 {
				q++
			}
			if y >= h/2 {
				q += 2
			}
			m.SetNRGBA(x, y, Corners[q])
		}
	}
	return m
}

// WebP is a lossless WebP file of one pixel. There is no encoder for larger ones.
const WebP = "RIFF\x1a\x00\x00\x00WEBPVP8L\x0d\x00\x00\x00\x2f\x00\x00\x00\x10\x07\x10\x11\x11\x88\x88\xfe\x07\x00"

// Encode returns the picture as a file of the format that the extension names: .jpg, .png,
// .gif, .bmp or .tiff. For .webp it returns WebP, whatever the picture is.
func Encode(m image.Image, ext string) ([]byte, error) {
	var b bytes.Buffer
	var err error
	switch ext {
	case ".jpg":
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: 95})
	case ".png":
		err = png.Encode(&b, m)
	case ".gif":
		err = gif.Encode(&b, m, nil)
	case ".bmp":
		err = bmp.Encode(&b, m)
	case ".tiff":
		err = tiff.Encode(&b, m, nil)
	case ".webp":
		b.WriteString(WebP)
	default:
		err = fmt.Errorf("testimg: no encoder for %q", ext)
	}
	return b.Bytes(), err
}

// Pages returns a TIFF file whose pages are the pictures of TIFF files of Encode.
func Pages(files ...[]byte) []byte {
	le, wide := binary.LittleEndian, map[uint16]uint32{2: 1, 3: 2, 4: 4, 5: 8} // bytes of a value by its type
	var out []byte
	link := 4 // where the place of the next directory belongs
	for _, file := range files {
		base := uint32(len(out) + len(out)%2)
		out = append(out, make([]byte, int(base)-len(out))...)
		out = append(out, file...)
		own := out[base:]
		at := le.Uint32(own[4:])
		le.PutUint32(out[link:], base+at)
		table := own[at+2:][:12*int(le.Uint16(own[at:]))]
		for i := 0; i < len(table); i += 12 {
			e := table[i:]
			bytes, value := wide[le.Uint16(e[2:])]*le.Uint32(e[4:]), le.Uint32(e[8:])
			if le.Uint16(e) == 273 { // the strips lie elsewhere too
				for k := uint32(0); bytes > 4 && k < bytes; k += 4 {
					le.PutUint32(own[value+k:], le.Uint32(own[value+k:])+base)
				}
				if bytes == 4 {
					le.PutUint32(e[8:], value+base)
				}
			}
			if bytes > 4 {
				le.PutUint32(e[8:], value+base)
			}
		}
		link = int(base+at) + 2 + len(table)
	}
	return out
}

// Bomb returns a PNG file of a few bytes whose header says that it has w by h pixels.
func Bomb(w, h uint32) []byte {
	b, err := Encode(image.NewGray(image.Rect(0, 0, 1, 1)), ".png")
	if err != nil {
		panic(err) // one pixel is always encoded
	}
	binary.BigEndian.PutUint32(b[16:], w)
	binary.BigEndian.PutUint32(b[20:], h)
	binary.BigEndian.PutUint32(b[29:], crc32.ChecksumIEEE(b[12:29]))
	return b
}

// Exif returns a TIFF structure, as files hold it for EXIF, with the orientation o and
// nothing else.
func Exif(o uint16, order binary.AppendByteOrder) []byte {
	b := []byte("MM\x00*")
	if order.String() == binary.LittleEndian.String() {
		b = []byte("II*\x00")
	}
	b = order.AppendUint32(b, 8) // where the directory begins
	b = order.AppendUint16(b, 1) // entries
	b = order.AppendUint16(b, 0x0112)
	b = order.AppendUint16(b, 3) // the type: 16 bits
	b = order.AppendUint32(b, 1) // values
	b = order.AppendUint16(b, o)
	b = order.AppendUint16(b, 0)
	return order.AppendUint32(b, 0) // no further directory
}

// WithSegments returns a JPEG file with APP1 segments put before all others. EXIF is
// the segment "Exif\x00\x00" followed by Exif.
func WithSegments(jpeg []byte, segments ...string) []byte {
	out := append([]byte(nil), jpeg[:2]...)
	for _, s := range segments {
		out = append(out, 0xff, 0xe1, byte((len(s)+2)>>8), byte(len(s)+2))
		out = append(out, s...)
	}
	return append(out, jpeg[2:]...)
}

// Damage returns copy n of a file, damaged at random: every third copy is cut off. The
// others have up to four bytes changed, those of every other one within the first head
// bytes.
func Damage(r *rand.Rand, file []byte, n, head int) []byte {
	bad := bytes.Clone(file)
	if n%3 == 0 {
		return bad[:r.IntN(len(bad))]
	}
	for range 1 + r.IntN(4) {
		at := r.IntN(len(bad))
		if n%3 == 1 {
			at = r.IntN(min(len(bad), head))
		}
		bad[at] = byte(r.Uint32())
	}
	return bad
}

// Fill fills pixels with random bytes. The same seed always gives the same bytes.
func Fill(seed uint64, pix ...[]byte) {
	r := rand.New(rand.NewPCG(seed, 1))
	for _, p := range pix {
		for i := range p {
			p[i] = byte(r.Uint32())
		}
	}
}

// Noise returns a picture of w by h random pixels, alpha included.
func Noise(w, h int, seed uint64) *image.NRGBA {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	Fill(seed, m.Pix)
	return m
}

// Distance is how many levels the most different components of two colours are apart.
func Distance(a, b color.NRGBA) int {
	d := func(x, y uint8) int { return max(int(x)-int(y), int(y)-int(x)) }
	return max(d(a.R, b.R), d(a.G, b.G), d(a.B, b.B), d(a.A, b.A))
}

// Differ says where two pictures first differ by more than tol levels, and how. It returns
// "" if they are of one size and do not differ.
func Differ(got, want *image.NRGBA, tol int) string {
	if got.Rect != want.Rect {
		return fmt.Sprintf("size %v, want %v", got.Rect, want.Rect)
	}
	for y := got.Rect.Min.Y; y < got.Rect.Max.Y; y++ {
		for x := got.Rect.Min.X; x < got.Rect.Max.X; x++ {
			if g, w := got.NRGBAAt(x, y), want.NRGBAAt(x, y); Distance(g, w) > tol {
				return fmt.Sprintf("pixel (%d, %d): %v, want %v", x, y, g, w)
			}
		}
	}
	return ""
}
