package tiff

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
)

func decode(data []byte) (*image.NRGBA, error) {
	h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if h.Width > 1<<18/h.Height {
		return nil, errors.New("large")
	}
	m := image.NewNRGBA(image.Rect(0, 0, h.Width, h.Height))
	seen := make([]bool, h.Height)
	err = h.Decode(bytes.NewReader(data), false, func(y int, band []byte) error {
		copy(m.Pix[y*m.Stride:], band)
		for i := range len(band) / m.Stride {
			if seen[y+i] {
				return fmt.Errorf("row %d twice", y+i)
			}
			seen[y+i] = true
		}
		return nil
	})
	for y := range seen {
		if !seen[y] && err == nil {
			return nil, fmt.Errorf("row %d is missing", y)
		}
	}
	return m, err
}

// kinds are all colours in all depths, in all layouts and compressions that go
// with them.
func kinds() []kind {
	var ks []kind
	depths := map[int][]int{
		whiteIsZero: {1, 2, 4, 8, 12, 16}, blackIsZero: {1, 2, 3, 4, 6, 8, 10, 12, 14, 16, 32}, rgb: {2, 4, 8, 10, 12, 16, 32},
		paletted: {1, 2, 4, 8}, cmyk: {8, 16}, ycbcr: {8},
	}
	layouts := []kind{{}, {rows: 5}, {tile: 16}, {planar: true}, {planar: true, rows: 7}, {planar: true, tile: 32},
		{bigEndian: true, rows: 40}, {big: true, tile: 16}, {big: true, bigEndian: true}}
	for p := whiteIsZero; p <= ycbcr; p++ {
		for _, bits := range depths[p] {
			for i, k := range layouts {
				k.photometric, k.bits = p, bits
				k.compression = []int{none, packBits, deflate, deflateOld}[(i+bits)%4]
				k.lsbFirst = (i+bits)%3 == 1
				k.predict = k.compression == deflate && bits >= 8 && bits != 12 && bits != 10
				if k.photometric == ycbcr {
					k.sub = [2]int{1, 1}
				}
				ks = append(ks, k)
			}
		}
	}
	for _, p := range []int{whiteIsZero, blackIsZero, rgb, cmyk} {
		for _, e := range [][]int{{0}, {2}, {0, 2}, {0, 0, 0}} {
			ks = append(ks, kind{photometric: p, bits: 8, extra: e, rows: 4}, kind{photometric: p, bits: 16, extra: e, planar: true, tile: 16})
		}
	}
	for _, sub := range [][2]int{{2, 2}, {2, 1}, {1, 2}, {4, 1}, {4, 4}, {4, 2}} {
		ks = append(ks, kind{photometric: ycbcr, bits: 8, sub: sub}, kind{photometric: ycbcr, bits: 8, sub: sub, rows: 8, compression: deflate},
			kind{photometric: ycbcr, bits: 8, sub: sub, tile: 16, bigEndian: true})
	}
	return ks
}

func TestKinds(t *testing.T) {
	for i, k := range kinds() {
		for _, size := range []image.Point{{1, 1}, {37, 21}, {16, 80}} {
			d := k.draw(size.X, size.Y, uint64(i))
			got, err := decode(k.file(d))
			if err != nil {
				t.Errorf("%+v %v: %v", k, size, err)
				continue
			}
			tol := 0
			if k.photometric == cmyk || k.photometric == ycbcr {
				tol = 1 // rounded twice
			}
			if diff := testimg.Differ(got, k.seen(d), tol); diff != "" {
				t.Errorf("%+v %v: %s", k, size, diff)
			}
		}
	}
}

