package ops_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/testlevel"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// convCase is a call with the shapes of its inputs.
type convCase struct {
	call spec.Call
	in   [][]int
}

// convCases are convolutions of each kind over one to three axes. Sizes are primes, or end tiles.
func convCases() []convCase {
	pads := []int{1, 1, 1, 1}
	return []convCase{
		{ops.Conv{Group: 1, Pads: pads}, [][]int{{2, 5, 11, 13}, {67, 5, 3, 3}, {67}}},
		{ops.Conv{Group: 3}, [][]int{{1, 6, 19}, {9, 2, 5}, {9}}},
		{ops.Conv{Group: 2, Strides: []int{2, 3}, Pads: []int{0, 2, 1, 3}, Dilations: []int{1, 2}}, [][]int{{3, 6, 9, 17}, {10, 3, 2, 3}}},
		{ops.Conv{Group: 1, Pads: []int{0, 1, 1, 0, 1, 1}}, [][]int{{2, 7, 3, 6, 5}, {17, 7, 1, 3, 3}, {17}}},
		{ops.Conv{Group: 1, Dilations: []int{2, 1, 3}, Pads: []int{1, 0, 2, 2, 0, 1}, Strides: []int{1, 2, 2}}, [][]int{{1, 3, 5, 7, 11}, {3, 3, 2, 1, 3}}},
		{ops.Conv{Group: 1, Pads: []int{40, 0}}, [][]int{{1, 2, 31}, {5, 2, 3}}},
		{ops.Conv{Group: 1, Pads: pads}, [][]int{{1, 131, 8, 8}, {65, 131, 3, 3}, {65}}},
		{ops.Conv{Group: 1, Pads: pads}, [][]int{{1, 300, 6, 6}, {5, 300, 3, 3}, {5}}},
		{ops.Conv{Group: 1, Pads: pads}, [][]int{{1, 16, 6, 7}, {33, 16, 3, 3}, {33}}},
		{ops.ConvTranspose{Group: 1, Strides: []int{2, 2}, Pads: pads, OutputPadding: []int{1, 1}}, [][]int{{2, 5, 7, 6}, {5, 11, 3, 3}, {11}}},
		{ops.ConvTranspose{Group: 2, Strides: []int{3, 1, 2}, Dilations: []int{2, 1, 3}}, [][]int{{1, 4, 3, 2, 5}, {4, 3, 2, 3, 2}, {6}}},
		{ops.ConvInputGrad{Group: 1, Size: []int{9, 8}, Pads: pads}, [][]int{{2, 13, 9, 8}, {13, 7, 3, 3}}},
		{ops.ConvInputGrad{Group: 2, Size: []int{31}, Strides: []int{3}, Pads: []int{2, 1}}, [][]int{{3, 6, 11}, {6, 5, 4}}},
		{ops.ConvFilterGrad{Group: 1, KernelShape: []int{3, 3}, Pads: pads}, [][]int{{3, 17, 9, 11}, {3, 13, 9, 11}}},
		{ops.ConvFilterGrad{Group: 3, KernelShape: []int{1, 2, 3}, Strides: []int{1, 2, 1}, Dilations: []int{1, 1, 2}}, [][]int{{2, 6, 2, 5, 7}, {2, 9, 2, 2, 3}}},
	}
}

// convInputs returns inputs of small integers, so that sums are exact in any order, and what the reference makes of them.
func convInputs(t *testing.T, c convCase, d tensor.DType, set func(i int, values []float64)) (in []*tensor.Host, out *tensor.Host) {
	t.Helper()
	for i, shape := range c.in {
		values := make([]float64, elems(shape))
		for j := range values {
			values[j] = float64(j*(7+2*i)%5 - 2)
		}
		if set != nil {
			set(i, values)
		}
		in = append(in, host(d, shape, values...))
	}
	var ds []tensor.Desc
	for _, h := range in {
		ds = append(ds, h.Desc)
	}
	shapes, err := c.call.Spec().Shape(c.call, ds)
	if err != nil {
		t.Fatal(err)
	}
	out = tensor.NewHost(shapes[0])
	c.call.Spec().Reference(c.call, in, []*tensor.Host{out})
	return in, out
}

