package conformance_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestHistogramInLaunches checks pictures that are counted by many invocations and in several
// launches, with pixels that do not count.
func TestHistogramInLaunches(t *testing.T) {
	testlevel.Turn(t, 5)
	type wanted struct {
		call     spec.Call
		in, want *tensor.Host
	}
	var all []wanted // The devices run side by side, and share them.
	rng := rand.New(rand.NewPCG(3, 5))
	for _, d := range []tensor.DType{tensor.U8, tensor.F32} {
		in := picture(d, 211, 1237, func(y, x int) [4]float64 {
			v := float64(rng.IntN(60) + x/16)
			return [4]float64{v, 40 + v/2, float64(rng.IntN(256)), float64(255 * min(1, rng.IntN(4)))}
		})
		for _, call := range []spec.Call{imageops.AutoContrast{Clip: 2}, imageops.AutoContrast{Clip: 2, Each: true}, imageops.Equalize{}, imageops.Equalize{Each: true}} {
			want := tensor.NewHost(in.Desc)
			call.Spec().Reference(call, []*tensor.Host{in}, []*tensor.Host{want})
			all = append(all, wanted{call, in, want})
		}
	}
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, c := range all {
			d := c.in.DType
			got := filtered(t, dev, run, c.call, c.in)
			tol := c.call.Spec().Tolerance(c.call, d, []tensor.Desc{c.in.Desc})
			values := got.Floats()
			for i, w := range c.want.Floats() {
				if math.Abs(values[i]-w) > tol.Abs {
					t.Errorf("%s %v: element %d is %v, want %v", spec.FormatCall(c.call), d, i, values[i], w)
					break
				}
			}
		}
	})
}

// A picture of one colour, or of none that is visible, stays as it is.
func TestToneOfOneColour(t *testing.T) {
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, d := range []tensor.DType{tensor.U8, tensor.F32} {
			for _, alpha := range []float64{0, 255} {
				in := picture(d, 5, 7, func(int, int) [4]float64 { return [4]float64{51, 51, 51, alpha} })
				for _, call := range []spec.Call{imageops.AutoContrast{Clip: 1}, imageops.Equalize{}, imageops.Equalize{Each: true}} {
					got := filtered(t, dev, run, call, in)
					if d == tensor.U8 && !bytes.Equal(got.Data, in.Data) {
						t.Errorf("%s of alpha %v: %v", spec.FormatCall(call), alpha, got.Data[:4])
					}
					for i, v := range got.Floats() {
						if diff := v - in.Floats()[i]; diff > 5e-4 || diff < -5e-4 {
							t.Fatalf("%s of %v, alpha %v: element %d is %v, want %v", spec.FormatCall(call), d, alpha, i, v, in.Floats()[i])
						}
					}
				}
			}
		}
	})
}
