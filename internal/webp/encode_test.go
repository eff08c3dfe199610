package webp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// pictureOf is a picture to be written with the pixels of an image.
func pictureOf(m *image.NRGBA, quality int) *Picture {
	p := &Picture{Width: m.Rect.Dx(), Height: m.Rect.Dy(), Alpha: !m.Opaque(), Lossless: quality == 0, Quality: quality}
	p.Row = func(dst []byte, y int) { copy(dst, m.Pix[y*m.Stride:][:4*p.Width]) }
	return p
}

func encode(t testing.TB, p *Picture) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := Encode(t.Context(), &b, p); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// varied are pictures of many kinds: noise, few colours, long runs, gradients, transparent ones.
func varied() map[string]*image.NRGBA {
	all := map[string]*image.NRGBA{}
	r := rand.New(rand.NewPCG(1, 2))
	for _, size := range [][2]int{{1, 1}, {1, 37}, {37, 1}, {2, 2}, {15, 16}, {16, 17}, {17, 33}, {61, 43}, {130, 70}} {
		for name, f := range map[string]func(x, y int) color.NRGBA{
			"noise": func(x, y int) color.NRGBA {
				return color.NRGBA{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), 255}
			},
			"alpha noise": func(x, y int) color.NRGBA {
				return color.NRGBA{byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32()), byte(r.Uint32())}
			},
			"one colour": func(x, y int) color.NRGBA { return color.NRGBA{9, 99, 199, 255} },
			"nothing":    func(x, y int) color.NRGBA { return color.NRGBA{} },
			"hidden":     func(x, y int) color.NRGBA { return color.NRGBA{byte(x), byte(y), 7, 0} },
			"two":        func(x, y int) color.NRGBA { return color.NRGBA{byte(x * y % 2 * 255), 0, 0, 255} },
			"three":      func(x, y int) color.NRGBA { return color.NRGBA{0, byte((x + y) % 3 * 100), 0, 255} },
			"twelve":     func(x, y int) color.NRGBA { return color.NRGBA{0, 0, byte(r.Uint32N(12)), 255} },
			"200":        func(x, y int) color.NRGBA { return color.NRGBA{byte(r.Uint32N(20)), byte(r.Uint32N(10)), 0, 255} },
			"gradient":   func(x, y int) color.NRGBA { return color.NRGBA{byte(x * 2), byte(y * 3), byte(x + y), 255} },
			"tiles": func(x, y int) color.NRGBA {
				return color.NRGBA{byte(x % 7 * 30), byte(y % 5 * 50), byte(x % 7 * y % 5), byte(128 + x%7)}
			},
			"steps": func(x, y int) color.NRGBA {
				return color.NRGBA{byte(x / 8 * 37), byte(y / 8 * 91), byte(x / 9 * y / 5), 255}
			},
		} {
			m := image.NewNRGBA(image.Rect(0, 0, size[0], size[1]))
			for y := range size[1] {
				for x := range size[0] {
					m.SetNRGBA(x, y, f(x, y))
				}
			}
			all[fmt.Sprintf("%s %d×%d", name, size[0], size[1])] = m
		}
	}
	all["photo"] = testimg.Photo(301, 203, 1)
	all["photo with alpha"] = testimg.PhotoAlpha(203, 101, 1)
	return all
}

// Lossless files have the same pixels, for this decoder and for libwebp's.
func TestLossless(t *testing.T) {
	dwebp := testkit.ToolIfAny(t, "dwebp")
	dir, n := t.TempDir(), 0
	for name, m := range varied() {
		file := encode(t, pictureOf(m, 0))
		if got := decode(t, file); !bytes.Equal(got.Pix, m.Pix) {
			t.Errorf("%s: %s", name, testimg.Differ(got, m, 0))
		}
		if n++; dwebp == "" || n%4 > 0 && m.Rect.Dx() < 130 {
			continue
		}
		in, out := filepath.Join(dir, "x.webp"), filepath.Join(dir, "x.pam")
		if err := os.WriteFile(in, file, 0o600); err != nil {
			t.Fatal(err)
		}
		run(t, dwebp, "-quiet", "-pam", in, "-o", out)
		if pam := read(t, out); !bytes.HasSuffix(pam, m.Pix) {
			t.Errorf("%s: dwebp reads other pixels", name)
		}
	}
}

