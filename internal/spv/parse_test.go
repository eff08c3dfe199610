package spv

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/internal/errs"
)

func TestParseReflects(t *testing.T) {
	code := assemble(t, v13, good)
	kept := slices.Clone(code)
	got, err := Parse("test/good", code)
	if err != nil {
		t.Fatal(err)
	}
	want := &Module{
		Name: "test/good",
		Code: kept,
		Hash: sha256.Sum256(kept),
		Bindings: []Binding{
			{Slot: 0, Kind: StorageBuffer, Access: ReadOnly, Name: "src", Type: "f32", ArrayStride: 4},
			{Slot: 3, Kind: StorageBuffer, Access: ReadWrite, Name: "dst", Type: "f32", ArrayOffset: 16, ArrayStride: 4, Number: 3},
		},
		Params:       []Member{{"n", "u32", 0, 4}, {"scale", "f32", 4, 4}},
		ParamSize:    8,
		LocalSize:    [3]uint32{8, 4, 1},
		SharedBytes:  64,
		Foreign:      true,
		Version:      v13,
		Capabilities: []uint32{1},
		Specs:        []SpecConst{{ID: 7, Name: "COUNT", Type: "u32", Default: 16}},
	}
	want.Instructions = 30
	want.Iterations = 18 // COUNT, and how far the proof is off
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("module (-want +got):\n%s", d)
	}
	clear(code)
	if !bytes.Equal(got.Code, kept) {
		t.Error("Module.Code aliases the caller's slice")
	}
}

