//go:build cgo

package spv_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// edges are numbers at which signs, carries and roundings tell.
var edges = []uint32{0, 1, 2, 3, 7, 31, 0x7fff, 0x10000, 123456789, 1<<31 - 1, 1 << 31, 1<<31 + 1, 0xedcba987, 0xffff0000, math.MaxUint32 - 1, math.MaxUint32}

// lanes is a pair of edges each.
const lanes = 256

// operands are the numbers of each operand, lane and component, such that the operation
// has a result.
func (op *intOp) operands() (x [lanes][4][4]uint32) {
	for i := range x {
		for k := range x[i] {
			n := i + 37*k
			x[i][k] = [4]uint32{edges[n%16], edges[n/16%16], edges[(3*n+n/16)%16], edges[(5*n+n/16)%16]}
			if op.safe != nil {
				op.safe(&x[i][k])
			}
		}
	}
	return x
}

// form is one way to write an operation: the signs of result and operands, how many
// components, and which operands are constants, which those of a lane.
type form struct {
	signed []bool // by kind
	n      int
	fixed  []bool // by operand
	lane   int
}

func (f form) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d components, signed %v", f.n, f.signed)
	for k, c := range f.fixed {
		if c {
			fmt.Fprintf(&b, ", operand %d of lane %d", k, f.lane)
		}
	}
	return b.String()
}

// mixed is a component's operands at a lane, where some are those of the form's own.
// Scalar operands are those of the first component.
func (op *intOp) mixed(f form, x *[lanes][4][4]uint32, lane, k int) (v [4]uint32) {
	for a := range op.kinds[1:] {
		at, c := lane, k
		if f.fixed[a] {
			at = f.lane
		}
		if op.kinds[1+a] == 's' {
			c = 0
		}
		v[a] = x[at][c][a]
	}
	return v
}

// holds reports whether the operation has a result in every lane of a form.
func (op *intOp) holds(f form, x *[lanes][4][4]uint32) bool {
	for lane := range lanes {
		for k := range f.n {
			v := op.mixed(f, x, lane, k)
			w := v
			if op.safe != nil {
				op.safe(&w)
			}
			if w != v {
				return false
			}
		}
	}
	return true
}

// forms are all forms of an operation that differ.
func (op *intOp) forms(x *[lanes][4][4]uint32) (list []form) {
	for bits := range 1 << len(op.kinds) {
		signed, ok := make([]bool, len(op.kinds)), true
		for k := range signed {
			signed[k] = bits>>k&1 != 0
			switch op.kinds[k] {
			case 'r':
				ok = ok && signed[k] == signed[0]
			case '0', '1':
				ok = ok && (signed[k] == false || op.kinds[1] == 'r')
			case 'u', 'f', 'b':
				ok = ok && !signed[k]
			}
		}
		if !ok {
			continue
		}
		for n := 1; n <= 4; n++ {
			list = append(list, form{signed, n, make([]bool, len(op.kinds)-1), 0})
		}
		for range 2 { // some of the operands constants
			masks := 1<<(len(op.kinds)-1) - 1
			f := form{signed, 1 + len(list)%4, make([]bool, len(op.kinds)-1), 0}
			for a := range f.fixed {
				f.fixed[a] = (1+len(list)%masks)>>a&1 != 0
			}
			for f.lane = len(list) * 7 % lanes; f.lane < lanes; f.lane += 3 {
				if op.holds(f, x) {
					list = append(list, f)
					break
				}
			}
		}
	}
	return list
}

// intHead declares what the modules share: numbers to read as either sign and as
// floats, and a place for results of each.
const intHead = `
OpCapability 1
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel 0 1
OpEntryPoint 5 %main "main" %gid
OpExecutionMode %main 17 64 1 1
OpDecorate %gid 11 28
OpDecorate %ul 6 4
OpDecorate %il 6 4
OpDecorate %fl 6 4
OpMemberDecorate %us 0 35 0
OpMemberDecorate %is 0 35 0
OpMemberDecorate %fs 0 35 0
OpDecorate %us 2
OpDecorate %is 2
OpDecorate %fs 2
OpDecorate %uin 34 0
OpDecorate %uin 33 0
OpDecorate %uin 24
OpDecorate %iin 34 0
OpDecorate %iin 33 1
OpDecorate %iin 24
OpDecorate %fin 34 0
OpDecorate %fin 33 2
OpDecorate %fin 24
OpDecorate %uout 34 0
OpDecorate %uout 33 3
OpDecorate %iout 34 0
OpDecorate %iout 33 4
OpDecorate %fout 34 0
OpDecorate %fout 33 5
%void = OpTypeVoid
%mainType = OpTypeFunction %void
%b = OpTypeBool
%u = OpTypeInt 32 0
%i = OpTypeInt 32 1
%f = OpTypeFloat 32
%b2 = OpTypeVector %b 2
%b3 = OpTypeVector %b 3
%b4 = OpTypeVector %b 4
%u2 = OpTypeVector %u 2
%u3 = OpTypeVector %u 3
%u4 = OpTypeVector %u 4
%i2 = OpTypeVector %i 2
%i3 = OpTypeVector %i 3
%i4 = OpTypeVector %i 4
%f2 = OpTypeVector %f 2
%f3 = OpTypeVector %f 3
%f4 = OpTypeVector %f 4
%inPtr = OpTypePointer 1 %u3
%gid = OpVariable %inPtr 1
%ul = OpTypeRuntimeArray %u
%il = OpTypeRuntimeArray %i
%fl = OpTypeRuntimeArray %f
%us = OpTypeStruct %ul
%is = OpTypeStruct %il
%fs = OpTypeStruct %fl
%usp = OpTypePointer 12 %us
%isp = OpTypePointer 12 %is
%fsp = OpTypePointer 12 %fs
%up = OpTypePointer 12 %u
%ip = OpTypePointer 12 %i
%fp = OpTypePointer 12 %f
%uin = OpVariable %usp 12
%iin = OpVariable %isp 12
%fin = OpVariable %fsp 12
%uout = OpVariable %usp 12
%iout = OpVariable %isp 12
%fout = OpVariable %fsp 12
%n0 = OpConstant %u 0
%n1 = OpConstant %u 1
%n4 = OpConstant %u 4
`

