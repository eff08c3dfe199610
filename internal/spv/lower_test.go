package spv

import (
	"bytes"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// lowered is the lowered module, taken apart again.
func lowered(t *testing.T, m *Module, readWrite bool) (*Lowered, *shader) {
	t.Helper()
	l, err := Lower(m, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	return l, apart(t, l.Code)
}

// apart is a module taken apart.
func apart(t *testing.T, code []byte) *shader {
	t.Helper()
	s, err := typed(code)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// variable is a variable of the lowered module: its class and place.
type variable struct {
	class, set, slot uint32
	readOnly         bool
}

func variables(s *shader) []variable {
	var list []variable
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opVariable {
			continue
		}
		d := s.decor[in.res]
		slot, bound := number(d, decBinding)
		set, _ := number(d, decDescriptorSet)
		if bound || in.w[3] == classPushConstant {
			list = append(list, variable{in.w[3], set, slot, has(d, decNonWritable)})
		}
	}
	return list
}

func TestLower(t *testing.T) {
	arrays := edit(t, edit(t, edit(t, edit(t, edit(t, good,
		"%params = OpTypeStruct %u32 %f32", "%four = OpConstant %u32 4\n%list = OpTypeArray %f32 %four\n%params = OpTypeStruct %u32 %list"),
		"OpMemberDecorate %params 1 35 4", "OpMemberDecorate %params 1 35 4\nOpDecorate %list 6 4"),
		"%0 = OpConstant %u32 0\n", ""),
		"%run = OpTypeRuntimeArray %f32\n", "%run = OpTypeRuntimeArray %f32\n%0 = OpConstant %u32 0\n"),
		"%fPush = OpTypePointer 9 %f32\n", "")
	for _, c := range []struct {
		name      string
		text      string
		readWrite bool
		want      []variable
		kind      Kind
		bytes     uint32
	}{
		{"plain", good, false, []variable{{classStorageBuffer, 0, 0, true}, {classStorageBuffer, 0, 3, false}, {classUniform, 1, 0, false}}, UniformBuffer, 16},
		{"read-write", good, true, []variable{{classStorageBuffer, 0, 0, false}, {classStorageBuffer, 0, 3, false}, {classUniform, 1, 0, false}}, UniformBuffer, 16},
		{"array", arrays, false, []variable{{classStorageBuffer, 0, 0, true}, {classStorageBuffer, 0, 3, false}, {classStorageBuffer, 1, 0, true}}, StorageBuffer, 32},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Parse("m", assemble(t, v13, c.text))
			if err != nil {
				t.Fatal(err)
			}
			l, s := lowered(t, m, c.readWrite)
			if got := variables(s); !slices.Equal(got, c.want) {
				t.Errorf("variables %+v, want %+v", got, c.want)
			}
			if l.ParamKind != c.kind || l.ParamBytes != c.bytes {
				t.Errorf("parameters of kind %v, %d bytes; want %v, %d", l.ParamKind, l.ParamBytes, c.kind, c.bytes)
			}
			if want := []uint32{4, 20}; !slices.Equal(l.Least, want) {
				t.Errorf("blocks of %d bytes, want %d", l.Least, want)
			}
			for i := range s.insts {
				switch in := &s.insts[i]; {
				case in.op >= opSpecConstantTrue && in.op <= opSpecConstantOp:
					t.Errorf("%v is left", in)
				case in.op == opTypePointer && in.w[2] == classPushConstant:
					t.Errorf("%v is left", in)
				case in.op == opDecorate && in.w[2] == decSpecID:
					t.Errorf("%v is left", in)
				}
			}
			validate(t, "m", l.Code)
		})
	}
}

// TestLowerLocalSize wants the local size as an execution mode, once, wherever the
// module has it from.
func TestLowerLocalSize(t *testing.T) {
	constant := edit(t, edit(t, good, "OpExecutionMode %main 17 8 4 1\n", "OpExecutionMode %main 17 1 1 1\n"),
		"OpDecorate %gid 11 28\n", "OpDecorate %gid 11 28\nOpDecorate %wg 11 25\n")
	constant = edit(t, constant, "%f1 = OpConstant", "%wg = OpConstantComposite %v3 %2 %1 %2\n%f1 = OpConstant")
	for _, c := range []struct {
		text string
		want [3]uint32
	}{{good, [3]uint32{8, 4, 1}}, {constant, [3]uint32{2, 1, 2}}} {
		m, err := Parse("m", assemble(t, v13, c.text))
		if err != nil {
			t.Fatal(err)
		}
		l, s := lowered(t, m, false)
		var got [][]uint32
		for i := range s.insts {
			if in := &s.insts[i]; in.op == opExecutionMode || in.op == opExecutionModeID {
				got = append(got, in.w[2:])
			}
		}
		if len(got) != 1 || !slices.Equal(got[0], []uint32{modeLocalSize, c.want[0], c.want[1], c.want[2]}) {
			t.Errorf("execution modes %d, want local size %d", got, c.want)
		}
		validate(t, "m", l.Code)
	}
}

