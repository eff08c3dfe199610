package conformance_test

import (
	"image"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestWarpsOfLargePictures checks pixels at the far end of a picture of 16384 by 16384 pixels,
// which is sent in strips. The picture is a slope of which each colour has the
// place of a pixel, so that a wrong coordinate gives a wrong colour.
func TestWarpsOfLargePictures(t *testing.T) {
	const n = 16384
	// A wave of 64 pixels, at a point.
	wave := func(at float64) float64 { return 0.5 + 0.45*math.Sin(at*2*math.Pi/64) }
	turn := math.Pi / 180 * 0.25
	sin, cos := math.Sincos(turn)
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		run = testkit.Device(t, run, err)
		for _, c := range []struct {
			call spec.Call
			back func(x, y float64) (u, v float64)
		}{
			{spec.WithDefaults(&imageops.Rotate{Degrees: 0.25, Canvas: "keep"}), func(x, y float64) (float64, float64) {
				x, y = x-n/2, y-n/2
				return cos*x + sin*y + n/2, -sin*x + cos*y + n/2
			}},
			{spec.WithDefaults(&imageops.Affine{Matrix: []float64{1, 0.001, -0.37, 0.0005, 1, 0.29}}), func(x, y float64) (float64, float64) {
				x, y = x+0.37, y-0.29
				det := 1 - 0.001*0.0005
				return (x - 0.001*y) / det, (y - 0.0005*x) / det
			}},
			{spec.WithDefaults(&imageops.Perspective{Matrix: []float64{1, 0, 0, 0, 1, 0, -1e-6, -2e-7, 1}}), func(x, y float64) (float64, float64) {
				d := 1 + 1e-6*x + 2e-7*y
				return x / d, y / d
			}},
		} {
			whole := tensor.Contiguous(tensor.F32, n, n, 1)
			out := spec.RowRange{From: n - 700, To: n - 696}
			need := imageops.Need(c.call, []tensor.Desc{whole}, 0, out)
			if need.To-need.From > 500 {
				t.Errorf("%s: 4 rows need %d rows of the source", spec.FormatCall(c.call), need.To-need.From)
				continue
			}
			in := tensor.Contiguous(tensor.F32, need.To-need.From, n, 1)
			part, made := imageops.Part(c.call, []tensor.Desc{whole}, []spec.RowRange{need}, out)
			rows := make([]float64, 0, in.Elems())
			for y := need.From; y < need.To; y++ {
				for x := range n {
					rows = append(rows, wave(float64(x)+0.5)*wave(float64(y)+0.5))
				}
			}
			host := tensor.NewHost(in)
			host.SetFloats(rows)
			src, dst := alloc(t, dev, in), alloc(t, dev, tensor.Contiguous(tensor.F32, made.To-made.From, n, 1))
			if err := dev.Write(t.Context(), src.Buffer, 0, host.Data); err != nil {
				t.Fatal(err)
			}
			if err := run.Run(t.Context(), part, []exec.Operand{src}, []exec.Operand{dst}); err != nil {
				t.Fatalf("%s: %v", spec.FormatCall(c.call), err)
			}
			got := tensor.NewHost(dst.Desc)
			if err := run.Read(t.Context(), dst.Buffer, 0, got.Data); err != nil {
				t.Fatal(err)
			}
			worst := 0.0
			for y := range made.To - made.From {
				for x := range n {
					u, v := c.back(float64(x)+0.5, float64(made.From+y)+0.5)
					if u < 2 || v < 2 || u > n-2 || v > n-2 {
						continue
					}
					worst = max(worst, math.Abs(got.At(y, x, 0)-wave(u)*wave(v)))
				}
			}
			// A wave between two pixels is up to 0.0011 above a line. A coordinate that is off by a
			// hundredth of a pixel makes 0.0005.
			if worst > 0.0013 {
				t.Errorf("%s: off by %v", spec.FormatCall(c.call), worst)
			}
		}
	})
}