func FuzzLossless(f *testing.F) {
	f.Add([]byte("a few bytes that are pixels"), uint8(3), uint8(4))
	f.Add([]byte{}, uint8(0), uint8(0))
	f.Add(bytes.Repeat([]byte{1, 2, 3, 255}, 99), uint8(9), uint8(1))
	f.Fuzz(func(t *testing.T, pix []byte, w, step uint8) {
		wide := int(w)%90 + 1
		high := min(max((len(pix)/4+wide-1)/wide, 1), 200)
		m := image.NewNRGBA(image.Rect(0, 0, wide, high))
		for i := range m.Pix { // The bytes again and again, changing.
			if len(pix) > 0 {
				m.Pix[i] = pix[i%len(pix)] + byte(i/len(pix))*step
			}
		}
		if got := decode(t, encode(t, pictureOf(m, 0))); !bytes.Equal(got.Pix, m.Pix) {
			t.Fatal(testimg.Differ(got, m, 0))
		}
	})
}

// noise is how far pictures are from each other, as PSNR in dB. Pixels of no alpha do not count.
func noise(a, b *image.NRGBA) float64 {
	sum, n := 0.0, 0
	for i := 0; i < len(a.Pix); i += 4 {
		if a.Pix[i+3] == 0 {
			continue
		}
		for c := range 3 {
			d := float64(a.Pix[i+c]) - float64(b.Pix[i+c])
			sum += d * d
			n++
		}
	}
	return 10 * math.Log10(255*255/max(sum/float64(max(n, 1)), 1e-9))
}

// Lossy files are near, alpha is exact, and libwebp's decoder reads the same pixels as ours.
func TestLossy(t *testing.T) {
	dwebp := testkit.ToolIfAny(t, "dwebp")
	dir, n := t.TempDir(), 0
	for name, m := range varied() {
		for _, quality := range []int{1, 60, 100} {
			file := encode(t, pictureOf(m, quality))
			got := decode(t, file)
			for i := 3; i < len(m.Pix); i += 4 {
				if got.Pix[i] != m.Pix[i] {
					t.Fatalf("%s, quality %d: alpha is %d (want %d)", name, quality, got.Pix[i], m.Pix[i])
				}
			}
			least := 3.0 // noise has nothing that can be left out
			if m.Rect.Dx() > 200 {
				least = map[int]float64{1: 20, 60: 30, 100: 37}[quality]
			}
			if db := noise(m, got); db < least {
				t.Errorf("%s, quality %d: %.1f dB (want %.0f)", name, quality, db, least)
			}
			if n++; dwebp == "" || n%9 > 0 && m.Rect.Dx() < 200 {
				continue
			}
			in, out := filepath.Join(dir, "x.webp"), filepath.Join(dir, "x.pam")
			if err := os.WriteFile(in, file, 0o600); err != nil {
				t.Fatal(err)
			}
			run(t, dwebp, "-quiet", "-pam", in, "-o", out)
			if pam := read(t, out); !bytes.HasSuffix(pam, got.Pix) {
				t.Errorf("%s, quality %d: dwebp reads other pixels", name, quality)
			}
		}
	}
}