// TestLowerReadWrite wants no variable NonWritable then, however the module says so.
func TestLowerReadWrite(t *testing.T) {
	m, err := Parse("m", assemble(t, v13, edit(t, good, "OpDecorate %src 34 0\n", "OpDecorate %src 34 0\nOpDecorate %src 24\n")))
	if err != nil {
		t.Fatal(err)
	}
	for _, readWrite := range []bool{false, true} {
		_, s := lowered(t, m, readWrite)
		if got := variables(s)[0].readOnly; got == readWrite {
			t.Errorf("readWrite %v: the variable is read-only: %v", readWrite, got)
		}
	}
}

func TestLowerRefuses(t *testing.T) {
	// What comes of integers is computed, what comes of floats is not.
	text := edit(t, good, "%tile = OpTypeArray %f32 %count", "%double = OpSpecConstantOp %u32 128 %count %count\n%tile = OpTypeArray %f32 %double")
	if m, err := Parse("integers", assemble(t, v13, text)); err != nil {
		t.Error(err)
	} else if l, _ := lowered(t, m, false); l != nil {
		validate(t, "integers", l.Code)
	}
	text = edit(t, good, "%tile = OpTypeArray %f32 %count", "%rounded = OpSpecConstantOp %f32 116 %f1\n%tile = OpTypeArray %f32 %count")
	m, err := Parse("named", assemble(t, v13, text))
	if err != nil {
		t.Fatal(err)
	}
	_, err = Lower(m, false)
	if !errors.Is(err, errs.ErrUnsupported) || !strings.Contains(err.Error(), "named") || !strings.Contains(err.Error(), "OpSpecConstantOp") {
		t.Errorf("got %v, want ErrUnsupported that names module and construct", err)
	}
	if _, err := Lower(&Module{Code: []byte{1, 2, 3}}, false); !errors.Is(err, errs.ErrInvalidShader) {
		t.Errorf("got %v, want ErrInvalidShader", err)
	}
}

// TestLowerTexels turns texel buffers into storage buffers, the one read from as
// only read unless a dispatch writes it too.
func TestLowerTexels(t *testing.T) {
	m, err := Parse("texels", assemble(t, v13, texels))
	if err != nil {
		t.Fatal(err)
	}
	for _, readWrite := range []bool{false, true} {
		l, s := lowered(t, m, readWrite)
		got := variables(s)
		slices.SortFunc(got, func(a, b variable) int { return int(a.slot) - int(b.slot) })
		if want := []variable{{classStorageBuffer, 0, 0, false}, {classStorageBuffer, 0, 1, !readWrite}}; !slices.Equal(got, want) {
			t.Errorf("variables %+v, want %+v", got, want)
		}
		if want := []uint32{16, 16}; !slices.Equal(l.Least, want) {
			t.Errorf("blocks of %d bytes, want %d", l.Least, want)
		}
		for i := range s.insts {
			if in := &s.insts[i]; in.op >= opImageFetch && in.op <= opImageQuerySize || in.op == opTypeImage || in.op == opTypeSampledImage {
				t.Errorf("%v is left", in)
			}
		}
		validate(t, "texels", l.Code)
	}
	size := edit(t, texels, "OpReturn", "%img1 = OpLoad %smp %from\n%img2 = OpImage %img %img1\n%count = OpImageQuerySize %i32 %img2\nOpReturn")
	size = edit(t, size, "OpCapability 1\n", "OpCapability 1\nOpCapability 50\n")
	if m, err = Parse("size", assemble(t, v13, size)); err != nil {
		t.Fatal(err)
	}
	l, _ := lowered(t, m, false)
	validate(t, "size", l.Code)
}

// TestLowerKernels lowers every kernel there is. Continue constructs use no values of their
// loops' bodies.
func TestLowerKernels(t *testing.T) {
	files, err := committedFiles()
	if err != nil || len(files) == 0 {
		t.Fatalf("%d kernels, %v", len(files), err)
	}
	carried, tried := 0, 0
	for i, file := range files {
		if !testlevel.Sampled(i, 8) {
			continue
		}
		tried++
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Reflect(file, code)
		if err != nil {
			t.Fatal(err)
		}
		if _, uses := fromBody(t, code); uses > 0 {
			carried++
		}
		for _, readWrite := range []bool{false, true} {
			l, s := lowered(t, m, readWrite)
			if _, uses := fromBody(t, l.Code); uses > 0 {
				t.Errorf("%s: %d values of loops' bodies are used in continue constructs", file, uses)
			}
			params := 0
			for _, v := range variables(s) {
				switch {
				case v.class == classPushConstant:
					t.Errorf("%s: push constants are left", file)
				case v.set == 1:
					params++
				}
			}
			if want := min(int(m.ParamSize), 1); params != want {
				t.Errorf("%s: %d parameter blocks, want %d", file, params, want)
			}
			if tried%8 == 1 { // a process each
				validate(t, file, l.Code)
			}
		}
		if !bytes.Equal(code, m.Code) {
			t.Fatalf("%s: Lower changed the module", file)
		}
	}
	if carried == 0 {
		t.Error("no kernel has loops whose continue constructs use values of their bodies: nothing was tested")
	}
}

// validate has spirv-val look at the code, if there is one.
func validate(t *testing.T, name string, code []byte) {
	t.Helper()
	if val := testkit.ToolIfAny(t, "spirv-val"); val != "" {
		if out, err := testkit.Validate(t, val, "vulkan1.1", code); err != nil {
			t.Errorf("%s: %v: %s", name, err, out)
		}
	}
}