// intModule writes a module by its constants and its body, which may refer to each
// other's names.
type intModule struct {
	consts, body strings.Builder
	made         map[string]bool
	ids          int
}

func (m *intModule) id() string {
	m.ids++
	return fmt.Sprintf("%%t%d", m.ids)
}

func (m *intModule) op(text string, args ...any) string {
	id := m.id()
	fmt.Fprintf(&m.body, "%s = %s\n", id, fmt.Sprintf(text, args...))
	return id
}

// once is a constant or value of that name, made the first time.
func (m *intModule) once(b *strings.Builder, name, text string, args ...any) string {
	if !m.made[name] {
		if m.made == nil {
			m.made = map[string]bool{}
		}
		m.made[name] = true
		fmt.Fprintf(b, "%s = %s\n", name, fmt.Sprintf(text, args...))
	}
	return name
}

func (m *intModule) number(v int) string {
	return m.once(&m.consts, fmt.Sprintf("%%k%d", v), "OpConstant %%u %d", v)
}

// at is the type letter and width of a vector's type.
func shaped(letter byte, n int) string {
	if n == 1 {
		return "%" + string(letter)
	}
	return fmt.Sprintf("%%%c%d", letter, n)
}

// value is an operand: a constant, or read by the invocation.
func (m *intModule) value(op *intOp, f form, x *[lanes][4][4]uint32, a int) string {
	kind, letter, n := op.kinds[1+a], byte('u'), f.n
	switch {
	case kind == 'f' || kind == 'b':
		letter = kind
	case f.signed[1+a]:
		letter = 'i'
	}
	if kind == 's' {
		n = 1
	}
	var parts []string
	if f.fixed[a] {
		name := "%c"
		for k := range n {
			v := x[f.lane][k][a]
			one := fmt.Sprintf("%%%c_%d", letter, v)
			if letter == 'b' {
				text := "OpConstantFalse"
				if v&1 != 0 {
					text = "OpConstantTrue"
				}
				parts = append(parts, m.once(&m.consts, fmt.Sprintf("%%b_%d", v&1), "%s %%b", text))
			} else {
				parts = append(parts, m.once(&m.consts, one, "OpConstant %%%c %d", letter, v))
			}
			name += parts[k][1:]
		}
		if n == 1 {
			return parts[0]
		}
		return m.once(&m.consts, name, "OpConstantComposite %s %s", shaped(letter, n), strings.Join(parts, " "))
	}
	for k := range n {
		name := fmt.Sprintf("%%l%c%d%d", letter, a, k)
		if !m.made[name] {
			at, from := m.op("OpIAdd %%u %%lane %s", m.number(a*lanes*4+k)), letter
			if letter == 'b' {
				from = 'u'
			}
			p := m.op("OpAccessChain %%%cp %%%cin %%n0 %s", from, from, at)
			if letter == 'b' {
				word := m.op("OpLoad %%u %s", p)
				word = m.op("OpBitwiseAnd %%u %s %%n1", word)
				m.once(&m.body, name, "OpINotEqual %%b %s %%n0", word)
			} else {
				m.once(&m.body, name, "OpLoad %%%c %s", letter, p)
			}
		}
		parts = append(parts, name)
	}
	if n == 1 {
		return parts[0]
	}
	return m.once(&m.body, fmt.Sprintf("%%v%c%d%d", letter, a, n), "OpCompositeConstruct %s %s", shaped(letter, n), strings.Join(parts, " "))
}

