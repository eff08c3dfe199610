package conformance_test

import (
	"bytes"
	"image"
	"image/color"
	"math"
	"math/rand/v2"
	osexec "os/exec"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// plannings are targets. Together they plan every kernel of the filters.
var plannings = []struct {
	name string
	set  func(*spec.Target)
}{
	{"plain", func(*spec.Target) {}},
	{"loop", func(t *spec.Target) { t.Strategy = "loop" }},
	{"no texels", func(t *spec.Target) { t.TexelBuffers = false }},
	{"small bindings", func(t *spec.Target) { t.MaxBinding, t.MaxTexels = 1<<16, 1<<12 }},
}

// filtered returns the result of a call on a picture.
func filtered(t *testing.T, dev gpu.Device, run *exec.Runner, call spec.Call, in *tensor.Host) *tensor.Host {
	t.Helper()
	made, err := call.Spec().Shape(call, []tensor.Desc{in.Desc})
	if err != nil {
		t.Fatal(err)
	}
	src, dst := alloc(t, dev, in.Desc), alloc(t, dev, made[0])
	if err := dev.Write(t.Context(), src.Buffer, 0, in.Data); err != nil {
		t.Fatal(err)
	}
	if err := run.Run(t.Context(), call, []exec.Operand{src}, []exec.Operand{dst}); err != nil {
		t.Fatalf("%s of %v: %v", spec.FormatCall(call), in.Desc, err)
	}
	out := tensor.NewHost(made[0])
	if err := run.Read(t.Context(), dst.Buffer, 0, out.Data); err != nil {
		t.Fatal(err)
	}
	return out
}

// eachPlanning calls f for every planning on every device. At the quick level a device has one of
// them, and each device another one.
func eachPlanning(t *testing.T, f func(t *testing.T, dev gpu.Device, run *exec.Runner)) {
	testlevel.Seed(t)
	devices(t, func(t *testing.T, dev gpu.Device) {
		for i, w := range plannings {
			if !testlevel.Sampled(i+len(dev.Info().Backend), len(plannings)) { // The names differ in length.
				continue
			}
			t.Run(w.name, func(t *testing.T) {
				run, err := exec.New(dev, exec.WithTarget(w.set))
				f(t, dev, testkit.Device(t, run, err))
			})
		}
	})
}

// TestGreyRemainsGrey checks that filters of grey pictures give grey pictures. The three
// colours of a pixel must be added and rounded in the same way, also between passes.
func TestGreyRemainsGrey(t *testing.T) {
	calls := []spec.Call{imageops.Sharpen{}}
	for _, sigma := range []float64{0.3, 1, 3, 3.4, 31} {
		calls = append(calls, imageops.GaussianBlur{Sigma: sigma})
	}
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		rng := rand.New(rand.NewPCG(3, 5))
		for _, w := range []int{1, 61, 132} {
			in := tensor.NewHost(tensor.Contiguous(tensor.U8, 45, w, 4))
			for i := 0; i < len(in.Data); i += 4 {
				v := uint8(rng.Uint32())
				copy(in.Data[i:], []byte{v, v, v, 255})
			}
			for _, c := range calls {
				out, wrong := filtered(t, dev, run, c, in), 0
				for i := 0; i < len(out.Data); i += 4 {
					if p := out.Data[i : i+4]; p[0] != p[1] || p[1] != p[2] {
						wrong++
					}
				}
				if wrong > 0 {
					t.Errorf("%d wide, %s: %d of %d pixels have got a tint", w, spec.FormatCall(c), wrong, len(out.Data)/4)
				}
			}
		}
	})
}

