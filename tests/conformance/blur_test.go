package conformance_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestBlurInLaunches checks that a large blur has the same bits where its rows of cells are reduced in several
// launches, because a binding has few rows of the picture.
func TestBlurInLaunches(t *testing.T) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		for _, texel := range []bool{false, true} {
			small, err := exec.New(dev, exec.WithTarget(func(t *spec.Target) {
				t.MaxBinding, t.MaxTexels, t.TexelBuffers = 520<<10, 520<<10/16, t.TexelBuffers && texel
			}))
			small = testkit.Device(t, small, err)
			all, err := exec.New(dev, exec.WithTarget(func(t *spec.Target) { t.TexelBuffers = t.TexelBuffers && texel }))
			all = testkit.Device(t, all, err)
			for _, alpha := range []uint8{255, 9} {
				rng := rand.New(rand.NewPCG(7, 9))
				in := tensor.NewHost(tensor.Contiguous(tensor.U8, 330, 600, 4))
				for i := range in.Data {
					if in.Data[i] = uint8(rng.Uint32()); i%4 == 3 {
						in.Data[i] |= alpha
					}
				}
				call := imageops.GaussianBlur{Sigma: 40}
				want, got := filtered(t, dev, all, call, in), filtered(t, dev, small, call, in)
				if !bytes.Equal(got.Data, want.Data) {
					t.Errorf("texel %v, alpha %d: the results differ", texel, alpha)
				}
			}
		}
	})
}

// TestBlurOfAlikeLines blurs a picture of a single pixel with a Gaussian of many lines, all of which are that pixel. Each addition to
// a large sum may then round the same way.
func TestBlurOfAlikeLines(t *testing.T) {
	call := imageops.GaussianBlur{Sigma: 256, IgnoreAlpha: true}
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		pixel := tensor.Contiguous(tensor.F32, 1, 1, 4)
		in, want, rng, worst := tensor.NewHost(pixel), tensor.NewHost(pixel), rand.New(rand.NewPCG(1, 2)), 0.0
		for range 40 {
			in.SetFloats([]float64{rng.Float64(), rng.Float64(), rng.Float64(), rng.Float64()})
			call.Spec().Reference(call, []*tensor.Host{in}, []*tensor.Host{want})
			got := filtered(t, dev, run, call, in)
			for i, v := range want.Floats() {
				worst = max(worst, math.Abs(got.Floats()[i]-v))
			}
		}
		t.Logf("%g off", worst)
		if worst > 1.6e-6 {
			t.Errorf("a result is %g off, want 1.6e-6 at most", worst)
		}
	})
}