// TestMultiplied divides colours by an alpha they were multiplied by.
func TestMultiplied(t *testing.T) {
	k := kind{photometric: rgb, bits: 8, extra: []int{1}}
	d := &drawn{w: 4, h: 1, n: 4, s: []uint32{10, 20, 50, 100, 0, 0, 0, 0, 255, 7, 0, 255, 200, 1, 2, 100}}
	got, err := decode(k.file(d))
	if want := []byte{26, 51, 128, 100, 0, 0, 0, 0, 255, 7, 0, 255, 255, 3, 5, 100}; err != nil || !bytes.Equal(got.Pix, want) {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// TestLab reads colours whose sRGB values are known.
func TestLab(t *testing.T) {
	for _, c := range []struct{ l, a, b, r, g, bl float64 }{
		{100, 0, 0, 255, 255, 255}, {0, 0, 0, 0, 0, 0}, {53.585, 0, 0, 128, 128, 128},
		{54.29, 80.81, 69.89, 255, 0, 0}, {87.82, -79.29, 80.99, 0, 255, 0}, {29.57, 68.30, -112.03, 0, 0, 255},
	} {
		for _, bits := range []int{8, 16} {
			for _, p := range []int{cieLab, iccLab} {
				one := float64(int(1) << (bits - 8))
				full := float64(int(1)<<bits - 1)
				off := 0.0
				if p == iccLab {
					if off = 128 * one; bits == 16 {
						full = 0xff00
					}
				}
				s := []uint32{uint32(c.l/100*full + 0.5), uint32(int32(c.a*one+off)) & uint32(1<<bits-1), uint32(int32(c.b*one+off)) & uint32(1<<bits-1)}
				k := kind{photometric: p, bits: bits}
				got, err := decode(k.file(&drawn{1, 1, 3, s}))
				want := &image.NRGBA{Pix: []byte{byte(c.r), byte(c.g), byte(c.bl), 255}, Stride: 4, Rect: image.Rect(0, 0, 1, 1)}
				tol := 1
				if bits == 8 {
					tol = 15 // a step of a* or b* is as much as that
				}
				if err != nil {
					t.Error(err)
				} else if d := testimg.Differ(got, want, tol); d != "" {
					t.Errorf("L*a*b* %v, %d bits, kind %d: %s", c, bits, p, d)
				}
			}
		}
	}
}

// TestLevels reads YCbCr by the levels and coefficients of the file.
func TestLevels(t *testing.T) {
	k := kind{photometric: ycbcr, bits: 8, sub: [2]int{1, 1}, add: []tag{
		{529, 5, []uint64{212, 715, 73}}, {532, 5, []uint64{16000, 235000, 128000, 240000, 128000, 240000}}}}
	got, err := decode(k.file(&drawn{3, 1, 3, []uint32{16, 128, 128, 235, 128, 128, 63, 102, 240}}))
	want := []byte{0, 0, 0, 255, 255, 255, 255, 255, 255, 1, 0, 255}
	if err != nil || testimg.Differ(got, &image.NRGBA{Pix: want, Stride: 12, Rect: image.Rect(0, 0, 3, 1)}, 1) != "" {
		t.Errorf("got %v, %v; want %v", got, err, want)
	}
}

// TestGuesses reads what is left out as everyone does.
func TestGuesses(t *testing.T) {
	for _, k := range []kind{
		{photometric: rgb, bits: 8, omit: 262}, {photometric: blackIsZero, bits: 8, omit: 262}, {photometric: rgb, bits: 8, omit: 277},
		{photometric: blackIsZero, bits: 1, omit: 258}, {photometric: rgb, bits: 8, omit: 279}, {photometric: rgb, bits: 8, omit: 278},
		{photometric: rgb, bits: 8, omit: 259},
	} {
		d := k.draw(9, 9, 1)
		got, err := decode(k.file(d))
		if err != nil {
			t.Errorf("without tag %d: %v", k.omit, err)
		} else if diff := testimg.Differ(got, k.seen(d), 0); diff != "" {
			t.Errorf("without tag %d: %s", k.omit, diff)
		}
	}
}

func TestErrors(t *testing.T) {
	plain := kind{photometric: rgb, bits: 8}
	with := func(ts ...tag) []byte {
		k := plain
		// The first of two tags counts.
		d := k.draw(9, 9, 1)
		k.omit = ts[0].id
		k.add = ts
		return k.file(d)
	}
	one := func(id uint16, v ...uint64) tag { return tag{id, 3, v} }
	gray := kind{photometric: blackIsZero, bits: 8}
	for name, c := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"JPEG 2000":   {with(one(259, 34712)), errs.ErrUnsupported, "JPEG 2000 compression"},
		"old JPEG":    {with(one(259, 6)), errs.ErrUnsupported, "JPEG compression in its old form"},
		"Zstandard":   {with(one(259, 50000)), errs.ErrUnsupported, "Zstandard"},
		"odd":         {with(one(259, 4242)), errs.ErrUnsupported, "compression 4242"},
		"float":       {with(one(339, 3, 3, 3)), errs.ErrUnsupported, "floating-point"},
		"signed":      {with(one(339, 2, 2, 2)), errs.ErrUnsupported, "signed"},
		"depth":       {with(one(258, 24, 24, 24)), errs.ErrUnsupported, "24 bits"},
		"depths":      {with(one(258, 5, 6, 5)), errs.ErrUnsupported, "different depths"},
		"raw":         {with(one(262, 32803)), errs.ErrUnsupported, "raw data of a camera"},
		"mask":        {with(one(262, 4)), errs.ErrUnsupported, "transparency mask"},
		"predictor":   {with(one(317, 3)), errs.ErrUnsupported, "floating-point"},
		"samples":     {with(one(277, 2)), nil, "2 samples a pixel"},
		"fax of 8":    {with(one(259, 4)), nil, "fax compression"},
		"size":        {with(one(256, 0)), nil, "0×9"},
		"no offsets":  {with(one(273)), nil, "0 strips or tiles"},
		"no palette":  {func() []byte { k := gray; k.omit = 262; k.add = []tag{one(262, 3)}; return k.file(k.draw(9, 9, 1)) }(), nil, "palette"},
		"cut":         {plain.file(plain.draw(9, 9, 1))[:200], io.ErrUnexpectedEOF, ""},
		"past":        {with(tag{273, 4, []uint64{1 << 30}}), io.ErrUnexpectedEOF, ""},
		"not a JPEG":  {with(one(259, 7)), nil, "not the JPEG picture"},
		"many chunks": {with(tag{278, 4, []uint64{1}}, tag{257, 4, []uint64{1 << 20}}), nil, ""},
	} {
		_, err := decode(c.data)
		if err == nil || c.want != nil && !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) || c.want == nil && errors.Is(err, errs.ErrUnsupported) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestDamage reads files cut off and changed at random: whatever comes of it is
// a picture or an error, and never a panic.
func TestDamage(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 5))
	for i, k := range kinds() {
		d := k.draw(19, 17, uint64(i))
		whole := k.file(d)
		tail := max(len(whole)-200, 0)
		for n := range 60 {
			bad := bytes.Clone(whole)
			if n%4 == 0 {
				bad = bad[:1+r.IntN(len(bad)-1)]
			}
			for range 1 + r.IntN(4) {
				at := r.IntN(len(bad))
				if n%4 > 1 { // the directory
					at = tail + r.IntN(len(bad)-tail)
				}
				bad[at] = byte(r.Uint32())
			}
			_, _ = decode(bad)
		}
	}
}
