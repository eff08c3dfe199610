package ops_test

import (
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// reduced is a tensor of integers that becomes one.
type reduced struct {
	d    tensor.DType
	x    []float64
	want float64
}

// expectReduced reduces tensors to one integer each.
func expectReduced(t *testing.T, call spec.Call, cases []reduced) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range cases {
			expectCall(t, r, dev, call, []*tensor.Host{host(c.d, []int{len(c.x)}, c.x...)}, []*tensor.Host{host(c.d, nil, c.want)})
		}
	})
}

// TestIntegerRoots checks that roots of integers are rounded down, also one below a square, and where a float would round up,
// and that they saturate.
func TestIntegerRoots(t *testing.T) {
	expectReduced(t, ops.ReduceL2{}, []reduced{
		{tensor.I32, []float64{3, -4}, 5}, {tensor.I32, []float64{2, -1}, 2}, {tensor.I32, nil, 0}, {tensor.U8, nil, 0},
		{tensor.U32, []float64{65535, 362, 5, 1}, 65535}, {tensor.U32, []float64{65535, 362, 5, 1, 1}, 65536}, // 65536² − 1, and 65536²
		{tensor.U8, []float64{200, 200}, 255}, {tensor.U8, []float64{200, 100}, 223}, {tensor.I8, []float64{-128}, 127}, {tensor.I8, []float64{-100, 20}, 101},
		{tensor.U16, []float64{65535, 361, 4, 2}, 65535}, {tensor.U16, []float64{65535, 65535}, 65535}, {tensor.I16, []float64{300, -400}, 500}, {tensor.I16, []float64{-32768}, 32767},
		{tensor.I32, []float64{math.MinInt32}, math.MaxInt32}, {tensor.I32, []float64{math.MinInt32 + 1}, math.MaxInt32}, {tensor.U32, []float64{math.MaxUint32}, math.MaxUint32},
		{tensor.U32, []float64{math.MaxUint32, 92681, 408, 19, 2}, math.MaxUint32}, // 2^64 − 1
		{tensor.I64, []float64{3 << 29, -4 << 29}, 5 << 29}, {tensor.U64, []float64{math.MaxUint32}, math.MaxUint32}, {tensor.U64, []float64{1 << 32, 7}, math.MaxUint32},
		{tensor.I32, []float64{math.MinInt32, 1, math.MinInt32, math.MinInt32, math.MinInt32}, math.MaxInt32}, {tensor.U32, []float64{math.MaxUint32, math.MaxUint32, 9}, math.MaxUint32}, // 2^64 + 1, and more
		{tensor.I64, []float64{-0x1p63, 3}, math.MaxUint32}, {tensor.I64, []float64{-0x1p62}, math.MaxUint32}, {tensor.U64, []float64{0x1p63 + 2048}, math.MaxUint32}, {tensor.I64, []float64{-1 << 31, -1 << 31, -1 << 31}, 3719550786},
		{tensor.I64, []float64{-94906266, 0}, 94906266}, {tensor.I64, []float64{94906265, 13777, 82, 8, 3, 2}, 94906265},
	})
}

// TestIntegerLogarithms checks logarithms of integers on both sides of powers of e, and those of sums that have none.
func TestIntegerLogarithms(t *testing.T) {
	const power = 235385266837019968 // e^40 − 17.4
	expectReduced(t, ops.ReduceLogSum{}, []reduced{
		{tensor.I32, []float64{1}, 0}, {tensor.I32, []float64{5, -3}, 0}, {tensor.I32, []float64{3}, 1}, {tensor.I32, []float64{20}, 2}, {tensor.I32, []float64{20, 1}, 3},
		{tensor.U8, []float64{255, 255, 255}, 6}, {tensor.I8, []float64{127, 127, 127, 127}, 6}, {tensor.U16, []float64{65535, 65535}, 11}, {tensor.I16, []float64{-32768, 32767, 9}, 2},
		{tensor.U32, []float64{math.MaxUint32, math.MaxUint32}, 22}, {tensor.I32, []float64{math.MaxInt32, math.MaxInt32}, 22},
		{tensor.I64, []float64{power, 17}, 39}, {tensor.I64, []float64{power, 18}, 40}, {tensor.I64, []float64{1 << 62}, 42},
		{tensor.U64, []float64{0x1p63}, 43}, {tensor.U64, []float64{0x1p63, 0x1p62}, 44}, {tensor.U64, []float64{0x1p63, 0x1p63, 2048}, 7}, // the last one wraps
		{tensor.I8, nil, -128}, {tensor.U8, nil, 0}, {tensor.I16, []float64{-7, 7}, -32768}, {tensor.I32, []float64{0}, math.MinInt32}, {tensor.U32, []float64{0}, 0},
		{tensor.I64, nil, math.MinInt64}, {tensor.U64, nil, 0}, {tensor.I8, []float64{-3}, 0}, {tensor.I32, []float64{-3, 2}, 0}, {tensor.I64, []float64{-1 << 40}, 0},
	})
}