// Each case changes the good module and says what reflection must then find.
func TestParseVariations(t *testing.T) {
	buffer := func(m *Module) any { return m.Bindings[0] }
	for _, c := range []struct {
		name     string
		edits    []string // old, new pairs
		got      func(*Module) any
		want     any
		refusing error
	}{
		{"BufferBlock", []string{"OpDecorate %in 2\n", "OpDecorate %in 3\n", "%inP = OpTypePointer 12 %in", "%inP = OpTypePointer 2 %in", "%src = OpVariable %inP 12", "%src = OpVariable %inP 2", "%fP %src", "%fU %src", "%fP = OpTypePointer 12 %f32", "%fP = OpTypePointer 12 %f32\n%fU = OpTypePointer 2 %f32"},
			buffer, Binding{Slot: 0, Kind: StorageBuffer, Access: ReadOnly, Name: "src", Type: "f32", ArrayStride: 4}, nil},
		{"NonWritable on the variable", []string{"OpMemberDecorate %in 0 24\n", "OpDecorate %src 24\n"},
			buffer, Binding{Slot: 0, Kind: StorageBuffer, Access: ReadOnly, Name: "src", Type: "f32", ArrayStride: 4}, nil},
		{"NonReadable on the member", []string{"OpMemberDecorate %in 0 24\n", "OpMemberDecorate %in 0 25\n"},
			buffer, Binding{Slot: 0, Kind: StorageBuffer, Access: WriteOnly, Name: "src", Type: "f32", ArrayStride: 4}, nil},
		{"NonWritable on some members only", []string{"OpMemberDecorate %out 0 35 0\n", "OpMemberDecorate %out 0 35 0\nOpMemberDecorate %out 0 24\n"},
			func(m *Module) any { return m.Bindings[1].Access }, ReadWrite, nil},
		{"no names", []string{"OpName %src \"src\"\n", "", "OpName %dst \"dst\"\n", "OpName %out \"Out\"\n"},
			func(m *Module) any { return []string{m.Bindings[0].Name, m.Bindings[1].Name} }, []string{"", "Out"}, nil},
		{"WorkgroupSize", []string{"OpDecorate %count 1 7\n", "OpDecorate %count 1 7\nOpDecorate %wg 11 25\n", "%f1 =", "%wg = OpConstantComposite %v3 %2 %2 %2\n%f1 ="},
			func(m *Module) any { return m.LocalSize }, [3]uint32{2, 2, 2}, nil},
		{"LocalSizeId", []string{"OpExecutionMode %main 17 8 4 1", "OpExecutionModeId %main 38 %264 %2 %1"},
			func(m *Module) any { return m.LocalSize }, [3]uint32{264, 2, 1}, nil},
		{"another set", []string{"OpDecorate %src 34 0", "OpDecorate %src 34 1"}, func(m *Module) any { return m.Bindings },
			[]Binding{{Slot: 3, Kind: StorageBuffer, Access: ReadWrite, Name: "dst", Type: "f32", ArrayOffset: 16, ArrayStride: 4, Number: 3}, {Slot: 4, Kind: StorageBuffer, Access: ReadOnly, Name: "src", Type: "f32", ArrayStride: 4, Set: 1}}, nil},
		{"sets far away", []string{"OpDecorate %src 34 0", "OpDecorate %src 34 7", "OpDecorate %dst 34 0", "OpDecorate %dst 34 4294967295"}, func(m *Module) any { return m.Bindings },
			[]Binding{{Slot: 0, Kind: StorageBuffer, Access: ReadOnly, Name: "src", Type: "f32", ArrayStride: 4, Set: 7}, {Slot: 4, Kind: StorageBuffer, Access: ReadWrite, Name: "dst", Type: "f32", ArrayOffset: 16, ArrayStride: 4, Set: 1<<32 - 1, Number: 3}}, nil},
		{"one slot for two", []string{"%src 33 0", "%src 33 3"}, func(m *Module) any { return m.Bindings },
			[]Binding{{Slot: 3, Kind: StorageBuffer, Access: ReadWrite, Name: "src", Type: "f32", ArrayStride: 4, Number: 3}}, nil},
		{"huge slot", []string{"%src 33 0", "%src 33 99999"}, nil, nil, errs.ErrUnsupported},
		{"push block too large", []string{"OpMemberDecorate %params 1 35 4", "OpMemberDecorate %params 1 35 65536"}, nil, nil, errs.ErrUnsupported},
		{"memory model Simple", []string{"OpMemoryModel 0 1", "OpMemoryModel 0 0"}, func(m *Module) any { return m.LocalSize }, [3]uint32{8, 4, 1}, nil},
		{"another name", []string{"\"main\"", "\"mine\""}, func(m *Module) any { return m.LocalSize }, [3]uint32{8, 4, 1}, nil},
		{"a second push block that nothing uses", []string{"%p = OpVariable %paramsP 9\n", "%p = OpVariable %paramsP 9\n%p2 = OpVariable %paramsP 9\n"}, func(m *Module) any { return m.ParamSize }, uint32(8), nil},
		{"fragment shader", []string{"OpEntryPoint 5", "OpEntryPoint 4"}, nil, nil, errs.ErrUnsupported},
		{"capability unknown", []string{"OpCapability 1\n", "OpCapability 1\nOpCapability 6026\n"}, nil, nil, errs.ErrUnsupported},
		{"extension unknown", []string{"OpCapability 1\n", "OpCapability 1\nOpExtension \"SPV_KHR_of_tomorrow\"\n"}, nil, nil, errs.ErrUnsupported},
		{"push array and struct", []string{
			"%params = OpTypeStruct %u32 %f32", "%st = OpTypeStruct %i32 %f32\n%sts = OpTypeArray %st %two\n%ar = OpTypeArray %f32 %two\n%params = OpTypeStruct %u32 %f32 %ar %sts",
			"%inPtr =", "%two = OpConstant %u32 2\n%inPtr =", "%2 = OpConstant %u32 2\n", "", "%2 %2 %264", "%two %two %264",
			"OpDecorate %params 2", "OpDecorate %params 2\nOpMemberDecorate %params 2 35 8\nOpMemberDecorate %params 3 35 16\nOpDecorate %ar 6 4\nOpDecorate %sts 6 8\nOpMemberDecorate %st 0 35 0\nOpMemberDecorate %st 1 35 4",
			"OpName %src", "OpMemberName %params 2 \"w\"\nOpMemberName %params 3 \"stage\"\nOpMemberName %st 0 \"flags\"\nOpMemberName %st 1 \"bias\"\nOpName %src",
		}, func(m *Module) any { return m.Params }, []Member{
			{"n", "u32", 0, 4}, {"scale", "f32", 4, 4}, {"w", "f32[2]", 8, 8},
			{"stage[0].flags", "i32", 16, 4}, {"stage[0].bias", "f32", 20, 4}, {"stage[1].flags", "i32", 24, 4}, {"stage[1].bias", "f32", 28, 4},
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := good
			for i := 0; i < len(c.edits); i += 2 {
				text = edit(t, text, c.edits[i], c.edits[i+1])
			}
			m, err := Parse("", assemble(t, v13, text))
			if !errors.Is(err, c.refusing) {
				t.Fatalf("error %v, want %v", err, c.refusing)
			}
			if err == nil {
				if d := cmp.Diff(c.want, c.got(m)); d != "" {
					t.Errorf("(-want +got):\n%s", d)
				}
			}
		})
	}
}

