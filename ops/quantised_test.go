package ops_test

import (
	"math"
	"math/big"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// host makes a tensor.
func host(d tensor.DType, shape []int, values ...float64) *tensor.Host {
	h := tensor.NewHost(tensor.Contiguous(d, shape...))
	h.SetFloats(values)
	return h
}

// expectCall runs a call on in, and compares what it writes with want bit for bit.
func expectCall(t *testing.T, r *exec.Runner, dev gpu.Device, call spec.Call, in, want []*tensor.Host) {
	t.Helper()
	expectNear(t, r, dev, call, in, want, 0)
}

// expectNear runs a call on in, and compares what it writes with want. An element may differ by tolerance.
func expectNear(t *testing.T, r *exec.Runner, dev gpu.Device, call spec.Call, in, want []*tensor.Host, tolerance float64) {
	t.Helper()
	var from, to []exec.Operand
	for _, h := range in {
		from = append(from, exec.Operand{Buffer: testgpu.Load(t, dev, h.Data), Desc: h.Desc})
	}
	for _, h := range want {
		to = append(to, exec.Operand{Buffer: testgpu.Load(t, dev, make([]byte, len(h.Data))), Desc: h.Desc})
	}
	if err := r.Run(t.Context(), call, from, to); err != nil {
		t.Fatal(err)
	}
	for i, h := range want {
		got := tensor.NewHost(h.Desc)
		if err := r.Read(t.Context(), to[i].Buffer, 0, got.Data); err != nil {
			t.Fatal(err)
		}
		values := h.Floats()
		for j, v := range got.Floats() {
			if w := values[j]; v != w && !(math.Abs(v-w) <= tolerance) && !(math.IsNaN(v) && math.IsNaN(w)) {
				t.Errorf("%+v: output %d, element %d: got %v, want %v", call, i, j, v, w)
			}
		}
	}
	for _, o := range append(from, to...) {
		if err := dev.Free(o.Buffer); err != nil {
			t.Error(err)
		}
	}
}

// repeated is n times v.
func repeated(n int, v float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = v
	}
	return values
}

// TestIntegerConvs convolves the largest integers, with the most products whose sum is an integer of 32 bits and with one more,
// which wraps: as channels, and as taps of one channel. Then padding counts as 0 beside zero points.
func TestIntegerConvs(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		plain := ops.ConvInteger{Group: 1, AutoPad: "NOTSET"}
		for k, want := range map[int]float64{256: 16646400, 257: 16711425, 33025: 2147450625, 33026: -2147451646} {
			sum := []*tensor.Host{host(tensor.I32, []int{1, 1, 1}, want)}
			for _, shape := range [][]int{{1, k, 1}, {1, 1, k}} {
				all := host(tensor.U8, shape, repeated(k, 255)...)
				expectCall(t, r, dev, plain, []*tensor.Host{all, all}, sum)
				expectCall(t, r, dev, plain, []*tensor.Host{
					host(tensor.I8, shape, repeated(k, -128)...), host(tensor.U8, shape, repeated(k, 0)...), host(tensor.I8, nil, 127), host(tensor.U8, []int{1}, 255),
				}, sum)
			}
		}
		// x without its zero point is 1, 3, 5. The filters without theirs are 1, 2 and -1, 0.
		x, w := host(tensor.U8, []int{1, 1, 3}, 5, 7, 9), host(tensor.I8, []int{2, 1, 2}, 11, 12, -8, -7)
		zeroX, zeroW := host(tensor.U8, nil, 4), host(tensor.I8, []int{2}, 10, -7)
		pads := []int{1, 1}
		expectCall(t, r, dev, ops.ConvInteger{Group: 1, AutoPad: "NOTSET", Pads: pads}, []*tensor.Host{x, w, zeroX, zeroW},
			[]*tensor.Host{host(tensor.I32, []int{1, 2, 4}, 2, 7, 13, 5, 0, -1, -3, -5)})
		// The sums with the bias are 5, 10, 16, 8 and 7, 6, 4, 2. They are halved, and those of the second filter doubled before.
		expectCall(t, r, dev, ops.QLinearConv{Group: 1, AutoPad: "NOTSET", Pads: pads}, []*tensor.Host{
			x, host(tensor.F32, nil, 2), zeroX, w, host(tensor.F32, []int{2}, 0.5, 1), zeroW, host(tensor.F32, nil, 2), host(tensor.I8, nil, 10), host(tensor.I32, []int{2}, 3, 7),
		}, []*tensor.Host{host(tensor.I8, []int{1, 2, 4}, 12, 15, 18, 14, 17, 16, 14, 12)})
	})
}

