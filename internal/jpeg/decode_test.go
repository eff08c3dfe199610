package jpeg

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	stdjpeg "image/jpeg"
	"io"
	"maps"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// mild is a photograph without very dark and very bright pixels, so that no sample is cut off.
func mild(w, h int) *image.NRGBA {
	m := testimg.Photo(w, h, 3)
	for i := range m.Pix {
		if i%4 < 3 {
			m.Pix[i] = 64 + m.Pix[i]/2
		}
	}
	return m
}

// plane is a colour component of a file, as the standard library decodes it with all blocks.
type fullPlane struct {
	pix            []byte
	stride         int
	ratioX, ratioY int // pixels that share a sample
}

func planesOf(t *testing.T, file []byte) (planes []fullPlane, size image.Point) {
	t.Helper()
	m, err := stdjpeg.Decode(bytes.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	switch m := m.(type) {
	case *image.Gray:
		planes = []fullPlane{{m.Pix, m.Stride, 1, 1}}
	case *image.YCbCr:
		x, y := 1, 1
		switch m.SubsampleRatio {
		case image.YCbCrSubsampleRatio422:
			x = 2
		case image.YCbCrSubsampleRatio440:
			y = 2
		case image.YCbCrSubsampleRatio420:
			x, y = 2, 2
		case image.YCbCrSubsampleRatio411:
			x = 4
		case image.YCbCrSubsampleRatio410:
			x, y = 4, 2
		}
		planes = []fullPlane{{m.Y, m.YStride, 1, 1}, {m.Cb, m.CStride, x, y}, {m.Cr, m.CStride, x, y}}
	default:
		t.Fatalf("a %T", m)
	}
	return planes, m.Bounds().Size()
}

// sample is a sample of what Decode returns.
func sample(m image.Image, part, x, y int) float64 {
	switch m := m.(type) {
	case *image.Gray:
		return float64(m.GrayAt(x, y).Y)
	case *image.YCbCr:
		c := m.YCbCrAt(x, y)
		return float64([]byte{c.Y, c.Cb, c.Cr}[part])
	}
	return math.NaN()
}

// wantMeans compares a file at a part of its size with the means of squares of the full one. A sample of the standard library
// is rounded, and its transform may be half a level off: less than 1 together, and no more in a mean. Ours is rounded too.
func wantMeans(t *testing.T, name string, file []byte, by int) {
	t.Helper()
	planes, full := planesOf(t, file)
	m, err := Decode(iotest.HalfReader(bytes.NewReader(file)), by)
	if err != nil {
		t.Errorf("%s by %d: %v", name, by, err)
		return
	}
	size := image.Pt((full.X+by-1)/by, (full.Y+by-1)/by)
	if m.Bounds() != (image.Rectangle{Max: size}) {
		t.Errorf("%s by %d: %v, want %v", name, by, m.Bounds(), size)
		return
	}
	for i, p := range planes {
		worst := 0.0
		for y := range size.Y {
			for x := range size.X {
				// The samples for a pixel. Where there is less than one, pixels share it.
				across, down := max(by/p.ratioX, 1), max(by/p.ratioY, 1)
				x0, y0, sum := x*by/p.ratioX/across*across, y*by/p.ratioY/down*down, 0
				for k := range across * down {
					sum += int(p.pix[(y0+k/across)*p.stride+x0+k%across])
				}
				worst = max(worst, math.Abs(sample(m, i, x, y)-float64(sum)/float64(across*down)))
			}
		}
		if !(worst < 1.5) {
			t.Errorf("%s by %d, part %d: %.2f levels off", name, by, i, worst)
		}
	}
}

// A smaller picture has the means of squares, at any size and subsampling.
func TestDecode(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {1, 70}, {70, 1}, {8, 8}, {7, 3}, {17, 33}, {160, 120}, {161, 119}} {
		m := mild(size.X, size.Y)
		for _, s := range [][2]int{{1, 1}, {2, 1}, {1, 2}, {2, 2}} {
			for _, progressive := range []bool{false, true} {
				p := picture(m, s[0], s[1], 93)
				p.Progressive = progressive
				var file bytes.Buffer
				if err := Encode(&file, p); err != nil {
					t.Fatal(err)
				}
				for by := 2; by <= 8; by *= 2 {
					wantMeans(t, fmt.Sprintf("%v %v progressive %v", size, s, progressive), file.Bytes(), by)
				}
			}
		}
		grey := image.NewGray(m.Rect)
		for y := range size.Y {
			for x := range size.X {
				grey.Set(x, y, m.At(x, y))
			}
		}
		var file, progressive bytes.Buffer
		p := picture(m, 1, 1, 90)
		p.Progressive, p.Grey = true, true
		if err := errors.Join(stdjpeg.Encode(&file, grey, nil), Encode(&progressive, p)); err != nil {
			t.Fatal(err)
		}
		for by := 2; by <= 8; by *= 2 {
			wantMeans(t, fmt.Sprintf("grey %v", size), file.Bytes(), by)
			wantMeans(t, fmt.Sprintf("grey progressive %v", size), progressive.Bytes(), by)
		}
	}
	for _, by := range []int{-1, 0, 1, 3, 16} {
		if _, err := Decode(bytes.NewReader(nil), by); err == nil {
			t.Errorf("by %d", by)
		}
	}
}