// texels is a module that copies one texel buffer to another.
const texels = `
OpCapability 1
OpCapability 46
OpCapability 47
OpMemoryModel 0 1
OpEntryPoint 5 %main "main" %gid
OpExecutionMode %main 17 64 1 1
OpDecorate %gid 11 28
OpDecorate %from 34 0
OpDecorate %from 33 1
OpDecorate %to 34 0
OpDecorate %to 33 0
OpDecorate %to 25
%void = OpTypeVoid
%mainType = OpTypeFunction %void
%u32 = OpTypeInt 32 0
%i32 = OpTypeInt 32 1
%v3 = OpTypeVector %u32 3
%v4 = OpTypeVector %u32 4
%inPtr = OpTypePointer 1 %v3
%gid = OpVariable %inPtr 1
%img = OpTypeImage %u32 5 0 0 0 1 0
%smp = OpTypeSampledImage %img
%smpP = OpTypePointer 0 %smp
%from = OpVariable %smpP 0
%sto = OpTypeImage %u32 5 0 0 0 2 30
%stoP = OpTypePointer 0 %sto
%to = OpVariable %stoP 0
%main = OpFunction %void 0 %mainType
%entry = OpLabel
%id = OpLoad %v3 %gid
%x = OpCompositeExtract %u32 %id 0
%s = OpLoad %smp %from
%im = OpImage %img %s
%t = OpImageFetch %v4 %im %x
%d = OpLoad %sto %to
OpImageWrite %d %x %t
OpReturn
OpFunctionEnd
`

func TestParseTexelBuffers(t *testing.T) {
	m, err := Parse("", assemble(t, v13, texels))
	if err != nil {
		t.Fatal(err)
	}
	want := []Binding{{Kind: StorageTexel, Access: WriteOnly, Type: "u32"}, {Slot: 1, Kind: UniformTexel, Access: ReadOnly, Type: "u32", Number: 1}}
	if d := cmp.Diff(want, m.Bindings); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	for _, c := range []struct{ old, new, want string }{
		{"2 30\n", "2 33\n", "image format 33"},
		{"%sto = OpTypeImage %u32 5", "%sto = OpTypeImage %u32 1", "a storage image"},
		{"%smpP = OpTypePointer 0 %smp", "%many = OpTypeArray %smp %four\n%smpP = OpTypePointer 0 %many", "array of resources"},
	} {
		text := edit(t, texels, c.old, c.new)
		if strings.Contains(c.new, "%many") {
			text = edit(t, text, "%v3 = OpTypeVector", "%four = OpConstant %u32 4\n%zero = OpConstant %u32 0\n%v3 = OpTypeVector")
			text = edit(t, text, "%s = OpLoad %smp %from", "%one = OpAccessChain %oneP %from %zero\n%s = OpLoad %smp %one")
			text = edit(t, text, "%from = OpVariable", "%oneP = OpTypePointer 0 %smp\n%from = OpVariable")
		}
		if _, err := Parse("", assemble(t, v13, text)); !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want ErrUnsupported naming %q", c.new, err, c.want)
		}
	}
}

