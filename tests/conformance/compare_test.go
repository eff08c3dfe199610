package conformance_test

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	osexec "os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/gpu/faulty"
	"github.com/lathe-gpu/lathe/internal/testimg"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// seen returns the channels that a comparison sees, in 0..1: colours times alpha, and alpha.
func seen(m image.Image) func(x, y int) [4]float64 {
	r := m.Bounds()
	return func(x, y int) [4]float64 {
		c, full := m.At(x+r.Min.X, y+r.Min.Y), 65535.0
		var px [4]float64
		switch c := c.(type) {
		case color.NRGBA:
			full, px = 255, [4]float64{float64(c.R), float64(c.G), float64(c.B), float64(c.A)}
		case color.NRGBA64:
			px = [4]float64{float64(c.R), float64(c.G), float64(c.B), float64(c.A)}
		default: // premultiplied
			r, g, b, a := c.RGBA()
			return [4]float64{float64(r) / full, float64(g) / full, float64(b) / full, float64(a) / full}
		}
		a := px[3] / full
		return [4]float64{px[0] / full * a, px[1] / full * a, px[2] / full * a, a}
	}
}

// expected compares two pictures in float64 by the formulas as they are printed.
func expected(a, b image.Image) (d lathe.Difference) {
	w, h := a.Bounds().Dx(), a.Bounds().Dy()
	pa, pb := seen(a), seen(b)
	channels := 3
	for i := range w * h {
		if pa(i%w, i/w)[3] < 1 || pb(i%w, i/w)[3] < 1 {
			channels = 4
		}
	}
	for i := range w * h {
		x, y := pa(i%w, i/w), pb(i%w, i/w)
		for c := range channels {
			e := 255 * math.Abs(x[c]-y[c])
			d.Max = max(d.Max, e)
			d.Mean += e
			d.RMSE += e * e
		}
	}
	n := float64(channels * w * h)
	d.Mean, d.RMSE = d.Mean/n, math.Sqrt(d.RMSE/n)
	d.PSNR = 10 * math.Log10(255*255/(d.RMSE*d.RMSE))
	d.SSIM = similarity(w, h, pa, pb, [4]float64{.299, .587, .114})
	if channels == 4 {
		d.SSIM = (d.SSIM + similarity(w, h, pa, pb, [4]float64{3: 1})) / 2
	}
	return d
}

// similarity is the mean SSIM of a weighed sum of the channels, window by window.
func similarity(w, h int, pa, pb func(x, y int) [4]float64, weights [4]float64) float64 {
	one := func(p func(x, y int) [4]float64, x, y int) (v float64) {
		for c, k := range p(min(max(x, 0), w-1), min(max(y, 0), h-1)) {
			v += k * weights[c]
		}
		return v
	}
	var window [11][11]float64
	sum := 0.0
	for j := range window {
		for i := range window {
			window[j][i] = math.Exp(-float64((i-5)*(i-5)+(j-5)*(j-5)) / (2 * 1.5 * 1.5))
			sum += window[j][i]
		}
	}
	total, count := 0.0, 0
	for y := range h {
		for x := range w {
			if w >= 11 && (x < 5 || x >= w-5) || h >= 11 && (y < 5 || y >= h-5) {
				continue // this window would not lie inside
			}
			var mx, my, vx, vy, cov float64
			for j := range window {
				for i, k := range window[j] {
					mx += k / sum * one(pa, x+i-5, y+j-5)
					my += k / sum * one(pb, x+i-5, y+j-5)
				}
			}
			for j := range window {
				for i, k := range window[j] {
					u, v := one(pa, x+i-5, y+j-5)-mx, one(pb, x+i-5, y+j-5)-my
					vx, vy, cov = vx+k/sum*u*u, vy+k/sum*v*v, cov+k/sum*u*v
				}
			}
			const c1, c2 = 0.01 * 0.01, 0.03 * 0.03
			total += (2*mx*my + c1) * (2*cov + c2) / ((mx*mx + my*my + c1) * (vx + vy + c2))
			count++
		}
	}
	return total / float64(count)
}