// TestIntegerConvOfManyChannels convolves images of so many channels that two of them exceed a small binding. The channels of a run
// are then copied together.
func TestIntegerConvOfManyChannels(t *testing.T) {
	const images, groups, channels, width, results, taps = 3, 2, 15_001, 5, 3, 2
	x, w := make([]float64, images*groups*channels*width), make([]float64, groups*results*channels*taps)
	for i := range x {
		x[i] = float64(i * 7 % 251)
	}
	for i := range w {
		w[i] = float64(i*5%23 - 11)
	}
	var want []float64
	for n := range images {
		for k := range groups * results {
			for i := range width - taps + 1 {
				sum := 0.0
				for c := range channels {
					for r := range taps {
						sum += x[((n*groups+k/results)*channels+c)*width+i+r] * w[(k*channels+c)*taps+r]
					}
				}
				want = append(want, sum)
			}
		}
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		expectCall(t, r, dev, ops.ConvInteger{Group: groups, AutoPad: "NOTSET"}, []*tensor.Host{
			host(tensor.U8, []int{images, groups * channels, width}, x...), host(tensor.I8, []int{groups * results, channels, taps}, w...),
		}, []*tensor.Host{host(tensor.I32, []int{images, groups * results, width - taps + 1}, want...)})
	})
}

// TestIntegerProducts multiplies the largest integers, with the most indices of k whose sum is an integer of 32 bits and with
// one more, which wraps. Then rows and columns have zero points of their own, and so have matrices.
func TestIntegerProducts(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for k, want := range map[int]float64{256: 16646400, 257: 16711425, 33025: 2147450625, 33026: -2147451646} {
			all := host(tensor.U8, []int{1, k}, repeated(k, 255)...)
			column := host(tensor.U8, []int{k, 1}, repeated(k, 255)...)
			expectCall(t, r, dev, ops.MatMulInteger{}, []*tensor.Host{all, column}, []*tensor.Host{host(tensor.I32, []int{1, 1}, want)})
			all = host(tensor.I8, []int{1, k}, repeated(k, -128)...)
			column = host(tensor.U8, []int{k, 1}, repeated(k, 0)...)
			expectCall(t, r, dev, ops.MatMulInteger{}, []*tensor.Host{all, column, host(tensor.I8, nil, 127), host(tensor.U8, []int{1}, 255)}, []*tensor.Host{host(tensor.I32, []int{1, 1}, want)})
		}
		a, b := host(tensor.U8, []int{2, 2}, 1, 2, 3, 4), host(tensor.I8, []int{2, 3}, 1, -2, 3, -4, 5, -6)
		// a without its zero points is [[-9, -8], [-17, -16]], b is [[2, -4, 0], [-3, 3, -9]].
		expectCall(t, r, dev, ops.MatMulInteger{}, []*tensor.Host{a, b, host(tensor.U8, []int{2}, 10, 20), host(tensor.I8, []int{3}, -1, 2, 3)},
			[]*tensor.Host{host(tensor.I32, []int{2, 3}, 6, 12, 72, 14, 20, 144)})
		expectCall(t, r, dev, ops.MatMulInteger{}, []*tensor.Host{a, b, host(tensor.U8, []int{0}), host(tensor.I8, []int{3}, -1, 2, 3)},
			[]*tensor.Host{host(tensor.I32, []int{2, 3}, -4, 2, -18, -6, 0, -36)})
		// Two matrices [[2], [3]] and [[4], [5]], less [[1], [0]] and [[2], [7]], times one matrix [[10, -10]] less [[1, 2]].
		expectCall(t, r, dev, ops.MatMulInteger{}, []*tensor.Host{
			host(tensor.U8, []int{2, 2, 1}, 2, 3, 4, 5), host(tensor.I8, []int{1, 2}, 10, -10),
			host(tensor.U8, []int{2, 2, 1}, 1, 0, 2, 7), host(tensor.I8, []int{1, 2}, 1, 2),
		}, []*tensor.Host{host(tensor.I32, []int{2, 2, 2}, 9, -12, 27, -36, 18, -24, -18, 24)})
	})
}

