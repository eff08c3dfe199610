package webp

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

func decode(t testing.TB, data []byte) *image.NRGBA {
	t.Helper()
	h, err := ReadHeader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	row, err := h.Decode(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	m := image.NewNRGBA(image.Rect(0, 0, h.Width, h.Height))
	for y := range h.Height {
		row(m.Pix[y*m.Stride:(y+1)*m.Stride], y)
	}
	return m
}

func run(t testing.TB, name string, args ...string) {
	t.Helper()
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", filepath.Base(name), strings.Join(args, " "), err, out)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// readPNG returns the picture as colours not multiplied by alpha.
func readPNG(t *testing.T, name string) *image.NRGBA {
	t.Helper()
	m, err := png.Decode(bytes.NewReader(read(t, name)))
	if err != nil {
		t.Fatal(err)
	}
	n := image.NewNRGBA(m.Bounds())
	for y := range n.Rect.Dy() {
		for x := range n.Rect.Dx() {
			n.SetNRGBA(x, y, color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA))
		}
	}
	return n
}

// TestAgainstLibwebp encodes with cwebp in many ways; the bytes must be those of
// dwebp: the same bit stream, the same upsampling, the same rounding.
func TestAgainstLibwebp(t *testing.T) {
	cwebp, dwebp := testkit.Tool(t, "cwebp"), testkit.Tool(t, "dwebp")
	dir := t.TempDir()
	for i, c := range []struct {
		w, h  int
		alpha bool
		args  string
	}{
		{160, 100, false, "-q 75"},
		{161, 101, false, "-q 5 -f 100 -sharpness 7"},
		{33, 17, false, "-q 95 -segments 4 -sns 100"},
		{1, 1, false, "-q 75"},
		{2, 3, false, "-q 75"},
		{17, 1, false, "-q 75"},
		{1, 40, false, "-q 75"},
		{64, 48, false, "-q 40 -f 50 -nostrong -partition_limit 50"},
		{64, 48, false, "-q 40 -m 0"},
		{90, 70, true, "-q 75"},
		{91, 71, true, "-q 60 -alpha_filter best -alpha_q 100"},
		{91, 71, true, "-q 60 -alpha_filter fast -alpha_q 40"},
		{50, 40, true, "-q 60 -alpha_method 0"},
		{91, 71, true, "-lossless -exact"},
		{160, 100, false, "-lossless -m 6"},
		{60, 40, true, "-near_lossless 40 -exact"},
	} {
		t.Run(fmt.Sprintf("%dx%d %s", c.w, c.h, c.args), func(t *testing.T) {
			m := testimg.Photo(c.w, c.h, uint64(i))
			if c.alpha {
				m = testimg.PhotoAlpha(c.w, c.h, uint64(i))
			}
			in, mid, out := filepath.Join(dir, "in.png"), filepath.Join(dir, "a.webp"), filepath.Join(dir, "out.png")
			var b bytes.Buffer
			if err := png.Encode(&b, m); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(in, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			run(t, cwebp, append(append([]string{"-quiet"}, strings.Fields(c.args)...), in, "-o", mid)...)
			run(t, dwebp, "-quiet", "-nodither", mid, "-o", out)
			want, got := readPNG(t, out), decode(t, read(t, mid))
			if want.Rect != got.Rect {
				t.Fatalf("size %v, want %v", got.Rect, want.Rect)
			}
			for j := range want.Pix {
				if want.Pix[j] != got.Pix[j] {
					t.Fatalf("byte %d of pixel %d: got %d, dwebp %d", j%4, j/4, got.Pix[j], want.Pix[j])
				}
			}
		})
	}
}

// TestColours holds the conversion against the standard's own formula, in
// float, on planes of noise of odd and even sizes.
func TestColours(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 2))
	for _, size := range []image.Point{{1, 1}, {2, 2}, {5, 7}, {8, 3}, {31, 2}} {
		m := image.NewYCbCr(image.Rectangle{Max: size}, image.YCbCrSubsampleRatio420)
		for _, p := range [][]byte{m.Y, m.Cb, m.Cr} {
			for i := range p {
				p[i] = byte(r.Uint32())
			}
		}
		// A sample c of a plane lies at 2c + 1/2 in pixels.
		sample := func(p []byte, x, y int) float64 {
			at := func(v, n int) (i, j int, f float64) {
				s := (float64(v) - 0.5) / 2
				i = int(math.Floor(s))
				f = s - float64(i)
				return min(max(i, 0), n-1), min(i+1, n-1), f
			}
			x0, x1, fx := at(x, (size.X+1)/2)
			y0, y1, fy := at(y, (size.Y+1)/2)
			v := func(x, y int) float64 { return float64(p[y*m.CStride+x]) }
			return (v(x0, y0)*(1-fx)+v(x1, y0)*fx)*(1-fy) + (v(x0, y1)*(1-fx)+v(x1, y1)*fx)*fy
		}
		row := make([]byte, 4*size.X)
		for y := range size.Y {
			videoRow(row, m, y)
			for x := range size.X {
				l := (float64(m.Y[y*m.YStride+x]) - 16) * 255 / 219
				u, v := (sample(m.Cb, x, y)-128)*255/224, (sample(m.Cr, x, y)-128)*255/224
				want := [3]float64{l + 1.402*v, l - 0.344136*u - 0.714136*v, l + 1.772*u}
				for c, f := range want {
					if d := float64(row[4*x+c]) - min(max(f, 0), 255); math.Abs(d) > 2 {
						t.Fatalf("%v at (%d, %d), channel %d: got %d, want %.2f", size, x, y, c, row[4*x+c], f)
					}
				}
				if row[4*x+3] != 255 {
					t.Fatal("not opaque")
				}
			}
		}
	}
	// The ends of the range are black and white, and grey is neutral.
	m := image.NewYCbCr(image.Rect(0, 0, 3, 1), image.YCbCrSubsampleRatio420)
	copy(m.Y, []byte{16, 126, 235})
	for _, p := range [][]byte{m.Cb, m.Cr} {
		for i := range p {
			p[i] = 128
		}
	}
	row := make([]byte, 12)
	videoRow(row, m, 0)
	if want := []byte{0, 0, 0, 255, 128, 128, 128, 255, 255, 255, 255, 255}; !bytes.Equal(row, want) {
		t.Errorf("black, grey, white: got %v, want %v", row, want)
	}
}