// A picture whose modes do not fit is written with fewer of them.
func TestFewerModes(t *testing.T) {
	m := testimg.Photo(150, 90, 1)
	before := math.Inf(1)
	for limit := range 3 {
		body, err := newLossy(pictureOf(m, 80), limit).encode(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := writeParts(&file, []part{{"VP8 ", body}}); err != nil {
			t.Fatal(err)
		}
		db := noise(m, decode(t, file.Bytes()))
		if db < 28 || db > before+1 {
			t.Errorf("limit %d: %.1f dB", limit, db)
		}
		before = db
	}
	e := newLossy(pictureOf(m, 80), 0)
	e.blocks = make([]macroblock, 1<<20)
	for i := range e.blocks {
		for k := range e.blocks[i].modes {
			e.blocks[i].modes[k] = uint8((i + k*7) % smallModes)
		}
	}
	if _, err := e.write(); !errors.Is(err, errHeader) {
		t.Errorf("more modes than the first partition can have: %v", err)
	}
}

// Files are about as large as those of cwebp: lossless ones, and lossy ones that are as near.
func TestSizeBesideCwebp(t *testing.T) {
	cwebp := testkit.Tool(t, "cwebp")
	dir := t.TempDir()
	in, out := filepath.Join(dir, "x.png"), filepath.Join(dir, "x.webp")
	m := testimg.Photo(640, 427, 3)
	asPNG, err := testimg.Encode(m, ".png")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(in, asPNG, 0o600); err != nil {
		t.Fatal(err)
	}
	run(t, cwebp, "-quiet", "-lossless", in, "-o", out)
	if own, other := len(encode(t, pictureOf(m, 0))), len(read(t, out)); float64(own) > 1.15*float64(other) {
		t.Errorf("lossless: %d bytes (cwebp: %d)", own, other)
	}
	run(t, cwebp, "-quiet", "-q", "75", in, "-o", out)
	file := encode(t, pictureOf(m, 75))
	own, other := noise(m, decode(t, file)), noise(m, decode(t, read(t, out)))
	if size, limit := len(file), len(read(t, out)); own < other-0.3 || float64(size) > 1.1*float64(limit) {
		t.Errorf("quality 75: %d bytes and %.2f dB (cwebp: %d and %.2f)", size, own, limit, other)
	}
}

func TestEncodeEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, quality := range []int{0, 80} {
		p := pictureOf(testimg.PhotoAlpha(64, 64, 1), quality)
		if err := Encode(ctx, io.Discard, p); !errors.Is(err, context.Canceled) {
			t.Errorf("quality %d: %v", quality, err)
		}
	}
	p := pictureOf(image.NewNRGBA(image.Rect(0, 0, MaxSide, 1)), 0)
	for _, quality := range []int{0, 80} {
		p.Lossless, p.Quality = quality == 0, quality
		if got := decode(t, encode(t, p)); got.Rect.Dx() != MaxSide {
			t.Errorf("the widest picture is %d pixels wide", got.Rect.Dx())
		}
	}
}

// Encode may be called from many goroutines at once, and always writes the same.
func TestEncodeAtOnce(t *testing.T) {
	m := testimg.PhotoAlpha(90, 70, 1)
	var wg sync.WaitGroup
	for _, quality := range []int{0, 80} {
		want := encode(t, pictureOf(m, quality))
		for range 32 {
			wg.Go(func() {
				var b bytes.Buffer
				if err := Encode(t.Context(), &b, pictureOf(m, quality)); err != nil || !bytes.Equal(b.Bytes(), want) {
					t.Errorf("quality %d: other bytes, %v", quality, err)
				}
			})
		}
	}
	wg.Wait()
}

// webpmux finds what is beside the picture.
func TestParts(t *testing.T) {
	webpmux, err := exec.LookPath("webpmux")
	if err != nil {
		testkit.NoTool(t, "needs webpmux; install the package webp")
	}
	dir := t.TempDir()
	for _, quality := range []int{0, 80} {
		p := pictureOf(testimg.PhotoAlpha(33, 21, 1), quality)
		p.ICC, p.EXIF, p.XMP = []byte("a profile"), []byte("II*\x00"), []byte("<x/>")
		in, out := filepath.Join(dir, "x.webp"), filepath.Join(dir, "x.bin")
		if err := os.WriteFile(in, encode(t, p), 0o600); err != nil {
			t.Fatal(err)
		}
		for name, want := range map[string][]byte{"icc": p.ICC, "exif": p.EXIF, "xmp": p.XMP} {
			run(t, webpmux, "-get", name, in, "-o", out)
			if got := read(t, out); !bytes.Equal(got, want) {
				t.Errorf("%s is %q (want %q)", name, got, want)
			}
		}
	}
}
