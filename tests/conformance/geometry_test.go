package conformance_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"math/rand/v2"
	osexec "os/exec"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

var warpFilter = rapid.SampledFrom([]string{"nearest", "bilinear", "catmull-rom"})

// moving draws a chain in which pixels move, with filters between.
func moving(t *rapid.T) []spec.Call {
	side := rapid.IntRange(1, 90)
	one := func(name string) spec.Call {
		switch rapid.IntRange(0, 16).Draw(t, name) {
		case 0:
			return imageops.Flip{}
		case 1:
			return imageops.Flop{}
		case 2:
			return spec.WithDefaults(imageops.Rotate{Degrees: 90 * float64(rapid.IntRange(-3, 4).Draw(t, "quarters"))})
		case 3:
			return spec.WithDefaults(imageops.Crop{Aspect: "5:4", Gravity: "right"})
		case 4:
			border := rapid.SampledFrom([]string{"color", "edge", "mirror", "tile"}).Draw(t, "border")
			return spec.WithDefaults(imageops.Pad{Left: 3, Top: side.Draw(t, "top"), Bottom: side.Draw(t, "bottom"), Border: border, Color: "#f80"})
		case 5:
			return imageops.GaussianBlur{Sigma: 1.5}
		case 6:
			return imageops.InvertColors{}
		case 15:
			return rapid.SampledFrom([]spec.Call{imageops.Equalize{}, imageops.CLAHE{ClipLimit: 3, TilesX: 2, TilesY: 3}, imageops.Canny{Sigma: 0.7, Low: 0.2, High: 0.9}}).Draw(t, "tone") // depend on the whole picture
		case 7:
			canvas := rapid.SampledFrom([]string{"expand", "keep", "crop"}).Draw(t, "canvas")
			return imageops.Rotate{Degrees: rapid.Float64Range(-400, 400).Draw(t, "degrees"), Canvas: canvas, Filter: warpFilter.Draw(t, "filter")}
		case 8:
			m := rapid.SliceOfN(rapid.Float64Range(-3, 3), 6, 6).Draw(t, "matrix")
			m[0], m[4] = m[0]+7, m[4]+7
			return spec.WithDefaults(imageops.Affine{Matrix: m, Width: side.Draw(t, "width"), Filter: warpFilter.Draw(t, "filter"), Background: "#f80"})
		case 10:
			return spec.WithDefaults(imageops.ZoomBlur{Strength: rapid.Float64Range(0.01, 1).Draw(t, "strength"), X: 0.3, Y: rapid.Float64Range(0.1, 1).Draw(t, "centre")})
		case 11:
			return imageops.MotionBlur{Length: rapid.Float64Range(1, 30).Draw(t, "length"), Angle: rapid.Float64Range(0, 180).Draw(t, "angle")}
		case 12:
			return imageops.Pixelate{Size: side.Draw(t, "size")}
		case 13:
			return spec.WithDefaults(imageops.Vignette{Amount: 1})
		case 14:
			return imageops.Noise{Amount: 0.3, Kind: rapid.SampledFrom([]string{"gaussian", "uniform"}).Draw(t, "kind"), Seed: 5}
		case 9:
			m := []float64{1, 0.1, 3, 0.2, rapid.Float64Range(0.02, 3).Draw(t, "scale"), 1, 0.001, rapid.Float64Range(-0.1, 0.1).Draw(t, "tilt"), 1}
			return spec.WithDefaults(imageops.Perspective{Matrix: m, Height: 4 * side.Draw(t, "height"), Filter: warpFilter.Draw(t, "filter")})
		}
		return spec.WithDefaults(imageops.Resize{
			Width: side.Draw(t, "width"), Height: 2 * side.Draw(t, "height"),
			Fit:    rapid.SampledFrom([]string{"inside", "cover", "stretch"}).Draw(t, "fit"),
			Filter: rapid.SampledFrom([]string{"nearest", "box", "bilinear", "lanczos3"}).Draw(t, "filter"),
		})
	}
	var list []spec.Call
	for i := range rapid.IntRange(1, 3).Draw(t, "calls") {
		list = append(list, one(fmt.Sprint("call ", i)))
	}
	return list
}

