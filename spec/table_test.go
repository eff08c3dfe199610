package spec

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/abi"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/tensor"
)

type addParams struct {
	N     uint32
	Scale float32
}

func addOp() *Op {
	return &Op{
		Name: "add", In: []Arg{{Name: "a"}, {Name: "b"}}, Out: []Arg{{Name: "c"}},
		Kernels: []Kernel{{Name: "nn/add.f32", Params: addParams{}}},
	}
}

// modules returns a bundle with one kernel that an operation lists and one that none
// lists.
func modules() map[string]*spv.Module {
	return map[string]*spv.Module{
		"nn/add.f32": {
			Name:     "nn/add.f32",
			Bindings: []spv.Binding{{Slot: 0, Kind: spv.StorageBuffer, Access: spv.ReadOnly, Type: "f32"}},
			Params:   []spv.Member{{Name: "n", Type: "u32", Offset: 0, Size: 4}, {Name: "scale", Type: "f32", Offset: 4, Size: 4}},
			Hash:     sha256.Sum256([]byte("add")),
		},
		"test/copy.u32": {Name: "test/copy.u32", Hash: sha256.Sum256([]byte("copy"))},
	}
}

var bundled = []string{"nn/add.f32", "test/copy.u32"}

func find(m map[string]*spv.Module) Modules {
	return func(name string) (*spv.Module, error) {
		if m[name] == nil {
			return nil, fmt.Errorf("%w: no kernel %s", errs.ErrInvalidArgument, name)
		}
		return m[name], nil
	}
}

func prints(t *testing.T, ops []*Op, m map[string]*spv.Module) (goSays, shaderSays uint64) {
	t.Helper()
	a, err := Table(ops, bundled, find(m))
	if err != nil {
		t.Fatal(err)
	}
	b, err := ShaderTable(ops, bundled, find(m))
	if err != nil {
		t.Fatal(err)
	}
	return abi.Fingerprint(a.Text()), abi.Fingerprint(b.Text())
}

func TestTablesAgree(t *testing.T) {
	built, shader := prints(t, []*Op{addOp()}, modules())
	if built != shader {
		t.Fatalf("Go gives %016x, the shaders give %016x for the same declarations", built, shader)
	}
	for name, change := range map[string]func(*Op, map[string]*spv.Module){
		"Go field name": func(op *Op, _ map[string]*spv.Module) {
			op.Kernels[0].Params = struct {
				N      uint32
				Factor float32
			}{}
		},
		"Go field type": func(op *Op, _ map[string]*spv.Module) { op.Kernels[0].Params = struct{ N, Scale uint32 }{} },
		"Go field order": func(op *Op, _ map[string]*spv.Module) {
			op.Kernels[0].Params = struct {
				Scale float32
				N     uint32
			}{}
		},
		"Go field added": func(op *Op, _ map[string]*spv.Module) {
			op.Kernels[0].Params = struct {
				N     uint32
				Scale float32
				M     uint32
			}{}
		},
		"Go params gone":   func(op *Op, _ map[string]*spv.Module) { op.Kernels[0].Params = nil },
		"op name":          func(op *Op, _ map[string]*spv.Module) { op.Name = "plus" },
		"argument name":    func(op *Op, _ map[string]*spv.Module) { op.In[0].Name = "x" },
		"kernel not used":  func(op *Op, _ map[string]*spv.Module) { op.Kernels = nil },
		"one byte of code": func(_ *Op, m map[string]*spv.Module) { m["nn/add.f32"].Hash[3] ^= 1 },
		"free kernel":      func(_ *Op, m map[string]*spv.Module) { m["test/copy.u32"].Hash[0] ^= 1 },
		"binding access":   func(_ *Op, m map[string]*spv.Module) { m["nn/add.f32"].Bindings[0].Access = spv.ReadWrite },
	} {
		op, m := addOp(), modules()
		change(op, m)
		if got, _ := prints(t, []*Op{op}, m); got == built {
			t.Errorf("%s: the fingerprint of the Go declarations did not change", name)
		}
	}
	for name, change := range map[string]func(map[string]*spv.Module){
		"shader field name":   func(m map[string]*spv.Module) { m["nn/add.f32"].Params[1].Name = "factor" },
		"shader field type":   func(m map[string]*spv.Module) { m["nn/add.f32"].Params[1].Type = "i32" },
		"shader field offset": func(m map[string]*spv.Module) { m["nn/add.f32"].Params[1].Offset = 16 },
	} {
		m := modules()
		change(m)
		goSays, shaderSays := prints(t, []*Op{addOp()}, m)
		if shaderSays == built || goSays != built {
			t.Errorf("%s: Go gives %016x, shader %016x; only the shader's should differ from %016x", name, goSays, shaderSays, built)
		}
	}
	for name, change := range map[string]func(*Op){
		"docs":    func(op *Op) { op.Doc, op.Source, op.In[0].Doc = "Adds.", "a paper", "any shape" },
		"aliases": func(op *Op) { op.Aliases = []string{"plus"} },
		"tolerance": func(op *Op) {
			op.Tolerance = func(Call, tensor.DType, []tensor.Desc) Tolerance { return Tolerance{Abs: 1} }
		},
		"field doc": func(op *Op) {
			op.Kernels[0].Params = struct {
				N     uint32  `doc:"elements"`
				Scale float32 `doc:"factor"`
			}{}
		},
	} {
		op := addOp()
		change(op)
		if got, _ := prints(t, []*Op{op}, modules()); got != built {
			t.Errorf("%s changed the fingerprint", name)
		}
	}
	other := &Op{Name: "zero"}
	ab, _ := prints(t, []*Op{addOp(), other}, modules())
	ba, _ := prints(t, []*Op{other, addOp()}, modules())
	if ab != ba {
		t.Error("the order of registration changes the fingerprint")
	}
	// A program's own operation has no Kernels and is not part of Lathe's ABI.
	if ab != built {
		t.Errorf("an operation without Kernels changes the fingerprint from %016x to %016x", built, ab)
	}
}

