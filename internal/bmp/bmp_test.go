package bmp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math/bits"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// kind is one way of storing a picture. The zero values are the common ones.
type kind struct {
	name    string
	header  int // bytes of the second header
	depth   int
	code    uint32    // compression
	masks   [4]uint32 // of the file, where code is 3 or 6
	inside  bool      // the masks are in the header
	palette int       // entries; 0 = all there may be
	topDown bool
	array   bool // inside an OS/2 array
	gap     int  // bytes between headers and pixels
	cut     bool // the last row has no padding
}

var kinds = func() []kind {
	var ks []kind
	for _, depth := range []int{1, 2, 4, 8, 24} {
		for _, header := range []int{12, 16, 40, 52, 56, 64, 108, 124} {
			ks = append(ks, kind{header: header, depth: depth})
		}
		ks = append(ks, kind{header: 40, depth: depth, topDown: true}, kind{header: 40, depth: depth, gap: 10},
			kind{header: 40, depth: depth, cut: true}, kind{header: 12, depth: depth, array: true})
	}
	for _, d := range []int{2, 3} {
		ks = append(ks, kind{header: 40, depth: 4, palette: d}, kind{header: 40, depth: 8, palette: 40 * d})
	}
	for _, header := range []int{40, 108, 124} {
		for _, top := range []bool{false, true} {
			ks = append(ks, kind{header: header, depth: 16, topDown: top}, kind{header: header, depth: 32, topDown: top})
		}
	}
	// Masks in the header count only for bit fields, so they need the code.
	for _, m := range [][4]uint32{
		{0xf800, 0x07e0, 0x001f}, {0x0f00, 0x00f0, 0x000f}, {0x7c00, 0x03e0, 0x001f}, {0x001f, 0x07e0, 0xf800}, {0xe0, 0x1c, 0x03},
	} {
		ks = append(ks, kind{header: 40, depth: 16, code: 3, masks: m}, kind{header: 108, depth: 16, code: 3, masks: m, inside: true})
	}
	for _, m := range [][4]uint32{
		{0xff0000, 0xff00, 0xff}, {0xff, 0xff00, 0xff0000}, {0xff000000, 0xff0000, 0xff00}, {0x3ff00000, 0xffc00, 0x3ff}, {0xfff, 0xff000, 0x7f00000},
	} {
		ks = append(ks, kind{header: 40, depth: 32, code: 3, masks: m}, kind{header: 52, depth: 32, code: 3, masks: m, inside: true},
			kind{header: 124, depth: 32, code: 3, masks: m, inside: true, topDown: true})
	}
	for _, m := range [][4]uint32{{0xff0000, 0xff00, 0xff, 0xff000000}, {0xff00, 0xff0000, 0xff000000, 0xff}} {
		ks = append(ks, kind{header: 56, depth: 32, code: 3, masks: m, inside: true}, kind{header: 108, depth: 32, code: 3, masks: m, inside: true},
			kind{header: 124, depth: 32, code: 3, masks: m, inside: true, topDown: true}, kind{header: 40, depth: 32, code: 6, masks: m})
	}
	ks = append(ks, kind{header: 124, depth: 16, code: 3, masks: [4]uint32{0x7c00, 0x3e0, 0x1f, 0x8000}, inside: true},
		kind{header: 40, depth: 16, code: 6, masks: [4]uint32{0xf00, 0xf0, 0xf, 0xf000}})
	for _, header := range []int{40, 64, 124} {
		ks = append(ks, kind{header: header, depth: 8, code: 1}, kind{header: header, depth: 4, code: 2})
	}
	ks = append(ks, kind{header: 40, depth: 8, code: 1, palette: 100}, kind{header: 64, depth: 24, code: 4})
	for i := range ks {
		k := &ks[i]
		k.name = fmt.Sprintf("%02d-h%d-d%d-c%d", i, k.header, k.depth, k.code)
	}
	return ks
}()

// made is a picture in a kind, and what must be read from it.
type made struct {
	file []byte
	want *image.NRGBA
}

func u16(v int) []byte    { return binary.LittleEndian.AppendUint16(nil, uint16(v)) }
func u32(v uint32) []byte { return binary.LittleEndian.AppendUint32(nil, v) }