// TestQuantisedProducts makes halves of products, so that they are rounded to even numbers, and reaches both ends of the
// integers.
func TestQuantisedProducts(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			to   tensor.DType
			zero float64
			want []float64
		}{
			{tensor.I8, 100, []float64{36, 96, 98, 98, 100, 100, 102, 102, 104, 127}},
			{tensor.I8, -100, []float64{-128, -104, -102, -102, -100, -100, -98, -98, -96, -36}},
			{tensor.U8, 3, []float64{0, 0, 1, 1, 3, 3, 5, 5, 7, 67}},
			{tensor.U8, 200, []float64{136, 196, 198, 198, 200, 200, 202, 202, 204, 255}},
		} {
			// The products are twice a: its scale is 1/2 and that of b is 4.
			in := []*tensor.Host{
				host(tensor.I8, []int{10, 1}, -128, -7, -5, -4, -1, 1, 4, 5, 7, 127), host(tensor.F32, nil, 0.5), host(tensor.I8, nil, 0),
				host(tensor.U8, []int{1, 1}, 101), host(tensor.F32, []int{1}, 4), host(tensor.U8, []int{1}, 100),
				host(tensor.F32, nil, 4), host(c.to, nil, c.zero),
			}
			expectCall(t, r, dev, ops.QLinearMatMul{}, in, []*tensor.Host{host(c.to, []int{10, 1}, c.want...)})
		}
		// Scales of 16 bits, worked out by hand: 1.5·1.5/0.5 is 4.5, and three times that is 13.5.
		for _, d := range []tensor.DType{tensor.F16, tensor.BF16} {
			expectCall(t, r, dev, ops.QLinearMatMul{}, []*tensor.Host{
				host(tensor.U8, []int{2, 1}, 1, 3), host(d, nil, 1.5), host(tensor.U8, nil, 0),
				host(tensor.I8, []int{1, 2}, 1, -2), host(d, []int{2}, 1.5, 0.75), host(tensor.I8, []int{2}, 0, 0),
				host(d, nil, 0.5), host(tensor.I8, nil, 1),
			}, []*tensor.Host{host(tensor.I8, []int{2, 2}, 5, -3, 15, -13)})
		}
		// Each matrix of a has its own scale, and so has each column of b.
		expectCall(t, r, dev, ops.QLinearMatMul{}, []*tensor.Host{
			host(tensor.U8, []int{2, 1, 1}, 6, 10), host(tensor.F32, []int{2, 1, 1}, 1, 2), host(tensor.U8, []int{2, 1, 1}, 0, 0),
			host(tensor.I8, []int{1, 2}, 1, 1), host(tensor.F32, []int{1, 2}, 1, 3), host(tensor.I8, []int{1, 2}, 0, 0),
			host(tensor.F32, nil, 2), host(tensor.U8, nil, 0),
		}, []*tensor.Host{host(tensor.U8, []int{2, 1, 2}, 3, 9, 10, 30)})
	})
}