func TestTableErrors(t *testing.T) {
	op := addOp()
	op.Kernels[0].Name = "nn/none.f32"
	if _, err := Table([]*Op{op}, nil, find(modules())); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "operation add") || !strings.Contains(err.Error(), "leave Kernels empty") {
		t.Errorf("missing kernel: error %v, want one naming the operation and what to do", err)
	}
	op = addOp()
	op.Kernels[0].Params = struct{ N int }{}
	if _, err := Table([]*Op{op}, nil, find(modules())); !errors.Is(err, errs.ErrInvalidArgument) || !strings.Contains(err.Error(), "field N is int") {
		t.Errorf("bad params: error %v, want one naming the field", err)
	}
	if _, err := Table(nil, []string{"nn/none.f32"}, find(modules())); err == nil {
		t.Error("missing free kernel: no error")
	}
}

func TestVerifyABI(t *testing.T) {
	table, err := Table([]*Op{addOp()}, nil, find(modules()))
	if err != nil {
		t.Fatal(err)
	}
	built := table.Text()
	if err := VerifyABI(addOp(), built, find(modules())); err != nil {
		t.Errorf("the same declaration: %v", err)
	}
	if err := VerifyABI(&Op{Name: "own"}, "", find(modules())); err != nil {
		t.Errorf("an operation without kernels: %v", err)
	}
	if err := VerifyABI(nil, built, find(modules())); !errors.Is(err, errs.ErrInvalidArgument) {
		t.Errorf("no operation: error %v", err)
	}
	changed, missing := addOp(), addOp()
	changed.Kernels[0].Params = struct{ N, Scale uint32 }{}
	missing.Kernels[0].Name = "nn/none.f32"
	for name, op := range map[string]*Op{"another built": addOp(), "params": changed, "no kernel": missing} {
		text := built
		if name == "another built" {
			text = ""
		}
		err := VerifyABI(op, text, find(modules()))
		if !errors.Is(err, errs.ErrABIMismatch) {
			t.Fatalf("%s: error %v, want ErrABIMismatch", name, err)
		}
		for _, part := range []string{"operation add", "make shaders"} {
			if !strings.Contains(err.Error(), part) {
				t.Errorf("%s: error %q lacks %q", name, err, part)
			}
		}
	}
	if _, err := Table([]*Op{addOp()}, nil, nil); err == nil {
		t.Error("no modules: no error")
	}
}

func TestEncodeIsLittleEndian(t *testing.T) {
	got, err := Encode(addParams{N: 0x01020304, Scale: 1})
	want := binary.LittleEndian.AppendUint32([]byte{4, 3, 2, 1}, 0x3f800000)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("bytes %x, error %v; want %x", got, err, want)
	}
}