// TestCatmullRomAsVips compares with libvips, if it is installed.
func TestCatmullRomAsVips(t *testing.T) {
	vips := testkit.Tool(t, "vips")
	dev, dir := front(t), t.TempDir()
	src := testimg.Photo(97, 61, 5)
	ppm := []byte("P6 97 61 255\n")
	for i := 0; i < len(src.Pix); i += 4 {
		ppm = append(ppm, src.Pix[i:i+3]...)
	}
	in, out := filepath.Join(dir, "in.ppm"), filepath.Join(dir, "out.ppm")
	if err := os.WriteFile(in, ppm, 0o600); err != nil {
		t.Fatal(err)
	}
	// The points of vips are in the middle of pixels.
	args := []string{"affine", in, out, "1.5 0.2 -0.3 1.25", "--idx", "0.5", "--idy", "0.5", "--odx", "-9.5", "--ody", "3.5", "--oarea", "0 0 97 61", "--interpolate", "bicubic"}
	if text, err := osexec.CommandContext(t.Context(), vips, args...).CombinedOutput(); err != nil {
		t.Fatalf("vips: %v: %s", err, text)
	}
	want, err := os.ReadFile(out)
	if err != nil || len(want) < 3*97*61 {
		t.Fatal(err, len(want))
	}
	want = want[len(want)-3*97*61:]
	got, err := dev.Apply(t.Context(), src, spec.WithDefaults(imageops.Affine{Matrix: []float64{1.5, 0.2, -9, -0.3, 1.25, 4}, Filter: "catmull-rom"}))
	if err != nil {
		t.Fatal(err)
	}
	wrong, compared := 0, 0
	for i := 0; i < len(got.Pix); i += 4 {
		if got.Pix[i+3] < 255 {
			continue // vips makes edges in another way.
		}
		for c := range 3 {
			compared++
			// The weights of vips are for one of 64 positions between two pixels.
			if d := int(got.Pix[i+c]) - int(want[i/4*3+c]); max(d, -d) > 6 {
				wrong++
			}
		}
	}
	if compared < 9000 || wrong*200 > compared {
		t.Errorf("%d of %d colours differ", wrong, compared)
	}
}

// TestWarpsThatHoldStill checks that maps that move nothing change nothing, and that a turn and
// the turn back lose only the edges.
func TestWarpsThatHoldStill(t *testing.T) {
	dev := front(t)
	for _, size := range []image.Point{{1, 1}, {97, 61}, {1, 300}, {513, 2}} {
		src := testimg.Photo(size.X, size.Y, 3)
		for _, c := range []spec.Call{
			imageops.Rotate{Degrees: 0, Canvas: "keep"}, imageops.Rotate{Degrees: 360, Canvas: "crop"},
			spec.WithDefaults(imageops.Affine{Matrix: []float64{1, 0, 0, 0, 1, 0}}),
			spec.WithDefaults(imageops.Affine{Matrix: []float64{1, 0, 0, 0, 1, 0}, Filter: "catmull-rom"}),
			spec.WithDefaults(imageops.Perspective{}),
			spec.WithDefaults(imageops.Perspective{Matrix: []float64{-3, 0, 0, 0, -3, 0, 0, 0, -3}}),
		} {
			if r, ok := c.(imageops.Rotate); ok && r.Degrees == 0 {
				r.Degrees = spec.Given(0.0)
				c = r
			}
			got, err := dev.Apply(t.Context(), src, c)
			if err != nil {
				t.Fatal(err)
			}
			diff(t, spec.FormatCall(c), got, src)
		}
	}
}

// TestTurnsKeepAnAreaOfOneColour checks that colours do not change where a picture has one, that its
// edge is smooth, and that the rectangle of canvas=crop has no background.
func TestTurnsKeepAnAreaOfOneColour(t *testing.T) {
	dev := front(t)
	src := image.NewNRGBA(image.Rect(0, 0, 120, 50))
	for i := range src.Pix {
		src.Pix[i] = []byte{200, 90, 31, 255}[i%4]
	}
	for _, degrees := range []float64{1, 12.5, 45, 60, 89, -130, 275} {
		for _, filter := range []string{"bilinear", "catmull-rom"} {
			got, err := dev.Apply(t.Context(), src, imageops.Rotate{Degrees: degrees, Filter: filter})
			if err != nil {
				t.Fatal(err)
			}
			soft, area := 0, 0.0
			for i := 0; i < len(got.Pix); i += 4 {
				p := got.Pix[i : i+4]
				if area += float64(p[3]) / 255; p[3] > 0 && p[3] < 255 {
					soft++
				}
				if p[3] > 0 && (p[0] != 200 || p[1] != 90 || p[2] != 31) {
					t.Fatalf("%v degrees, %s: a pixel is %v", degrees, filter, p)
				}
			}
			if soft < 100 || math.Abs(area-6000) > 12 {
				t.Errorf("%v degrees, %s: %d pixels are soft, and the area is %.1f, want more than 100 and 6000", degrees, filter, soft, area)
			}
			got, err = dev.Apply(t.Context(), src, imageops.Rotate{Degrees: degrees, Filter: filter, Canvas: "crop"})
			if err != nil {
				t.Fatal(err)
			}
			for i := 3; i < len(got.Pix); i += 4 {
				if got.Pix[i] < 250 {
					t.Fatalf("%v degrees, %s: a pixel of %v of the inner rectangle has alpha %d", degrees, filter, got.Rect.Size(), got.Pix[i])
				}
			}
		}
	}
}
