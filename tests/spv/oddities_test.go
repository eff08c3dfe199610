//go:build cgo

package spv_test

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"
)

var intCaps = map[int]string{8: "39", 16: "22", 64: "11"}

// narrow says which drivers have no integers of a width.
func narrow(w int) map[string]string {
	if w == 32 {
		return nil
	}
	return map[string]string{"swiftshader": "unsupported", "webgpu": "unsupported"}
}

func capsOf(widths ...int) string {
	var lines []string
	seen := map[int]bool{}
	for _, w := range widths {
		if c := intCaps[w]; c != "" && !seen[w] {
			lines = append(lines, "OpCapability "+c)
		}
		seen[w] = true
	}
	return strings.Join(lines, "\n")
}

// TestLdexp takes exponents of every width, of which lavapipe's compiler ends
// the process for all but one.
func TestLdexp(t *testing.T) {
	var list []danger
	for _, fw := range []int{16, 32, 64} {
		for _, ew := range []int{8, 16, 32, 64} {
			for _, sign := range []int{0, 1} {
				for _, n := range []uint32{1, 3} {
					for _, exp := range []int{3, -3, -300, 100000} {
						if exp < 0 && sign == 0 || exp > 127 && ew == 8 || exp < -128 && ew == 8 || exp > 32767 && ew == 16 {
							continue
						}
						d := danger{name: fmt.Sprintf("ldexp of f%d by %d, %d bits, signed %d, %d components", fw, exp, ew, sign, n), x: []uint32{uint32(exp)}}
						d.caps = strings.Trim(floatCaps[fw]+"\n"+capsOf(ew), "\n")
						d.refused = floatRefused[fw]
						if d.refused == nil {
							d.refused = narrow(ew)
						}
						ft, et := "%f32", []string{"%u32", "%i32"}[sign]
						if fw != 32 {
							ft = "%ft"
							d.types += fmt.Sprintf("%%ft = OpTypeFloat %d\n", fw)
						}
						if ew != 32 {
							et = "%et"
							d.types += fmt.Sprintf("%%et = OpTypeInt %d %d\n", ew, sign)
						}
						d.types += "%fone = OpConstant %f32 0x3fc00000\n" // 1.5
						one := "%fone"
						if fw != 32 {
							d.body += "%one = OpFConvert %ft %fone\n"
							one = "%one"
						}
						e := "%a"
						switch {
						case ew == 32 && sign == 1:
							d.body += "%e = OpBitcast %i32 %a\n"
							e = "%e"
						case ew != 32 && sign == 1:
							d.body += "%e0 = OpBitcast %i32 %a\n%e = OpSConvert %et %e0\n"
							e = "%e"
						case ew != 32:
							d.body += "%e = OpUConvert %et %a\n"
							e = "%e"
						}
						if n > 1 {
							d.types += fmt.Sprintf("%%fv = OpTypeVector %s %d\n%%ev = OpTypeVector %s %d\n", ft, n, et, n)
							if et == "%u32" {
								d.types = strings.Replace(d.types, "%ev = OpTypeVector %u32 3\n", "", 1)
							}
							evt := "%ev"
							if et == "%u32" {
								evt = "%v3"
							}
							d.body += fmt.Sprintf("%%vone = OpCompositeConstruct %%fv%s\n%%ve = OpCompositeConstruct %s%s\n%%vres = OpExtInst %%fv %%glsl 53 %%vone %%ve\n%%res = OpCompositeExtract %s %%vres 2\n",
								strings.Repeat(" "+one, int(n)), evt, strings.Repeat(" "+e, int(n)), ft)
						} else {
							d.body += fmt.Sprintf("%%res = OpExtInst %s %%glsl 53 %s %s\n", ft, one, e)
						}
						if fw != 32 {
							d.body += "%res32 = OpFConvert %f32 %res\n%r = OpBitcast %u32 %res32"
						} else {
							d.body += "%r = OpBitcast %u32 %res"
						}
						want := float32(math.Ldexp(1.5, exp))
						if exp < -200 {
							want = 0
						}
						if fw == 16 && exp > 20 {
							want = float32(math.Inf(1))
						}
						d.want = func(y []uint32) bool { return math.Float32frombits(y[0]) == want }
						if sign == 0 && ew == 32 { // naga wants signed ones
							d.may = map[string]string{"webgpu": "unsupported"}
						}
						list = append(list, d)
					}
				}
			}
		}
	}
	brave(t, list, 20*time.Second)
}