// filters lists the operations that mix neighbouring pixels.
func filters(ignoreAlpha bool) []spec.Call {
	return []spec.Call{
		imageops.GaussianBlur{Sigma: 0.3, IgnoreAlpha: ignoreAlpha}, imageops.GaussianBlur{Sigma: 3, IgnoreAlpha: ignoreAlpha},
		imageops.GaussianBlur{Sigma: 7.5, IgnoreAlpha: ignoreAlpha}, imageops.GaussianBlur{Sigma: 8.5, IgnoreAlpha: ignoreAlpha}, imageops.Sharpen{IgnoreAlpha: ignoreAlpha},
		imageops.SobelEdges{Magnitude: true, IgnoreAlpha: ignoreAlpha},
		imageops.Median{Radius: 1, IgnoreAlpha: ignoreAlpha}, imageops.Median{Radius: 2, IgnoreAlpha: ignoreAlpha},
		imageops.Erode{Radius: 1, IgnoreAlpha: ignoreAlpha}, imageops.Dilate{Radius: 2, Disc: true, IgnoreAlpha: ignoreAlpha},
		imageops.Closing{Radius: 7, IgnoreAlpha: ignoreAlpha}, imageops.BoxBlur{Radius: 3, IgnoreAlpha: ignoreAlpha},
		imageops.BoxBlur{Radius: 9, IgnoreAlpha: ignoreAlpha}, imageops.Unsharp{Sigma: 2, Amount: 1, IgnoreAlpha: ignoreAlpha},
		imageops.Convolve{Kernel: []float64{0, -1, 0, -1, 5, -1, 0, -1, 0}, Scale: 1, IgnoreAlpha: ignoreAlpha},
		imageops.Bilateral{SigmaSpace: 1.5, SigmaColor: 0.7, IgnoreAlpha: ignoreAlpha},
		imageops.NonLocalMeans{H: 0.3, Patch: 3, Search: 5, IgnoreAlpha: ignoreAlpha},
	}
}

// picture returns a picture whose components, in 0..255, f returns.
func picture(d tensor.DType, h, w int, f func(y, x int) [4]float64) *tensor.Host {
	p := tensor.NewHost(tensor.Contiguous(d, h, w, 4))
	for y := range h {
		for x := range w {
			for c, v := range f(y, x) {
				if d == tensor.F32 {
					v /= 255
				}
				p.Set(v, y, x, c)
			}
		}
	}
	return p
}

// TestHiddenColoursShowNowhere checks that the colour of a fully transparent pixel has no
// effect. White beside such a red pixel stays white wherever the result is not fully
// transparent.
func TestHiddenColoursShowNowhere(t *testing.T) {
	testlevel.Turn(t, 5)
	cutout := func(hidden [4]float64) func(y, x int) [4]float64 {
		return func(y, x int) [4]float64 {
			if x < 20 && y > 5 || x == 50 {
				return [4]float64{255, 255, 255, 255}
			}
			return hidden
		}
	}
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, d := range []tensor.DType{tensor.U8, tensor.F32} {
			for _, w := range []int{61, 64} {
				red := picture(d, 33, w, cutout([4]float64{255, 0, 0, 0}))
				green := picture(d, 33, w, cutout([4]float64{0, 99, 0, 0}))
				for _, c := range filters(false) {
					got, other := filtered(t, dev, run, c, red), filtered(t, dev, run, c, green)
					if !bytes.Equal(got.Data, other.Data) {
						t.Errorf("%v, %d wide: %s depends on the colour of transparent pixels", d, w, spec.FormatCall(c))
					}
					if c.Spec() == (imageops.SobelEdges{}).Spec() {
						continue
					}
					v, one := got.Floats(), 1.0
					if d == tensor.U8 {
						one = 255
					}
					for i := 0; i < len(v); i += 4 {
						want := one
						if v[i+3] == 0 {
							want = 0
						}
						for _, g := range v[i : i+3] {
							if math.Abs(g-want) > 1e-5 {
								t.Fatalf("%v, %d wide: %s: pixel %d is %v", d, w, spec.FormatCall(c), i/4, v[i:i+4])
							}
						}
					}
				}
			}
		}
	})
}

// TestOpaqueIsTheSameByAlpha checks that the result for an opaque picture is equal bit
// for bit whether colours are weighted by alpha or not. In u8 that also holds for the
// parts of a picture that are far from pixels that are not opaque. Strips of a large
// picture rely on it.
func TestOpaqueIsTheSameByAlpha(t *testing.T) {
	testlevel.Turn(t, 5)
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, d := range []tensor.DType{tensor.U8, tensor.F32} {
			const h, w = 90, 132
			noise := func(hole bool) *tensor.Host {
				rng := rand.New(rand.NewPCG(7, 7))
				return picture(d, h, w, func(y, x int) [4]float64 {
					p := [4]float64{float64(rng.IntN(256)), float64(rng.IntN(256)), float64(rng.IntN(256)), 255}
					if hole && y == 40 && x == 50 {
						p[3] = 254
					}
					return p
				})
			}
			whole, holed := noise(false), noise(true)
			straight := filters(true)
			for i, c := range filters(false) {
				want := filtered(t, dev, run, straight[i], whole)
				if got := filtered(t, dev, run, c, whole); !bytes.Equal(got.Data, want.Data) {
					t.Errorf("%v: %s of an opaque picture is not that which ignores alpha", d, spec.FormatCall(c))
				}
				if d != tensor.U8 {
					continue
				}
				got, halo := filtered(t, dev, run, c, holed), imageops.Halo(c)
				for y := range h {
					for x := range w {
						at := 4 * (y*w + x)
						if far := max(y-40, 40-y) > halo || max(x-50, 50-x) > halo; far && !bytes.Equal(got.Data[at:at+4], want.Data[at:at+4]) {
							t.Fatalf("%s: pixel (%d,%d), far from the only one that is not opaque, is %v, want %v", spec.FormatCall(c), x, y, got.Data[at:at+4], want.Data[at:at+4])
						}
					}
				}
			}
		}
	})
}