// TestGeometryInStrips checks that strips of a few rows give the same bits as the whole image,
// also if the result lies in the memory of the source.
func TestGeometryInStrips(t *testing.T) {
	whole, strips := front(t), front(t, lathe.WithStrip(1))
	rapid.Check(t, func(t *rapid.T) {
		w, h := rapid.IntRange(1, 40).Draw(t, "w"), rapid.IntRange(1, 120).Draw(t, "h")
		src := testimg.Noise(w, h, rapid.Uint64().Draw(t, "seed"))
		chain := moving(t)
		want, err := whole.Apply(t.Context(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		got, err := strips.Apply(t.Context(), src, chain...)
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "in strips", got, want)
		size, err := imageops.Size(src.Rect.Size(), chain...)
		if err != nil || size != want.Rect.Size() {
			t.Fatalf("size %v, %v, want %v", size, err, want.Rect.Size())
		}
		// Both images begin at the same byte.
		pix := make([]byte, max(len(src.Pix), len(want.Pix)))
		copy(pix, src.Pix)
		from := &image.NRGBA{Pix: pix, Stride: src.Stride, Rect: src.Rect}
		to := &image.NRGBA{Pix: pix, Stride: want.Stride, Rect: want.Rect}
		if err := strips.ApplyTo(t.Context(), to, from, chain...); err != nil {
			t.Fatal(err)
		}
		diff(t, "in strips over the source", &image.NRGBA{Pix: pix[:len(want.Pix)], Stride: to.Stride, Rect: to.Rect}, want)
	})
}

// warped are arguments of ImageMagick for a distortion that looks at the points alone.
func warped(kind, numbers string) []string {
	return []string{"-interpolate", "bilinear", "-filter", "point", "-background", "none", "-virtual-pixel", "background", "-distort", kind, numbers}
}

// TestResizeOpaque checks that an opaque image gives the same bits whether it is known to be opaque
// or not, and that the parts of an image do that lie far from pixels that are not opaque.
func TestResizeOpaque(t *testing.T) {
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, c := range []imageops.Resize{
			{Percent: 50}, {Percent: 150}, {Width: 37, Height: 60, Fit: "stretch", Filter: "mitchell"}, {Percent: 33, Filter: "box", Linear: true},
		} {
			call := spec.WithDefaults(c)
			noise := func(hole float64) *tensor.Host {
				rng := rand.New(rand.NewPCG(9, 9))
				return picture(tensor.U8, 90, 132, func(y, x int) [4]float64 {
					p := [4]float64{float64(rng.IntN(256)), float64(rng.IntN(256)), float64(rng.IntN(256)), 255}
					if y == 80 && x == 120 {
						p[3] = hole
					}
					return p
				})
			}
			want := filtered(t, dev, run, imageops.ForOpaque([]spec.Call{call})[0], noise(255))
			if got := filtered(t, dev, run, call, noise(255)); !bytes.Equal(got.Data, want.Data) {
				t.Errorf("%s of an opaque image differs where nothing is known of it", spec.FormatCall(call))
			}
			got := filtered(t, dev, run, call, noise(0))
			if half := len(want.Data) / 2; !bytes.Equal(got.Data[:half], want.Data[:half]) {
				t.Errorf("%s differs in its upper half, which depends on opaque pixels only", spec.FormatCall(call))
			}
			if bytes.Equal(got.Data, want.Data) {
				t.Errorf("%s of an image with a transparent pixel is that of an opaque one", spec.FormatCall(call))
			}
		}
	})
}