// make writes a picture of noise in runs.
func (k *kind) make(w, h int, seed uint64) made {
	r := rand.New(rand.NewPCG(seed, 9))
	want := image.NewNRGBA(image.Rect(0, 0, w, h))
	colours := k.palette
	if k.depth <= 8 && colours == 0 {
		colours = 1 << k.depth
	}
	var table []byte
	for range colours {
		table = append(table, byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), 0)
	}
	m := k.masks
	if k.code != 3 && k.code != 6 {
		m = map[int][4]uint32{16: {0x7c00, 0x3e0, 0x1f}, 32: {0xff0000, 0xff00, 0xff}}[k.depth]
	}
	channel := func(p, m uint32) byte { // by its definition, in float
		if m == 0 {
			return 255
		}
		for m&1 == 0 {
			p, m = p>>1, m>>1
		}
		return byte(float64(p&m)*255/float64(m) + 0.5)
	}
	stored := make([][]uint32, h) // values by row from the top
	var v uint32
	for y := range h {
		stored[y] = make([]uint32, w)
		for x := range w {
			if v == 0 || r.IntN(3) > 0 || k.code == 0 {
				v = r.Uint32()
			}
			p := v
			var c color.NRGBA
			switch {
			case k.depth <= 8:
				p %= uint32(colours)
				c = color.NRGBA{table[4*p+2], table[4*p+1], table[4*p], 255}
			case k.depth == 24:
				p &= 0xffffff
				c = color.NRGBA{byte(p >> 16), byte(p >> 8), byte(p), 255}
			default:
				if k.depth == 16 {
					p &= 0xffff
				}
				c = color.NRGBA{channel(p, m[0]), channel(p, m[1]), channel(p, m[2]), channel(p, m[3])}
			}
			stored[y][x] = p
			want.SetNRGBA(x, y, c)
		}
	}
	var pix []byte
	for i := range h {
		y := h - 1 - i
		if k.topDown {
			y = i
		}
		switch {
		case k.code == 1 || k.code == 2 || k.code == 4:
			pix = append(pix, runs(stored[y], k.depth, r)...)
			pix = append(pix, 0, 0)
		default:
			row := packed(stored[y], k.depth)
			if !k.cut || i < h-1 {
				row = append(row, make([]byte, -len(row)&3)...)
			}
			pix = append(pix, row...)
		}
	}
	if k.code == 1 || k.code == 2 || k.code == 4 {
		pix = append(pix, 0, 1)
	}
	return made{k.wrap(w, h, m, table, pix), want}
}

// packed returns a row as it lies in the file.
func packed(row []uint32, depth int) []byte {
	out := make([]byte, (len(row)*depth+7)/8)
	for x, p := range row {
		if depth < 8 {
			out[x*depth/8] |= byte(p << (8 - depth - x*depth%8))
			continue
		}
		for b := range depth / 8 {
			out[x*depth/8+b] = byte(p >> (8 * b))
		}
	}
	return out
}

// runs codes a row in runs, runs of two colours and pixels as they are.
func runs(row []uint32, depth int, r *rand.Rand) []byte {
	var out []byte
	for x := 0; x < len(row); {
		n := 1
		step := 1
		if depth == 4 {
			step = 2
		}
		for x+n < len(row) && n < 255 && row[x+n] == row[x+n-min(n, step)] {
			n++
		}
		if n < 4 && len(row)-x >= 3 && r.IntN(2) == 0 {
			n = min(3+r.IntN(9), len(row)-x)
			out = append(out, 0, byte(n))
			b := packed(row[x:x+n], depth)
			out = append(append(out, b...), make([]byte, len(b)&1)...)
			x += n
			continue
		}
		if depth != 4 {
			n = 1
			for x+n < len(row) && n < 255 && row[x+n] == row[x] {
				n++
			}
			out = append(append(out, byte(n)), packed(row[x:x+1], depth)...)
		} else {
			second := row[x]
			if n > 1 {
				second = row[x+1]
			}
			out = append(out, byte(n), byte(row[x]<<4|second))
		}
		x += n
	}
	return out
}

// wrap puts the headers before the pixels.
func (k *kind) wrap(w, h int, m [4]uint32, table, pix []byte) []byte {
	info := make([]byte, max(k.header, 124))
	copy(info, u32(uint32(k.header)))
	var after []byte
	if k.header == 12 {
		copy(info[4:], bytes.Join([][]byte{u16(w), u16(h), u16(1), u16(k.depth)}, nil))
		for i := 0; i < len(table); i += 4 {
			after = append(after, table[i:i+3]...)
		}
	} else {
		if k.topDown {
			h = -h
		}
		copy(info[4:], bytes.Join([][]byte{u32(uint32(w)), u32(uint32(h)), u16(1), u16(k.depth), u32(k.code), u32(uint32(len(pix)))}, nil))
		copy(info[32:], u32(uint32(k.palette)))
		for i, v := range m {
			if k.code != 3 && k.code != 6 {
				break
			}
			if k.inside {
				copy(info[40+4*i:], u32(v))
			} else if i < 3 || k.code == 6 {
				after = append(after, u32(v)...)
			}
		}
		after = append(after, table...)
	}
	base := 0
	var b []byte
	if k.array {
		b = append([]byte("BA"), make([]byte, 12)...)
		base = 14
	}
	data := base + 14 + k.header + len(after) + k.gap
	b = append(b, 'B', 'M')
	b = append(b, u32(uint32(data+len(pix)))...)
	b = append(b, 0, 0, 0, 0)
	b = append(b, u32(uint32(data))...)
	b = append(append(b, info[:k.header]...), after...)
	return append(append(b, make([]byte, k.gap)...), pix...)
}