// TestIntegerExponentials checks that logarithms of sums of exponentials are rounded toward 0 on both sides of 0, and that they
// saturate.
func TestIntegerExponentials(t *testing.T) {
	expectReduced(t, ops.ReduceLogSumExp{}, []reduced{
		{tensor.I32, []float64{7}, 7}, {tensor.I32, []float64{0, 0}, 0}, {tensor.I32, []float64{0, 0, 0}, 1}, {tensor.I32, []float64{10, 9, 8}, 10}, {tensor.I32, []float64{10, 10, 9, 9}, 11},
		{tensor.I32, []float64{-5}, -5}, {tensor.I32, []float64{-5, -5}, -4}, {tensor.I32, []float64{-5, -30}, -4}, {tensor.I32, []float64{-5, -50}, -5}, {tensor.I32, []float64{-5, math.MinInt32}, -5},
		{tensor.I32, []float64{-3, -3, -3}, -1}, {tensor.I32, []float64{-1, -1, -1}, 0}, {tensor.I32, []float64{-1, -1}, 0}, {tensor.I32, []float64{math.MinInt32, math.MaxInt32}, math.MaxInt32},
		{tensor.U8, []float64{254, 254, 254}, 255}, {tensor.U8, []float64{255, 255, 255, 0}, 255}, {tensor.I8, []float64{127, 127, 127}, 127}, {tensor.I8, []float64{-128, 127}, 127}, {tensor.I8, []float64{-128, -128, -128}, -126},
		{tensor.I16, []float64{-300, -300}, -299}, {tensor.U16, []float64{65534, 65534, 65534, 65534, 65534, 65534, 65534, 65534}, 65535}, {tensor.U32, []float64{math.MaxUint32, 0}, math.MaxUint32},
		{tensor.I64, []float64{-1 << 40, -1 << 40, -1 << 40}, 2 - 1<<40}, {tensor.I64, []float64{-0x1p63, -0x1p63}, -0x1p63}, {tensor.U64, []float64{1 << 52, 1 << 52, 1 << 52}, 1<<52 + 1}, {tensor.U64, []float64{0x1p63, 0}, 0x1p63},
		{tensor.I8, nil, -128}, {tensor.U8, nil, 0}, {tensor.I32, nil, math.MinInt32}, {tensor.U32, nil, 0}, {tensor.I64, nil, math.MinInt64}, {tensor.U64, nil, 0},
	})
}

// TestLogarithmsOfSpecialSums checks sums of floats whose logarithm is no number. The suite has no negative elements for them, since
// the bounds of integers are given.
func TestLogarithmsOfSpecialSums(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, d := range []tensor.DType{tensor.F32, tensor.F16, tensor.BF16} {
		expectReduced(t, ops.ReduceLogSum{}, []reduced{
			{d, nil, -inf}, {d, []float64{0, 0}, -inf}, {d, []float64{2, -2}, -inf}, {d, []float64{-3, 2}, nan}, {d, []float64{1, -inf}, nan},
			{d, []float64{1, inf}, inf}, {d, []float64{inf, -inf}, nan}, {d, []float64{1, nan}, nan},
		})
	}
}

// TestIntegerReductionsOfManyRuns reduces and keeps ten dimensions by turns, which are more than a kernel walks.
func TestIntegerReductionsOfManyRuns(t *testing.T) {
	dims, shape, left := []int{0, 2, 4, 6, 8}, []int{2, 2, 2, 2, 2, 2, 2, 2, 2, 2}, []int{2, 2, 2, 2, 2}
	values := make([]float64, 1024) // the results differ: the largest elements are 0 to 31
	for i := range values {
		for k := range left {
			values[i] += float64(i >> (2 * k) & 1 << k)
		}
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, d := range []tensor.DType{tensor.U8, tensor.I16, tensor.I32, tensor.I64} {
			var root, sum, exp []float64
			for v := range 32 {
				whole := float64(v)
				root = append(root, math.Floor(math.Sqrt(32*whole*whole)))
				sum = append(sum, math.Floor(math.Log(32*whole)))
				exp = append(exp, math.Floor(whole+math.Log(32)))
			}
			sum[0] = map[tensor.DType]float64{tensor.I16: -32768, tensor.I32: math.MinInt32, tensor.I64: math.MinInt64}[d]
			in := []*tensor.Host{host(d, shape, values...)}
			expectCall(t, r, dev, ops.ReduceL2{Dims: dims}, in, []*tensor.Host{host(d, left, root...)})
			expectCall(t, r, dev, ops.ReduceLogSum{Dims: dims}, in, []*tensor.Host{host(d, left, sum...)})
			expectCall(t, r, dev, ops.ReduceLogSumExp{Dims: dims}, in, []*tensor.Host{host(d, left, exp...)})
		}
	})
}