// TestGeometryAsImageMagick compares with ImageMagick, if it is installed.
func TestGeometryAsImageMagick(t *testing.T) {
	tool := "convert"
	if v, err := osexec.CommandContext(t.Context(), tool, "-version").Output(); err != nil || !bytes.Contains(v, []byte("ImageMagick")) {
		testkit.NoTool(t, "needs ImageMagick's program %s; install the package imagemagick: %v", tool, err)
	}
	dev := front(t)
	src := testimg.PhotoAlpha(97, 61, 7)
	for _, c := range []struct {
		call spec.Call
		args []string
		off  int // how far components may be off; ImageMagick clamps colours between its two passes
	}{
		{imageops.Flip{}, []string{"-flip"}, 0},
		{imageops.Flop{}, []string{"-flop"}, 0},
		{imageops.Rotate{Degrees: 90}, []string{"-rotate", "90"}, 0},
		{imageops.Rotate{Degrees: -90}, []string{"-rotate", "270"}, 0},
		{imageops.Rotate{Degrees: 180}, []string{"-rotate", "180"}, 0},
		{spec.WithDefaults(imageops.Crop{X: 5, Y: 9, Width: 31, Height: 17}), []string{"-crop", "31x17+5+9", "+repage"}, 0},
		{spec.WithDefaults(imageops.Pad{Left: 7, Right: 7, Top: 4, Bottom: 4, Color: "#ff8800"}), []string{"-bordercolor", "#ff8800", "-compose", "copy", "-border", "7x4"}, 0},
		// Where alpha is small and the edge goes through a pixel, ImageMagick divides by a smaller alpha.
		{imageops.Rotate{Degrees: 33, Canvas: "keep"}, warped("SRT", "33"), 3},
		{spec.WithDefaults(imageops.Affine{Matrix: []float64{1.5, 0.2, -9, -0.3, 1.25, 4}}), warped("AffineProjection", "1.5,-0.3,0.2,1.25,-9,4"), 10},
		{spec.WithDefaults(imageops.Perspective{To: []float64{-5, -3, 110, 9, 120, 70, -15, 66}}), warped("Perspective", "0,0 -5,-3  97,0 110,9  97,61 120,70  0,61 -15,66"), 6},
		{spec.WithDefaults(imageops.Perspective{From: []float64{20, 10, 70, 5, 90, 50, 10, 55}}), warped("Perspective", "20,10 0,0  70,5 97,0  90,50 97,61  10,55 0,61"), 20},
		{spec.WithDefaults(imageops.Resize{Percent: 50}), []string{"-filter", "Lanczos", "-resize", "49x31!"}, 2},
		{spec.WithDefaults(imageops.Resize{Width: 200, Height: 150, Fit: "stretch", Filter: "mitchell"}), []string{"-filter", "Mitchell", "-resize", "200x150!"}, 4},
		{spec.WithDefaults(imageops.Resize{Width: 31, Height: 20, Fit: "stretch", Filter: "bilinear"}), []string{"-filter", "Triangle", "-resize", "31x20!"}, 2},
		{spec.WithDefaults(imageops.Resize{Width: 40, Filter: "catmull-rom"}), []string{"-filter", "Catrom", "-resize", "40x25!"}, 2},
		{spec.WithDefaults(imageops.Resize{Percent: 50, Filter: "bilinear", Linear: true}), []string{"-colorspace", "RGB", "-filter", "Triangle", "-resize", "49x31!", "-colorspace", "sRGB"}, 3},
	} {
		got, err := dev.Apply(t.Context(), src, c.call)
		if err != nil {
			t.Fatal(err)
		}
		args := append([]string{"-size", "97x61", "-depth", "8", "rgba:-"}, append(c.args, "-depth", "8", "rgba:-")...)
		cmd := osexec.CommandContext(t.Context(), tool, args...)
		cmd.Stdin = bytes.NewReader(src.Pix)
		want, err := cmd.Output()
		if err != nil || len(want) != len(got.Pix) {
			t.Errorf("%s %v: %d bytes, %v, want %d", tool, args, len(want), err, len(got.Pix))
			continue
		}
		wrong, first := 0, 0
		for i, v := range want {
			if i%4 < 3 && want[i|3] < 32 && c.off > 0 {
				continue // This colour is hardly visible. It is the result of a division by a small alpha.
			}
			if d := int(got.Pix[i]) - int(v); max(d, -d) > c.off {
				if wrong++; wrong == 1 {
					first = i
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d of %d components differ by more than %d; the first at %d: got %d, ImageMagick has %d", spec.FormatCall(c.call), wrong, len(want), c.off, first, got.Pix[first], want[first])
		}
	}
}

// TestGeometryRefuses checks the errors of calls that do not suit an image.
func TestGeometryRefuses(t *testing.T) {
	dev := front(t)
	src, empty := testimg.Noise(20, 10, 1), image.NewNRGBA(image.Rectangle{})
	for _, c := range []struct {
		src  image.Image
		call spec.Call
		want string
	}{
		{src, spec.WithDefaults(imageops.Crop{Width: 21, Height: 3}), "a rectangle of 21×3 pixels at x 0, y 0 is not inside an image of 20×10"},
		{src, spec.WithDefaults(imageops.Crop{X: 21}), "is not inside an image of 20×10"},
		{empty, spec.WithDefaults(imageops.Pad{Left: 1}), "an image without pixels (0×0) cannot be padded"},
		{empty, spec.WithDefaults(imageops.Resize{Percent: 50}), "an image without pixels (0×0) cannot be resized"},
		{empty, imageops.Rotate{Degrees: 30}, "an image without pixels (0×0) cannot be warped"},
		{src, imageops.Rotate{Degrees: 30, Canvas: "fit"}, "want expand, keep or crop"},
		{src, spec.WithDefaults(imageops.Affine{Matrix: []float64{1, 2, 0, 2, 4, 0}}), "want one that has an inverse"},
		{src, spec.WithDefaults(imageops.Affine{Matrix: []float64{1e-9, 0, 0, 0, 1e9, math.NaN()}}), "want numbers within"},
		{src, spec.WithDefaults(imageops.Perspective{To: []float64{0, 0, 5, 5, 5, 0, 0, 5}}), "want the corners of a convex area"},
		{src, spec.WithDefaults(imageops.Perspective{To: []float64{0, 0, 5, 5, 9, 9, 0, 5}}), "no three of them on a line"},
		{src, spec.WithDefaults(imageops.Perspective{Width: 1 << 25}), "want 0 to 16777216"},
	} {
		_, err := dev.Apply(t.Context(), c.src, c.call)
		if !errors.Is(err, lathe.ErrInvalidArgument) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want ErrInvalidArgument with %q", spec.FormatCall(c.call), err, c.want)
		}
		if err := dev.Prepare(t.Context(), c.src.Bounds().Size(), c.call); err == nil {
			t.Errorf("Prepare of %s succeeded", spec.FormatCall(c.call))
		}
	}
	if err := dev.ApplyTo(t.Context(), image.NewNRGBA(src.Rect), src, imageops.Rotate{Degrees: 90}); err == nil {
		t.Error("a result of another size was accepted")
	}
}

// TestResizeManyPixels checks sums of more pixels than a loop of some drivers takes, for results that
// one entry of a table of weights has.
func TestResizeManyPixels(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		run = testkit.Device(t, run, err)
		for _, h := range []int{30000, 60000, 65537} {
			for _, turned := range []bool{false, true} {
				in, out, call := tensor.Contiguous(tensor.F32, h, 3, 1), tensor.Contiguous(tensor.F32, 5, 3, 1), imageops.Resize{Width: 3, Height: 5, Fit: "stretch", Filter: "box"}
				if turned {
					in, out, call.Width, call.Height = tensor.Contiguous(tensor.F32, 3, h, 1), tensor.Contiguous(tensor.F32, 3, 5, 1), 5, 3
				}
				host := tensor.NewHost(in)
				ones := make([]float64, in.Elems())
				for i := range ones {
					ones[i] = 1
				}
				host.SetFloats(ones)
				src, dst := alloc(t, dev, in), alloc(t, dev, out)
				if err := dev.Write(t.Context(), src.Buffer, 0, host.Data); err != nil {
					t.Fatal(err)
				}
				err := run.Run(t.Context(), call, []exec.Operand{src}, []exec.Operand{dst})
				if errors.Is(err, gpu.ErrLimit) {
					continue // refused, and not wrong
				}
				if err != nil {
					t.Fatal(err)
				}
				got := tensor.NewHost(out)
				if err := run.Read(t.Context(), dst.Buffer, 0, got.Data); err != nil {
					t.Fatal(err)
				}
				for i, v := range got.Floats() {
					if math.Abs(v-1) > 2e-5 {
						t.Errorf("%v to %v: element %d is %v, want 1", in, out, i, v)
						break
					}
				}
			}
		}
	})
}