// onGPUsBy calls f with the variants of the device, and with two of GPUs whose limits are far below any real ones. The larger
// ones allow parts of sums.
func onGPUsBy(t *testing.T, strategy string, f func(t *testing.T, dev gpu.Device, r *exec.Runner)) {
	onVariantsBy(t, strategy, f)
	for _, v := range []struct {
		name    string
		binding int64
		groups  [3]uint32
	}{{"least", 4 << 10, [3]uint32{3, 2, 3}}, {"small", 16 << 10, [3]uint32{100, 100, 100}}} {
		t.Run(v.name, func(t *testing.T) {
			dev := device(t)
			l := dev.Info().Limits
			l.MaxBinding, l.MaxGroups, l.OffsetAlign, l.MaxBindings = v.binding, v.groups, max(l.OffsetAlign, 256), 4
			dev = guard.Restrict(dev, l)
			f(t, dev, runner(t, dev, exec.WithTarget(func(t *spec.Target) { t.CPU, t.Strategy = false, strategy })))
		})
	}
}

// sharedStrategies are the strategies of convolutions that read tiles of shared memory. Devices without cooperative
// matrices, which no driver of Debian 12 has, make "matrix" by one of the others.
func sharedStrategies(t *testing.T) []string {
	list := []string{"shared", "large"}
	if target := exec.TargetOf(device(t).Info()); target.Matrix[0] > 0 {
		list = append(list, "matrix")
	}
	return list
}

// TestConvByShared makes convolutions of each kind by tiles of shared memory.
func TestConvByShared(t *testing.T) {
	testlevel.Turn(t, 5)
	for _, strategy := range sharedStrategies(t) {
		t.Run(strategy, func(t *testing.T) {
			onGPUsBy(t, strategy, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
				for _, c := range convCases() {
					for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
						in, out := convInputs(t, c, d, nil)
						expectCall(t, r, dev, spec.WithDefaults(c.call), in, []*tensor.Host{out})
					}
				}
			})
		})
	}
}

// TestConvBySharedOfExtremes has NaN in the first element of the input, which kernels read for taps outside, an infinity at its end, and
// an infinite weight. A tap outside is a product with 0, and nothing else.
func TestConvBySharedOfExtremes(t *testing.T) {
	testlevel.Turn(t, 5)
	for _, strategy := range sharedStrategies(t) {
		d := tensor.F32
		if strategy == "matrix" {
			d = tensor.F16
		}
		t.Run(strategy, func(t *testing.T) {
			onVariantsBy(t, strategy, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
				for _, c := range convCases() {
					for _, of := range []int{0, 1} {
						finite := false
						in, out := convInputs(t, c, d, func(i int, values []float64) {
							switch {
							case i == of && of == 0:
								values[0], values[len(values)-1] = math.NaN(), math.Inf(1)
							case i == of:
								values[len(values)/2] = math.Inf(-1)
							}
						})
						for _, v := range out.Floats() {
							finite = finite || !math.IsNaN(v) && !math.IsInf(v, 0)
						}
						if !finite {
							t.Errorf("%+v: no element of the result is finite", c.call)
						}
						expectCall(t, r, dev, spec.WithDefaults(c.call), in, []*tensor.Host{out})
					}
				}
			})
		})
	}
}

