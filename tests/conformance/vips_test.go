package conformance_test

import (
	"bytes"
	"fmt"
	"image"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
)

// TestAsVips compares operations on bytes with libvips, as other tests do with ImageMagick. OUT in a
// command is the picture that it makes, and MASK a file with a matrix.
func TestAsVips(t *testing.T) {
	testlevel.Turn(t, 5)
	tool, dev, dir := testkit.Tool(t, "vips"), front(t), t.TempDir()
	const w, h = 98, 62
	src := testimg.Photo(w, h, 5)
	ppm := fmt.Appendf(nil, "P6 %d %d 255\n", w, h)
	for i := 0; i < len(src.Pix); i += 4 {
		ppm = append(ppm, src.Pix[i:i+3]...)
	}
	write := func(name string, data []byte) {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("in.ppm", ppm)
	for _, c := range []struct {
		call, command, mask string
		limits              limits
	}{
		{"invert", "invert in.ppm OUT", "", limits{0, 0, 0}},
		{"flip", "flip in.ppm OUT vertical", "", limits{0, 0, 0}},
		{"flop", "flip in.ppm OUT horizontal", "", limits{0, 0, 0}},
		{"rotate 90", "rot in.ppm OUT d90", "", limits{0, 0, 0}},
		{"rotate 180", "rot in.ppm OUT d180", "", limits{0, 0, 0}},
		{"rotate 270", "rot in.ppm OUT d270", "", limits{0, 0, 0}},
		{"crop 41x30+7+9", "extract_area in.ppm OUT 7 9 41 30", "", limits{0, 0, 0}},
		{"pad left=5 right=8 top=7 bottom=3 color=#102030", "embed in.ppm OUT 5 7 111 72 --extend background --background '16 32 48'", "", limits{0, 0, 0}},
		{"pad left=5 right=8 top=7 bottom=3 border=edge", "embed in.ppm OUT 5 7 111 72 --extend copy", "", limits{0, 0, 0}},
		{"pad left=105 right=8 top=7 bottom=73 border=mirror", "embed in.ppm OUT 105 7 211 142 --extend mirror", "", limits{0, 0, 0}},
		{"pad left=105 right=8 top=7 bottom=73 border=tile", "embed in.ppm OUT 105 7 211 142 --extend repeat", "", limits{0, 0, 0}},
		{"threshold 0.5", "relational_const in.ppm OUT moreeq 128", "", limits{0, 0, 0}},
		{"brightness 1.2", "linear in.ppm OUT 1.2 0.5 --uchar", "", limits{0, 0, 0}},
		{"contrast 1.4", "linear --uchar -- in.ppm OUT 1.4 -50.5", "", limits{0, 0, 0}},
		{"gamma 2.2", "gamma in.ppm OUT --exponent 2.2", "", limits{1, 0, 0.6}},
		{"color_matrix 0.8,0.1,0.1,0.2,0.7,0.1,0,0.3,0.7", "recomb in.ppm OUT MASK", "3 3\n.8 .1 .1\n.2 .7 .1\n0 .3 .7\n", limits{1, 0, 0.6}},
		{"grayscale", "recomb in.ppm OUT MASK", "3 3\n.299 .587 .114\n.299 .587 .114\n.299 .587 .114\n", limits{1, 0, 0.6}},
		{"equalize true", "hist_equal in.ppm OUT", "", limits{3, 0, 1.5}},
		{"median 1", "rank in.ppm OUT 3 3 4", "", limits{0, 0, 0}},
		{"erode 1", "rank in.ppm OUT 3 3 0", "", limits{0, 0, 0}},
		{"dilate 2", "rank in.ppm OUT 5 5 24", "", limits{0, 0, 0}},
		{"box_blur 2", "conv in.ppm OUT MASK --precision float", "5 5 25 0.5\n" + strings.Repeat("1 1 1 1 1\n", 5), limits{0, 0, 0}},
		{"sharpen", "conv in.ppm OUT MASK --precision integer", "3 3 1 0\n0 -1 0\n-1 5 -1\n0 -1 0\n", limits{0, 0, 0}},
		{"emboss 1", "conv in.ppm OUT MASK --precision integer", "3 3 1 0\n-2 -1 0\n-1 1 1\n0 1 2\n", limits{0, 0, 0}},
		{"convolve 0,-1,0,-1,8,-1,0,-1,0 scale=0.25", "conv in.ppm OUT MASK --precision float", "3 3 4 0.5\n0 -1 0\n-1 8 -1\n0 -1 0\n", limits{0, 0, 0}},
		{"gaussian_blur 3", "gaussblur in.ppm OUT 3 --precision float --min-ampl 0.0111", "", limits{1, 0, 0.6}},
		{"resize 50%", "resize in.ppm OUT 0.5 --kernel lanczos3", "", limits{6, 3, 0.6}},
		{"resize 50% filter=box", "shrink in.ppm OUT 2 2 --ceil", "", limits{1, 1, 0.6}},
	} {
		t.Run(c.call, func(t *testing.T) {
			call, err := spec.ParseCall(c.call)
			if err != nil {
				t.Fatal(err)
			}
			got, err := dev.Apply(t.Context(), src, call)
			if err != nil {
				t.Fatal(err)
			}
			write("mask.mat", []byte(c.mask))
			var args []string
			for i, part := range strings.Split(c.command, "'") {
				if i%2 == 1 {
					args = append(args, part)
					continue
				}
				args = append(args, strings.Fields(strings.NewReplacer("OUT", "out.png", "MASK", "mask.mat").Replace(part))...)
			}
			cmd := osexec.CommandContext(t.Context(), tool, args...)
			cmd.Dir = dir
			if text, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("vips: %v: %s", err, text)
			}
			file, err := os.ReadFile(filepath.Join(dir, "out.png"))
			if err != nil {
				t.Fatal(err)
			}
			made, _, err := imageio.Decode(t.Context(), bytes.NewReader(file), nil)
			if err != nil {
				t.Fatal(err)
			}
			c.limits.check(t, "vips", got, made.(*image.NRGBA))
		})
	}
}

// limits say how near results must be to those of another program, in levels of 8 bits: each colour, and
// all on average. So many pixels along the edges are not compared, because that program has other borders.
type limits struct {
	most, edge int
	mean       float64
}

// check compares the colours of two pictures.
func (l limits) check(t *testing.T, tool string, got, want *image.NRGBA) {
	t.Helper()
	size := got.Rect.Size()
	if want.Rect.Size() != size {
		t.Fatalf("%v pixels, %s has %v", size, tool, want.Rect.Size())
	}
	worst, sum, count, at := 0, 0, 0, image.Point{}
	for y := l.edge; y < size.Y-l.edge; y++ {
		for x := l.edge; x < size.X-l.edge; x++ {
			for k := range 3 {
				d := int(got.Pix[got.PixOffset(x, y)+k]) - int(want.Pix[want.PixOffset(x, y)+k])
				if d = max(d, -d); d > worst {
					worst, at = d, image.Pt(x, y)
				}
				sum, count = sum+d, count+1
			}
		}
	}
	if mean := float64(sum) / float64(count); count == 0 || worst > l.most || mean > l.mean {
		t.Errorf("up to %d levels from %s (at %v) and %.3f on average, want %d and %.3f", worst, tool, at, mean, l.most, l.mean)
	}
}
