package batch

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"image"
	"image/draw"
	"slices"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/spec"
)

// seen is a Processor that keeps what it was given.
type seen struct {
	mu    sync.Mutex
	sizes []image.Point
	calls [][]spec.Call
	err   error
}

func (s *seen) ApplyTo(_ context.Context, dst draw.Image, src image.Image, calls ...spec.Call) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sizes, s.calls = append(s.sizes, src.Bounds().Size()), append(s.calls, calls)
	return s.err
}

// other is a call for a picture that was decoded smaller.
type other struct {
	call
	full        image.Point
	orientation int
}

func quarter(at image.Point) *Shrink {
	return &Shrink{
		AtLeast: func(image.Point, ...spec.Call) image.Point { return at },
		Calls: func(_ []spec.Call, full image.Point, orientation int) []spec.Call {
			return []spec.Call{other{full: full, orientation: orientation}}
		},
	}
}

// A picture is decoded smaller if that is allowed and possible, and in full if it fails. The report says the same.
func TestDecodedSmaller(t *testing.T) {
	good := testimg.WithSegments(encoded(testimg.Photo(160, 120, 1), ".jpg"), "Exif\x00\x00"+string(testimg.Exif(6, binary.BigEndian)))
	// Without the table of colours the standard library makes a grey picture.
	odd := bytes.Clone(encoded(testimg.Photo(160, 120, 1), ".jpg"))
	if i := bytes.Index(odd, []byte("\xff\xdb\x00\x84")); i > 0 {
		odd = slices.Concat(odd[:i+2], []byte{0, 67}, odd[i+4:i+4+65], odd[i+4+130:])
	} else {
		t.Fatal("no tables")
	}
	tree(t, map[string][]byte{"good.jpg": good, "odd.jpg": odd, "bad.jpg": good[:len(good)/2], "same.png": encoded(testimg.Photo(160, 120, 1), ".png")})
	for _, c := range []struct {
		file     string
		at       image.Point
		sees     image.Point
		smaller  bool
		fails    bool
		w, h, or int
	}{
		{"good.jpg", image.Pt(30, 40), image.Pt(30, 40), true, false, 120, 160, 6},
		{"good.jpg", image.Pt(31, 40), image.Pt(60, 80), true, false, 120, 160, 6},
		{"good.jpg", image.Pt(120, 160), image.Pt(120, 160), false, false, 120, 160, 6},
		{"odd.jpg", image.Pt(20, 15), image.Pt(160, 120), false, false, 160, 120, 1},
		{"same.png", image.Pt(20, 15), image.Pt(160, 120), false, false, 160, 120, 1},
		{"bad.jpg", image.Pt(20, 15), image.Point{}, false, true, 0, 0, 0},
	} {
		p := &seen{}
		size := func(image.Point, ...spec.Call) (image.Point, error) { return image.Pt(10, 10), nil }
		rep := run(t, t.Context(), p, []string{c.file}, FindOptions{}, Naming{}, Options{Folder: "out", Size: size, Shrink: quarter(c.at), Existing: Replace})
		f := rep.Files[0]
		if c.fails {
			plain := run(t, t.Context(), p, []string{c.file}, FindOptions{}, Naming{}, Options{Folder: "out", Size: size, Existing: Replace}).Files[0]
			if f.Status != Failed || !errors.Is(f.Err, imageio.ErrDamaged) || f.Err.Error() != plain.Err.Error() || len(p.sizes) != 0 {
				t.Errorf("%s: %+v, want %v", c.file, f, plain.Err)
			}
			continue
		}
		if f.Status != OK || f.Width != c.w || f.Height != c.h || len(p.sizes) != 1 || p.sizes[0] != c.sees {
			t.Errorf("%s at %v: %+v, %v", c.file, c.at, f, p.sizes)
			continue
		}
		if o, ok := p.calls[0][0].(other); ok != c.smaller || ok && (o.full != image.Pt(c.w, c.h) || o.orientation != c.or) {
			t.Errorf("%s at %v: %+v", c.file, c.at, p.calls[0])
		}
	}
	// An error of the device does not decode again.
	p := &seen{err: errors.New("lost")}
	rep := run(t, t.Context(), p, []string{"good.jpg"}, FindOptions{}, Naming{}, Options{Folder: "out2", Shrink: quarter(image.Pt(15, 20))})
	if len(p.sizes) != 1 || !errors.Is(rep.Files[0].Err, p.err) {
		t.Error(p.sizes, rep.Files[0].Err)
	}
}
