package conformance_test

import (
	"bytes"
	"fmt"
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

// fewIterations is the limit of one of smallGPUs.
const fewIterations = 3000

// smallGPUs change targets to those of GPUs, with limits that divide launches in several ways.
var smallGPUs = []func(t *spec.Target){
	func(t *spec.Target) { t.CPU = false },
	func(t *spec.Target) { t.CPU, t.MaxBinding, t.MaxGroups = false, 1<<18, [3]uint32{100, 300, 3} },
	func(t *spec.Target) { t.CPU, t.MaxGroups = false, [3]uint32{5, 300, 5} }, // A workgroup has many runs.
	func(t *spec.Target) { t.CPU, t.MaxIterations = false, fewIterations },
}

// wantOnGPUs runs calls with plans for GPUs, on every device and on one that counts loop iterations,
// and compares the results with the reference, within the tolerance of the operation. If exact, they
// must also be those of the plan for a CPU driver, bit for bit.
func wantOnGPUs(t *testing.T, calls []spec.Call, in *tensor.Host, exact bool) {
	t.Helper()
	var wants []*tensor.Host // The devices run side by side, and share them.
	for _, call := range calls {
		made, err := call.Spec().Shape(call, []tensor.Desc{in.Desc})
		if err != nil {
			t.Fatal(err)
		}
		want := tensor.NewHost(made[0])
		call.Spec().Reference(call, []*tensor.Host{in}, []*tensor.Host{want})
		wants = append(wants, want)
	}
	check := func(t *testing.T, dev gpu.Device) {
		ofCPU, err := exec.New(dev, exec.WithTarget(func(t *spec.Target) { t.CPU = true }))
		ofCPU = testkit.Device(t, ofCPU, err)
		same := make([]*tensor.Host, len(calls))
		for k, call := range calls {
			if exact {
				same[k] = filtered(t, dev, ofCPU, call, in)
			}
		}
		for i, set := range smallGPUs {
			run, err := exec.New(dev, exec.WithTarget(set))
			run = testkit.Device(t, run, err)
			for k, call := range calls {
				got := filtered(t, dev, run, call, in)
				if exact && !bytes.Equal(got.Data, same[k].Data) {
					t.Errorf("target %d: %s of %v: not the result of the plan for a CPU driver", i, spec.FormatCall(call), in.Desc)
				}
				tol, values := call.Spec().Tolerance(call, in.Desc.DType, []tensor.Desc{in.Desc}), got.Floats()
				for n, want := range wants[k].Floats() {
					if math.Abs(values[n]-want) > tol.Abs {
						t.Errorf("target %d: %s of %v: element %d is %v, want %v", i, spec.FormatCall(call), in.Desc, n, values[n], want)
						break
					}
				}
			}
		}
	}
	t.Run(fmt.Sprint(in.Desc), func(t *testing.T) {
		devices(t, check)
		t.Run("counted", func(t *testing.T) {
			testlevel.Need(t, testlevel.Full)
			dev, err := drivers.Open(t.Context(), drivers.Options{Backend: drivers.CPU, NoCache: true})
			counting := &countingDevice{Device: testkit.Device(t, dev, err), modules: map[*gpu.Module]*countingModule{}, limit: fewIterations}
			run, err := exec.New(counting, exec.WithTarget(smallGPUs[len(smallGPUs)-1]))
			run = testkit.Device(t, run, err)
			for _, call := range calls {
				filtered(t, counting, run, call, in)
			}
		})
	})
}

// TestHistogramsOnGPUs checks the plans for GPUs of operations that map colours by histograms: of
// pictures with many runs, with tiles of different sizes, and in which a level has nearly all pixels,
// so that counts are as large as they get.
func TestHistogramsOnGPUs(t *testing.T) {
	testlevel.Turn(t, 5)
	testlevel.Seed(t)
	for i, size := range [][2]int{{211, 1237}, {1, 50_021}, {3001, 3}} {
		for k, d := range []tensor.DType{tensor.U8, tensor.F32} {
			if !testlevel.Sampled(2*i+k, 6) {
				continue
			}
			rng := rand.New(rand.NewPCG(3, 5))
			in := picture(d, size[0], size[1], func(y, x int) [4]float64 {
				if y < size[0]/2 || y == 0 && x < size[1]/2 {
					return [4]float64{77, 77, 77, float64(min(255, 50*rng.IntN(200)))}
				}
				v := float64(rng.IntN(60) + x*160/size[1])
				return [4]float64{v, 40 + v/2, float64(rng.IntN(256)), float64(255 * min(1, rng.IntN(4)))}
			})
			wantOnGPUs(t, []spec.Call{
				imageops.AutoContrast{Clip: 2}, imageops.AutoContrast{Clip: spec.Given(0.0), Each: true}, imageops.Equalize{}, imageops.Equalize{Each: true},
				imageops.CLAHE{ClipLimit: 3, TilesX: 7, TilesY: 5},
			}, in, true)
		}
	}
}

// turned are calls that move the points of a picture by an affine map, with each kernel for GPUs that does
// it in one launch.
func turned() []spec.Call {
	return []spec.Call{
		spec.WithDefaults(&imageops.Affine{Matrix: []float64{1, 0.2, 0, 0, 1, 0}, Background: "#10f080"}),
		spec.WithDefaults(&imageops.Affine{Matrix: []float64{0.21, -0.4, 333.25, 0.3, 0.17, -20.5}, Filter: "catmull-rom", Background: "black"}),
		spec.WithDefaults(&imageops.Affine{Matrix: []float64{2.3, 1.2, -200, -0.7, 1.6, 5}, Width: 700, Height: 530, Background: "white"}),
		spec.WithDefaults(&imageops.Affine{Matrix: []float64{-1.1, 0.1, 600, 0.05, 1.4, 0}, Filter: "catmull-rom", Background: "white"}),
		spec.WithDefaults(&imageops.Perspective{Matrix: []float64{3, 0, -17.5, 0, 3, 2.25, 0, 0, 2}, Background: "black"}),
	}
}

// TestWarpsOnGPUs checks the plans for GPUs of affine maps, whose blocks have their anchors from the
// kernel: of pictures of several blocks.
func TestWarpsOnGPUs(t *testing.T) {
	testlevel.Turn(t, 5)
	testlevel.Seed(t)
	for i, d := range []tensor.DType{tensor.U8, tensor.F32} {
		if !testlevel.Sampled(i, 2) {
			continue
		}
		in := picture(d, 290, 620, func(y, x int) [4]float64 {
			wave := func(v, length float64) float64 { return 128 + 120*math.Sin(v*2*math.Pi/length) }
			return [4]float64{wave(float64(x+y), 60), wave(float64(y), 44), wave(float64(x), 71), 255}
		})
		wantOnGPUs(t, turned(), in, false)
	}
}

// TestStripsOfWarpsOnGPUs checks that rows of a result that are made alone have the same bits.
func TestStripsOfWarpsOnGPUs(t *testing.T) {
	testlevel.Turn(t, 5)
	rng := rand.New(rand.NewPCG(3, 5))
	in := picture(tensor.U8, 530, 700, func(y, x int) [4]float64 {
		return [4]float64{float64(rng.IntN(256)), float64(rng.IntN(256)), float64(rng.IntN(256)), float64(rng.IntN(256))}
	})
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev, exec.WithTarget(func(t *spec.Target) { t.CPU = false }))
		run = testkit.Device(t, run, err)
		for _, call := range append(turned(), spec.WithDefaults(&imageops.Rotate{Degrees: 33, Filter: "nearest"})) {
			whole := filtered(t, dev, run, call, in)
			rowBytes := whole.Desc.Shape[1] * 4
			for _, rows := range []spec.RowRange{{From: 0, To: 1}, {From: 100, To: 300}, {From: 255, To: 520}} {
				need := imageops.Need(call, []tensor.Desc{in.Desc}, 0, rows)
				part, made := imageops.Part(call, []tensor.Desc{in.Desc}, []spec.RowRange{need}, rows)
				some := tensor.NewHost(tensor.Contiguous(tensor.U8, need.To-need.From, 700, 4))
				copy(some.Data, in.Data[need.From*700*4:need.To*700*4])
				if got := filtered(t, dev, run, part, some); !bytes.Equal(got.Data, whole.Data[made.From*rowBytes:made.To*rowBytes]) {
					t.Errorf("%s: rows %v are others if they are made alone", spec.FormatCall(call), rows)
				}
			}
		}
	})
}
