//go:build cgo

package spv_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

// extFloat are the instructions of GLSL.std.450 on floats of one type: what they
// compute, from where on, and how far off the result may be for f32.
var extFloat = []struct {
	n      int
	name   string
	args   int
	low    float64 // of the arguments
	high   float64
	f      func(a, b, c float64) float64
	tol    float64 // absolute plus relative, for f32
	narrow bool    // not for f64
}{
	{1, "Round", 1, -9.3, 9.3, func(a, _, _ float64) float64 { return math.Round(a) }, 0, false},
	{2, "RoundEven", 1, -9.3, 9.3, func(a, _, _ float64) float64 { return math.RoundToEven(a) }, 0, false},
	{3, "Trunc", 1, -9.3, 9.3, func(a, _, _ float64) float64 { return math.Trunc(a) }, 0, false},
	{4, "FAbs", 1, -9, 9, func(a, _, _ float64) float64 { return math.Abs(a) }, 0, false},
	{6, "FSign", 1, -9, 9, func(a, _, _ float64) float64 { return math.Copysign(min(1, math.Abs(a)*1e9), a) }, 0, false},
	{8, "Floor", 1, -9.3, 9.3, func(a, _, _ float64) float64 { return math.Floor(a) }, 0, false},
	{9, "Ceil", 1, -9.3, 9.3, func(a, _, _ float64) float64 { return math.Ceil(a) }, 0, false},
	{10, "Fract", 1, -9.3, 9.3, func(a, _, _ float64) float64 { return a - math.Floor(a) }, 1e-6, false},
	{11, "Radians", 1, -9, 9, func(a, _, _ float64) float64 { return a * math.Pi / 180 }, 1e-6, true},
	{12, "Degrees", 1, -9, 9, func(a, _, _ float64) float64 { return a * 180 / math.Pi }, 1e-6, true},
	{13, "Sin", 1, -3.1, 3.1, func(a, _, _ float64) float64 { return math.Sin(a) }, 6e-4, true},
	{14, "Cos", 1, -3.1, 3.1, func(a, _, _ float64) float64 { return math.Cos(a) }, 6e-4, true},
	{15, "Tan", 1, -1, 1, func(a, _, _ float64) float64 { return math.Tan(a) }, 3e-3, true},
	{16, "Asin", 1, -1, 1, func(a, _, _ float64) float64 { return math.Asin(a) }, 2e-3, true},
	{17, "Acos", 1, -1, 1, func(a, _, _ float64) float64 { return math.Acos(a) }, 2e-3, true},
	{18, "Atan", 1, -9, 9, func(a, _, _ float64) float64 { return math.Atan(a) }, 1e-3, true},
	{19, "Sinh", 1, -3, 3, func(a, _, _ float64) float64 { return math.Sinh(a) }, 1e-3, true},
	{20, "Cosh", 1, -3, 3, func(a, _, _ float64) float64 { return math.Cosh(a) }, 1e-3, true},
	{21, "Tanh", 1, -3, 3, func(a, _, _ float64) float64 { return math.Tanh(a) }, 1e-3, true},
	{22, "Asinh", 1, -3, 3, func(a, _, _ float64) float64 { return math.Asinh(a) }, 1e-3, true},
	{23, "Acosh", 1, 1.1, 5, func(a, _, _ float64) float64 { return math.Acosh(a) }, 1e-3, true},
	{24, "Atanh", 1, -.9, .9, func(a, _, _ float64) float64 { return math.Atanh(a) }, 1e-3, true},
	{25, "Atan2", 2, -5, 5, func(a, b, _ float64) float64 { return math.Atan2(a, b) }, 2e-3, true},
	{26, "Pow", 2, .3, 3, func(a, b, _ float64) float64 { return math.Pow(a, b) }, 1e-4, true},
	{27, "Exp", 1, -4, 4, func(a, _, _ float64) float64 { return math.Exp(a) }, 1e-5, true},
	{28, "Log", 1, .1, 9, func(a, _, _ float64) float64 { return math.Log(a) }, 1e-5, true},
	{29, "Exp2", 1, -4, 4, func(a, _, _ float64) float64 { return math.Exp2(a) }, 1e-5, true},
	{30, "Log2", 1, .1, 9, func(a, _, _ float64) float64 { return math.Log2(a) }, 1e-5, true},
	{31, "Sqrt", 1, 0, 9, func(a, _, _ float64) float64 { return math.Sqrt(a) }, 1e-6, false},
	{32, "InverseSqrt", 1, .1, 9, func(a, _, _ float64) float64 { return 1 / math.Sqrt(a) }, 1e-6, false},
	{37, "FMin", 2, -9, 9, func(a, b, _ float64) float64 { return min(a, b) }, 0, false},
	{40, "FMax", 2, -9, 9, func(a, b, _ float64) float64 { return max(a, b) }, 0, false},
	{43, "FClamp", 3, -9, 9, func(a, b, c float64) float64 { return min(max(a, b), c) }, 0, false},
	{46, "FMix", 3, -2, 2, func(a, b, c float64) float64 { return a*(1-c) + b*c }, 1e-5, false},
	{48, "Step", 2, -9, 9, func(a, b, _ float64) float64 {
		if b < a {
			return 0
		}
		return 1
	}, 0, false},
	{49, "SmoothStep", 3, -1, 1, func(a, b, c float64) float64 { t := min(max((c-a)/(b-a), 0), 1); return t * t * (3 - 2*t) }, 1e-4, false},
	{50, "Fma", 3, -9, 9, func(a, b, c float64) float64 { return a*b + c }, 1e-5, false},
	{66, "Length", 1, -9, 9, func(a, _, _ float64) float64 { return math.Abs(a) }, 1e-5, false},
	{67, "Distance", 2, -9, 9, func(a, b, _ float64) float64 { return math.Abs(a - b) }, 1e-5, false},
	{69, "Normalize", 1, .5, 9, func(a, _, _ float64) float64 { return 1 }, 1e-5, false},
	{70, "FaceForward", 3, -9, 9, func(a, b, c float64) float64 {
		if b*c < 0 {
			return a
		}
		return -a
	}, 0, false},
	{71, "Reflect", 2, -2, 2, func(a, b, _ float64) float64 { return a - 2*b*a*b }, 1e-5, false},
	{72, "Refract", 3, .1, .9, func(a, b, c float64) float64 {
		k := 1 - c*c*(1-a*b*a*b)
		if k < 0 {
			return 0
		}
		return c*a - (c*a*b+math.Sqrt(k))*b
	}, 1e-4, false},
	{79, "NMin", 2, -9, 9, func(a, b, _ float64) float64 { return min(a, b) }, 0, false},
	{80, "NMax", 2, -9, 9, func(a, b, _ float64) float64 { return max(a, b) }, 0, false},
	{81, "NClamp", 3, -9, 9, func(a, b, c float64) float64 { return min(max(a, b), c) }, 0, false},
}

