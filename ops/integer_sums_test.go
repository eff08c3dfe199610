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

// TestIntegerReductions reduces a few integers of each type to one, where results wrap, and where integers with a sign would have
// another order.
func TestIntegerReductions(t *testing.T) {
	const half = 0x1p63
	call := map[string]spec.Call{
		"sum": ops.ReduceSum{}, "mean": ops.ReduceMean{}, "prod": ops.ReduceProd{}, "l1": ops.ReduceL1{}, "square": ops.ReduceSumSquare{},
		"max": ops.ReduceMax{}, "min": ops.ReduceMin{}, "argmax": ops.ArgMax{}, "argmin": ops.ArgMin{},
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			name string
			d    tensor.DType
			x    []float64
			want float64
		}{
			{"sum", tensor.U8, []float64{200, 100, 7}, 51}, {"sum", tensor.I8, []float64{100, 100}, -56}, {"sum", tensor.U16, []float64{65535, 2}, 1},
			{"sum", tensor.I16, []float64{32767, 1}, -32768}, {"sum", tensor.U32, []float64{math.MaxUint32, 5}, 4}, {"sum", tensor.U64, []float64{half, half, 2048}, 2048},
			{"mean", tensor.U32, []float64{math.MaxUint32, 0}, math.MaxInt32}, {"mean", tensor.U32, []float64{math.MaxUint32, 5}, 2},
			{"mean", tensor.U64, []float64{half, 4096}, half/2 + 2048}, {"mean", tensor.I64, []float64{-7, 0}, -3},
			{"prod", tensor.U8, []float64{15, 20}, 44}, {"prod", tensor.I8, []float64{-128, 3}, -128}, {"prod", tensor.I16, []float64{300, 300}, 24464},
			{"prod", tensor.U16, []float64{300, 300}, 24464}, {"prod", tensor.U32, []float64{65536, 65537}, 65536}, {"prod", tensor.U64, []float64{half, 3}, half},
			{"l1", tensor.I8, []float64{-128, -1}, -127}, {"l1", tensor.U8, []float64{200, 100}, 44}, {"l1", tensor.I16, []float64{-300, 4}, 304},
			{"l1", tensor.U16, []float64{65535}, 65535}, {"l1", tensor.I32, []float64{math.MinInt32}, math.MinInt32}, {"l1", tensor.U32, []float64{math.MaxUint32}, math.MaxUint32},
			{"l1", tensor.I64, []float64{-1 << 40, 4}, 1<<40 + 4}, {"l1", tensor.U64, []float64{half, 2048}, half + 2048},
			{"square", tensor.I8, []float64{12}, -112}, {"square", tensor.U8, []float64{200}, 64}, {"square", tensor.I16, []float64{-200, 2}, -25532},
			{"square", tensor.U16, []float64{256}, 0}, {"square", tensor.I32, []float64{65536, 3}, 9}, {"square", tensor.U32, []float64{65537}, 131073},
			{"square", tensor.I64, []float64{1 << 33, 3}, 9}, {"square", tensor.I64, []float64{-1 << 31, 0}, 1 << 62}, {"square", tensor.U64, []float64{half + 2048}, 1 << 22},
			{"max", tensor.U8, []float64{3, 200, 100}, 200}, {"max", tensor.I8, []float64{-3, -128}, -3}, {"max", tensor.I16, []float64{-300, -5}, -5},
			{"max", tensor.U16, []float64{7, 40000}, 40000}, {"max", tensor.U32, []float64{7, 1<<31 + 5}, 1<<31 + 5}, {"max", tensor.U64, []float64{half, 1, half + 2048}, half + 2048},
			{"max", tensor.U64, []float64{0}, 0}, {"max", tensor.Bool, []float64{0, 1, 0}, 1}, {"max", tensor.Bool, []float64{0, 0}, 0},
			{"min", tensor.U8, []float64{130, 200, 255}, 130}, {"min", tensor.I8, []float64{-3, -128}, -128}, {"min", tensor.I16, []float64{300, 5}, 5},
			{"min", tensor.U16, []float64{65535, 40000}, 40000}, {"min", tensor.U32, []float64{7, 1<<31 + 5}, 7}, {"min", tensor.U64, []float64{half, 1, half + 2048}, 1},
			{"min", tensor.U64, []float64{half, half - 1024}, half - 1024}, {"min", tensor.Bool, []float64{1, 1, 0}, 0}, {"min", tensor.Bool, []float64{1, 1}, 1},
			{"argmax", tensor.U8, []float64{3, 200, 100, 200}, 1}, {"argmax", tensor.I8, []float64{-3, -128, 2}, 2}, {"argmax", tensor.U32, []float64{7, 1<<31 + 5}, 1},
			{"argmax", tensor.U64, []float64{half - 1024, half, half}, 1}, {"argmax", tensor.U64, []float64{0, 0}, 0}, {"argmax", tensor.I16, []float64{-300, -5}, 1},
			{"argmin", tensor.U8, []float64{3, 200, 2}, 2}, {"argmin", tensor.U16, []float64{65535, 7, 7}, 1}, {"argmin", tensor.U64, []float64{half, 1 << 32, half}, 1},
		} {
			d := c.d
			if c.name == "argmax" || c.name == "argmin" {
				d = tensor.I32
			}
			expectCall(t, r, dev, call[c.name], []*tensor.Host{host(c.d, []int{len(c.x)}, c.x...)}, []*tensor.Host{host(d, nil, c.want)})
		}
	})
}