// TestIntegersAtTheEdge divides by zero and overflows, at every width.
func TestIntegersAtTheEdge(t *testing.T) {
	var list []danger
	ops := []string{"OpSDiv", "OpSRem", "OpSMod", "OpUDiv", "OpUMod", "OpShiftLeftLogical", "OpShiftRightLogical", "OpShiftRightArithmetic", "OpIMul", "OpISub"}
	for _, w := range []int{8, 16, 32, 64} {
		for _, op := range ops {
			for _, y := range []uint32{0, 0xffffffff, 200} {
				sign := 1
				if op[2] == 'U' {
					sign = 0
				}
				tt := []string{"%u32", "%i32"}[sign]
				d := danger{name: fmt.Sprintf("%s of %d bits by %d", op, w, int32(y)), x: []uint32{1 << (min(w, 32) - 1), y}, caps: capsOf(w), refused: narrow(w)}
				conv := "OpBitcast"
				if w != 32 {
					tt = "%tt"
					d.types = fmt.Sprintf("%%tt = OpTypeInt %d %d", w, sign)
					conv = []string{"OpUConvert", "OpSConvert"}[sign]
				} else if sign == 0 {
					conv = "OpCopyObject"
				}
				src := "%u32"
				pre, a, b := "", "%a", "%b"
				if sign == 1 && w != 32 {
					src = "%i32"
					pre, a, b = "%as = OpBitcast %i32 %a\n%bs = OpBitcast %i32 %b\n", "%as", "%bs"
				}
				_ = src
				d.body = fmt.Sprintf("%%bp = OpAccessChain %%uP %%x %%0 %%1\n%%b = OpLoad %%u32 %%bp\n%s%%l1 = %s %s %s\n%%l2 = %s %s %s\n", pre, conv, tt, a, conv, tt, b)
				if w == 64 { // the least number there is
					d.types += "\n%c31 = OpConstant %tt 31 0"
					d.body += "%l3 = OpShiftLeftLogical %tt %l1 %c31\n%c0 = OpBitwiseOr %tt %l1 %l3\n"
				} else {
					d.body += fmt.Sprintf("%%c0 = OpCopyObject %s %%l1\n", tt)
				}
				d.body += fmt.Sprintf("%%res = %s %s %%c0 %%l2\n", op, tt)
				switch {
				case w == 32 && sign == 0:
					d.body += "%r = OpCopyObject %u32 %res"
				case w == 32:
					d.body += "%r = OpBitcast %u32 %res"
				case sign == 1:
					d.body += "%rs = OpSConvert %i32 %res\n%r = OpBitcast %u32 %rs"
				default:
					d.body += "%r = OpUConvert %u32 %res"
				}
				list = append(list, d)
			}
		}
		for _, e := range []struct {
			n, args int
			name    string
		}{{5, 1, "SAbs"}, {7, 1, "SSign"}, {38, 2, "UMin"}, {39, 2, "SMin"}, {41, 2, "UMax"}, {42, 2, "SMax"}, {44, 3, "UClamp"}, {45, 3, "SClamp"}, {73, 1, "FindILsb"}, {74, 1, "FindSMsb"}, {75, 1, "FindUMsb"}} {
			d := danger{name: fmt.Sprintf("%s of %d bits", e.name, w), x: []uint32{0x85}, caps: capsOf(w), refused: narrow(w)}
			if e.n >= 73 && w != 32 {
				continue
			}
			tt := "%i32"
			d.body = "%as = OpBitcast %i32 %a\n"
			v := "%as"
			if w != 32 {
				tt, v = "%tt", "%v"
				d.types = fmt.Sprintf("%%tt = OpTypeInt %d 1", w)
				d.body += "%v = OpSConvert %tt %as\n"
			}
			d.body += fmt.Sprintf("%%res = OpExtInst %s %%glsl %d%s\n", tt, e.n, strings.Repeat(" "+v, e.args))
			if w != 32 {
				d.body += "%rs = OpSConvert %i32 %res\n%r = OpBitcast %u32 %rs"
			} else {
				d.body += "%r = OpBitcast %u32 %res"
			}
			x := int32(0x85)
			if w == 8 {
				x = int32(int8(-0x7b))
			}
			switch e.n {
			case 5:
				x = max(x, -x)
			case 7:
				x = max(-1, min(x, 1))
			case 73:
				x = 0
			case 74, 75:
				x = 7
			}
			d.want = first(uint32(x))
			list = append(list, d)
		}
		for _, op := range []string{"OpBitCount", "OpBitReverse"} {
			d := danger{name: fmt.Sprintf("%s of %d bits", op, w), x: []uint32{0x85}, caps: capsOf(w)}
			if w == 32 {
				d.body = "%r = " + op + " %u32 %a"
				d.want = first(map[string]uint32{"OpBitCount": 3, "OpBitReverse": 0xa1000000}[op])
			} else { // which Vulkan does not have
				d.refused = map[string]string{"": "32 bits"}
				d.types = fmt.Sprintf("%%tt = OpTypeInt %d 0", w)
				d.body = "%v = OpUConvert %tt %a\n%res = " + op + " %tt %v\n%r = OpUConvert %u32 %res"
			}
			list = append(list, d)
		}
	}
	brave(t, list, 20*time.Second)
}