func decode(data []byte) (*image.NRGBA, error) {
	h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	if h.Width > 1<<14/h.Height {
		return nil, errors.New("large")
	}
	m := image.NewNRGBA(image.Rect(0, 0, h.Width, h.Height))
	return m, h.Decode(bytes.NewReader(data), func(y int, band []byte) error {
		copy(m.Pix[y*m.Stride:(y+len(band)/m.Stride)*m.Stride], band)
		return nil
	})
}

// TestKinds reads every kind in sizes with and without padding.
func TestKinds(t *testing.T) {
	if len(kinds) < 64 {
		t.Fatalf("%d kinds", len(kinds))
	}
	for i, k := range kinds {
		for _, size := range []image.Point{{1, 1}, {13, 37}, {32, 64}, {259, 5}} {
			m := k.make(size.X, size.Y, uint64(i))
			got, err := decode(m.file)
			if err != nil {
				t.Errorf("%s %v: %v", k.name, size, err)
				continue
			}
			if d := testimg.Differ(got, m.want, 0); d != "" {
				t.Errorf("%s %v: %s", k.name, size, d)
			}
		}
	}
}

// TestAgainstGraphicsMagick has another program read the kinds it knows. It is
// the generator of these files that is on trial here, as much as the decoder.
func TestAgainstGraphicsMagick(t *testing.T) {
	gm := testkit.Tool(t, "gm")
	dir := t.TempDir()
	known := 0
	for i, k := range kinds {
		if i%3 != 0 || !testlevel.IsFull() && i%9 != 0 { // a process each
			continue
		}
		m := k.make(13, 37, uint64(i))
		in := filepath.Join(dir, k.name+".bmp")
		if err := os.WriteFile(in, m.file, 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(gm, "convert", in, "+matte", "-depth", "8", "ppm:-").Output()
		if err != nil {
			continue // it does not read every kind either
		}
		if k.header == 64 || k.array {
			continue // it takes their palettes for those of 12-byte headers, the array for its first picture
		}
		known++
		n := len(m.want.Pix) / 4 * 3
		if len(out) < n {
			t.Errorf("%s: gm writes %d bytes", k.name, len(out))
			continue
		}
		out = out[len(out)-n:]
		for j := range n {
			// It widens fewer than 8 bits without scaling them, and takes off one.
			want, drop := int(m.want.Pix[j/3*4+j%3]), 0
			if k.depth == 16 {
				drop = 8 - bits.OnesCount32(k.masks[j%3])
				if k.code == 0 {
					drop = 3
				}
			}
			if d := (int(out[j])+min(drop, 1))>>drop - want>>drop; d < -2 || d > 2 || d != 0 && k.depth != 32 {
				t.Errorf("%s: byte %d: %d, gm %d", k.name, j, want, out[j])
				break
			}
		}
	}
	if known < 15 && testlevel.IsFull() {
		t.Errorf("gm read %d of %d kinds", known, len(kinds))
	}
}

// TestPalette reads palettes that are shorter than the indices, and those of
// three bytes a colour that some programs put behind the OS/2 2 header.
func TestPalette(t *testing.T) {
	k := kind{header: 40, depth: 8, palette: 3}
	m := k.make(4, 1, 1)
	m.file[len(m.file)-4] = 200
	got, err := decode(m.file)
	if want := (color.NRGBA{0, 0, 0, 255}); err != nil || got.NRGBAAt(0, 0) != want || got.NRGBAAt(1, 0) != m.want.NRGBAAt(1, 0) {
		t.Errorf("got %v, %v", got, err)
	}
	k = kind{header: 64, depth: 1}
	table := []byte{1, 2, 3, 0, 4, 5, 6, 0}
	file := k.wrap(2, 1, [4]uint32{}, table, []byte{0x40, 0, 0, 0})
	at := 14 + 64
	file = append(append(file[:at:at], 1, 2, 3, 4, 5, 6), 0x40, 0, 0, 0)
	file[10] = byte(at + 6)
	got, err = decode(file)
	if err != nil || !bytes.Equal(got.Pix, []byte{3, 2, 1, 255, 6, 5, 4, 255}) {
		t.Errorf("three bytes a colour: %v, %v", got, err)
	}
}

// TestNoAlpha takes a picture whose alpha is all zero for opaque.
func TestNoAlpha(t *testing.T) {
	k := kind{header: 108, depth: 32, code: 3, inside: true, masks: [4]uint32{0xff0000, 0xff00, 0xff, 0xff000000}}
	m := k.make(5, 3, 1)
	for i := range m.want.Pix {
		if i%4 == 3 {
			m.file[len(m.file)-len(m.want.Pix)+i], m.want.Pix[i] = 0, 255
		}
	}
	got, err := decode(m.file)
	if err != nil {
		t.Fatal(err)
	}
	if d := testimg.Differ(got, m.want, 0); d != "" {
		t.Error(d)
	}
}

// TestSkips leaves pixels out by every means run lengths have.
func TestSkips(t *testing.T) {
	k := kind{header: 40, depth: 8}
	table := make([]byte, 4*256)
	for i := range 256 {
		table[4*i] = byte(i)
	}
	k.code = 1
	pix := []byte{2, 9, 0, 2, 1, 1, 200, 7, 0, 0, 1, 5, 0, 1} // 2 × 9; right 1, up 1; too long a run; end of row; 1 × 5; end
	got, err := decode(k.wrap(4, 4, [4]uint32{}, table, pix))
	if err != nil {
		t.Fatal(err)
	}
	want := [][]byte{{0, 0, 0, 0}, {5, 0, 0, 0}, {0, 0, 0, 7}, {9, 9, 0, 0}}
	for y, row := range want {
		for x, v := range row {
			if g := got.NRGBAAt(x, y); g != (color.NRGBA{0, 0, v, 255}) {
				t.Errorf("(%d, %d): got %v, want blue %d", x, y, g, v)
			}
		}
	}
}

func TestIsBMP(t *testing.T) {
	for i, k := range kinds {
		if !IsBMP(k.make(2, 2, uint64(i)).file[:18]) {
			t.Errorf("%s is not taken for BMP", k.name)
		}
	}
	for _, s := range []string{"", "B", "BMW has made cars since 1928.", "BAM! And BMP it is not", "\x89PNG\r\n\x1a\n0123456789abcdef"} {
		if IsBMP([]byte(s)) {
			t.Errorf("%q is taken for BMP", s)
		}
	}
}

func TestErrors(t *testing.T) {
	patch := func(k kind, at int, v byte) []byte {
		b := k.make(8, 8, 1).file
		b[at] = v
		return b
	}
	rgb := kind{header: 40, depth: 24}
	for name, c := range map[string]struct {
		data []byte
		want error
		text string
	}{
		"huffman":     {patch(kind{header: 64, depth: 1}, 30, 3), errs.ErrUnsupported, "Huffman"},
		"jpeg":        {patch(rgb, 30, 4), errs.ErrUnsupported, "JPEG"},
		"png":         {patch(rgb, 30, 5), errs.ErrUnsupported, "PNG"},
		"cmyk":        {patch(rgb, 30, 11), errs.ErrUnsupported, "CMYK"},
		"depth":       {patch(rgb, 28, 64), errs.ErrUnsupported, "64 bits a pixel"},
		"planes":      {patch(rgb, 26, 3), errs.ErrUnsupported, "3 planes"},
		"compression": {patch(rgb, 30, 99), errs.ErrUnsupported, "compression 99"},
		"cut":         {rgb.make(8, 8, 1).file[:200], io.ErrUnexpectedEOF, ""},
		"no pixels":   {(&kind{header: 40, depth: 8, code: 1}).make(8, 8, 1).file[:1078], io.ErrUnexpectedEOF, ""},
		"cut runs":    {(&kind{header: 40, depth: 8, code: 1}).make(8, 8, 1).file[:1085], io.ErrUnexpectedEOF, ""},
		"header":      {patch(rgb, 14, 11), nil, "header of 11 bytes"},
		"wrong runs":  {patch(rgb, 30, 1), nil, "run lengths"},
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
	for i, k := range kinds {
		whole := k.make(9, 7, uint64(i)).file
		for n := range 120 {
			bad := testimg.Damage(r, whole, n, 80)
			_, _ = decode(bad)
		}
	}
}