// near fails if the figures of two pictures are not those expected. In f32 the variance of a
// window of one colour is not quite 0, so the SSIM of these is off by more than usual.
func near(t *testing.T, what string, got, want lathe.Difference, flat bool) {
	t.Helper()
	bound := 1e-5
	if flat {
		bound = 1e-4
	}
	off := func(a, b, tol float64) bool { return !(a == b || math.Abs(a-b) <= tol) }
	if off(got.Max, want.Max, 1e-4) || off(got.Mean, want.Mean, 1e-5*want.Mean+1e-5) || off(got.RMSE, want.RMSE, 1e-5*want.RMSE+1e-5) ||
		off(got.PSNR, want.PSNR, 1e-3) || off(got.SSIM, want.SSIM, bound) {
		t.Errorf("%s: %+v, want %+v", what, got, want)
	}
}

// deepened is a picture with 16 bits a channel, with noise in the lower ones.
func deepened(m *image.NRGBA) *image.NRGBA64 {
	out := image.NewNRGBA64(m.Rect)
	low := make([]byte, len(m.Pix))
	testimg.Fill(9, low)
	for i, v := range m.Pix {
		out.Pix[2*i], out.Pix[2*i+1] = v, low[i]
		if i%4 == 3 {
			out.Pix[2*i+1] = v
		}
	}
	return out
}

// TestCompare compares the figures with a reference that shares no code with Lathe, on every
// device.
func TestCompare(t *testing.T) {
	grey := func(w, h int, seed uint64) image.Image {
		m := image.NewGray(image.Rect(0, 0, w, h))
		testimg.Fill(seed, m.Pix)
		return m
	}
	bright := image.NewNRGBA(image.Rect(0, 0, 40, 40)) // nearly white: variances are small beside means
	dim := image.NewNRGBA(bright.Rect)
	for i := range bright.Pix {
		bright.Pix[i], dim.Pix[i] = 255-byte(i*i%3), 254
		if i%4 == 3 {
			bright.Pix[i], dim.Pix[i] = 255, 255
		}
	}
	premultiplied := image.NewRGBA64(image.Rect(0, 0, 20, 13))
	for i := range 20 * 13 {
		premultiplied.Set(i%20, i/20, deepened(testimg.PhotoAlpha(20, 13, 8)).At(i%20, i/20))
	}
	pairs := map[string][2]image.Image{
		"1×1":               {testimg.Noise(1, 1, 1), testimg.Noise(1, 1, 2)},
		"1×40":              {testimg.Noise(1, 40, 1), testimg.Noise(1, 40, 2)},
		"less than windows": {testimg.Photo(7, 9, 1), testimg.Photo(7, 9, 2)},
		"10×11":             {testimg.Photo(10, 11, 1), testimg.Photo(10, 11, 2)},
		"one window":        {testimg.Photo(11, 11, 1), testimg.Photo(11, 11, 2)},
		"a prime size":      {testimg.Photo(61, 47, 1), testimg.Photo(61, 47, 2)},
		"alpha":             {testimg.PhotoAlpha(53, 31, 1), testimg.PhotoAlpha(53, 31, 2)},
		"alpha in one":      {testimg.Photo(33, 31, 1), testimg.PhotoAlpha(33, 31, 1)},
		"grey":              {grey(30, 29, 1), grey(30, 29, 2)},
		"bright":            {bright, dim},
		"16 bits":           {deepened(testimg.Photo(31, 23, 1)), testimg.Photo(31, 23, 1)},
		"16 bits and alpha": {deepened(testimg.PhotoAlpha(20, 13, 1)), premultiplied},
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		for _, strip := range []int64{0, 1, 200 << 6} {
			d, err := lathe.Open(t.Context(), lathe.WithGPU(&borrowed{counter: counter{Device: dev}}), lathe.WithStrip(strip))
			d = testkit.Device(t, d, err)
			for name, pair := range pairs {
				if strip == 1 && name != "alpha" && name != "less than windows" {
					continue // a row at a time
				}
				got, err := d.Compare(t.Context(), pair[0], pair[1])
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				near(t, fmt.Sprintf("%s, strips of %d", name, strip), got, expected(pair[0], pair[1]), name == "1×1")
			}
		}
	})
}

// TestCompareWide compares pictures that are divided into columns too.
func TestCompareWide(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		d, err := lathe.Open(t.Context(), lathe.WithGPU(&borrowed{counter: counter{Device: dev}}))
		d = testkit.Device(t, d, err)
		a, b := testimg.Photo(9001, 13, 4), testimg.Photo(9001, 13, 5)
		got, err := d.Compare(t.Context(), a, b)
		if err != nil {
			t.Fatal(err)
		}
		near(t, "9001×13", got, expected(a, b), false)
		c, err := d.DifferenceImage(t.Context(), a, b, 1)
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Pix {
			if want := max(a.Pix[i], b.Pix[i]) - min(a.Pix[i], b.Pix[i]); i%4 < 3 && c.Pix[i] != want {
				t.Fatalf("byte %d of the differences is %d, want %d", i, c.Pix[i], want)
			}
		}
	})
}