// TestMatrices inverts and takes determinants at every width of floats.
func TestMatrices(t *testing.T) {
	var list []danger
	for _, w := range []int{16, 32, 64} {
		for n := 2; n <= 4; n++ {
			for _, op := range []string{"determinant", "inverse", "transpose", "product", "outer"} {
				d := danger{name: fmt.Sprintf("%s of %d×%d f%d", op, n, n, w), caps: floatCaps[w], refused: floatRefused[w]}
				ft := "%f32"
				d.types = ""
				if w != 32 {
					ft = "%ft"
					d.types = fmt.Sprintf("%%ft = OpTypeFloat %d\n", w)
				}
				d.types += fmt.Sprintf("%%fv = OpTypeVector %s %d\n%%fm = OpTypeMatrix %%fv %d\n", ft, n, n)
				// 2 on the diagonal, 1 right of it: the determinant is 2^n.
				d.body = "%two0 = OpConvertUToF " + ft + " %2\n%one0 = OpConvertUToF " + ft + " %1\n%zero0 = OpConvertUToF " + ft + " %a\n"
				cols := ""
				for c := range n {
					col := ""
					for r := range n {
						switch {
						case r == c:
							col += " %two0"
						case r == c+1:
							col += " %one0"
						default:
							col += " %zero0"
						}
					}
					d.body += fmt.Sprintf("%%col%d = OpCompositeConstruct %%fv%s\n", c, col)
					cols += fmt.Sprintf(" %%col%d", c)
				}
				d.body += "%m = OpCompositeConstruct %fm" + cols + "\n"
				want := 0.0
				switch op {
				case "determinant":
					d.body += "%res = OpExtInst " + ft + " %glsl 33 %m\n"
					want = math.Pow(2, float64(n))
				case "inverse":
					d.body += "%mi = OpExtInst %fm %glsl 34 %m\n%res = OpCompositeExtract " + ft + " %mi 0 1\n"
					want = -.25
				case "transpose":
					d.body += "%mi = OpTranspose %fm %m\n%res = OpCompositeExtract " + ft + " %mi 1 0\n"
					want = 1
				case "product":
					d.body += "%mi = OpMatrixTimesMatrix %fm %m %m\n%res = OpCompositeExtract " + ft + " %mi 0 1\n"
					want = 4
				case "outer":
					d.body += "%mi = OpOuterProduct %fm %col0 %col0\n%res = OpCompositeExtract " + ft + " %mi 0 1\n"
					want = 2
				}
				if w == 32 {
					d.body += "%r = OpBitcast %u32 %res"
				} else {
					d.body += "%res32 = OpFConvert %f32 %res\n%r = OpBitcast %u32 %res32"
				}
				d.want = func(y []uint32) bool {
					got := float64(math.Float32frombits(y[0]))
					if math.Abs(got-want) > 1e-2*math.Abs(want) {
						t.Logf("%s: got %v, want %v", d.name, got, want)
						return false
					}
					return true
				}
				list = append(list, d)
			}
		}
	}
	brave(t, list, 20*time.Second)
}

// TestDeterminant takes one of a matrix without zeros, whose terms nearly cancel
// out: what rounding them makes of it is bounded by their sum.
func TestDeterminant(t *testing.T) {
	var list []danger
	for _, w := range []int{16, 32, 64} {
		for n := 2; n <= 4; n++ {
			d := danger{name: fmt.Sprintf("%d×%d f%d", n, n, w), caps: floatCaps[w], refused: floatRefused[w]}
			ft := "%f32"
			if w != 32 {
				ft = "%ft"
				d.types = fmt.Sprintf("%%ft = OpTypeFloat %d\n", w)
			}
			d.types += fmt.Sprintf("%%fv = OpTypeVector %s %d\n%%fm = OpTypeMatrix %%fv %d\n%%8 = OpConstant %%u32 8\n", ft, n, n)
			d.body = "%eight = OpConvertUToF " + ft + " %8\n"
			var m [4][4]float64
			cols := ""
			for c := range n {
				col := ""
				for r := range n {
					v := uint32(1 + (7*c*c+5*r*r*r+3*c*r)%29)
					m[c][r] = float64(v) / 8
					id := fmt.Sprintf("e%d%d", c, r)
					d.types += fmt.Sprintf("%%k%s = OpConstant %%u32 %d\n", id, v)
					d.body += fmt.Sprintf("%%p%s = OpIAdd %%u32 %%k%s %%a\n%%f%s = OpConvertUToF %s %%p%s\n%%%s = OpFDiv %s %%f%s %%eight\n", id, id, id, ft, id, id, ft, id)
					col += " %" + id
				}
				d.body += fmt.Sprintf("%%col%d = OpCompositeConstruct %%fv%s\n", c, col)
				cols += fmt.Sprintf(" %%col%d", c)
			}
			d.body += "%m = OpCompositeConstruct %fm" + cols + "\n%res = OpExtInst " + ft + " %glsl 33 %m\n"
			if w == 32 {
				d.body += "%r = OpBitcast %u32 %res"
			} else {
				d.body += "%s32 = OpFConvert %f32 %res\n%r = OpBitcast %u32 %s32"
			}
			var det, sum float64 // over all permutations
			var walk func(row int, used [4]bool, product, sign float64)
			walk = func(row int, used [4]bool, product, sign float64) {
				if row == n {
					det += sign * product
					sum += product
					return
				}
				s := sign
				for c := range n {
					if !used[c] {
						next := used
						next[c] = true
						walk(row+1, next, product*m[c][row], s)
						s = -s
					}
				}
			}
			walk(0, [4]bool{}, 1, 1)
			unit := map[int]float64{16: 1.0 / 2048, 32: 1.0 / (1 << 24), 64: 1.0 / (1 << 24)}[w]
			d.want = func(y []uint32) bool {
				got := float64(math.Float32frombits(y[0]))
				t.Logf("%s: got %v, want %v, terms sum up to %v", d.name, got, det, sum)
				return math.Abs(got-det) <= 8*unit*sum
			}
			list = append(list, d)
		}
	}
	brave(t, list, 20*time.Second)
}