// TestConvPlansShared checks which convolutions GPUs make by tiles of shared memory, and by how many launches.
func TestConvPlansShared(t *testing.T) {
	pads := []int{1, 1, 1, 1}
	for _, c := range []struct {
		name   string
		call   spec.Call
		d      tensor.DType
		x, w   []int
		change func(*spec.Target)
		kernel string // of one launch; "" is none
		steps  int    // of the whole plan, 0: any
	}{
		{"parts of sums", ops.Conv{Pads: pads}, tensor.F32, []int{1, 64, 56, 56}, []int{64, 64, 3, 3}, nil, "nn/conv_product.f32", 2},
		{"enough workgroups", ops.Conv{Pads: pads}, tensor.F32, []int{16, 64, 56, 56}, []int{64, 64, 3, 3}, nil, "nn/conv_product.f32", 1},
		{"large tiles", ops.Conv{Pads: pads}, tensor.F32, []int{16, 64, 56, 56}, []int{128, 64, 3, 3}, nil, "nn/conv_product.f32.large", 1},
		{"small workgroups", ops.Conv{Pads: pads}, tensor.F32, []int{16, 64, 56, 56}, []int{128, 64, 3, 3}, func(t *spec.Target) { t.MaxInvocations = 128 }, "nn/conv_product.f32", 1},
		{"16 bits", ops.Conv{Pads: pads, Strides: []int{2, 2}}, tensor.BF16, []int{64, 64, 56, 56}, []int{64, 64, 3, 3}, nil, "nn/conv_product.bf16", 2},
		{"matrices", ops.Conv{Pads: pads}, tensor.F16, []int{64, 64, 56, 56}, []int{64, 64, 3, 3}, nil, "nn/conv_coop.f16.m16.s32", 2},
		{"matrices apart", ops.ConvTranspose{Strides: []int{2, 2}}, tensor.F16, []int{64, 64, 56, 56}, []int{64, 64, 2, 2}, nil, "nn/conv_coop.f16.m16.s32.apart", 2},
		{"no matrices", ops.Conv{Pads: pads}, tensor.F16, []int{64, 64, 56, 56}, []int{64, 64, 3, 3}, func(t *spec.Target) { t.Matrix = [3]uint32{} }, "nn/conv_product.f16", 2},
		{"elements apart", ops.ConvTranspose{Strides: []int{2, 2}}, tensor.F32, []int{8, 64, 56, 56}, []int{64, 32, 2, 2}, nil, "nn/conv_product.f32.apart", 1},
		{"few channels", ops.Conv{Pads: pads}, tensor.F32, []int{1, 64, 56, 56}, []int{3, 64, 3, 3}, nil, "", 0},
		{"few positions", ops.Conv{Pads: pads}, tensor.F32, []int{1, 64, 5, 5}, []int{64, 64, 3, 3}, nil, "", 0},
		{"double precision", ops.Conv{Pads: pads}, tensor.F64, []int{1, 64, 56, 56}, []int{64, 64, 3, 3}, nil, "", 0},
		{"CPU drivers", ops.Conv{Pads: pads}, tensor.F32, []int{1, 64, 56, 56}, []int{64, 64, 3, 3}, func(t *spec.Target) { t.CPU = true }, "", 0},
		{"points", ops.Conv{}, tensor.F32, []int{1, 64, 56, 56}, []int{64, 64, 1, 1}, nil, "", 0},
	} {
		info := null.DefaultInfo()
		info.Kind = gpu.Discrete
		target := exec.TargetOf(&info)
		if c.change != nil {
			c.change(&target)
		}
		call := spec.WithDefaults(c.call)
		got, all := []string{}, planned(t, &target, call, tensor.Contiguous(c.d, c.x...), tensor.Contiguous(c.d, c.w...))
		for _, s := range all {
			if strings.HasPrefix(s.Name(), "nn/conv_product.") || strings.HasPrefix(s.Name(), "nn/conv_coop.") {
				got = append(got, s.Name())
			}
		}
		want := []string{c.kernel}
		if c.kernel == "" {
			want = []string{}
		}
		if !slices.Equal(got, want) || c.steps > 0 && len(all) != c.steps {
			t.Errorf("%s: launches of %v, and %d in all (want %v, and %d)", c.name, got, len(all), want, c.steps)
		}
		if names := call.Spec().Strategies(call, &target, []tensor.Desc{tensor.Contiguous(c.d, c.x...), tensor.Contiguous(c.d, c.w...)}, []tensor.Desc{tensor.Contiguous(c.d, 1)}); c.kernel != "" {
			first := "shared"
			switch {
			case strings.Contains(c.kernel, ".large"):
				first = "large"
			case strings.Contains(c.kernel, "_coop."):
				first = "matrix"
			}
			if len(names) == 0 || names[0] != first {
				t.Errorf("%s: the strategies are %v (want %s first)", c.name, names, first)
			}
		}
	}
}
