//go:build cgo

package spv_test

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/lathe-gpu/lathe/internal/launch"
	"github.com/lathe-gpu/lathe/internal/testkit"
)

// shell is a module around a main function. Its storage buffers x and y, bindings 0 and 1,
// hold u32s.
const shell = `
OpCapability 1
%CAPS
%glsl = OpExtInstImport "GLSL.std.450"
OpMemoryModel 0 1
OpEntryPoint 5 %main "main" %gid %lid
OpExecutionMode %main 17 LOCAL 1 1
OpDecorate %gid 11 28
OpDecorate %lid 11 27
OpDecorate %list 6 4
OpMemberDecorate %block 0 35 0
OpDecorate %block 2
OpDecorate %x 34 0
OpDecorate %x 33 0
OpDecorate %y 34 0
OpDecorate %y 33 1
%DECOR
%void = OpTypeVoid
%mainType = OpTypeFunction %void
%bool = OpTypeBool
%u32 = OpTypeInt 32 0
%i32 = OpTypeInt 32 1
%f32 = OpTypeFloat 32
%v3 = OpTypeVector %u32 3
%v4 = OpTypeVector %u32 4
%inPtr = OpTypePointer 1 %v3
%inU = OpTypePointer 1 %u32
%gid = OpVariable %inPtr 1
%lid = OpVariable %inPtr 1
%list = OpTypeRuntimeArray %u32
%block = OpTypeStruct %list
%blockP = OpTypePointer 12 %block
%x = OpVariable %blockP 12
%y = OpVariable %blockP 12
%uP = OpTypePointer 12 %u32
%0 = OpConstant %u32 0
%1 = OpConstant %u32 1
%2 = OpConstant %u32 2
%3 = OpConstant %u32 3
%264 = OpConstant %u32 264
%TYPES
%main = OpFunction %void 0 %mainType
%entry = OpLabel
%VARS
%id = OpLoad %v3 %gid
%g = OpCompositeExtract %u32 %id 0
%id2 = OpLoad %v3 %lid
%l = OpCompositeExtract %u32 %id2 0
%xp = OpAccessChain %uP %x %0 %0
%a = OpLoad %u32 %xp
%BODY
%yp = OpAccessChain %uP %y %0 %g
OpStore %yp %r
OpReturn
OpFunctionEnd
%FUNCTIONS
`

// danger is a module that asks for trouble.
type danger struct {
	name                                      string
	caps, decor, types, vars, body, functions string
	local                                     int
	groups                                    [3]uint32
	push                                      []byte
	more                                      []int                 // bytes of the buffers after x and y
	x                                         []uint32              // element 0 is %a
	want                                      func(y []uint32) bool // nil: anything, if it was run
	may                                       map[string]string     // by driver: a word of the error, where it may be refused or run
	refused                                   map[string]string     // by driver, "" for any: a word of the error
}

func (d *danger) code(t testing.TB) []byte {
	text := shell
	for _, p := range [][2]string{{"%CAPS", d.caps}, {"%DECOR", d.decor}, {"%TYPES", d.types}, {"%VARS", d.vars}, {"%BODY", d.body}, {"%FUNCTIONS", d.functions}, {"LOCAL", fmt.Sprint(max(1, d.local))}} {
		text = strings.Replace(text, p[0], p[1], 1)
	}
	return assemble(t, text)
}

// brave runs modules on every driver and holds them to what they are to do: no
// process ends, and no launch takes long.
func brave(t *testing.T, list []danger, limit time.Duration) {
	for _, drv := range launch.Drivers(t) {
		t.Run(drv.Name, func(t *testing.T) {
			w := launch.New(t, drv)
			for i := range list {
				d := &list[i]
				x := append(append([]uint32(nil), d.x...), make([]uint32, 64)...)
				j := launch.Job{Code: d.code(t), Push: d.push, Buffers: [][]byte{testkit.Words(x...), make([]byte, 4*64)}, Groups: d.groups}
				for _, n := range d.more {
					j.Buffers = append(j.Buffers, make([]byte, n))
				}
				r, err := w.Run(t.Context(), j, limit)
				if err != nil {
					t.Errorf("%s: %v", d.name, err)
					continue
				}
				if r.Took > time.Second {
					t.Logf("%s: %v %.150s", d.name, r.Took, r.Err)
				}
				word, refused := d.refused[drv.Name]
				if !refused {
					word, refused = d.refused[""]
				}
				if may, ok := d.may[drv.Name]; ok && r.Refused() {
					word, refused = may, true
				}
				switch {
				case refused != r.Refused() || !strings.Contains(r.Err, word):
					t.Errorf("%s: got %q, want refused %v (%s)", d.name, r.Err, refused, word)
				case !refused && d.want != nil:
					y := make([]uint32, 64)
					for k := range y {
						y[k] = binary.LittleEndian.Uint32(r.Buffers[1][4*k:])
					}
					if !d.want(y) {
						t.Errorf("%s: got %v", d.name, y[:8])
					}
				}
			}
		})
	}
}

