package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	stdjpeg "image/jpeg"
	"io"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

func picture(m *image.NRGBA, across, down, quality int) *Picture {
	return &Picture{Width: m.Rect.Dx(), Height: m.Rect.Dy(), Across: across, Down: down, Quality: quality,
		Row: func(dst []byte, y int) { copy(dst, m.Pix[y*m.Stride:(y+1)*m.Stride]) }}
}

// far is the mean square of how far a decoded file is from the picture.
func far(t *testing.T, file []byte, want *image.NRGBA) (float64, image.YCbCrSubsampleRatio) {
	t.Helper()
	got, err := stdjpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	if got.Bounds() != want.Rect {
		t.Fatalf("%v, want %v", got.Bounds(), want.Rect)
	}
	sum := 0.0
	for y := range want.Rect.Dy() {
		for x := range want.Rect.Dx() {
			r, g, b, _ := got.At(x, y).RGBA()
			c := want.NRGBAAt(x, y)
			for _, d := range []float64{float64(r>>8) - float64(c.R), float64(g>>8) - float64(c.G), float64(b>>8) - float64(c.B)} {
				sum += d * d
			}
		}
	}
	return sum / float64(3*want.Rect.Dx()*want.Rect.Dy()), got.(*image.YCbCr).SubsampleRatio
}

// The standard library reads what we write, at any size, and it is as near as what it writes itself.
func TestEncode(t *testing.T) {
	ratios := map[[2]int]image.YCbCrSubsampleRatio{{1, 1}: image.YCbCrSubsampleRatio444, {2, 1}: image.YCbCrSubsampleRatio422, {1, 2}: image.YCbCrSubsampleRatio440, {2, 2}: image.YCbCrSubsampleRatio420}
	for _, size := range []image.Point{{1, 1}, {7, 3}, {8, 8}, {17, 33}, {160, 120}} {
		m := testimg.Photo(size.X, size.Y, 1)
		for s, ratio := range ratios {
			for _, q := range []int{1, 30, 75, 90, 100} {
				var ours, theirs bytes.Buffer
				if err := Encode(&ours, picture(m, s[0], s[1], q)); err != nil {
					t.Fatal(err)
				}
				if err := stdjpeg.Encode(&theirs, m, &stdjpeg.Options{Quality: q}); err != nil {
					t.Fatal(err)
				}
				got, is := far(t, ours.Bytes(), m)
				want, _ := far(t, theirs.Bytes(), m)
				if is != ratio || got > 1.1*want+0.5 {
					t.Errorf("%v, %v, quality %d: %v, far %.2f, and %.2f by the standard library", size, s, q, is, got, want)
				}
				if q >= 75 && s == [2]int{2, 2} && size.X > 100 && math.Abs(float64(ours.Len())/float64(theirs.Len())-1) > 0.05 { // floats round better
					t.Errorf("%v, %v, quality %d: %d bytes, and %d by the standard library", size, s, q, ours.Len(), theirs.Len())
				}
			}
		}
	}
}

// Colours at full resolution are what 4:4:4 is for: thin red lines stay red.
func TestFullColours(t *testing.T) {
	m := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range m.Pix {
		m.Pix[i] = 255
		if i/4%2 == 0 && (i%4 == 1 || i%4 == 2) {
			m.Pix[i] = 0
		}
	}
	var full, half bytes.Buffer
	if err := errors.Join(Encode(&full, picture(m, 1, 1, 95)), Encode(&half, picture(m, 2, 2, 95))); err != nil {
		t.Fatal(err)
	}
	a, _ := far(t, full.Bytes(), m)
	b, _ := far(t, half.Bytes(), m)
	if a > 10 || b < 100 {
		t.Errorf("far %.1f at full resolution, %.1f at half", a, b)
	}
}

// Noise has all symbols, and the extremes of coefficients.
func TestNoise(t *testing.T) {
	m := testimg.Noise(128, 96, 3)
	hard := image.NewNRGBA(image.Rect(0, 0, 64, 64))
	for i := range hard.Pix {
		hard.Pix[i] = byte(255 * (m.Pix[i] & 1))
	}
	for _, m := range []*image.NRGBA{m, hard} {
		var file bytes.Buffer
		if err := Encode(&file, picture(m, 1, 1, 100)); err != nil {
			t.Fatal(err)
		}
		if got, _ := far(t, file.Bytes(), m); got > 2 {
			t.Errorf("far %.2f", got)
		}
	}
}

type failing struct{ n int }

func (f *failing) Write(p []byte) (int, error) {
	if f.n -= len(p); f.n < 0 {
		return 0, io.ErrClosedPipe
	}
	return len(p), nil
}

func TestWriterFails(t *testing.T) {
	for _, n := range []int{0, 5000} {
		if err := Encode(&failing{n}, picture(testimg.Noise(200, 200, 1), 1, 1, 90)); !errors.Is(err, io.ErrClosedPipe) {
			t.Error(err)
		}
	}
}

// GraphicsMagick, which reads by libjpeg, sees the same.
func TestAsOthers(t *testing.T) {
	gm := testkit.Tool(t, "gm")
	m := testimg.Photo(61, 35, 1)
	for s, want := range map[[2]int]string{{1, 1}: "1x1,1x1,1x1", {2, 1}: "2x1,1x1,1x1", {2, 2}: "2x2,1x1,1x1"} {
		path := filepath.Join(t.TempDir(), "x.jpg")
		var file bytes.Buffer
		if err := Encode(&file, picture(m, s[0], s[1], 83)); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		out, err := exec.Command(gm, "identify", "-format", "%[JPEG-Sampling-factors] %[JPEG-Quality] %w %h", path).CombinedOutput()
		if got := strings.TrimSpace(string(out)); err != nil || got != fmt.Sprint(want, " 83 61 35") {
			t.Errorf("%v: %q, %v", s, got, err)
		}
	}
}

func BenchmarkEncode(b *testing.B) {
	m := testimg.Photo(2000, 1500, 1)
	b.Run("4:4:4", func(b *testing.B) {
		for b.Loop() {
			Encode(io.Discard, picture(m, 1, 1, 90))
		}
	})
	b.Run("4:2:0", func(b *testing.B) {
		for b.Loop() {
			Encode(io.Discard, picture(m, 2, 2, 90))
		}
	})
	b.Run("image/jpeg", func(b *testing.B) {
		for b.Loop() {
			stdjpeg.Encode(io.Discard, m, &stdjpeg.Options{Quality: 90})
		}
	})
}
