package ops_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// three is a convolution of three by three taps with pads of 1.
type three struct{ images, groups, channels, results, height, width int }

func (s three) String() string {
	return fmt.Sprintf("%d×%d×%d→%d at %d×%d", s.images, s.groups, s.channels, s.results, s.height, s.width)
}

// visit calls f for each product of an element of y: with the numbers of the elements of y, x and w. x is -1 outside.
func (s three) visit(f func(y, x, w int)) {
	n := s.height * s.width
	for y := range s.images * s.groups * s.results * n {
		image, out, i, j := y/(s.groups*s.results*n), y/n%(s.groups*s.results), y%n/s.width, y%s.width
		for c := range s.channels {
			from := (image*s.groups*s.channels + out/s.results*s.channels + c) * n
			for tap := range 9 {
				a, b, x := i+tap/3-1, j+tap%3-1, -1
				if a >= 0 && a < s.height && b >= 0 && b < s.width {
					x = from + a*s.width + b
				}
				f(y, x, (out*s.channels+c)*9+tap)
			}
		}
	}
}

// shapes returns the shapes of x, w, the bias and y.
func (s three) shapes() (x, w, bias, y []int) {
	k := s.groups * s.results
	return []int{s.images, s.groups * s.channels, s.height, s.width}, []int{k, s.channels, 3, 3}, []int{k}, []int{s.images, k, s.height, s.width}
}

func (s three) call() ops.Conv {
	return spec.WithDefaults(ops.Conv{Pads: []int{1, 1, 1, 1}, Group: s.groups})
}

func elems(shape []int) int {
	n := 1
	for _, d := range shape {
		n *= d
	}
	return n
}

// TestConvByTiles convolves by Winograd's algorithm, and makes the gradient of the input. All numbers are integers whose
// transforms are exact.
func TestConvByTiles(t *testing.T) {
	sizes := []three{
		{1, 1, 16, 16, 8, 8}, {1, 1, 1, 1, 1, 1}, {3, 1, 5, 7, 1, 9}, {2, 3, 4, 5, 7, 6}, {1, 1, 40, 33, 13, 17},
		{2, 1, 64, 70, 5, 4}, {1, 1, 8, 4, 33, 32}, {5, 2, 17, 34, 3, 3}, {1, 1, 3, 65, 2, 47},
	}
	onVariantsBy(t, "winograd", func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, s := range sizes {
			for _, d := range []tensor.DType{tensor.F32, tensor.F16} {
				t.Run(fmt.Sprintf("%v %v", s, d), func(t *testing.T) {
					sx, sw, sb, sy := s.shapes()
					x, w, bias, dy := make([]float64, elems(sx)), make([]float64, elems(sw)), make([]float64, elems(sb)), make([]float64, elems(sy))
					for i := range x {
						x[i] = float64(i*7%5 - 2)
					}
					for i := range w {
						w[i] = float64(i*5%7%3 - 1)
					}
					for i := range bias {
						bias[i] = float64(i%11 - 5)
					}
					for i := range dy {
						dy[i] = float64(i*3%7 - 3)
					}
					plain, dx := make([]float64, len(dy)), make([]float64, len(x))
					s.visit(func(at, from, weight int) {
						if from >= 0 {
							plain[at] += x[from] * w[weight]
							dx[from] += dy[at] * w[weight]
						}
					})
					y := slices.Clone(plain)
					for i := range y {
						y[i] += bias[i/(s.height*s.width)%len(bias)]
					}
					hx, hw, hy := host(d, sx, x...), host(d, sw, w...), host(d, sy, dy...)
					expectCall(t, r, dev, s.call(), []*tensor.Host{hx, hw, host(d, sb, bias...)}, []*tensor.Host{host(d, sy, y...)})
					expectCall(t, r, dev, s.call(), []*tensor.Host{hx, hw}, []*tensor.Host{host(d, sy, plain...)})
					expectCall(t, r, dev, spec.WithDefaults(ops.ConvInputGrad{Size: sx[2:], Pads: []int{1, 1, 1, 1}, Group: s.groups}),
						[]*tensor.Host{hy, hw}, []*tensor.Host{host(d, sx, dx...)})
				})
			}
		}
	})
}