// one is a lossless WebP of one pixel.
var one = []byte(testimg.WebP)

// TestDamage reads files cut off and changed at random: whatever comes of it is
// rows or an error, never a panic, and no more memory than the header said.
func TestDamage(t *testing.T) {
	lossy := read(t, filepath.Join(testkit.Samples(t), "blue-purple-pink.lossy.webp"))
	stream := lossy[20:]
	w, h, err := (&Header{data: chunk{0, int64(len(stream))}}).streamSize(bytes.NewReader(stream))
	if err != nil {
		t.Fatal(err)
	}
	alpha := append([]byte{0}, make([]byte, w*h)...)
	canvas := piece("VP8X", 1<<4, 0, 0, 0, byte(w-1), byte((w-1)>>8), 0, byte(h-1), byte((h-1)>>8), 0)
	whole := file(canvas, piece("ALPH", alpha...), lossy[12:])
	if m := decode(t, whole); m.Pix[3] != 0 {
		t.Fatal("the alpha channel is lost")
	}
	r := rand.New(rand.NewPCG(3, 3))
	for _, data := range [][]byte{lossy, whole, read(t, filepath.Join(testkit.Samples(t), "gopher-doc.2bpp.lossless.webp")), one} {
		for i := range 300 {
			bad := testimg.Damage(r, data, i, 64)
			h, err := ReadHeader(bytes.NewReader(bad), int64(len(bad)))
			if err != nil || h.Width*h.Height > 1<<18 {
				continue
			}
			row, err := h.Decode(bytes.NewReader(bad))
			if err != nil {
				continue
			}
			line := make([]byte, 4*h.Width)
			for y := range h.Height {
				row(line, y)
			}
		}
	}
}

