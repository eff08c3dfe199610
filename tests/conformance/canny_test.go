package conformance_test

import (
	"bytes"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/drivers"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// spiral is a picture of lines that wind from the middle to the edges, with little contrast. If lit,
// the middle has more.
func spiral(h, w int, lit bool) *tensor.Host {
	return picture(tensor.U8, h, w, func(y, x int) [4]float64 {
		dy, dx := float64(y-h/2), float64(x-w/2)
		r := math.Hypot(dy, dx)
		contrast := 20.0
		if lit {
			contrast += max(0, 80-4*r)
		}
		v := 120 + contrast*min(1, r/4)*math.Cos(2*math.Pi*r/8-math.Atan2(dy, dx))
		return [4]float64{v, v, v, 255}
	})
}

// TestCannyFollowsLines checks lines that wind through a whole picture, and random ones that
// branch. Targets with few iterations divide the work among many launches.
func TestCannyFollowsLines(t *testing.T) {
	testlevel.Turn(t, 5)
	type wanted struct {
		name     string
		in, want *tensor.Host
	}
	call := imageops.Canny{Low: 0.2, High: 0.8}
	var all []wanted // The devices run side by side, and share them.
	add := func(name string, in *tensor.Host) int {
		want := tensor.NewHost(in.Desc)
		call.Spec().Reference(call, []*tensor.Host{in}, []*tensor.Host{want})
		all = append(all, wanted{name, in, want})
		return bytes.Count(want.Data, []byte{255, 255, 255, 255})
	}
	if n := add("dark spiral", spiral(150, 203, false)); n != 0 {
		t.Fatalf("%d pixels of lines without a strong one", n)
	}
	if n := add("lit spiral", spiral(150, 203, true)); n < 4000 {
		t.Fatalf("only %d pixels of lines with strong ones", n)
	}
	rng := rand.New(rand.NewPCG(3, 5))
	for _, size := range [][2]int{{97, 1031}, {1031, 66}} {
		add("random", picture(tensor.U8, size[0], size[1], func(int, int) [4]float64 {
			v := 100 + 30*float64(rng.IntN(2))
			if rng.IntN(3000) == 0 {
				v = 255
			}
			return [4]float64{v, v, v, 255}
		}))
	}
	check := func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, c := range all {
			if got := filtered(t, dev, run, call, c.in); !bytes.Equal(got.Data, c.want.Data) {
				t.Errorf("%s %v: not the lines of the reference", c.name, c.in.Desc)
			}
		}
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		for _, iterations := range []uint32{0, 1000} {
			run, err := exec.New(dev, exec.WithTarget(func(t *spec.Target) {
				if iterations > 0 {
					t.MaxIterations, t.MaxBinding = iterations, 1<<18
				}
			}))
			check(t, dev, testkit.Device(t, run, err))
		}
		for _, iterations := range []uint32{0, 12_000} { // Workgroups that have 64 blocks of a border in a launch.
			run, err := exec.New(dev, exec.WithTarget(func(t *spec.Target) {
				if t.CPU = false; iterations > 0 {
					t.MaxIterations, t.MaxGroups = iterations, [3]uint32{3, 100, 100}
				}
			}))
			check(t, dev, testkit.Device(t, run, err))
		}
	})
	t.Run("counted", func(t *testing.T) {
		testlevel.Need(t, testlevel.Full)
		dev, err := drivers.Open(t.Context(), drivers.Options{Backend: drivers.CPU, NoCache: true})
		counting := &countingDevice{Device: testkit.Device(t, dev, err), modules: map[*gpu.Module]*countingModule{}, limit: 12_000}
		run, err := exec.New(counting, exec.WithTarget(func(t *spec.Target) { t.CPU, t.MaxIterations = false, 12_000 }))
		check(t, counting, testkit.Device(t, run, err))
	})
}

// TestCannyOfCutouts checks that hidden colours make no edges, and that the result is opaque.
func TestCannyOfCutouts(t *testing.T) {
	eachPlanning(t, func(t *testing.T, dev gpu.Device, run *exec.Runner) {
		for _, d := range []tensor.DType{tensor.U8, tensor.F32} {
			in := picture(d, 30, 40, func(y, x int) [4]float64 {
				if x < 20 {
					return [4]float64{255, 255, 255, 255}
				}
				return [4]float64{float64(255 * (x / 2 % 2)), 0, 255, 0}
			})
			got := filtered(t, dev, run, spec.WithDefaults(imageops.Canny{}), in).Floats()
			full, lines := got[3], 0
			for i := 0; i < len(got); i += 4 {
				if got[i+3] != full || full == 0 {
					t.Fatalf("%v: alpha of pixel %d is %v", d, i/4, got[i+3])
				}
				if x := i / 4 % 40; got[i] > 0 {
					if lines++; x < 18 || x > 21 {
						t.Fatalf("%v: an edge in column %d", d, x)
					}
				}
			}
			if lines != 30 {
				t.Errorf("%v: %d pixels are an edge, want one in each of 30 rows", d, lines)
			}
		}
	})
}