// misread is a file that is right and that the standard library refuses. It expects restarts at the wrong places of
// scans of one part, if another part is subsampled.
const misread = "progressive restarts"

// othersFiles are files that we do not write: restarts, other subsamplings and scans, and other colours.
func othersFiles(t *testing.T, m *image.NRGBA) map[string][]byte {
	t.Helper()
	cjpeg, dir := testkit.Tool(t, "cjpeg"), t.TempDir()
	ppm := fmt.Appendf(nil, "P6 %d %d 255\n", m.Rect.Dx(), m.Rect.Dy())
	for i := 0; i < len(m.Pix); i += 4 {
		ppm = append(ppm, m.Pix[i:i+3]...)
	}
	scans := filepath.Join(dir, "scans")
	if err := os.WriteFile(scans, []byte("0;\n1;\n2;\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	files := map[string][]byte{}
	for name, args := range map[string][]string{
		"4:4:4 restarts": {"-sample", "1x1", "-restart", "1B"}, "4:2:0 restarts": {"-restart", "3B", "-optimize"}, "rows": {"-restart", "1"},
		"progressive restarts": {"-progressive", "-restart", "2B"}, "4:1:1": {"-sample", "4x1"}, "4:1:0": {"-sample", "4x2"},
		"4:1:1 progressive": {"-sample", "4x1", "-progressive"}, "4:1:0 progressive": {"-sample", "4x2", "-progressive"}, "4:4:0": {"-sample", "1x2"},
		"grey": {"-grayscale", "-restart", "5B"}, "grey progressive": {"-grayscale", "-progressive"}, "larger factors": {"-sample", "2x1,2x1,2x1"},
		"a scan each": {"-scans", scans}, "a scan each 4:4:4 restarts": {"-scans", scans, "-sample", "1x1", "-restart", "4B"}, "coarse": {"-quality", "12"},
	} {
		cmd := exec.CommandContext(t.Context(), cjpeg, append([]string{"-quality", "93"}, args...)...)
		cmd.Stdin = bytes.NewReader(ppm)
		file, err := cmd.Output()
		if err != nil {
			t.Fatalf("cjpeg %v: %v", args, err)
		}
		files[name] = file
	}
	return files
}

func TestDecodeOthers(t *testing.T) {
	for _, size := range []image.Point{{1, 1}, {3, 50}, {65, 47}, {130, 90}} {
		for name, file := range othersFiles(t, mild(size.X, size.Y)) {
			if name == misread {
				continue
			}
			for by := 2; by <= 8; by *= 2 {
				wantMeans(t, fmt.Sprintf("%v %s", size, name), file, by)
			}
		}
	}
}

// djpeg makes the same of files, but for rounding, wherever it scales colours as we do: in one direction as much as in
// the other. Otherwise it has larger colours than we have, and only the brightness is the same.
func TestDecodeAsDjpeg(t *testing.T) {
	djpeg := testkit.Tool(t, "djpeg")
	for name, file := range othersFiles(t, mild(330, 213)) {
		onlyLuma := strings.HasPrefix(name, "4:1:") || name == "4:4:0"
		for by := 2; by <= 8; by *= 2 {
			cmd := exec.CommandContext(t.Context(), djpeg, "-pnm", "-scale", fmt.Sprintf("1/%d", by), "-dct", "int", "-nosmooth")
			cmd.Stdin = bytes.NewReader(file)
			pnm, err := cmd.Output()
			if err != nil {
				t.Fatal(err)
			}
			m, err := Decode(bytes.NewReader(file), by)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			size, n := m.Bounds().Size(), 3
			if _, grey := m.(*image.Gray); grey {
				n = 1
			}
			head := fmt.Sprintf("P%d\n%d %d\n255\n", 5+n/3, size.X, size.Y)
			pix, ok := bytes.CutPrefix(pnm, []byte(head))
			if !ok || len(pix) != n*size.X*size.Y {
				t.Fatalf("%s by %d: djpeg's head is %q, want %q", name, by, pnm[:15], head)
			}
			worst := 0.0
			for i := 0; i < len(pix); i += n {
				r, g, b, _ := m.At(i/n%size.X, i/n/size.X).RGBA()
				var d [3]float64
				for c, v := range []uint32{r, g, b} {
					d[c] = float64(v>>8) - float64(pix[i+c%n])
				}
				if onlyLuma {
					d = [3]float64{0.299*d[0] + 0.587*d[1] + 0.114*d[2]}
				}
				worst = max(worst, math.Abs(d[0]), math.Abs(d[1]), math.Abs(d[2]))
			}
			if worst > 3 { // a level of each of three samples, some of which count almost twice
				t.Errorf("%s by %d: %.2f levels off", name, by, worst)
			}
		}
	}
}

// Colours other than brightness and two differences are those of the standard library. A picture of one
// colour is the same at any size.
func TestDecodeColours(t *testing.T) {
	convert := testkit.Tool(t, "convert")
	for name, args := range map[string][]string{
		"CMYK":         {"-colorspace", "CMYK"},
		"CMYK at full": {"-colorspace", "CMYK", "-sampling-factor", "1x1", "-interlace", "JPEG"},
		"RGB":          {"-colorspace", "sRGB", "-set", "colorspace", "RGB", "-define", "jpeg:colorspace=RGB"},
	} {
		file, err := exec.CommandContext(t.Context(), convert, append(append([]string{"-size", "50x35", "xc:#c86432"}, args...), "-quality", "97", "jpeg:-")...).Output()
		if err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{name: file}
		// The same parts with another transform, or with names that say RGB.
		if i := bytes.Index(file, []byte("Adobe")); i > 0 {
			for transform := range byte(3) {
				other := bytes.Clone(file)
				other[i+11] = transform
				files[fmt.Sprintf("%s, transform %d", name, transform)] = other
			}
		}
		for name, file := range files {
			want, err := stdjpeg.Decode(bytes.NewReader(file))
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			got, err := Decode(bytes.NewReader(file), 4)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if a, b := fmt.Sprintf("%T", got), fmt.Sprintf("%T", want); a != b {
				t.Errorf("%s: %s, want %s", name, a, b)
			}
			w, g := color.NRGBAModel.Convert(want.At(20, 20)).(color.NRGBA), color.NRGBAModel.Convert(got.At(5, 5)).(color.NRGBA)
			if testimg.Distance(w, g) > 2 {
				t.Errorf("%s: %v, want %v", name, g, w)
			}
		}
	}
}

// A changed file is decoded or refused. What the standard library refuses, Decode refuses too: no damage that
// the full size shows stays unseen.
func TestDecodeDamage(t *testing.T) {
	m := testimg.Photo(45, 31, 1)
	var files [][]byte
	for _, s := range [][2]int{{1, 1}, {2, 2}, {2, 1}} {
		for _, progressive := range []bool{false, true} {
			p := picture(m, s[0], s[1], 80)
			p.Progressive = progressive
			var file bytes.Buffer
			if err := Encode(&file, p); err != nil {
				t.Fatal(err)
			}
			files = append(files, file.Bytes())
		}
	}
	if testkit.ToolIfAny(t, "cjpeg") != "" {
		others := othersFiles(t, m)
		for _, name := range slices.Sorted(maps.Keys(others)) {
			if name != misread {
				files = append(files, others[name])
			}
		}
	}
	n := 3000
	if testlevel.Of() >= testlevel.Full {
		n = 20000
	}
	r, read, refused := rand.New(rand.NewPCG(1, 2)), 0, 0
	try := func(file []byte, by int) {
		_, err := Decode(bytes.NewReader(file), by)
		if err != nil {
			refused++
			return
		}
		read++
		if _, err := stdjpeg.Decode(bytes.NewReader(file)); err != nil {
			t.Errorf("by %d: the standard library refuses it: %v\n%x", by, err, file)
		}
	}
	for i := range n {
		file := bytes.Clone(files[i%len(files)])
		for range 1 + r.IntN(4) {
			file[r.IntN(len(file))] = byte(r.Uint32())
		}
		if i%5 == 0 {
			file = file[:r.IntN(len(file))]
		}
		try(file, 2<<(i%3))
	}
	if read == 0 || refused == 0 {
		t.Errorf("%d read, %d refused", read, refused)
	}
	for i := range files[0] {
		try(files[0][:i], 8)
	}
	// Errors of the reader are returned.
	own := errors.New("no disk")
	_, err := Decode(io.MultiReader(bytes.NewReader(files[0][:400]), iotest.ErrReader(own)), 2)
	if !errors.Is(err, own) {
		t.Error(err)
	}
	if _, err := Decode(bytes.NewReader(files[0][:len(files[0])-9]), 2); !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errShort) {
		t.Error(err)
	}
}

func BenchmarkDecode(b *testing.B) {
	for _, progressive := range []bool{false, true} {
		p := picture(testimg.Photo(2000, 1500, 1), 2, 2, 90)
		p.Progressive = progressive
		var file bytes.Buffer
		if err := Encode(&file, p); err != nil {
			b.Fatal(err)
		}
		for by := 1; by <= 8; by *= 2 {
			b.Run(fmt.Sprintf("progressive %v by %d", progressive, by), func(b *testing.B) {
				b.SetBytes(3e6)
				for b.Loop() {
					var err error
					if by == 1 {
						_, err = stdjpeg.Decode(bytes.NewReader(file.Bytes()))
					} else {
						_, err = Decode(bytes.NewReader(file.Bytes()), by)
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