// TestPhotographs reads the lossy pictures that golang.org/x/image brings along,
// and holds them against what they were made of: no channel may be lighter or
// darker on average, as all were while video's range was taken for JPEG's.
func TestPhotographs(t *testing.T) {
	dir := testkit.Samples(t)
	for lossy, original := range map[string]string{
		"video-001.lossy.webp":                            "video-001.png",
		"blue-purple-pink.lossy.webp":                     "blue-purple-pink.png",
		"blue-purple-pink-large.normal-filter.lossy.webp": "blue-purple-pink-large.png",
		"blue-purple-pink-large.simple-filter.lossy.webp": "blue-purple-pink-large.png",
		"blue-purple-pink-large.no-filter.lossy.webp":     "blue-purple-pink-large.png",
	} {
		got, want := decode(t, read(t, filepath.Join(dir, lossy))), readPNG(t, filepath.Join(dir, original))
		if got.Rect != want.Rect {
			t.Fatalf("%s: size %v, want %v", lossy, got.Rect, want.Rect)
		}
		for c := range 3 {
			var bias, square float64
			for i := c; i < len(got.Pix); i += 4 {
				d := float64(got.Pix[i]) - float64(want.Pix[i])
				bias += d
				square += d * d
			}
			n := float64(len(got.Pix) / 4)
			if bias /= n; math.Abs(bias) > 2 || math.Sqrt(square/n) > 12 {
				t.Errorf("%s: channel %d is off by %.2f on average, %.2f in the mean square", lossy, c, bias, math.Sqrt(square/n))
			}
		}
	}
}

func piece(id string, body ...byte) []byte {
	b := binary.LittleEndian.AppendUint32([]byte(id), uint32(len(body)))
	b = append(b, body...)
	return append(b, make([]byte, len(body)&1)...)
}

func file(pieces ...[]byte) []byte {
	body := bytes.Join(pieces, nil)
	b := binary.LittleEndian.AppendUint32([]byte("RIFF"), uint32(len(body)+4))
	return append(append(b, "WEBP"...), body...)
}

// TestAnimation reads the first frame, at its place on the canvas.
func TestAnimation(t *testing.T) {
	stream := one[20 : len(one)-1]
	still := decode(t, one)
	frame := append([]byte{1, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0}, piece("VP8L", stream...)...)
	second := append([]byte{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100, 0, 0, 0}, piece("VP8L", stream...)...)
	data := file(piece("VP8X", 2, 0, 0, 0, 4, 0, 0, 6, 0, 0), piece("ANIM", 0, 0, 0, 0, 0, 0),
		piece("ANMF", frame...), piece("ANMF", second...), piece("EXIF", 'a', 'b', 'c'))
	m := decode(t, data)
	if m.Rect.Size() != image.Pt(5, 7) {
		t.Fatalf("size %v", m.Rect)
	}
	for y := range 7 {
		for x := range 5 {
			want := color.NRGBA{}
			if x == 2 && y == 4 {
				want = still.NRGBAAt(0, 0)
			}
			if got := m.NRGBAAt(x, y); got != want {
				t.Errorf("(%d, %d): got %v, want %v", x, y, got, want)
			}
		}
	}
	if h, err := ReadHeader(bytes.NewReader(data), int64(len(data))); err != nil || string(h.EXIF) != "abc" {
		t.Errorf("EXIF: %v, %v", h, err)
	}
	frame[0] = 9
	data = file(piece("VP8X", 2, 0, 0, 0, 4, 0, 0, 6, 0, 0), piece("ANMF", frame...))
	if _, err := ReadHeader(bytes.NewReader(data), int64(len(data))); err == nil {
		t.Error("a frame outside the canvas is accepted")
	}
}

func TestHeaderErrors(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want error
	}{
		"cut":       {one[:23], io.ErrUnexpectedEOF},
		"cut head":  {one[:14], io.ErrUnexpectedEOF},
		"dependent": {file(piece("VP8 ", 0x11, 0, 0, 0x9d, 1, 0x2a, 1, 0, 1, 0)), errs.ErrUnsupported},
		"empty":     {file(piece("VP8 ")), nil},
		"claims":    {file(append([]byte("VP8 \xff\xff\xff\x7f"), 0x10, 0, 0, 0x9d, 1, 0x2a, 1, 0, 1, 0)), io.ErrUnexpectedEOF},
		"sizes":     {file(piece("VP8X", 0, 0, 0, 0, 4, 0, 0, 6, 0, 0), one[12:]), nil},
	} {
		_, err := ReadHeader(bytes.NewReader(c.data), int64(len(c.data)))
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: got %v, want %v", name, err, c.want)
		}
	}
}