// TestConvByTilesOfExtremes has elements that are infinite, NaN, or so large that a transform of their tile overflows. What does
// not depend on them is as without them. What does is a plain sum.
func TestConvByTilesOfExtremes(t *testing.T) {
	s := three{1, 1, 20, 18, 9, 10}
	sx, sw, sb, sy := s.shapes()
	onVariantsBy(t, "winograd", func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, v := range []float64{math.Inf(1), math.Inf(-1), math.NaN(), 3e38, -3e38} {
			x, w, bias := make([]float64, elems(sx)), make([]float64, elems(sw)), make([]float64, elems(sb))
			for i := range x {
				x[i] = float64(i*7%5 - 2)
			}
			for i := range w {
				w[i] = float64(i*5%7%3 - 1)
			}
			for i := range bias {
				bias[i] = float64(i)
			}
			if large := !math.IsInf(v, 0) && !math.IsNaN(v); large {
				// A channel whose elements meet one tap only, so that no sum overflows.
				for i := range 90 {
					x[7*90+i] = v
				}
				for k := range s.results {
					for tap := range 9 {
						w[(k*s.channels+7)*9+tap] = 0
					}
					w[(k*s.channels+7)*9+4] = float64(k%2) - 0.5
				}
			} else {
				x[7*90+43] = v
			}
			y := make([]float64, elems(sy))
			s.visit(func(at, from, weight int) {
				if from >= 0 {
					y[at] += x[from] * w[weight]
				}
			})
			for i := range y {
				y[i] = float64(float32(y[i] + bias[i/90]))
			}
			allowed := 0.0
			if math.Abs(v) == 3e38 {
				allowed = 3e38 * 0x1p-20
			}
			t.Run(fmt.Sprint(v), func(t *testing.T) {
				expectNear(t, r, dev, s.call(), []*tensor.Host{host(tensor.F32, sx, x...), host(tensor.F32, sw, w...), host(tensor.F32, sb, bias...)},
					[]*tensor.Host{host(tensor.F32, sy, y...)}, allowed)
			})
		}
	})
}

// TestConvByTilesThatOverflow makes all elements plain sums, in kernels whose loops drivers limit: the transform of each tile
// overflows.
func TestConvByTilesThatOverflow(t *testing.T) {
	s := three{1, 1, 450, 72, 20, 20}
	sx, sw, _, sy := s.shapes()
	const large, small = 0x1p127, 0x1p-20
	x, w, y := make([]float64, elems(sx)), make([]float64, elems(sw)), make([]float64, elems(sy))
	for i := range x { // Two columns are positive, two are negative, and so on.
		x[i] = large * float64(1-i%s.width/2%2*2)
	}
	for i := 4; i < len(w); i += 9 {
		w[i] = small
	}
	for i := range y {
		y[i] = x[i%(s.height*s.width)] * small * float64(s.channels)
	}
	onVariantsBy(t, "winograd", func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		expectCall(t, r, dev, s.call(), []*tensor.Host{host(tensor.F32, sx, x...), host(tensor.F32, sw, w...)}, []*tensor.Host{host(tensor.F32, sy, y...)})
	})
}

// TestConvByTilesOfAnyValues tests the bound for inputs of any value, whose sizes differ by up to 2^48.
func TestConvByTilesOfAnyValues(t *testing.T) {
	s := three{1, 1, 48, 24, 12, 11}
	sx, sw, _, sy := s.shapes()
	rng := rand.New(rand.NewPCG(5, 6))
	values := func(n int) []float64 {
		v := make([]float64, n)
		for i := range v {
			v[i] = float64(float32(math.Exp2(-24*rng.Float64()) * float64(1-2*rng.IntN(2))))
		}
		return v
	}
	x, w := values(elems(sx)), values(elems(sw))
	want, bound := make([]float64, elems(sy)), make([]float64, elems(sy))
	s.visit(func(at, from, weight int) {
		if from >= 0 {
			want[at] += x[from] * w[weight]
		}
	})
	n := s.height * s.width
	most := func(v []float64, at, i, j, height, width, size int) (m float64) {
		for a := max(i, 0); a < min(i+size, height); a++ {
			for b := max(j, 0); b < min(j+size, width); b++ {
				m = max(m, math.Abs(v[at+a*width+b]))
			}
		}
		return m
	}
	for at := range bound {
		out, i, j := at/n, at%n/s.width, at%s.width
		for c := range s.channels {
			bound[at] += most(x, c*n, i/2*2-1, j/2*2-1, s.height, s.width, 4) * most(w, (out*s.channels+c)*9, 0, 0, 3, 3, 3)
		}
		h := float64(9*s.channels + 1 + 12 + 12)
		bound[at] *= 81 * (math.Pow(1+0x1p-24, h) - 1)
	}
	onVariantsBy(t, "winograd", func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		got := tensor.NewHost(tensor.Contiguous(tensor.F32, sy...))
		to := exec.Operand{Buffer: testgpu.Load(t, dev, got.Data), Desc: got.Desc}
		var from []exec.Operand
		for _, h := range []*tensor.Host{host(tensor.F32, sx, x...), host(tensor.F32, sw, w...)} {
			from = append(from, exec.Operand{Buffer: testgpu.Load(t, dev, h.Data), Desc: h.Desc})
		}
		if err := r.Run(t.Context(), s.call(), from, []exec.Operand{to}); err != nil {
			t.Fatal(err)
		}
		if err := r.Read(t.Context(), to.Buffer, 0, got.Data); err != nil {
			t.Fatal(err)
		}
		worst := 0.0
		for i, v := range got.Floats() {
			used := math.Abs(v-want[i]) / bound[i]
			if worst = max(worst, used); !(used <= 1) {
				t.Fatalf("element %d is %v (want %v ± %.3g)", i, v, want[i], bound[i])
			}
		}
		t.Logf("%.3g of the bound", worst)
	})
}

