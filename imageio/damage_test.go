package imageio

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// TestDamage opens pictures cut off at every length and with bytes changed at
// random. Whatever comes of it, it is a picture of the size its header says or
// an error, within the limit, and never a panic.
func TestDamage(t *testing.T) {
	try := func(what string, data []byte) { survives(t, what, data) }
	r := rand.New(rand.NewPCG(7, 7))
	for _, ext := range []string{".jpg", ".png", ".gif", ".bmp", ".tiff", ".webp"} {
		whole := encoded(testimg.Quarters(16, 10), ext)
		for n := range min(len(whole), 700) {
			if !testlevel.Sampled(n, 4) {
				continue
			}
			try(fmt.Sprintf("%s cut to %d", ext, n), whole[:n])
		}
		for i := range 400 {
			data := append([]byte(nil), whole...)
			for range 1 + r.IntN(4) {
				data[r.IntN(len(data))] = byte(r.Uint32())
			}
			if !testlevel.Sampled(i, 4) {
				continue
			}
			try(fmt.Sprintf("%s mutant %d", ext, i), data)
		}
	}
}

// survives decodes a file that may be damaged.
func survives(t *testing.T, what string, data []byte) {
	t.Helper()
	o := &DecodeOptions{MaxPixels: 1 << 14}
	d, err := NewDecoder(t.Context(), bytes.NewReader(data), o)
	m, info, err2 := Decode(t.Context(), iotest.HalfReader(bytes.NewReader(data)), o)
	if err != nil {
		classified(t, what, err)
		if err2 == nil {
			t.Fatalf("%s: read as a stream, and in place it is %v", what, err)
		}
		return
	}
	head := d.Info()
	w, h := head.Width, head.Height
	if w <= 0 || h <= 0 || w*h > 1<<14 || head.Orientation < 1 || head.Orientation > 8 || head.Memory < int64(4*w*h) || !slices.Contains([]Format{JPEG, PNG, TIFF, BMP, GIF, WebP}, head.Format) {
		t.Fatalf("%s: %+v", what, head)
	}
	dst := image.NewNRGBA(image.Rect(0, 0, w, h))
	err = d.DecodeTo(t.Context(), dst)
	if (err == nil) != (err2 == nil) {
		t.Fatalf("%s: in place %v, as a stream %v", what, err, err2)
	}
	if err != nil {
		classified(t, what, err)
		return
	}
	if got := m.(*image.NRGBA); info.Width != w || info.Height != h || !bytes.Equal(got.Pix, dst.Pix) || got.Stride != 4*w {
		t.Fatalf("%s: a stream of it is another picture: %+v, want %+v", what, info, head)
	}
	n := 0
	for f, err := range d.Frames(t.Context()) {
		if err != nil {
			classified(t, what, err)
		} else if n++; f.Image.Bounds() != dst.Rect {
			t.Fatalf("%s: frame %d has the size %v", what, n, f.Image.Bounds())
		}
	}
	if n > head.Frames {
		t.Fatalf("%s: %d frames of %d", what, n, head.Frames)
	}
	if head.Frames > 1 {
		if _, page, err := Decode(t.Context(), bytes.NewReader(data), &DecodeOptions{MaxPixels: 1 << 14, Page: 2}); err != nil {
			classified(t, what, err)
		} else if page.Frames != head.Frames {
			t.Fatalf("%s: page 2 says %d pictures, want %d", what, page.Frames, head.Frames)
		}
	}
	// Whatever the metadata are, they can be written, and read again.
	for _, f := range []Format{JPEG, PNG, TIFF}[len(data)%3:][:1] {
		own := info
		own.Metadata, _ = info.Metadata.Fit(f)
		var file bytes.Buffer
		if err := Encode(t.Context(), &file, m, f, &EncodeOptions{Source: &own}); err != nil {
			t.Fatalf("%s as %s: %v", what, f, err)
		}
		again, err := DecodeConfig(t.Context(), &file, o)
		if err != nil || own.Metadata != nil && again.Metadata == nil && own.Metadata.ICC == nil && own.Metadata.from == f {
			t.Fatalf("%s as %s: %+v, want %+v, %v", what, f, again.Metadata, own.Metadata, err)
		}
	}
}

// classified wants an error of a damaged file to say what it is.
func classified(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, ErrDamaged) && !errors.Is(err, ErrUnsupported) && !errors.Is(err, ErrTooLarge) || !strings.HasPrefix(err.Error(), "imageio: decode: ") {
		t.Fatalf("%s: %v", what, err)
	}
}

func TestContain(t *testing.T) {
	err := func() (err error) {
		defer contain(&err)
		var none []int
		_ = none[len(os.Args)+3]
		return nil
	}()
	if err == nil {
		t.Error("a panic of a decoder is not an error")
	}
}
