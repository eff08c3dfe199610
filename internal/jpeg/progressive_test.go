package jpeg

import (
	"bytes"
	"errors"
	"image"
	stdjpeg "image/jpeg"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// A progressive file has the same coefficients as a baseline file, so the same pixels, and fewer bytes.
func TestProgressive(t *testing.T) {
	testlevel.Turn(t, 5)
	flat := image.NewNRGBA(image.Rect(0, 0, 2000, 1300)) // more blocks without numbers than a symbol holds
	for i := range flat.Pix {
		flat.Pix[i] = 200
	}
	pictures := []*image.NRGBA{testimg.Noise(128, 96, 3), flat}
	for _, size := range []image.Point{{1, 1}, {7, 3}, {8, 8}, {17, 33}, {9, 41}, {40, 9}, {160, 120}} {
		pictures = append(pictures, testimg.Photo(size.X, size.Y, 1))
	}
	for _, m := range pictures {
		for _, s := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {2, 2}} {
			for _, q := range []int{1, 75, 100} {
				p := picture(m, s[0], s[1], q)
				var baseline, progressive bytes.Buffer
				err := Encode(&baseline, p)
				p.Progressive = true
				if err := errors.Join(err, Encode(&progressive, p)); err != nil {
					t.Fatal(err)
				}
				want, err := stdjpeg.Decode(bytes.NewReader(baseline.Bytes()))
				if err != nil {
					t.Fatal(err)
				}
				got, err := stdjpeg.Decode(bytes.NewReader(progressive.Bytes()))
				if err != nil {
					t.Errorf("%v, %v, quality %d: %v", m.Rect, s, q, err)
					continue
				}
				a, b := got.(*image.YCbCr), want.(*image.YCbCr)
				if a.Rect != b.Rect || a.SubsampleRatio != b.SubsampleRatio {
					t.Errorf("%v, %v, quality %d: %v %v", m.Rect, s, q, a.Rect, a.SubsampleRatio)
				}
				for y := range a.Rect.Dy() {
					for x := range a.Rect.Dx() {
						if a.YCbCrAt(x, y) != b.YCbCrAt(x, y) {
							t.Fatalf("%v, %v, quality %d: pixel (%d,%d) is %v, and %v in the baseline file", m.Rect, s, q, x, y, a.YCbCrAt(x, y), b.YCbCrAt(x, y))
						}
					}
				}
				if m.Rect.Dx() > 100 && progressive.Len() >= baseline.Len() {
					t.Errorf("%v, %v, quality %d: %d bytes, and %d in the baseline file", m.Rect, s, q, progressive.Len(), baseline.Len())
				}
			}
		}
	}
}

func TestProgressiveGrey(t *testing.T) {
	m := testimg.Photo(61, 35, 1)
	for i := 0; i < len(m.Pix); i += 4 {
		m.Pix[i+1], m.Pix[i+2] = m.Pix[i], m.Pix[i]
	}
	p := picture(m, 1, 1, 95)
	p.Progressive, p.Grey = true, true
	var file bytes.Buffer
	if err := Encode(&file, p); err != nil {
		t.Fatal(err)
	}
	got, err := stdjpeg.Decode(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	grey, ok := got.(*image.Gray)
	if !ok || grey.Rect != m.Rect {
		t.Fatalf("%T %v", got, got.Bounds())
	}
	sum := 0.0
	for y := range 35 {
		for x := range 61 {
			d := float64(grey.GrayAt(x, y).Y) - float64(m.NRGBAAt(x, y).R)
			sum += d * d
		}
	}
	if sum/(61*35) > 10 {
		t.Errorf("far %.1f", sum/(61*35))
	}
}

// Codes of rare and of frequent symbols: no code is longer than 16 bits, none begins another one, and
// none has ones only.
func TestSuited(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var fibonacci [256]int
	a, b := 1, 1
	for i := range 40 {
		fibonacci[i], a, b = a, b, a+b
	}
	cases := [][256]int{fibonacci, {7: 1}, {0: 1, 255: 1000}}
	for range 50 {
		var often [256]int
		for range 1 + rng.IntN(256) {
			often[rng.IntN(256)] = rng.IntN(1 << rng.IntN(20))
		}
		often[3]++
		cases = append(cases, often)
	}
	for _, often := range cases {
		c := suited(&often)
		for s, n := range often {
			if (n > 0) != (c.length[s] > 0) || c.length[s] > 16 || n > 0 && c.bits[s] == 1<<c.length[s]-1 {
				t.Fatalf("symbol %d, %d times: code %b of %d bits", s, n, c.bits[s], c.length[s])
			}
			for r, m := range often {
				if r != s && n > 0 && m > 0 && c.length[s] <= c.length[r] && c.bits[r]>>(c.length[r]-c.length[s]) == c.bits[s] {
					t.Fatalf("the code of %d begins that of %d", s, r)
				}
				if n > m && m > 0 && c.length[s] > c.length[r] {
					t.Fatalf("%d is more frequent than %d and has a longer code", s, r)
				}
			}
		}
	}
	if suited(&[256]int{}) != nil {
		t.Error("a code without symbols")
	}
}

// Programs that read by libjpeg see a progressive file with the same pixels.
func TestProgressiveAsOthers(t *testing.T) {
	gm := testkit.Tool(t, "gm")
	dir := t.TempDir()
	m := testimg.Photo(61, 35, 1)
	for _, s := range [][2]int{{1, 1}, {2, 1}, {2, 2}} {
		var raws [2][]byte
		for i, progressive := range []bool{false, true} {
			p := picture(m, s[0], s[1], 83)
			p.Progressive = progressive
			var file bytes.Buffer
			if err := Encode(&file, p); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "x.jpg")
			if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			out, err := exec.Command(gm, "identify", "-format", "%[JPEG-Quality] %w %h", path).CombinedOutput()
			if got := strings.TrimSpace(string(out)); err != nil || got != "83 61 35" {
				t.Errorf("%v: %q, %v", s, got, err)
			}
			verbose, err := exec.Command(gm, "identify", "-verbose", path).CombinedOutput()
			if err != nil || progressive != !strings.Contains(string(verbose), "Interlace: No") {
				t.Errorf("%v, progressive %v: %v\n%s", s, progressive, err, verbose)
			}
			if raws[i], err = exec.Command(gm, "convert", path, "rgb:-").Output(); err != nil {
				t.Error(err)
			}
		}
		if len(raws[0]) != 61*35*3 || !bytes.Equal(raws[0], raws[1]) {
			t.Errorf("%v: other pixels than those of the baseline file", s)
		}
	}
}

func TestProgressiveWriterFails(t *testing.T) {
	for _, n := range []int{0, 5000} {
		p := picture(testimg.Noise(200, 200, 1), 1, 1, 90)
		p.Progressive = true
		if err := Encode(&failing{n}, p); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	}
}
