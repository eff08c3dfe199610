package conformance_test

import (
	"bytes"
	"image"
	"math"
	"sync"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestNoiseIsTheSameEverywhere checks that noise has the same bits on all devices, and that its
// mean, its deviation and its limits are those that are documented.
func TestNoiseIsTheSameEverywhere(t *testing.T) {
	grey := tensor.NewHost(tensor.Contiguous(tensor.F32, 200, 300, 4))
	for i := range 200 * 300 {
		for c := range 4 {
			grey.Set([]float64{0.5, 0.5, 0.5, 0.25}[c], i/300, i%300, c)
		}
	}
	var first sync.Map // the bytes of each call on the first device that was ready
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		run = testkit.Device(t, run, err)
		for _, c := range []struct {
			call imageops.Noise
			sd   float64
			most float64
		}{
			{imageops.Noise{Amount: 0.1, Kind: "gaussian", Seed: 3}, 0.1, 0.5},
			{imageops.Noise{Amount: 0.1, Kind: "gaussian", Seed: 4, Mono: true}, 0.1, 0.5},
			{imageops.Noise{Amount: 0.3, Kind: "uniform"}, 0.3 / math.Sqrt(3), 0.3},
		} {
			name := spec.FormatCall(c.call)
			got := filtered(t, dev, run, c.call, grey)
			if want, ok := first.LoadOrStore(name, got.Data); ok && !bytes.Equal(got.Data, want.([]byte)) {
				t.Errorf("%s: other bits than on the first device", name)
			}
			sum, squares, most, cross, alike := 0.0, 0.0, 0.0, 0.0, 0
			for i := range 200 * 300 {
				var d [3]float64
				for k := range d {
					d[k] = got.At(i/300, i%300, k) - 0.5
					sum, squares, most = sum+d[k], squares+d[k]*d[k], max(most, math.Abs(d[k]))
				}
				if cross += d[0] * d[1]; d[0] == d[1] && d[1] == d[2] {
					alike++
				}
				if got.At(i/300, i%300, 3) != 0.25 {
					t.Fatalf("%s: alpha of pixel %d changed", name, i)
				}
			}
			n := 3.0 * 200 * 300
			if mean, sd := sum/n, math.Sqrt(squares/n); math.Abs(mean) > 4*c.sd/math.Sqrt(n/3) || math.Abs(sd-c.sd) > 0.01*c.sd || most > c.most+1e-6 {
				t.Errorf("%s: mean %v, deviation %v, largest %v", name, mean, sd, most)
			}
			if together := cross / (n / 3) / (c.sd * c.sd); c.call.Mono && alike != 200*300 || !c.call.Mono && math.Abs(together) > 0.02 {
				t.Errorf("%s: %d pixels have the same number for all colours; correlation %v", name, alike, together)
			}
		}
	})
}

// TestBlursAlongLines checks a point of light: a motion blur makes a line of it, and a zoom blur
// leaves the centre alone.
func TestBlursAlongLines(t *testing.T) {
	dev := front(t)
	src := image.NewNRGBA(image.Rect(0, 0, 61, 41))
	for i := 3; i < len(src.Pix); i += 4 {
		src.Pix[i] = 255
	}
	copy(src.Pix[src.PixOffset(30, 20):], []byte{255, 255, 255, 255})
	got, err := dev.Apply(t.Context(), src, imageops.MotionBlur{Length: 9})
	if err != nil {
		t.Fatal(err)
	}
	for x := range 61 {
		for y := range 41 {
			want := uint8(0)
			if y == 20 && x >= 26 && x <= 34 {
				want = 28 // 255 by 9
			}
			// The ends of the line are between two pixels.
			if v := got.NRGBAAt(x, y).R; v != want && !(y == 20 && (x == 25 || x == 26 || x == 34 || x == 35) && v > 0 && v < 29) {
				t.Errorf("motion blur at (%d,%d): got %d, want %d", x, y, v, want)
			}
		}
	}
	got, err = dev.Apply(t.Context(), src, spec.WithDefaults(imageops.ZoomBlur{Strength: 0.3}))
	if err != nil {
		t.Fatal(err)
	}
	if v := got.NRGBAAt(30, 20).R; v != 255 {
		t.Errorf("zoom blur: the centre is %d, want 255", v)
	}
	if v := got.NRGBAAt(50, 35).R; v != 0 {
		t.Errorf("zoom blur: a pixel far from the light is %d, want 0", v)
	}
}

// TestPixelateAsResize checks a picture of whole squares against resize by the mean of areas and
// back.
func TestPixelateAsResize(t *testing.T) {
	dev := front(t)
	src := image.NewNRGBA(image.Rect(0, 0, 60, 48))
	for i := range src.Pix {
		if src.Pix[i] = byte(i * i / 7); i%4 == 3 {
			src.Pix[i] = 255
		}
	}
	got, err := dev.Apply(t.Context(), src, imageops.Pixelate{Size: 12})
	if err != nil {
		t.Fatal(err)
	}
	want, err := dev.Apply(t.Context(), src,
		spec.WithDefaults(imageops.Resize{Width: 5, Height: 4, Fit: "stretch", Filter: "box"}),
		spec.WithDefaults(imageops.Resize{Width: 60, Height: 48, Fit: "stretch", Filter: "nearest"}))
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range got.Pix {
		if d := int(v) - int(want.Pix[i]); max(d, -d) > 1 {
			t.Fatalf("component %d: got %d, resize has %d", i, v, want.Pix[i])
		}
	}
}
