package conformance_test

import (
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

// TestElementaryFunctions tries F32 numbers of every magnitude, and bounds the error in
// units in the last place. In the cases of the suite, the functions are easy to compute.
func TestElementaryFunctions(t *testing.T) {
	functions := []struct {
		call spec.Call
		f    func(float64) float64
		ulps float64
	}{
		{ops.Exp{}, math.Exp, 3},
		{ops.Log{}, math.Log, 3},
		{ops.Sin{}, math.Sin, 3},
		{ops.Cos{}, math.Cos, 3},
		{ops.Tanh{}, math.Tanh, 5},
		{ops.Erf{}, math.Erf, 5},
		{ops.Sigmoid{}, func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }, 5},
		{ops.Softplus{}, func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }, 5},
		{ops.Sqrt{}, math.Sqrt, 1},
		{ops.Rsqrt{}, func(x float64) float64 { return 1 / math.Sqrt(x) }, 5},
		{ops.Reciprocal{}, func(x float64) float64 { return 1 / x }, 3},
		{ops.Atan{}, math.Atan, 4},
		{ops.Asin{}, math.Asin, 5},
		{ops.Acos{}, math.Acos, 5},
		{ops.Asinh{}, math.Asinh, 6},
		{ops.Acosh{}, math.Acosh, 6},
		{ops.Atanh{}, math.Atanh, 6},
	}
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		testkit.Device(t, run, err)
		// The numbers have every sign, every exponent, and 512 mantissas each.
		var bits []uint32
		for i := range uint32(1 << 18) {
			bits = append(bits, i<<14|(i*2654435761)>>18)
		}
		desc := tensor.Contiguous(tensor.F32, len(bits))
		data := make([]byte, desc.Bytes())
		for i, b := range bits {
			binary.LittleEndian.PutUint32(data[4*i:], b)
		}
		in, out := alloc(t, dev, desc), alloc(t, dev, desc)
		if err := dev.Write(t.Context(), in.Buffer, 0, data); err != nil {
			t.Fatal(err)
		}
		for _, f := range functions {
			if err := run.Run(t.Context(), f.call, []exec.Operand{in}, []exec.Operand{out}); err != nil {
				t.Fatal(err)
			}
			got := make([]byte, len(data))
			if err := run.Read(t.Context(), out.Buffer, 0, got); err != nil {
				t.Fatal(err)
			}
			worst, at := 0.0, float32(0)
			for i, b := range bits {
				x := math.Float32frombits(b)
				g, w := float64(math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:]))), f.f(float64(x))
				if e := ulps(g, w, x); e > worst {
					worst, at = e, x
				}
			}
			t.Logf("%s: %.2f units, at %v", f.call.Spec().Name, worst, at)
			if worst > f.ulps {
				t.Errorf("%s: %.2f units of the last place off at %v, want at most %v", f.call.Spec().Name, worst, at, f.ulps)
			}
		}
	})
}

// ulps returns the distance from g to w in units in the last place of F32. A device may
// replace subnormal arguments and results by 0.
func ulps(g, w float64, x float32) float64 {
	const least = 0x1p-126
	if math.Abs(float64(x)) < least && x != 0 {
		return 0
	}
	switch w32 := float32(w); {
	case w != w || math.IsInf(float64(w32), 0):
		if g != g && w != w || g == float64(w32) || w32 != 0 && math.Abs(g) == math.MaxFloat32 {
			return 0
		}
		return math.Inf(1)
	case math.Abs(w) < least:
		if math.Abs(g) <= least {
			return 0
		}
		return math.Inf(1)
	case g != g || math.IsInf(g, 0):
		return math.Inf(1)
	}
	_, e := math.Frexp(w)
	return math.Abs(g-w) / math.Ldexp(1, e-24)
}

func alloc(t *testing.T, dev gpu.Device, d tensor.Desc) exec.Operand {
	t.Helper()
	h, err := dev.Alloc(d.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := dev.Free(h); err != nil {
			t.Error(err)
		}
	})
	return exec.Operand{Buffer: h, Desc: d}
}

// TestPowers tries the special cases of C99, annex F.9.4.4, and powers whose logarithms
// need more digits than F32 has. It tries contiguous operands and operands with strides.
func TestPowers(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	special := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, -0.5, 2, -2, 3, -3, 2.5, -2.5, inf, -inf, nan, 1e30, -1e30, 16777215, 16777216, 1 + 0x1p-23, 1 - 0x1p-24}
	var a, b []float64
	for _, x := range special {
		for _, y := range special {
			a, b = append(a, x), append(b, y)
		}
	}
	for i := range 4096 {
		x := math.Exp(float64(i-2048) / 24)
		a, b = append(a, float64(float32(x))), append(b, float64(float32(86*math.Cos(float64(i))/math.Max(1, math.Abs(math.Log(x))))))
	}
	checkPairs(t, ops.Pow{}, math.Pow, 4, a, b)
}

// TestAngles tries the special cases of C99, annex F.9.1.4, and vectors of every length and angle.
func TestAngles(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	special := []float64{0, math.Copysign(0, -1), 1, -1, inf, -inf, nan, 0x1p-126, 0x1p127, -0x1p127, 0x1p-60, 0x1p60, 1e30, -1e30}
	var a, b []float64
	for _, x := range special {
		for _, y := range special {
			a, b = append(a, x), append(b, y)
		}
	}
	for i := range 4096 {
		length, angle := math.Exp2(float64(i%250-124)), float64(i)*math.Pi/2047
		a, b = append(a, float64(float32(length*math.Sin(angle)))), append(b, float64(float32(length*math.Cos(angle))))
	}
	checkPairs(t, ops.Atan2{}, math.Atan2, 5, a, b)
}

// checkPairs calls an operation with a and b in F32 on every device. It compares the results with
// f, and also the signs of zeros.
func checkPairs(t *testing.T, call spec.Call, f func(a, b float64) float64, most float64, a, b []float64) {
	devices(t, func(t *testing.T, dev gpu.Device) {
		run, err := exec.New(dev)
		testkit.Device(t, run, err)
		desc := tensor.Contiguous(tensor.F32, len(a))
		x, y, out := alloc(t, dev, desc), alloc(t, dev, desc), alloc(t, dev, desc)
		for _, in := range []struct {
			at     exec.Operand
			values []float64
		}{{x, a}, {y, b}} {
			h, err := tensor.FromFloats(tensor.F32, desc.Shape, in.values)
			if err != nil {
				t.Fatal(err)
			}
			if err := dev.Write(t.Context(), in.at.Buffer, 0, h.Data); err != nil {
				t.Fatal(err)
			}
		}
		if err := run.Run(t.Context(), call, []exec.Operand{x, y}, []exec.Operand{out}); err != nil {
			t.Fatal(err)
		}
		got := make([]byte, desc.Bytes())
		if err := run.Read(t.Context(), out.Buffer, 0, got); err != nil {
			t.Fatal(err)
		}
		for i := range a {
			g, w := math.Float32frombits(binary.LittleEndian.Uint32(got[4*i:])), f(a[i], b[i])
			if e := ulps(float64(g), w, 1); e > most || w == 0 && math.Signbit(w) != math.Signbit(float64(g)) {
				t.Errorf("%s(%v, %v): got %v, want %v (%.1f units off)", call.Spec().Name, a[i], b[i], g, float32(w), e)
			}
		}
	})
}