// TestMeansRoundExactly makes the mean of 257×257 pixels that is the least that there is below
// 130.5, and the least above it. The sums have 32 bits.
func TestMeansRoundExactly(t *testing.T) {
	const side = 257
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, c := range []float64{130, 131} {
			// Half of the pixels are 130, half 131. That of the least alpha decides.
			in := picture(tensor.U8, side, side, func(y, x int) [4]float64 {
				if y == 0 && x == 0 {
					return [4]float64{c, c, c, 1}
				}
				grey := 130 + float64((y*side+x)%2)
				return [4]float64{grey, grey, grey, 255}
			})
			if got := filtered(t, dev, run, imageops.BoxBlur{Radius: 128}, in).At(128, 128, 0); got != c {
				t.Errorf("the mean of %v is %v", c, got)
			}
		}
	})
}

// TestTransparentTypes checks that pictures of every Go type with transparent pixels give
// the result of the reference for the same pixels. Go premultiplies those of image.RGBA
// and of palettes.
func TestTransparentTypes(t *testing.T) {
	testlevel.Turn(t, 5)
	dev := front(t)
	photo := testimg.PhotoAlpha(83, 59, 4)
	sources := map[string]image.Image{
		"NRGBA":   photo,
		"RGBA":    converted(photo, image.NewRGBA(photo.Rect)),
		"NRGBA64": converted(photo, image.NewNRGBA64(photo.Rect)),
		"paletted": converted(photo, image.NewPaletted(photo.Rect, []color.Color{
			color.NRGBA{}, color.NRGBA{255, 0, 0, 0}, color.Black, color.White, color.NRGBA{30, 200, 60, 99}, color.NRGBA{220, 20, 60, 200}})),
	}
	for name, src := range sources {
		flat, err := dev.Apply(t.Context(), src)
		if err != nil {
			t.Fatal(err)
		}
		if flat.Opaque() {
			t.Errorf("%s: the picture is opaque", name)
		}
		for _, c := range append(filters(false), filters(true)...) {
			got, err := dev.Apply(t.Context(), src, c)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, spec.FormatCall(c), err)
			}
			checkAgainstReference(t, c, flat, got)
		}
	}
}