func first(v uint32) func(y []uint32) bool { return func(y []uint32) bool { return y[0] == v } }

// Indices out of range, where no robust access bounds them.
func TestIndicesOutOfRange(t *testing.T) {
	const shared = "%n = OpConstant %u32 16\n%arr = OpTypeArray %u32 %n\n%arrP = OpTypePointer 4 %arr\n%s = OpVariable %arrP 4\n%sP = OpTypePointer 4 %u32\n%nine = OpConstant %u32 9"
	var list []danger
	for _, far := range []uint32{15, 16, 1000, 1 << 20, 1 << 29, 1<<31 - 1, 1 << 31, 0xffffffff, 0xfffffff0, 0xfff00000} {
		for _, typ := range []string{"u32", "i32"} {
			list = append(list, danger{name: fmt.Sprintf("store to shared memory at %#x, %s", far, typ), x: []uint32{far},
				types: shared, body: "%ai = OpBitcast %" + typ + " %a\n%p = OpAccessChain %sP %s %ai\nOpStore %p %nine\n%q = OpAccessChain %sP %s %ai\n%r = OpLoad %u32 %q", want: first(9)})
		}
	}
	list[1].body = strings.Replace(list[1].body, "%ai =", "%ai0 =", 1) // and one through a copy
	list[1].body = strings.Replace(list[1].body, "%p = ", "%ai = OpCopyObject %i32 %ai0\n%p = ", 1)
	for _, class := range []struct {
		name, class string
	}{{"function", "7"}, {"private", "6"}} {
		types := "%n = OpConstant %u32 16\n%arr = OpTypeArray %u32 %n\n%arrP = OpTypePointer CLASS %arr\n%sP = OpTypePointer CLASS %u32\n%nine = OpConstant %u32 9\n%init = OpConstantNull %arr"
		d := danger{types: strings.ReplaceAll(types, "CLASS", class.class), body: "%p = OpAccessChain %sP %s %a\nOpStore %p %nine\n%a2 = OpIAdd %u32 %a %1\n%q = OpInBoundsAccessChain %sP %s %a2\n%r = OpLoad %u32 %q"}
		if class.class == "7" {
			d.vars = "%s = OpVariable %arrP 7 %init"
		} else {
			d.types += "\n%s = OpVariable %arrP 6 %init"
		}
		for _, far := range []uint32{1000, 1 << 20, 1 << 29, 1 << 31, 0xfff00000} {
			e := d
			e.name, e.x, e.want = fmt.Sprintf("store to %s memory at %#x", class.name, far), []uint32{far}, first(9)
			list = append(list, e)
		}
	}
	list = append(list,
		danger{name: "pointer to shared memory as a parameter", x: []uint32{1 << 20}, types: shared + "\n%ft = OpTypeFunction %u32 %arrP %u32",
			body:      "%r = OpFunctionCall %u32 %fn %s %a",
			functions: "%fn = OpFunction %u32 0 %ft\n%fs = OpFunctionParameter %arrP\n%fi = OpFunctionParameter %u32\n%fl = OpLabel\n%fp = OpAccessChain %sP %fs %fi\nOpStore %fp %nine\n%fv = OpLoad %u32 %fp\nOpReturnValue %fv\nOpFunctionEnd",
			want:      first(9), refused: map[string]string{"webgpu": "unsupported"}},
		danger{name: "nested arrays, chain of chains", x: []uint32{1 << 24}, types: shared + "\n%arr2 = OpTypeArray %arr %n\n%str = OpTypeStruct %u32 %arr2\n%strP = OpTypePointer 4 %str\n%arr2P = OpTypePointer 4 %arr2\n%s2 = OpVariable %strP 4",
			body: "%c0 = OpAccessChain %arr2P %s2 %1\n%c1 = OpAccessChain %arrP %c0 %a\n%c2 = OpAccessChain %sP %c1 %a\nOpStore %c2 %nine\n%d2 = OpAccessChain %sP %s2 %1 %a %a\n%r = OpLoad %u32 %d2", want: first(9)},
		danger{name: "component of a vector in shared memory", x: []uint32{1 << 24}, types: "%vP = OpTypePointer 4 %v4\n%s = OpVariable %vP 4\n%sP = OpTypePointer 4 %u32\n%nine = OpConstant %u32 9",
			body: "%p = OpAccessChain %sP %s %a\nOpStore %p %nine\n%r = OpLoad %u32 %p", want: first(9)},
		danger{name: "extract and insert", x: []uint32{1 << 24}, body: "%v = OpCompositeConstruct %v4 %2 %2 %2 %2\n%v2 = OpVectorInsertDynamic %v4 %v %3 %a\n%r = OpVectorExtractDynamic %u32 %v2 %a", want: first(3)},
		danger{name: "component of an input", x: []uint32{1 << 24}, body: "%p = OpAccessChain %inU %lid %a\n%r = OpLoad %u32 %p", want: first(0)},
		danger{name: "array of one", x: []uint32{1 << 24}, types: strings.Replace(shared, "%u32 16", "%u32 1", 1), body: "%p = OpAccessChain %sP %s %a\nOpStore %p %nine\n%r = OpLoad %u32 %p", want: first(9)},
		danger{name: "atomic in shared memory", x: []uint32{1 << 24}, types: shared, body: "%p = OpAccessChain %sP %s %a\nOpStore %p %2\n%r0 = OpAtomicIAdd %u32 %p %1 %0 %nine\n%r = OpLoad %u32 %p",
			want: first(11), refused: map[string]string{"webgpu": "unsupported"}},
		danger{name: "length by a specialisation constant", x: []uint32{1 << 24}, decor: "OpDecorate %n 1 3", types: strings.Replace(shared, "OpConstant %u32 16", "OpSpecConstant %u32 16", 1),
			body: "%p = OpAccessChain %sP %s %a\nOpStore %p %nine\n%r = OpLoad %u32 %p", want: first(9)},
		danger{name: "constant index out of range", types: shared + "\n%far = OpConstant %u32 100000000", body: "%p = OpAccessChain %sP %s %far\nOpStore %p %nine\n%r = OpLoad %u32 %p", want: first(9)},
		danger{name: "push constants", x: []uint32{1 << 24}, push: make([]byte, 64), decor: "OpDecorate %arr 6 4\nOpMemberDecorate %pc 0 35 0\nOpDecorate %pc 2",
			types: "%n = OpConstant %u32 16\n%arr = OpTypeArray %u32 %n\n%pc = OpTypeStruct %arr\n%pcP = OpTypePointer 9 %pc\n%pcv = OpVariable %pcP 9\n%pcU = OpTypePointer 9 %u32",
			body:  "%p = OpAccessChain %pcU %pcv %0 %a\n%r = OpLoad %u32 %p", want: first(0)},
	)
	for _, w := range []int{8, 16, 64} {
		conv := "OpUConvert"
		lit := "300"
		capn := map[int]string{8: "39", 16: "22", 64: "11"}[w]
		list = append(list, danger{name: fmt.Sprintf("index of %d bits", w), x: []uint32{0xfffffff7}, caps: "OpCapability " + capn, types: strings.Replace(shared, "%u32 16", "%u32 "+lit, 1) + fmt.Sprintf("\n%%ut = OpTypeInt %d 0", w),
			body: "%ai = " + conv + " %ut %a\n%p = OpAccessChain %sP %s %ai\nOpStore %p %nine\n%r = OpLoad %u32 %p", want: first(9),
			refused: map[string]string{"webgpu": "unsupported", "swiftshader": "unsupported"}})
	}
	brave(t, list, 20*time.Second)
}