// TestParts takes floats apart, at every width.
func TestParts(t *testing.T) {
	var list []danger
	for _, w := range []int{16, 32, 64} {
		for _, n := range []int{1, 3} {
			for _, op := range []string{"Frexp", "FrexpStruct", "Modf", "ModfStruct"} {
				d := danger{name: fmt.Sprintf("%s of %d × f%d", op, n, w), caps: floatCaps[w], refused: floatRefused[w], x: []uint32{math.Float32bits(5.5)}}
				d.may = map[string]string{"webgpu": "unsupported"} // naga has none of them
				ft, it := "%f32", "%i32"
				if w != 32 {
					ft = "%ft"
					d.types = fmt.Sprintf("%%ft = OpTypeFloat %d\n", w)
				}
				if n > 1 {
					d.types += fmt.Sprintf("%%fv = OpTypeVector %s %d\n%%iv = OpTypeVector %%i32 %d\n", ft, n, n)
					it = "%iv"
				}
				vt := ft
				d.body = "%af = OpBitcast %f32 %a\n"
				v := "%af"
				if w != 32 {
					d.body += "%ah = OpFConvert %ft %af\n"
					v = "%ah"
				}
				if n > 1 {
					vt = "%fv"
					d.body += "%av = OpCompositeConstruct %fv" + strings.Repeat(" "+v, n) + "\n"
					v = "%av"
				}
				second, isInt := vt, strings.HasPrefix(op, "Frexp")
				if isInt {
					second = it
				}
				d.types += "%pt = OpTypePointer 7 " + second + "\n%st = OpTypeStruct " + vt + " " + second + "\n"
				switch op {
				case "Frexp", "Modf":
					d.vars = "%pv = OpVariable %pt 7"
					d.body += "%one = OpExtInst " + vt + " %glsl " + map[string]string{"Frexp": "51", "Modf": "35"}[op] + " " + v + " %pv\n%two = OpLoad " + second + " %pv\n"
				default:
					d.body += "%both = OpExtInst %st %glsl " + map[string]string{"FrexpStruct": "52", "ModfStruct": "36"}[op] + " " + v + "\n%one = OpCompositeExtract " + vt + " %both 0\n%two = OpCompositeExtract " + second + " %both 1\n"
				}
				s1, s2 := "%one", "%two"
				if n > 1 {
					s := ft
					if isInt {
						s = "%i32"
					}
					d.body += "%o1 = OpCompositeExtract " + ft + " %one 2\n%t1 = OpCompositeExtract " + s + " %two 2\n"
					s1, s2 = "%o1", "%t1"
				}
				if isInt {
					d.body += "%tf = OpConvertSToF " + ft + " " + s2 + "\n"
					s2 = "%tf"
				}
				d.body += "%sum = OpFAdd " + ft + " " + s1 + " " + s2 + "\n"
				if w == 32 {
					d.body += "%r = OpBitcast %u32 %sum"
				} else {
					d.body += "%s32 = OpFConvert %f32 %sum\n%r = OpBitcast %u32 %s32"
				}
				want := float32(5.5) // 5 + .5
				if isInt {
					want = 3.6875 // .6875 × 2³
				}
				d.want = func(y []uint32) bool { return math.Float32frombits(y[0]) == want }
				list = append(list, d)
			}
		}
	}
	brave(t, list, 20*time.Second)
}