// write adds the operation in a form, whose results are those of that number.
func (m *intModule) write(op *intOp, f form, x *[lanes][4][4]uint32, number int) {
	letter := byte('u')
	if f.signed[0] {
		letter = 'i'
	}
	if op.kinds[0] == 'f' || op.kinds[0] == 'b' {
		letter = op.kinds[0]
	}
	typ := shaped(letter, f.n)
	if op.kinds[0] == '0' || op.kinds[0] == '1' {
		typ = m.once(&m.consts, typ+"x", "OpTypeStruct %s %s", typ, typ)
	}
	name, ext, _ := strings.Cut(op.name, " ")
	text := name + " " + typ
	if ext != "" {
		text += " %glsl " + ext
	}
	for a := range op.kinds[1:] {
		text += " " + m.value(op, f, x, a)
	}
	r := m.op("%s", text)
	switch op.kinds[0] {
	case '0', '1':
		r = m.op("OpCompositeExtract %s %s %c", shaped(letter, f.n), r, op.kinds[0])
	case 'b':
		letter = 'u'
		one, zero := "%n1", "%n0"
		if f.n > 1 {
			one = m.once(&m.consts, fmt.Sprintf("%%ones%d", f.n), "OpConstantComposite %s%s", shaped('u', f.n), strings.Repeat(" %n1", f.n))
			zero = m.once(&m.consts, fmt.Sprintf("%%zeros%d", f.n), "OpConstantNull %s", shaped('u', f.n))
		}
		r = m.op("OpSelect %s %s %s %s", shaped('u', f.n), r, one, zero)
	}
	if f.n > 1 { // a sum of all components that each of them changes
		whole := r
		whole, from := r, letter
		if from == 'f' {
			letter = 'u'
		}
		for k := range f.n {
			part := m.op("OpCompositeExtract %%%c %s %d", from, whole, k)
			if from == 'f' {
				part = m.op("OpBitcast %%u %s", part)
			}
			if k == 0 {
				r = part
				continue
			}
			odd := m.once(&m.consts, fmt.Sprintf("%%%c_%d", letter, 2*k+1), "OpConstant %%%c %d", letter, 2*k+1)
			r = m.op("OpIAdd %%%c %s %s", letter, r, m.op("OpIMul %%%c %s %s", letter, part, odd))
		}
	}
	at := m.op("OpIAdd %%u %%x %s", m.number(number*lanes))
	p := m.op("OpAccessChain %%%cp %%%cout %%n0 %s", letter, letter, at)
	fmt.Fprintf(&m.body, "OpStore %s %s\n", p, r)
}

func (m *intModule) text() string {
	return intHead + m.consts.String() + "%main = OpFunction %void 0 %mainType\n%entry = OpLabel\n%id = OpLoad %u3 %gid\n%x = OpCompositeExtract %u %id 0\n%lane = OpIMul %u %x %n4\n" +
		m.body.String() + "OpReturn\nOpFunctionEnd\n"
}

// TestIntegers runs every operation on integers with every combination of signs, of
// one to four components, of values and of constants, and compares with the meaning of
// the opcode.
func TestIntegers(t *testing.T) {
	type job struct {
		op    *intOp
		x     [lanes][4][4]uint32
		forms []form
		m     *spv.Module
	}
	var jobs []job
	total := 0
	for k := range intOps {
		op := &intOps[k]
		j := job{op: op, x: op.operands()}
		j.forms = op.forms(&j.x)
		var w intModule
		for n, f := range j.forms {
			w.write(op, f, &j.x, n)
		}
		m, err := spv.Parse(op.name, assemble(t, w.text()))
		if err != nil {
			t.Fatalf("%s: %v", op.name, err)
		}
		j.m = m
		jobs = append(jobs, j)
		total += len(j.forms)
	}
	t.Logf("%d forms of %d operations", total, len(jobs))
	eachDevice(t, func(t *testing.T, dev gpu.Device) {
		for _, j := range jobs {
			t.Run(strings.ReplaceAll(j.op.name, " ", "")+j.op.kinds[:1], func(t *testing.T) {
				in := make([]uint32, 0, 4*lanes*4)
				for a := range 4 {
					for lane := range lanes {
						for k := range 4 {
							in = append(in, j.x[lane][k][a])
						}
					}
				}
				got := runWords(t, dev, j.m, in, len(j.forms)*lanes, lanes/64)
				wrong := 0
				for n, f := range j.forms {
					from := got[0]
					switch {
					case j.op.kinds[0] == 'f' && f.n == 1:
						from = got[2]
					case f.signed[0]:
						from = got[1]
					}
					bad := ""
					for lane := range lanes {
						want, v := uint32(0), [4][4]uint32{}
						for k := range f.n {
							v[k] = j.op.mixed(f, &j.x, lane, k)
							want += j.op.ref(v[k]) * uint32(2*k+1)
						}
						if is := from[n*lanes+lane]; is != want {
							bad = fmt.Sprintf("of %x: got %x, want %x", v[:f.n], is, want)
						}
					}
					if bad == "" {
						continue
					}
					if wrong++; wrong <= 2 {
						t.Errorf("%v: %s", f, bad)
					}
				}
				if wrong > 0 {
					t.Errorf("%d of %d forms are wrong", wrong, len(j.forms))
				}
			})
		}
	})
}
