package conformance_test

import (
	"bytes"
	"encoding/binary"
	"math"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// bitsOf returns numbers as the bytes of a tensor.
func bitsOf[T any](values []T) []byte {
	var b bytes.Buffer
	_ = binary.Write(&b, binary.LittleEndian, values) // A buffer takes everything.
	return b.Bytes()
}

// onBits calls an operation with two inputs of bytes and returns the bytes of the result.
func onBits(t *testing.T, dev gpu.Device, run *exec.Runner, call spec.Call, d, result tensor.DType, a, b []byte) []byte {
	t.Helper()
	n := len(a) / d.Size()
	x, y, out := alloc(t, dev, tensor.Contiguous(d, n)), alloc(t, dev, tensor.Contiguous(d, n)), alloc(t, dev, tensor.Contiguous(result, n))
	for _, in := range []struct {
		at   exec.Operand
		data []byte
	}{{x, a}, {y, b}} {
		if err := dev.Write(t.Context(), in.at.Buffer, 0, in.data); err != nil {
			t.Fatal(err)
		}
	}
	if err := run.Run(t.Context(), call, []exec.Operand{x, y}, []exec.Operand{out}); err != nil {
		t.Fatal(err)
	}
	got := make([]byte, n*result.Size())
	if err := run.Read(t.Context(), out.Buffer, 0, got); err != nil {
		t.Fatal(err)
	}
	return got
}

// everyPair returns two lists with each pair of values.
func everyPair[T any](values []T) (a, b []T) {
	for _, x := range values {
		for _, y := range values {
			a, b = append(a, x), append(b, y)
		}
	}
	return a, b
}

// checkBits compares the bits of a result with those that f returns for each pair of values.
func checkBits[T, R any](t *testing.T, dev gpu.Device, run *exec.Runner, call spec.Call, d, result tensor.DType, values []T, f func(x, y T) R) {
	t.Helper()
	a, b := everyPair(values)
	var want []R
	for i := range a {
		want = append(want, f(a[i], b[i]))
	}
	got, wanted := onBits(t, dev, run, call, d, result, bitsOf(a), bitsOf(b)), bitsOf(want)
	for i := range a {
		if g, w := got[i*result.Size():(i+1)*result.Size()], wanted[i*result.Size():(i+1)*result.Size()]; !bytes.Equal(g, w) {
			t.Errorf("%s of %v and %v as %v: got the bytes %x, want %x", spec.FormatCall(call), a[i], b[i], d, g, w)
			return
		}
	}
}

// TestLogicOnBits tries numbers that the references of the suite, which compute in float64, cannot
// have, and the ends of every type.
func TestLogicOnBits(t *testing.T) {
	wide := []int64{0, 1, -1, 2, -2, 3, 7, -7, 63, 64, 65, 1 << 31, 1<<32 - 1, 1 << 32, -1 << 32, 1<<53 + 1, 1<<53 + 2, -1<<53 - 1, math.MaxInt64, math.MaxInt64 - 1, math.MinInt64, math.MinInt64 + 1, 1 << 40, 0x123456789abcdef}
	words := []uint32{0, 1, 2, 3, 31, 32, 33, 1 << 31, 1<<31 - 1, 1<<31 + 1, math.MaxUint32, math.MaxUint32 - 1, 0x12345678}
	floats := []float32{0, float32(math.Copysign(0, -1)), 1, -1, 2.5, -2.5, 3, 1e-45, -3e-45, 1e-40, 1.1754944e-38, 1e30, -1e30, math.MaxFloat32, float32(math.Inf(1)), float32(math.Inf(-1)), float32(math.NaN()), 16777216, 0.1, 1e-20, 123456.7}
	doubles := []float64{0, math.Copysign(0, -1), 1, -1, 2.5, -2.5, 3, 5e-324, -15e-324, 1e-310, 2.2250738585072014e-308, 1e300, -1e300, math.MaxFloat64, math.Inf(1), math.Inf(-1), math.NaN(), 1 << 53, 0.1, 1e-20, 123456.7}
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		testkit.Device(t, run, err)
		mod, fmod := ops.Mod{}, ops.Mod{FMod: 1}
		checkBits(t, dev, run, ops.Less{}, tensor.I64, tensor.Bool, wide, func(x, y int64) bool { return x < y })
		checkBits(t, dev, run, ops.Equal{}, tensor.I64, tensor.Bool, wide, func(x, y int64) bool { return x == y })
		checkBits(t, dev, run, ops.GreaterEqual{}, tensor.U32, tensor.Bool, words, func(x, y uint32) bool { return x >= y })
		checkBits(t, dev, run, ops.LessEqual{}, tensor.F32, tensor.Bool, floats, func(x, y float32) bool { return x <= y })
		checkBits(t, dev, run, ops.NotEqual{}, tensor.F32, tensor.Bool, floats, func(x, y float32) bool { return x != y })
		checkBits(t, dev, run, ops.Greater{}, tensor.F64, tensor.Bool, doubles, func(x, y float64) bool { return x > y })
		checkBits(t, dev, run, ops.Equal{}, tensor.F64, tensor.Bool, doubles, func(x, y float64) bool { return x == y })
		checkBits(t, dev, run, ops.BitwiseXor{}, tensor.I64, tensor.I64, wide, func(x, y int64) int64 { return x ^ y })
		checkBits(t, dev, run, ops.BitShift{Direction: "LEFT"}, tensor.I64, tensor.I64, wide, func(x, y int64) int64 { return x << min(uint64(y), 64) })
		checkBits(t, dev, run, ops.BitShift{Direction: "RIGHT"}, tensor.I64, tensor.I64, wide, func(x, y int64) int64 { return x >> min(uint64(y), 64) })
		checkBits(t, dev, run, ops.BitShift{Direction: "RIGHT"}, tensor.U32, tensor.U32, words, func(x, y uint32) uint32 { return x >> y })
		checkBits(t, dev, run, ops.Mul{}, tensor.I64, tensor.I64, wide, func(x, y int64) int64 { return x * y })
		checkBits(t, dev, run, ops.Mul{}, tensor.U32, tensor.U32, words, func(x, y uint32) uint32 { return x * y })
		checkBits(t, dev, run, ops.Add{}, tensor.U32, tensor.U32, words, func(x, y uint32) uint32 { return x + y })
		checkBits(t, dev, run, ops.Maximum{}, tensor.I64, tensor.I64, wide, func(x, y int64) int64 { return max(x, y) })
		checkBits(t, dev, run, ops.Minimum{}, tensor.U32, tensor.U32, words, func(x, y uint32) uint32 { return min(x, y) })
		checkBits(t, dev, run, ops.Div{}, tensor.I64, tensor.I64, wide, func(x, y int64) int64 {
			if y == 0 {
				return 0
			}
			return x / y
		})
		checkBits(t, dev, run, ops.Div{}, tensor.U32, tensor.U32, words, func(x, y uint32) uint32 {
			if y == 0 {
				return 0
			}
			return x / y
		})
		checkBits(t, dev, run, fmod, tensor.I64, tensor.I64, wide, func(x, y int64) int64 {
			if y == 0 {
				return 0
			}
			return x % y
		})
		checkBits(t, dev, run, mod, tensor.I64, tensor.I64, wide, func(x, y int64) int64 {
			if y == 0 {
				return 0
			}
			r := x % y
			if r != 0 && (r < 0) != (y < 0) {
				r += y
			}
			return r
		})
		checkBits(t, dev, run, mod, tensor.U32, tensor.U32, words, func(x, y uint32) uint32 {
			if y == 0 {
				return 0
			}
			return x % y
		})
		// Every NaN is one of them.
		one := func(x float64) float64 {
			if math.IsNaN(x) {
				return math.Float64frombits(0x7ff8000000000000)
			}
			return x
		}
		checkBits(t, dev, run, fmod, tensor.F64, tensor.F64, doubles, func(x, y float64) float64 { return one(math.Mod(x, y)) })
		checkBits(t, dev, run, fmod, tensor.F32, tensor.F32, floats, func(x, y float32) float32 {
			return float32(one(math.Mod(float64(x), float64(y))))
		})
	})
}