var floatCaps = map[int]string{16: "OpCapability 9", 32: "", 64: "OpCapability 10"}
var floatRefused = map[int]map[string]string{16: {"swiftshader": "unsupported", "webgpu": "unsupported"}, 64: {"swiftshader": "unsupported", "webgpu": "unsupported"}}

// TestExtended holds every instruction of GLSL.std.450 on floats of every width
// to what it is to compute.
func TestExtended(t *testing.T) {
	var list []danger
	for _, e := range extFloat {
		for _, w := range []int{16, 32, 64} {
			if w == 64 && e.narrow {
				continue
			}
			vals := [3]float64{}
			for k := range vals {
				vals[k] = e.low + (e.high-e.low)*math.Mod(.137+.45*float64(k)+.11*float64(e.n), 1)
				vals[k] = float64(float32(math.Round(vals[k]*128) / 128)) // f16 has it
			}
			if e.n == 43 || e.n == 81 || e.n == 49 {
				vals[1], vals[2] = -.25, 1.5
				if e.n == 49 {
					vals[0], vals[1], vals[2] = -.25, 1.5, .5
				}
			}
			d := danger{name: fmt.Sprintf("%s of f%d", e.name, w), caps: floatCaps[w], refused: floatRefused[w]}
			d.x = []uint32{math.Float32bits(float32(vals[0])), math.Float32bits(float32(vals[1])), math.Float32bits(float32(vals[2]))}
			if w != 32 {
				d.types = fmt.Sprintf("%%ft = OpTypeFloat %d", w)
			}
			conv := func(res, in string) string {
				if w == 32 {
					return fmt.Sprintf("%s = OpCopyObject %%f32 %s\n", res, in)
				}
				return fmt.Sprintf("%s = OpFConvert %%ft %s\n", res, in)
			}
			args := ""
			for k := range e.args {
				d.body += fmt.Sprintf("%%xp%d = OpAccessChain %%uP %%x %%0 %%%d\n%%a%d = OpLoad %%u32 %%xp%d\n%%f%d = OpBitcast %%f32 %%a%d\n", k, k, k, k, k, k)
				d.body += conv(fmt.Sprintf("%%h%d", k), fmt.Sprintf("%%f%d", k))
				args += fmt.Sprintf(" %%h%d", k)
			}
			d.body += fmt.Sprintf("%%res = OpExtInst %%ft %%glsl %d%s\n", e.n, args)
			if w == 32 {
				d.body += "%r = OpBitcast %u32 %res"
				d.body = strings.ReplaceAll(d.body, "%ft", "%f32")
			} else {
				d.body += "%res32 = OpFConvert %f32 %res\n%r = OpBitcast %u32 %res32"
			}
			want := e.f(vals[0], vals[1], vals[2])
			tol := e.tol
			if w == 16 {
				tol = max(tol, 4e-3)
			}
			d.want = func(y []uint32) bool {
				got := float64(math.Float32frombits(y[0]))
				ok := math.Abs(got-want) <= tol*(1+math.Abs(want))
				if !ok {
					t.Logf("%s(%v): got %v, want %v", d.name, vals[:e.args], got, want)
				}
				return ok
			}
			if e.n >= 69 && e.n <= 72 && w == 32 { // naga wants vectors
				d.may = map[string]string{"webgpu": "unsupported"}
			}
			list = append(list, d)
		}
	}
	brave(t, list, 20*time.Second)
}