// TestIntegerRows makes running values, orders and updates of a few integers of each type.
func TestIntegerRows(t *testing.T) {
	const half = 0x1p63
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, c := range []struct {
			call    spec.Call
			d       tensor.DType
			x, want []float64
		}{
			{ops.CumSum{}, tensor.U8, []float64{200, 100, 7}, []float64{200, 44, 51}}, {ops.CumSum{}, tensor.I8, []float64{100, 100}, []float64{100, -56}},
			{ops.CumSum{}, tensor.U64, []float64{half, half, 2048}, []float64{half, 0, 2048}}, {ops.CumSum{}, tensor.U16, []float64{65535, 2}, []float64{65535, 1}},
			{ops.CumProd{}, tensor.I16, []float64{300, 300, 2}, []float64{300, 24464, -16608}}, {ops.CumProd{}, tensor.U32, []float64{65536, 65537}, []float64{65536, 65536}},
			{ops.Sort{}, tensor.U64, []float64{half + 2048, 1, half}, []float64{1, half, half + 2048}}, {ops.Sort{Descending: true}, tensor.I16, []float64{-300, 5, -2}, []float64{5, -2, -300}},
			{ops.Sort{}, tensor.U16, []float64{40000, 65535, 3}, []float64{3, 40000, 65535}},
		} {
			n := []int{len(c.x)}
			expectCall(t, r, dev, c.call, []*tensor.Host{host(c.d, n, c.x...)}, []*tensor.Host{host(c.d, n, c.want...)})
		}
		for _, c := range []struct {
			reduction string
			d         tensor.DType
			data      []float64
			updates   []float64 // of element 0
			want      float64
		}{
			{"add", tensor.U8, []float64{250, 1, 2}, []float64{5, 3}, 2}, {"add", tensor.I8, []float64{-128, 1}, []float64{-1}, 127}, {"mul", tensor.I16, []float64{300, 9, 8}, []float64{300, 2}, -16608},
			{"max", tensor.U8, []float64{100, 7}, []float64{200}, 200}, {"min", tensor.I8, []float64{100, 7}, []float64{-100}, -100}, {"min", tensor.U16, []float64{65535, 7}, []float64{40000}, 40000},
			{"max", tensor.U32, []float64{7, 6}, []float64{1<<31 + 5}, 1<<31 + 5}, {"min", tensor.U32, []float64{7, 6}, []float64{1<<31 + 5}, 7},
			{"max", tensor.U64, []float64{7, 6}, []float64{half}, half}, {"min", tensor.U64, []float64{7, 6}, []float64{half}, 7}, {"add", tensor.U64, []float64{half, 6}, []float64{half + 2048}, 2048},
		} {
			want := append([]float64{c.want}, c.data[1:]...)
			n, m := []int{len(c.data)}, []int{len(c.updates)}
			expectCall(t, r, dev, ops.ScatterElements{Reduction: c.reduction}, []*tensor.Host{host(c.d, n, c.data...), host(tensor.I32, m, repeated(m[0], 0)...), host(c.d, m, c.updates...)},
				[]*tensor.Host{host(c.d, n, want...)})
		}
	})
}