// TestCompareAsImageMagick compares the figures with those of ImageMagick, if it is installed.
// ImageMagick 6 has no SSIM.
func TestCompareAsImageMagick(t *testing.T) {
	tool, folder := "convert", t.TempDir()
	if v, err := osexec.CommandContext(t.Context(), tool, "-version").Output(); err != nil || !bytes.Contains(v, []byte("ImageMagick")) {
		testkit.NoTool(t, "needs ImageMagick's program %s; install the package imagemagick: %v", tool, err)
	}
	pairs := map[string][2]image.Image{
		"opaque": {testimg.Photo(161, 97, 1), testimg.Photo(161, 97, 2)},
		"grey":   {testimg.Photo(40, 30, 1), image.NewGray(image.Rect(0, 0, 40, 30))},
		"deep":   {deepened(testimg.Photo(61, 97, 1)), testimg.Photo(61, 97, 1)},
	}
	d := front(t)
	for name, pair := range pairs {
		var files []string
		for i, m := range pair {
			var b bytes.Buffer
			file := filepath.Join(folder, fmt.Sprintf("%s-%d.png", name, i))
			if err := png.Encode(&b, m); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
				t.Fatal(err)
			}
			files = append(files, file)
		}
		got, err := d.Compare(t.Context(), pair[0], pair[1])
		if err != nil {
			t.Fatal(err)
		}
		for metric, v := range map[string]float64{"PAE": got.Max, "MAE": got.Mean, "RMSE": got.RMSE, "PSNR": got.PSNR} {
			text, err := osexec.CommandContext(t.Context(), tool, files[0], files[1], "-metric", metric, "-compare", "-format", "%[distortion]", "info:").CombinedOutput()
			if err != nil {
				t.Fatalf("%s: %v: %s", name, err, text)
			}
			want, err := strconv.ParseFloat(strings.TrimSpace(string(text)), 64)
			if metric != "PSNR" { // of full scale
				want *= 255
			}
			if err != nil || math.Abs(v-want) > 2e-4*want {
				t.Errorf("%s: %s is %v, and ImageMagick says %q", name, metric, v, text)
			}
		}
	}
}

// TestCompareFaults makes calls of the device fail. Compare returns the error, frees what it has
// made, and works the next time.
func TestCompareFaults(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		a, b := testimg.PhotoAlpha(40, 30, 1), testimg.PhotoAlpha(40, 30, 2)
		want := expected(a, b)
		for _, kind := range []faulty.Call{faulty.Alloc, faulty.Submit, faulty.Read, faulty.Write} {
			for _, n := range []int{1, 2, 9} {
				own := &borrowed{counter: counter{Device: dev}}
				f := faulty.New(own)
				d, err := lathe.Open(t.Context(), lathe.WithGPU(f))
				if err != nil {
					t.Fatal(err)
				}
				injected := errors.New("injected")
				f.Fail(kind, n, injected)
				got, err := d.Compare(t.Context(), a, b)
				switch {
				case err != nil && (!errors.Is(err, injected) || got != (lathe.Difference{})):
					t.Errorf("%v %d failing: %+v, %v", kind, n, got, err)
				case err == nil && f.Pending() == 0:
					t.Errorf("%v %d failing: no error", kind, n)
				}
				if got, err := d.Compare(t.Context(), a, b); err == nil && f.Pending() == 0 {
					near(t, fmt.Sprintf("after %v %d has failed", kind, n), got, want, false)
				} else if err != nil && !errors.Is(err, injected) {
					t.Errorf("after %v %d has failed: %v", kind, n, err)
				}
				if err := d.Close(); err != nil && !errors.Is(err, injected) {
					t.Errorf("%v %d failing: close: %v", kind, n, err)
				}
				if own.atClose > 6 { // the Scalars, which a device keeps until it is closed
					t.Errorf("%v %d failing: %d buffers are left at Close", kind, n, own.atClose)
				}
			}
		}
	})
}