// TestFiltersAsImageMagick compares with ImageMagick, if it is installed. The results must be the
// same within rounding. Filters that ImageMagick does without regard to alpha are compared on an
// opaque picture.
func TestFiltersAsImageMagick(t *testing.T) {
	testlevel.Turn(t, 5)
	tool := "convert"
	if v, err := osexec.CommandContext(t.Context(), tool, "-version").Output(); err != nil || !bytes.Contains(v, []byte("ImageMagick")) {
		testkit.NoTool(t, "needs ImageMagick's program %s; install the package imagemagick: %v", tool, err)
	}
	dev := front(t)
	src := image.NewNRGBA(image.Rect(0, 0, 64, 48))
	for y := range 48 {
		for x := range 64 {
			p := color.NRGBA{uint8(4 * x), uint8(5 * y), 90, 255}
			if (x-32)*(x-32)+(y-24)*(y-24) > 300 {
				p = color.NRGBA{255, 0, 0, 0}
			}
			src.SetNRGBA(x, y, p)
		}
	}
	opaque := image.NewNRGBA(src.Rect)
	rng := rand.New(rand.NewPCG(3, 5))
	for i := range opaque.Pix {
		if opaque.Pix[i] = 255; i%4 < 3 {
			opaque.Pix[i] = uint8(max(0, min(255, int(src.Pix[i])+rng.IntN(90)-45)))
		}
	}
	photo := testimg.Photo(64, 48, 11)
	edge := func(args ...string) []string { return append([]string{"-virtual-pixel", "edge"}, args...) }
	yuv := func(u, v string) []string { // the rows of a matrix without the column of Y
		return []string{"-colorspace", "YUV", "-color-matrix", "6x3: 1 0 0 0 0 0 0 " + u + " 0 " + v, "-colorspace", "sRGB"}
	}
	formula := func(text string) []string { return []string{"-channel", "RGB", "-fx", text} }
	const white = "(0.299*pow(2,0.2)+0.587*pow(2,0.075)+0.114*pow(2,0-0.2))"
	// The tangents at three points of a curve are 1.2, 0.75 and 0.4 by the method of Fritsch and Butland.
	const pchip = "second=u>=0.5; part=2*u-second; rest=1-part; (1+2*part)*rest*rest*(0.1+0.5*second)+part*part*(3-2*part)*(0.6+0.3*second)+" +
		"0.5*part*rest*(rest*(1.2-0.45*second)-part*(0.75-0.35*second))"
	for _, c := range []struct {
		call   spec.Call
		src    *image.NRGBA
		levels int // that results may differ by
		args   []string
	}{
		{imageops.GaussianBlur{Sigma: 3}, src, 2, []string{"-channel", "RGBA,sync", "-virtual-pixel", "edge", "-morphology", "Convolve", "Blur:9x3", "-morphology", "Convolve", "Blur:9x3+90"}},
		{imageops.Sharpen{}, src, 2, []string{"-channel", "RGBA,sync", "-virtual-pixel", "edge", "-morphology", "Convolve", "3x3: 0,-1,0 -1,5,-1 0,-1,0"}},
		{imageops.Median{Radius: 1}, opaque, 0, edge("-statistic", "Median", "3x3")},
		{imageops.Median{Radius: 6}, opaque, 0, edge("-statistic", "Median", "13x13")},
		{imageops.Erode{Radius: 2}, opaque, 0, edge("-morphology", "Erode", "Square:2")},
		{imageops.Dilate{Radius: 9}, opaque, 0, edge("-morphology", "Dilate", "Square:9")},
		{imageops.Opening{Radius: 3, Disc: true}, opaque, 0, edge("-morphology", "Open", "Disk:3")},
		{imageops.Closing{Radius: 1}, opaque, 0, edge("-morphology", "Close", "Square:1")},
		{imageops.BoxBlur{Radius: 4}, src, 1, append([]string{"-channel", "RGBA,sync", "-define", "convolve:scale=!"}, edge("-morphology", "Convolve", "Square:4")...)},
		// ImageMagick divides by the sum of alphas times the kernel, which is 0 here.
		{imageops.Laplacian{}, opaque, 1, edge("-alpha", "off", "-morphology", "Correlate", "3x3: 0,1,0 1,-4,1 0,1,0", "-alpha", "opaque")},
		{imageops.Emboss{Amount: 1}, opaque, 1, edge("-morphology", "Correlate", "3x3: -2,-1,0 -1,1,1 0,1,2")},
		{imageops.Convolve{Kernel: []float64{-2, -1, 0, -1, 1, 1, 0, 1, 2}, Scale: 1}, opaque, 1, edge("-morphology", "Correlate", "3x3: -2,-1,0 -1,1,1 0,1,2")},
		{imageops.Convolve{Kernel: []float64{1, 2, 3, 4, 5, 6, 7}, Width: 7, Scale: 1. / 28}, opaque, 1, edge("-define", "convolve:scale=!", "-morphology", "Correlate", "7x1: 1,2,3,4,5,6,7")},
		{imageops.Unsharp{Sigma: 1, Amount: 1}, opaque, 3, []string{"-unsharp", "3x1+1+0"}},
		{imageops.Gamma{Gamma: 1.8}, src, 2, []string{"-gamma", "1.8"}},
		{imageops.Levels{Black: 0.1, White: 0.8, Gamma: 1.3, OutWhite: 1}, src, 2, []string{"-level", "10%,80%,1.3"}},
		{imageops.Levels{White: 1, Gamma: 1, OutBlack: 0.2, OutWhite: 0.7}, src, 2, []string{"+level", "20%,70%"}},
		{imageops.Posterize{Levels: 5}, src, 2, []string{"+dither", "-posterize", "5"}},
		{imageops.Sepia{Amount: 1}, src, 2, []string{"-color-matrix", "0.393 0.769 0.189 0.349 0.686 0.168 0.272 0.534 0.131"}},
		{imageops.ColorMatrix{Matrix: []float64{0, 0, 1, 0, 0.5, 0.5, 1.5, -0.5, 0}}, src, 2, []string{"-color-matrix", "0 0 1 0 0.5 0.5 1.5 -0.5 0"}},
		{imageops.Exposure{Stops: -1}, src, 2, []string{"-channel", "RGB", "-colorspace", "RGB", "-evaluate", "multiply", "0.5", "-colorspace", "sRGB"}},
		{imageops.Equalize{Each: true}, opaque, 1, []string{"-channel", "RGB", "-equalize"}},
		{imageops.AutoContrast{Clip: 10, Each: true}, opaque, 1, []string{"-channel", "RGB", "-contrast-stretch", "10%x10%"}},
		{imageops.AutoContrast{Clip: spec.Given(0.0)}, opaque, 1, []string{"-auto-level"}},
		{imageops.Brightness{Factor: 1, Offset: 0.1}, src, 2, []string{"-channel", "RGB", "-evaluate", "add", "10%"}},
		{imageops.Threshold{Value: 0.405}, opaque, 0, []string{"-channel", "RGB", "-threshold", "40.5%"}},
		// ImageMagick makes Y, U and V of the colours and back; what is done with U and V is said in numbers.
		{imageops.Hue{Degrees: 90}, photo, 1, yuv("0 -1 0 0 1", "1 0 0 0 0")},
		{imageops.Hue{Degrees: -37.5}, photo, 1, yuv("0.793353 0.608761 0 0 -0.201057", "-0.608761 0.793353 0 0 0.407704")},
		{imageops.Saturation{Factor: 1.3}, photo, 1, yuv("1.3 0 0 0 -0.15", "0 1.3 0 0 -0.15")},
		{imageops.Saturation{Factor: spec.Given(0.0)}, photo, 1, []string{"-colorspace", "YUV", "-channel", "GB", "-evaluate", "set", "50%", "+channel", "-colorspace", "sRGB"}},
		// These have definitions of Lathe's own, whose formulas ImageMagick computes.
		{imageops.Vibrance{Amount: 0.7}, photo, 1, formula("lum=0.299*r+0.587*g+0.114*b; lum+(u-lum)*(1+0.7*(1-max(r,max(g,b))+min(r,min(g,b))))")},
		{imageops.WhiteBalance{Temperature: 0.4, Tint: -0.15}, photo, 1, []string{
			"-channel", "R", "-fx", "u*pow(2,0.2)/" + white, "-channel", "G", "-fx", "u*pow(2,0.075)/" + white, "-channel", "B", "-fx", "u*pow(2,0-0.2)/" + white}},
		{imageops.Vignette{Amount: 0.8, Radius: 0.3, Softness: 0.5}, photo, 1,
			formula("far=hypot((2*i+1)/w-1,(2*j+1)/h-1)/sqrt(2); part=min(1,max(0,(far-0.3)/0.5)); u*(1-0.8*part*part*(3-2*part))")},
		{imageops.Contrast{Factor: 1.4}, photo, 1, formula("(u-0.5)*1.4+0.5")},
		{imageops.Curves{Points: []float64{0.1, 0.2, 0.8, 0.9}}, photo, 1, formula("0.2+0.7*(min(0.8,max(0.1,u))-0.1)/0.7")},
		{imageops.Curves{Points: []float64{0, 0.1, 0.5, 0.6, 1, 0.9}}, photo, 1, formula(pchip)},
		{imageops.Pixelate{Size: 8}, photo, 1, []string{"-scale", "8x6!", "-sample", "64x48!"}},
	} {
		args := append([]string{"-size", "64x48", "-depth", "8", "rgba:-"}, append(c.args, "-depth", "8", "rgba:-")...)
		cmd := osexec.CommandContext(t.Context(), tool, args...)
		cmd.Stdin = bytes.NewReader(c.src.Pix)
		want, err := cmd.Output()
		if err != nil || len(want) != len(c.src.Pix) {
			t.Fatalf("%s %v: %d bytes, %v", tool, args, len(want), err)
		}
		got, err := dev.Apply(t.Context(), c.src, c.call)
		if err != nil {
			t.Fatal(err)
		}
		wrong, first := 0, 0
		for i, w := range want {
			if i%4 < 3 && want[i|3] < 16 {
				continue // This colour is hardly visible. It is the result of a division by a small alpha.
			}
			if d := int(got.Pix[i]) - int(w); d > c.levels || d < -c.levels {
				if wrong++; wrong == 1 {
					first = i
				}
			}
		}
		if wrong > 0 {
			t.Errorf("%s: %d components differ by more than %d; the first at %d: got %d, ImageMagick has %d", spec.FormatCall(c.call), wrong, c.levels, first, got.Pix[first], want[first])
		}
	}
}