// TestDynamicScales quantises numbers whose range begins or ends at 0, and numbers that have no range.
func TestDynamicScales(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		inf, nan := math.Inf(1), math.NaN()
		for _, c := range []struct {
			x, want     []float64
			scale, zero float64
		}{
			{[]float64{0, 0, 0}, []float64{0, 0, 0}, 1, 0},
			{[]float64{51, 102, 255}, []float64{51, 102, 255}, 1, 0},
			{[]float64{-255, -100}, []float64{0, 155}, 1, 255},
			{[]float64{-2, 0, 1.5, 508}, []float64{0, 1, 2, 255}, 2, 1},
			{[]float64{-1, 1, 3, 509}, []float64{0, 0, 2, 254}, 2, 0}, // halves
			{[]float64{1e-40, -1e-40}, []float64{0, 0}, 1, 0},
			{[]float64{1, nan, 2}, []float64{0, 0, 0}, nan, 0},
			{[]float64{1, inf, -2}, []float64{0, 0, 0}, inf, 0},
		} {
			expectCall(t, r, dev, ops.DynamicQuantizeLinear{}, []*tensor.Host{host(tensor.F32, []int{len(c.x)}, c.x...)}, []*tensor.Host{
				host(tensor.U8, []int{len(c.x)}, c.want...), host(tensor.F32, nil, c.scale), host(tensor.U8, nil, c.zero),
			})
		}
	})
}

// TestQuantisedIntegers quantises integers of 32 bits, at halves and next to them. A quotient of F32 would round some of
// them to the half first. What is expected is computed by fractions.
func TestQuantisedIntegers(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		call := ops.QuantizeLinear{Axis: 0, OutputDType: tensor.I8}
		// 41943040 is 2.5·2^24. F32 has it, but neither of its neighbours.
		expectCall(t, r, dev, call, []*tensor.Host{
			host(tensor.I32, []int{9}, 41943040, 41943041, 41943039, -41943040, -41943041, math.MaxInt32, math.MinInt32, 0, 8388608),
			host(tensor.F32, nil, 1<<24),
		}, []*tensor.Host{host(tensor.I8, []int{9}, 2, 3, 2, -2, -3, 127, -128, 0, 0)})
		expectCall(t, r, dev, call, []*tensor.Host{
			host(tensor.I32, []int{6}, 5, -5, 0, 7, 7, math.MinInt32), host(tensor.F32, []int{6}, 0, 0, 0, math.NaN(), math.Inf(-1), math.Inf(1)),
			host(tensor.I8, []int{6}, 1, 1, 1, 1, 1, 1),
		}, []*tensor.Host{host(tensor.I8, []int{6}, 127, -128, 1, 1, 1, 1)})
		for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
			var x, scales, want []float64
			for _, s := range []float64{0x1p-9, 0.125, 1.0 / 3, 0.7, 1, 3, 255, 4099, 1e5, 3333333, 0x1p24, 16777213, -12345678} {
				scale := host(d, []int{1}, s).At(0)
				if math.IsInf(scale, 0) {
					continue
				}
				for half := -270; half <= 270; half += 3 {
					for off := -1.0; off <= 1; off++ {
						n := math.Round(scale*float64(half)/2) + off
						if math.Abs(n) > math.MaxInt32 {
							continue
						}
						x, scales, want = append(x, n), append(scales, scale), append(want, roundedFraction(n, scale))
					}
				}
			}
			shape := []int{len(x)}
			expectCall(t, r, dev, call, []*tensor.Host{host(tensor.I32, shape, x...), host(d, shape, scales...)}, []*tensor.Host{host(tensor.I8, shape, want...)})
		}
	})
}

// roundedFraction is x/s, rounded half to even, as an i8.
func roundedFraction(x, s float64) float64 {
	q := new(big.Rat).Quo(new(big.Rat).SetFloat64(x), new(big.Rat).SetFloat64(s))
	// The integer below q + ½ is that next to q, or the one above a half.
	sum := new(big.Rat).Add(q, big.NewRat(1, 2))
	n := new(big.Int)
	n.Div(sum.Num(), sum.Denom())
	if sum.IsInt() && n.Bit(0) == 1 {
		n.Sub(n, big.NewInt(1))
	}
	return float64(min(max(n.Int64(), -128), 127))
}
