package ops_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/testgpu"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// integers makes a tensor of Go integers.
func integers[T int8 | uint8 | int16 | uint16 | int32 | uint32 | int64 | uint64](d tensor.DType, values []T) *tensor.Host {
	h := tensor.NewHost(tensor.Contiguous(d, len(values)))
	h.Data = h.Data[:0]
	for _, v := range values {
		h.Data = append(h.Data, binary.LittleEndian.AppendUint64(nil, uint64(v))[:d.Size()]...)
	}
	return h
}

// expectBits runs a call on in, and compares the bytes of its output with want.
func expectBits(t *testing.T, r *exec.Runner, dev gpu.Device, call spec.Call, in []*tensor.Host, want *tensor.Host) {
	t.Helper()
	var from []exec.Operand
	for _, h := range in {
		from = append(from, exec.Operand{Buffer: testgpu.Load(t, dev, h.Data), Desc: h.Desc})
	}
	to := exec.Operand{Buffer: testgpu.Load(t, dev, make([]byte, len(want.Data))), Desc: want.Desc}
	if err := r.Run(t.Context(), call, from, []exec.Operand{to}); err != nil {
		t.Fatalf("%s of %v: %v", call.Spec().Name, in[0].Desc, err)
	}
	got := make([]byte, len(want.Data))
	if err := r.Read(t.Context(), to.Buffer, 0, got); err != nil {
		t.Fatal(err)
	}
	for i, n := 0, want.DType.Size(); i < len(got); i += n {
		if !bytes.Equal(got[i:i+n], want.Data[i:i+n]) {
			text := ""
			for _, h := range in {
				text += fmt.Sprint(" ", h.Floats()[i/n])
			}
			t.Errorf("%s %+v of %v: element %d (%s): got % x, want % x", call.Spec().Name, call, in[0].Desc, i/n, text, got[i:i+n], want.Data[i:i+n])
		}
	}
	for _, o := range append(from, to) {
		if err := dev.Free(o.Buffer); err != nil {
			t.Error(err)
		}
	}
}

// testIntegers compares functions of two integers of a type with those of Go, for each pair of values.
func testIntegers[T int16 | uint16 | uint64](t *testing.T, r *exec.Runner, dev gpu.Device, d tensor.DType, values []T) {
	t.Helper()
	var a, b []T
	for _, x := range values {
		for _, y := range values {
			a, b = append(a, x), append(b, y)
		}
	}
	in := []*tensor.Host{integers(d, a), integers(d, b)}
	bit := func(x bool) uint8 {
		if x {
			return 1
		}
		return 0
	}
	shift := func(x, y T, right bool) T {
		n := uint64(y)
		if y < 0 || n > 64 {
			n = 64
		}
		if right {
			return x >> n
		}
		return x << n
	}
	floored := func(x, y T) T {
		m := x % y
		if m != 0 && m < 0 != (y < 0) {
			m += y
		}
		return m
	}
	divided := func(f func(x, y T) T) func(x, y T) T {
		return func(x, y T) T {
			if y == 0 {
				return 0
			}
			return f(x, y)
		}
	}
	for _, c := range []struct {
		call spec.Call
		f    func(x, y T) T
	}{
		{ops.Add{}, func(x, y T) T { return x + y }}, {ops.Sub{}, func(x, y T) T { return x - y }}, {ops.Mul{}, func(x, y T) T { return x * y }},
		{ops.Div{}, divided(func(x, y T) T { return x / y })}, {&ops.Mod{FMod: 1}, divided(func(x, y T) T { return x % y })}, {&ops.Mod{}, divided(floored)},
		{ops.Minimum{}, func(x, y T) T { return min(x, y) }}, {ops.Maximum{}, func(x, y T) T { return max(x, y) }},
		{ops.BitwiseAnd{}, func(x, y T) T { return x & y }}, {ops.BitwiseOr{}, func(x, y T) T { return x | y }}, {ops.BitwiseXor{}, func(x, y T) T { return x ^ y }},
		{&ops.BitShift{Direction: "LEFT"}, func(x, y T) T { return shift(x, y, false) }}, {&ops.BitShift{Direction: "RIGHT"}, func(x, y T) T { return shift(x, y, true) }},
	} {
		var want []T
		for i := range a {
			want = append(want, c.f(a[i], b[i]))
		}
		expectBits(t, r, dev, c.call, in, integers(d, want))
	}
	for _, c := range []struct {
		call spec.Call
		f    func(x, y T) bool
	}{
		{ops.Equal{}, func(x, y T) bool { return x == y }}, {ops.Less{}, func(x, y T) bool { return x < y }}, {ops.GreaterEqual{}, func(x, y T) bool { return x >= y }},
	} {
		var want []uint8
		for i := range a {
			want = append(want, bit(c.f(a[i], b[i])))
		}
		expectBits(t, r, dev, c.call, in, integers(tensor.Bool, want))
	}
	for _, c := range []struct {
		call spec.Call
		f    func(x T) T
	}{
		{ops.Neg{}, func(x T) T { return -x }}, {ops.Abs{}, func(x T) T { return max(x, 0) - min(x, 0) }},
		{ops.Sign{}, func(x T) T { return T(bit(x > 0)) - T(bit(x < 0)) }}, {ops.BitwiseNot{}, func(x T) T { return ^x }},
	} {
		var want []T
		for _, x := range a {
			want = append(want, c.f(x))
		}
		expectBits(t, r, dev, c.call, in[:1], integers(d, want))
	}
}

