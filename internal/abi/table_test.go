package abi

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/lathe-gpu/lathe/internal/spv"
)

func sample() Table {
	return Table{
		DTypes: []TableDType{{"f32", 1, 4}, {"u8", 8, 1}},
		Ops: []TableOp{
			{Name: "add", In: []string{"a", "b"}, Out: []string{"c"}, Kernels: []string{"nn/add.f32", "nn/add.u8"}},
			{Name: "relu", In: []string{"x"}, Out: []string{"y"}, Kernels: []string{"nn/relu.f32"}},
		},
		Kernels: []TableKernel{
			{
				Name:      "nn/add.f32",
				Bindings:  []spv.Binding{{Slot: 0, Kind: spv.StorageBuffer, Access: spv.ReadOnly, Name: "a", Type: "f32"}, {Slot: 1, Kind: spv.UniformTexel, Access: spv.ReadOnly, Name: "b", Type: "f32"}, {Slot: 2, Kind: spv.StorageBuffer, Access: spv.WriteOnly, Name: "c", Type: "f32"}},
				Params:    []spv.Member{{Name: "n", Type: "u32", Offset: 0, Size: 4}, {Name: "scale", Type: "f32", Offset: 4, Size: 4}},
				Specs:     []spv.SpecConst{{ID: 0, Name: "TILE", Type: "u32", Default: 16}},
				LocalSize: [3]uint32{64, 1, 1},
				Hash:      sha256.Sum256([]byte("add")),
			},
			{Name: "nn/add.u8", LocalSize: [3]uint32{64, 1, 1}},
			{Name: "nn/relu.f32", LocalSize: [3]uint32{64, 1, 1}},
		},
	}
}

func TestTableText(t *testing.T) {
	want := `lathe abi text 1
dtype f32 code 1 size 4
dtype u8 code 8 size 1
op add
	in a
	in b
	out c
	kernel nn/add.f32
	kernel nn/add.u8
op relu
	in x
	out y
	kernel nn/relu.f32
kernel nn/add.f32
	binding 0 storage-buffer read f32
	binding 1 uniform-texel read f32
	binding 2 storage-buffer write f32
	param n u32 at 0
	param scale f32 at 4
	spec 0 TILE u32 default 0x10
	local 64 1 1
	spirv 7e9e5ac30f2216fd0fd6f5faed316f2d5983361a4203c3330cfa46ef65bb4767
kernel nn/add.u8
	local 64 1 1
	spirv 0000000000000000000000000000000000000000000000000000000000000000
kernel nn/relu.f32
	local 64 1 1
	spirv 0000000000000000000000000000000000000000000000000000000000000000
`
	got := sample().Text()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	sum := sha256.Sum256([]byte(got))
	if f := Fingerprint(got); f != binary.BigEndian.Uint64(sum[:8]) {
		t.Errorf("fingerprint %016x of %x", f, sum)
	}
	if got, want := Fingerprint("abc"), uint64(0xba7816bf8f01cfea); got != want {
		t.Errorf("fingerprint of abc is %016x, want %016x (FIPS 180-4)", got, want)
	}
}

// TestFingerprintChanges checks that each change of what shaders and Go must agree on
// changes the fingerprint. All
// fingerprints differ.
func TestFingerprintChanges(t *testing.T) {
	seen := map[uint64]string{Fingerprint(sample().Text()): "nothing"}
	for name, change := range map[string]func(*Table){
		"dtype code":      func(t *Table) { t.DTypes[1].Code = 9 },
		"dtype name":      func(t *Table) { t.DTypes[1].Name = "byte" },
		"dtype size":      func(t *Table) { t.DTypes[1].Size = 2 },
		"dtype added":     func(t *Table) { t.DTypes = append(t.DTypes, TableDType{"i8", 10, 1}) },
		"op name":         func(t *Table) { t.Ops[0].Name = "plus" },
		"op added":        func(t *Table) { t.Ops = append(t.Ops, TableOp{Name: "z"}) },
		"op removed":      func(t *Table) { t.Ops = t.Ops[:1] },
		"input name":      func(t *Table) { t.Ops[0].In[0] = "x" },
		"order of inputs": func(t *Table) { slices.Reverse(t.Ops[0].In) },
		"input to output": func(t *Table) { t.Ops[0].In, t.Ops[0].Out = []string{"a"}, []string{"b", "c"} },
		"op's kernel":     func(t *Table) { t.Ops[0].Kernels[0] = "nn/add.f16" },
		"kernel to op":    func(t *Table) { t.Ops[0].Kernels, t.Ops[1].Kernels = t.Ops[1].Kernels, t.Ops[0].Kernels },
		"kernel removed":  func(t *Table) { t.Kernels = t.Kernels[:2] },
		"kernel name":     func(t *Table) { t.Kernels[2].Name = "nn/relu.f64" },
		"binding slot":    func(t *Table) { t.Kernels[0].Bindings[2].Slot = 3 },
		"binding kind":    func(t *Table) { t.Kernels[0].Bindings[1].Kind = spv.StorageTexel },
		"binding access":  func(t *Table) { t.Kernels[0].Bindings[0].Access = spv.ReadWrite },
		"binding type":    func(t *Table) { t.Kernels[0].Bindings[0].Type = "u32" },
		"binding removed": func(t *Table) { t.Kernels[0].Bindings = t.Kernels[0].Bindings[:2] },
		"param name":      func(t *Table) { t.Kernels[0].Params[1].Name = "factor" },
		"param type":      func(t *Table) { t.Kernels[0].Params[1].Type = "u32" },
		"param offset":    func(t *Table) { t.Kernels[0].Params[1].Offset = 8 },
		"param added": func(t *Table) {
			t.Kernels[0].Params = append(t.Kernels[0].Params, spv.Member{Name: "m", Type: "u32", Offset: 8, Size: 4})
		},
		"spec id":          func(t *Table) { t.Kernels[0].Specs[0].ID = 1 },
		"spec name":        func(t *Table) { t.Kernels[0].Specs[0].Name = "ROWS" },
		"spec type":        func(t *Table) { t.Kernels[0].Specs[0].Type = "i32" },
		"spec default":     func(t *Table) { t.Kernels[0].Specs[0].Default = 32 },
		"local size":       func(t *Table) { t.Kernels[0].LocalSize = [3]uint32{1, 64, 1} },
		"one byte of code": func(t *Table) { t.Kernels[0].Hash = sha256.Sum256([]byte("adc")) },
	} {
		x := sample()
		change(&x)
		f := Fingerprint(x.Text())
		if other, dup := seen[f]; dup {
			t.Errorf("%s: same fingerprint as %s", name, other)
		}
		seen[f] = name
	}
}

