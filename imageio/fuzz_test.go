package imageio

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
)

// FuzzDecode wants of any file what TestDamage wants: a picture within the limits, the same in
// place and as a stream, or an error of this package. Without -fuzz it runs the seeds, which
// are files that the tests make, whole and cut off.
func FuzzDecode(f *testing.F) {
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		whole := encoded(testimg.Quarters(16, 10), ext)
		f.Add(whole)
		f.Add(whole[:len(whole)/2])
	}
	for _, data := range oriented(testimg.Quarters(32, 16), 6) {
		f.Add(data)
	}
	for _, data := range described(testimg.ICC("RGB ", 300)) {
		f.Add(data)
	}
	for _, format := range []Format{GIF, WebP} {
		var file bytes.Buffer
		if err := EncodeFrames(f.Context(), &file, sequence(sprites(12, 9, 4)), format, nil); err != nil {
			f.Fatal(err)
		}
		f.Add(file.Bytes())
	}
	f.Add(testimg.Pages(encoded(testimg.Quarters(16, 10), ".tiff"), encoded(testimg.Quarters(7, 12), ".tiff")))
	f.Add(webpWith([]byte(testimg.WebP), testimg.Exif(8, binary.LittleEndian)))
	f.Add(testimg.Bomb(60000, 60000))
	f.Add(pngHeader(100, 100, 16, 2, 1, true))
	f.Add(bytes.Repeat([]byte("BM\xff"), 40))
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, data []byte) { survives(t, "a fuzzed file", data) })
}