// TestSmallAndUnsignedIntegers compares the functions of integers of 16 bits, and of unsigned ones of 64, with those of Go.
func TestSmallAndUnsignedIntegers(t *testing.T) {
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		testIntegers(t, r, dev, tensor.I16, []int16{0, 1, -1, 2, -3, 7, 15, 16, 17, 255, 256, -256, 12345, math.MaxInt16, math.MinInt16, math.MinInt16 + 1})
		testIntegers(t, r, dev, tensor.U16, []uint16{0, 1, 2, 3, 15, 16, 17, 255, 256, 32767, 32768, 32769, 40000, 65534, 65535})
		testIntegers(t, r, dev, tensor.U64, []uint64{0, 1, 2, 7, 31, 32, 33, 63, 64, 65, math.MaxUint32, 1 << 32, 1<<53 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 5, 12345678901234567890, math.MaxUint64 - 1, math.MaxUint64})
	})
}

// integersOf returns the elements of a tensor of integers.
func integersOf(h *tensor.Host) []*big.Int {
	var list []*big.Int
	size := h.DType.Size()
	for i := 0; i < len(h.Data); i += size {
		var word [8]byte
		copy(word[:], h.Data[i:i+size])
		v := new(big.Int).SetUint64(binary.LittleEndian.Uint64(word[:]))
		if least := rangeOf(h.DType)[0]; least.Sign() < 0 && v.Bit(8*size-1) == 1 {
			v.Sub(v, new(big.Int).Lsh(big.NewInt(1), uint(8*size)))
		}
		list = append(list, v)
	}
	return list
}

// rangeOf returns the least and the largest integer of a type.
func rangeOf(d tensor.DType) [2]*big.Int {
	one, bits := big.NewInt(1), uint(8*d.Size())
	if slices.Contains([]tensor.DType{tensor.I8, tensor.I16, tensor.I32, tensor.I64}, d) {
		most := new(big.Int).Lsh(one, bits-1)
		return [2]*big.Int{new(big.Int).Neg(most), new(big.Int).Sub(most, one)}
	}
	return [2]*big.Int{new(big.Int), new(big.Int).Sub(new(big.Int).Lsh(one, bits), one)}
}

