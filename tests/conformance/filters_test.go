package conformance_test

import (
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ways are the targets that between them plan for every kernel of the filters.
var ways = []struct {
	name string
	set  func(*spec.Target)
}{
	{"plain", func(*spec.Target) {}},
	{"loop", func(t *spec.Target) { t.Variant = "loop" }},
	{"no texels", func(t *spec.Target) { t.TexelBuffers = false }},
	{"small bindings", func(t *spec.Target) { t.MaxBinding, t.MaxTexels = 1<<16, 1<<12 }},
}

// filtered runs a call on a picture.
func filtered(t *testing.T, dev gpu.Device, run *exec.Runner, call spec.Call, in *tensor.Host) *tensor.Host {
	t.Helper()
	src, dst := alloc(t, dev, in.Desc), alloc(t, dev, in.Desc)
	if err := dev.Write(t.Context(), src.Buffer, 0, in.Data); err != nil {
		t.Fatal(err)
	}
	if err := run.Run(t.Context(), call, []exec.Operand{dst}, []exec.Operand{src}); err != nil {
		t.Fatalf("%s of %v: %v", spec.FormatCall(call), in.Desc, err)
	}
	out := tensor.NewHost(in.Desc)
	if err := run.Read(t.Context(), dst.Buffer, 0, out.Data); err != nil {
		t.Fatal(err)
	}
	return out
}

// eachWay calls f for every way to plan on every device.
func eachWay(t *testing.T, f func(t *testing.T, dev gpu.Device, run *exec.Runner)) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		for _, w := range ways {
			t.Run(w.name, func(t *testing.T) {
				run, err := exec.New(dev, exec.WithTarget(w.set))
				if err != nil {
					t.Fatal(err)
				}
				defer run.Close()
				f(t, dev, run)
			})
		}
	})
}

// A picture of greys is one of greys after a filter: its three colours take part
// in the same sums, and are rounded alike between passes as well.
func TestGreyRemainsGrey(t *testing.T) {
	calls := []spec.Call{imageops.Sharpen{}}
	for _, sigma := range []float64{0.3, 1, 3, 3.4, 31} {
		calls = append(calls, imageops.GaussianBlur{Sigma: sigma})
	}
	eachWay(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
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