func TestParseHeader(t *testing.T) {
	code := assemble(t, v13, good)
	swapped := slices.Clone(code)
	for i := 0; i < len(swapped); i += 4 {
		binary.BigEndian.PutUint32(swapped[i:], binary.LittleEndian.Uint32(code[i:]))
	}
	for _, c := range []struct {
		name string
		code []byte
		want string
	}{
		{"empty", nil, "shorter than a SPIR-V header"},
		{"odd length", code[:len(code)-1], "not a multiple of 4"},
		{"header only", code[:20], "capability Shader is not declared"},
		{"magic", word(code, 0, 7), "not SPIR-V"},
		{"big-endian", swapped, "big-endian"},
		{"version 1.7", word(code, 1, 0x10700), "version"},
		{"version 0", word(code, 1, 0), "version"},
		{"bound 0", word(code, 3, 0), "id bound"},
		{"bound too small", word(code, 3, 5), "out of range"},
		{"bound huge", word(code, 3, 1<<30), "id bound"},
		{"schema", word(code, 4, 1), "schema"},
		{"word count 0", word(code, 5, 17), "word count"},
		{"word count past the end", word(code, 5, 0xffff0011), "word count"},
		{"unknown opcode", word(code, 5, 2<<16|60000), "opcode 60000"},
		{"truncated", code[:len(code)-4], "no OpFunctionEnd"},
	} {
		_, err := Parse("k", c.code)
		if !errors.Is(err, errs.ErrInvalidShader) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want ErrInvalidShader naming %q", c.name, err, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(assemble(f, v13, good))
	f.Add(assemble(f, v13, texels))
	for _, code := range committed(f) {
		f.Add(code)
	}
	f.Fuzz(func(t *testing.T, code []byte) {
		m, err := Parse("fuzz", code)
		if (m == nil) == (err == nil) {
			t.Fatalf("module %v, error %v", m, err)
		}
		if err != nil && !errors.Is(err, errs.ErrInvalidShader) && !errors.Is(err, errs.ErrUnsupported) {
			t.Fatalf("error of no kind: %v", err)
		}
	})
}

func BenchmarkParse(b *testing.B) {
	code := assemble(b, v13, good)
	b.SetBytes(int64(len(code)))
	for b.Loop() {
		if _, err := Parse("", code); err != nil {
			b.Fatal(err)
		}
	}
}

// Structs that hold the one before twice, forty deep, have 2⁴⁰ leaves: Parse
// must not visit them one by one.
func TestParseNestedStructs(t *testing.T) {
	for _, leaf := range []string{"%u32", ""} {
		var types, decor strings.Builder
		types.WriteString("%s0 = OpTypeStruct " + leaf + "\n")
		if leaf != "" {
			decor.WriteString("OpMemberDecorate %s0 0 35 0\n")
		}
		for i := 1; i <= 40; i++ {
			fmt.Fprintf(&types, "%%s%d = OpTypeStruct %%s%d %%s%d\n", i, i-1, i-1)
			fmt.Fprintf(&decor, "OpMemberDecorate %%s%d 0 35 0\nOpMemberDecorate %%s%d 1 35 %d\n", i, i, 4<<min(i-1, 29))
		}
		for _, use := range []string{"%sv = OpVariable %sp 4\n", "%sv = OpVariable %sp 12\n", "%sv = OpVariable %sp 9\n"} {
			class := use[len(use)-3 : len(use)-1]
			text := edit(t, good, "%f1 =", types.String()+"%sp = OpTypePointer "+class+" %s40\n"+use+"%f1 =")
			text = edit(t, text, "OpDecorate %params 2\n", "OpDecorate %params 2\nOpDecorate %s40 2\nOpDecorate %sv 34 0\nOpDecorate %sv 33 9\n"+decor.String())
			if class == " 9" {
				text = edit(t, text, "%p = OpVariable %paramsP 9\n", "")
			}
			start := time.Now()
			Parse("", assemble(t, v13, text))
			if d := time.Since(start); d > 5*time.Second {
				t.Errorf("leaf %q in storage class%s took %v", leaf, class, d)
			}
		}
	}
}