// roundTo stores an integer in element i of a tensor of floats, rounded once.
func roundTo(h *tensor.Host, i int, v *big.Int) {
	digits := map[tensor.DType]uint{tensor.F16: 11, tensor.BF16: 8, tensor.F32: 24, tensor.F64: 53}[h.DType]
	f, _ := new(big.Float).SetPrec(digits).SetMode(big.ToNearestEven).SetInt(v).Float64()
	h.Set(f, i)
}

// TestCastIntegers casts integers to all types and floats to integers, and compares with exact numbers.
func TestCastIntegers(t *testing.T) {
	whole := []tensor.DType{tensor.I8, tensor.U8, tensor.I16, tensor.U16, tensor.I32, tensor.U32, tensor.I64, tensor.U64}
	floats := []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64}
	words := []uint64{
		0, 1, 2, 100, 127, 128, 255, 256, 257, 2047, 2049, 2051, 32767, 32768, 40000, 65503, 65519, 65520, 65535, 65536, 1<<24 + 1, 1<<24 + 3, 1<<31 - 1, 1 << 31, 1<<32 - 1, 1 << 32, 1<<53 + 1, 1<<53 + 3,
		1<<63 - 1, 1 << 63, 1<<63 + 1<<39, 1<<63 + 1<<39 + 1, 1<<63 + 3<<39, 1<<63 + 1<<55, 1<<63 + 1<<55 + 1, 1<<63 + 3<<55, 1<<63 + 1<<10, 1<<63 + 1<<10 + 1, 1<<64 - 1<<39, 1<<64 - 1<<39 - 1, math.MaxUint64 - 1, math.MaxUint64,
	}
	numbers := []float64{
		0, math.Copysign(0, -1), 0.5, -0.5, 0.99, -0.99, 1.5, -1.5, 127.5, 128, -128.5, -129, 255.5, 256, 32767.5, 32768, -32768.5, -32769, 65535.5, 65536, -65536, 40000, 1 << 31, 1 << 32, -(1 << 31), -(1 << 33),
		1 << 53, 1e19, 0x1.fffffep63, 0x1.fffffffffffffp63, 0x1p64, 1e30, 0x1p63, -0x1p63, -0x1.1p63, 0x1.fffffep62, math.Inf(1), math.Inf(-1), math.NaN(),
	}
	onVariants(t, func(t *testing.T, dev gpu.Device, r *exec.Runner) {
		for _, from := range whole {
			in := integers(from, words)
			values := integersOf(in)
			for _, to := range append(slices.Clone(whole), floats...) {
				if from == to || !dev.Info().Features.F64 && to == tensor.F64 {
					continue
				}
				want := tensor.NewHost(tensor.Contiguous(to, len(words)))
				for i, v := range values {
					if slices.Contains(floats, to) {
						roundTo(want, i, v)
						continue
					}
					low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
					copy(want.Data[i*to.Size():(i+1)*to.Size()], binary.LittleEndian.AppendUint64(nil, low))
				}
				expectBits(t, r, dev, &ops.Cast{To: to}, []*tensor.Host{in}, want)
			}
		}
		for _, from := range floats {
			if !dev.Info().Features.F64 && from == tensor.F64 {
				continue
			}
			in := host(from, []int{len(numbers)}, numbers...)
			for _, to := range whole {
				want := tensor.NewHost(tensor.Contiguous(to, len(numbers)))
				ends := rangeOf(to)
				for i, x := range in.Floats() {
					v := new(big.Int)
					switch {
					case math.IsInf(x, 1):
						v = ends[1]
					case math.IsInf(x, -1):
						v = ends[0]
					case !math.IsNaN(x):
						if big.NewFloat(x).Int(v); v.Cmp(ends[0]) < 0 {
							v = ends[0]
						} else if v.Cmp(ends[1]) > 0 {
							v = ends[1]
						}
					}
					low := new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
					copy(want.Data[i*to.Size():(i+1)*to.Size()], binary.LittleEndian.AppendUint64(nil, low))
				}
				expectBits(t, r, dev, &ops.Cast{To: to}, []*tensor.Host{in}, want)
			}
		}
	})
}