// TestConvOfVolumesByTiles convolves several planes of a volume by taps that lie in one plane, which tiles do not serve.
func TestConvOfVolumesByTiles(t *testing.T) {
	s := three{3, 1, 16, 17, 6, 7}
	n := s.height * s.width
	sx, sw := []int{1, s.channels, s.images, s.height, s.width}, []int{s.results, s.channels, 1, 3, 3}
	x, w, y := make([]float64, s.images*s.channels*n), make([]float64, elems(sw)), make([]float64, s.images*s.results*n)
	for i := range x {
		x[i] = float64(i*7%5 - 2)
	}
	for i := range w {
		w[i] = float64(i*5%7%3 - 1)
	}
	// The planes of a channel follow each other, where images have all channels of one after those of another.
	s.visit(func(at, from, weight int) {
		if from >= 0 {
			image, in, out := from/(s.channels*n), from/n%s.channels, at/n%s.results
			y[(out*s.images+image)*n+at%n] += x[(in*s.images+image)*n+from%n] * w[weight]
		}
	})
	for _, strategy := range []string{"", "winograd"} {
		onVariantsBy(t, strategy, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
			expectCall(t, r, dev, spec.WithDefaults(ops.Conv{Pads: []int{0, 1, 1, 0, 1, 1}}),
				[]*tensor.Host{host(tensor.F32, sx, x...), host(tensor.F32, sw, w...)}, []*tensor.Host{host(tensor.F32, []int{1, s.results, s.images, s.height, s.width}, y...)})
		})
	}
}

// TestConvPlansTiles checks that CPU drivers convolve by tiles where that is the fastest way, and that the tuner may choose them
// elsewhere.
func TestConvPlansTiles(t *testing.T) {
	for _, c := range []struct {
		call  ops.Conv
		s     three
		dtype tensor.DType
		first bool
	}{
		{ops.Conv{}, three{1, 1, 64, 64, 56, 56}, tensor.F32, true},
		{ops.Conv{}, three{1, 1, 64, 64, 56, 56}, tensor.BF16, true},
		{ops.Conv{}, three{1, 2, 256, 256, 14, 14}, tensor.F32, true},
		{ops.Conv{}, three{1, 1, 3, 64, 56, 56}, tensor.F32, false},
		{ops.Conv{Strides: []int{2, 2}}, three{1, 1, 64, 64, 56, 56}, tensor.F32, false},
		{ops.Conv{Dilations: []int{2, 2}}, three{1, 1, 64, 64, 56, 56}, tensor.F32, false},
		{ops.Conv{}, three{1, 1, 64, 64, 56, 56}, tensor.F64, false},
	} {
		sx, sw, _, _ := c.s.shapes()
		c.call.Group, c.call.AutoPad, c.call.Pads = c.s.groups, "NOTSET", []int{1, 1, 1, 1}
		in := []tensor.Desc{tensor.Contiguous(c.dtype, sx...), tensor.Contiguous(c.dtype, sw...)}
		op := c.call.Spec()
		out, err := op.Shape(c.call, in)
		if err != nil {
			t.Fatal(err)
		}
		target := spec.Target{
			CPU: true, TexelBuffers: true, MaxBinding: 128 << 20, MaxTexels: 64 << 20, MaxGroups: [3]uint32{65535, 65535, 65535}, MaxInvocations: 1024,
			MaxBindings: 8, OffsetAlign: 16, TexelAlign: 16, F64: true, MaxParamBytes: 128,
		}
		plan, err := op.Plan(c.call, &target, in, out)
		if err != nil {
			t.Fatal(err)
		}
		has := slices.ContainsFunc(plan.Steps, func(s spec.Step) bool { return strings.HasPrefix(s.Module.Name, "nn/conv_tiles.") })
		names := op.Strategies(c.call, &target, in, out)
		if has != c.first || c.first != (len(names) > 0 && names[0] == "winograd") {
			t.Errorf("%v %v of %v: by tiles: %v, strategies %v (want tiles: %v)", c.call, c.s, c.dtype, has, names, c.first)
		}
	}
}