// TestFingerprintStays checks that other changes do not change the fingerprint.
func TestFingerprintStays(t *testing.T) {
	want := Fingerprint(sample().Text())
	for name, change := range map[string]func(*Table){
		"order of dtypes":     func(t *Table) { slices.Reverse(t.DTypes) },
		"order of ops":        func(t *Table) { slices.Reverse(t.Ops) },
		"order of kernels":    func(t *Table) { slices.Reverse(t.Kernels) },
		"order in an op":      func(t *Table) { slices.Reverse(t.Ops[0].Kernels) },
		"name of a binding":   func(t *Table) { t.Kernels[0].Bindings[0].Name = "other" },
		"nil instead of none": func(t *Table) { t.Kernels[1].Params = []spv.Member{} },
	} {
		x := sample()
		change(&x)
		if got := Fingerprint(x.Text()); got != want {
			t.Errorf("%s changed the fingerprint from %016x to %016x", name, want, got)
		}
	}
	x := sample()
	slices.Reverse(x.Ops)
	first := x.Ops[0].Name
	x.Text()
	if x.Ops[0].Name != first {
		t.Error("Text changed the order of its table")
	}
}

// TestParse checks that Parse returns what Text has written, without the names of bindings and the sizes of
// params.
func TestParse(t *testing.T) {
	want := sample()
	for i := range want.Kernels {
		for k := range want.Kernels[i].Bindings {
			want.Kernels[i].Bindings[k].Name = ""
		}
		for k := range want.Kernels[i].Params {
			want.Kernels[i].Params[k].Size = 0
		}
	}
	got, err := Parse(want.Text())
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("error %v (-want +got):\n%s", err, d)
	}
	text, err := os.ReadFile("../../spirv/abi.txt")
	if err != nil {
		t.Fatal(err)
	}
	_, whole, _ := strings.Cut(string(text), "\n")
	got, err = Parse(whole)
	if err != nil || got.Text() != whole {
		t.Errorf("the text of all operations is not the same after it is parsed: %v", err)
	}
}

// TestParseRefuses checks that a line that Text cannot have written is refused, and that
// the error names it.
func TestParseRefuses(t *testing.T) {
	if _, err := Parse("lathe abi text 2\n"); err == nil || !strings.Contains(err.Error(), "first line") {
		t.Errorf("another version: %v", err)
	}
	good := sample().Text()
	for _, line := range []string{
		"", "x", "dtype f32 code 1", "dtype f32 code 256 size 4", "dtype f32 code 1 size x", "op a b", "kernel a b",
		"\tinout a", "\tbinding 0 storage-buffer read", "\tbinding x storage-buffer read f32", "\tbinding 0 buffer read f32", "\tbinding 0 storage-buffer none f32",
		"\tparam n u32 at", "\tparam n u32 at x", "\tparam n u32 on 4", "\tspec 0 TILE u32 default", "\tspec x TILE u32 default 0x10", "\tspec 0 TILE u32 default y",
		"\tlocal 1 2", "\tlocal 1 2 x", "\tspirv 00", "\tspirv " + strings.Repeat("x", 64), "\tother",
	} {
		if _, err := Parse(good + line + "\n"); err == nil || !strings.Contains(err.Error(), fmt.Sprintf("%q", line)) {
			t.Errorf("%q: error %v, want one with the line", line, err)
		}
	}
	if _, err := Parse("lathe abi text 1\n\tin a\n"); err == nil {
		t.Error("an argument of no operation: no error")
	}
}
