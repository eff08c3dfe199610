package imageio

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"
	"image/gif"
	"io"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

// animation is a GIF file of n frames.
func animation(n int) []byte {
	var g gif.GIF
	for i := range n {
		m := image.NewPaletted(image.Rect(0, 0, 9, 7), color.Palette{color.Black, color.White, color.NRGBA{255, 0, 0, 255}})
		m.Pix[i] = 1
		g.Image, g.Delay = append(g.Image, m), append(g.Delay, 10)
	}
	var b bytes.Buffer
	if err := gif.EncodeAll(&b, &g); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// pages is a TIFF file of n pages, and a smaller copy of the first one.
func pages(n int) []byte {
	le := binary.LittleEndian
	one := encoded(testimg.Quarters(8, 8), ".tiff")
	dir := le.Uint32(one[4:])
	count := int(le.Uint16(one[dir:]))
	table := bytes.Clone(one[dir : int(dir)+2+12*count])
	next := int(dir) + len(table)
	for i := range n {
		at := len(one) + len(one)%2
		le.PutUint32(one[next:], uint32(at))
		one = append(one, make([]byte, at-len(one))...)
		if i < n-1 {
			one = append(one, table...)
		} else {
			one = append(one, "\x01\x00\xfe\x00\x04\x00\x01\x00\x00\x00\x01\x00\x00\x00"...)
		}
		next = len(one)
		one = append(one, 0, 0, 0, 0)
	}
	return one
}

// Info says how many pictures there are, however the bytes come.
func TestFrames(t *testing.T) {
	apng := pngWith(encoded(testimg.Quarters(8, 8), ".png"), "acTL", []byte{0, 0, 0, 12, 0, 0, 0, 0})
	frame := append([]byte("ANMF"), le32(16+8+14)...)
	frame = append(append(frame, make([]byte, 16)...), testimg.WebP[12:]...)
	moving := append([]byte("WEBPVP8X"), le32(10)...)
	moving = append(moving, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	moving = append(append(moving, frame...), frame...)
	moving = append(append([]byte("RIFF"), le32(len(moving))...), moving...)
	loop := pages(3)
	dir := binary.LittleEndian.Uint32(loop[4:])
	binary.LittleEndian.PutUint32(loop[int(dir)+2+12*int(binary.LittleEndian.Uint16(loop[dir:])):], dir)
	for name, c := range map[string]struct {
		data []byte
		want int
	}{
		"GIF": {animation(1), 1}, "GIF of 5": {animation(5), 5}, "TIFF": {encoded(testimg.Quarters(8, 8), ".tiff"), 1}, "TIFF of 4": {pages(4), 4}, "TIFF that leads to itself": {loop, 2},
		"PNG": {encoded(testimg.Quarters(8, 8), ".png"), 1}, "PNG of 12": {apng, 12}, "WebP": {[]byte(testimg.WebP), 1}, "WebP of 2": {moving, 2}, "JPEG": {encoded(testimg.Quarters(8, 8), ".jpg"), 1},
	} {
		for _, r := range []io.Reader{bytes.NewReader(c.data), stream(c.data)} {
			if _, info, err := Decode(t.Context(), r, nil); err != nil || info.Frames != c.want {
				t.Errorf("%s: %d frames, want %d, %v", name, info.Frames, c.want, err)
			}
		}
	}
}

func le32(n int) []byte { return binary.LittleEndian.AppendUint32(nil, uint32(n)) }

// More compression makes no other picture.
func TestCompression(t *testing.T) {
	m := testimg.Photo(300, 200, 1)
	for _, f := range []Format{PNG, TIFF} {
		var sizes [10]int
		for n := range 10 {
			var file bytes.Buffer
			if err := Encode(t.Context(), &file, m, f, &EncodeOptions{Compression: n}); err != nil {
				t.Fatal(err)
			}
			sizes[n] = file.Len()
			got, _, err := Decode(t.Context(), &file, nil)
			if err != nil {
				t.Fatal(err)
			}
			if text := testimg.Differ(got.(*image.NRGBA), m, 0); text != "" {
				t.Errorf("%s, compression %d: %s", f, n, text)
			}
		}
		if sizes[0] != sizes[6] || sizes[1] <= sizes[9] {
			t.Errorf("%s: %v bytes", f, sizes)
		}
	}
	for _, n := range []int{-1, 10} {
		if err := Encode(t.Context(), io.Discard, m, PNG, &EncodeOptions{Compression: n}); !errors.Is(err, errs.ErrInvalidArgument) {
			t.Errorf("compression %d: %v", n, err)
		}
	}
}
