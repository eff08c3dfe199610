package main

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/tensor"
)

func TestParsePush(t *testing.T) {
	for text, want := range map[string]string{
		"":              "",
		"f32:2.5,u32:7": "0000204007000000",
		"i32:-1":        "ffffffff",
		"u8:255, f32:1": "ff0000000000803f",
		"u32:1,f64:1":   "0100000000000000000000000000f03f",
		"i64:-2":        "feffffffffffffff",
		"f16:1,bf16:1":  "003c803f",
		"u32:0x10":      "10000000",
		"bool:true":     "01",
		"hex:00 ff":     "00ff",
		"f32:inf":       "0000807f",
	} {
		got, err := parsePush(text)
		if err != nil || fmt.Sprintf("%x", got) != want {
			t.Errorf("%q: got %x, %v, want %s", text, got, err, want)
		}
	}
	for _, text := range []string{"2.5", "f99:1", "u32:-1", "u8:256", "i32:1.5", "f32:x", "hex:0", "hex:zz", "f32:1,", "bool:maybe"} {
		if _, err := parsePush(text); exitCode(err) != exitUsage {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestParseBuffer(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("in.bin", []byte{1, 2, 3}, 0o666); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("f32:10", []byte{1}, 0o666); err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]buffer{
		"in.bin":    {tensor.Contiguous(tensor.U8, 3), []byte{1, 2, 3}},
		"./f32:10":  {tensor.Contiguous(tensor.U8, 1), []byte{1}},
		"f32:10":    {tensor.Contiguous(tensor.F32, 10), nil},
		"int:0":     {tensor.Contiguous(tensor.I32, 0), nil},
		"u8=1,2,3":  {tensor.Contiguous(tensor.U8, 3), []byte{1, 2, 3}},
		"u32= 1, 2": {tensor.Contiguous(tensor.U32, 2), []byte{1, 0, 0, 0, 2, 0, 0, 0}},
	} {
		got, err := parseBuffer(text)
		if err != nil || got.desc.String() != want.desc.String() || !bytes.Equal(got.data, want.data) || (got.data == nil) != (want.data == nil) {
			t.Errorf("%q: got %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "missing.bin", "f32:-1", "f32:x", "f32:99999999999999999999", "f32:9999999999999999", "f32=", "f32=1,,2", "u8=300"} {
		if _, err := parseBuffer(text); exitCode(err) != exitUsage {
			t.Errorf("%q: got %v", text, err)
		}
	}
}

func TestParseGroupsOutPrint(t *testing.T) {
	for text, want := range map[string][3]uint32{"4": {4, 1, 1}, "4,2": {4, 2, 1}, "4x2x3": {4, 2, 3}, " 4, 5": {4, 5, 1}} {
		if got, err := parseGroups(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "1,2,3,4", "-1", "0", "0,1,1", "1,1,0", "4294967296", "a"} {
		if _, err := parseGroups(text); exitCode(err) != exitUsage {
			t.Errorf("groups %q: got %v", text, err)
		}
	}
	if o, err := parseOut("1=a=b.bin", 2); err != nil || o.index != 1 || o.file != "a=b.bin" {
		t.Errorf("got %+v, %v", o, err)
	}
	bufs := []buffer{{desc: tensor.Contiguous(tensor.F32, 100)}, {desc: tensor.Contiguous(tensor.U8, 13)}, {desc: tensor.Contiguous(tensor.F32, 0)}}
	for text, want := range map[string]output{
		"0:f32":     {index: 0, dtype: tensor.F32, count: 8},
		"0:f32:100": {index: 0, dtype: tensor.F32, count: 100},
		"0:u8:400":  {index: 0, dtype: tensor.U8, count: 400},
		"0:f32:0":   {index: 0, dtype: tensor.F32},
		"1:f32":     {index: 1, dtype: tensor.F32, count: 3},
		"2:f32":     {index: 2, dtype: tensor.F32},
	} {
		if got, err := parsePrint(text, bufs); err != nil || got != want {
			t.Errorf("%q: got %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"2=x", "x", "0=", "-1=x", "a=x"} {
		if _, err := parseOut(text, 2); exitCode(err) != exitUsage {
			t.Errorf("out %q: got %v", text, err)
		}
	}
	for _, text := range []string{"0", "0:f9", "0:f32:x", "0:f32:-1", "0:f32:1:1", "0:f32:101", "1:f32:4", "2:f32:1", "3:f32"} {
		if _, err := parsePrint(text, bufs); exitCode(err) != exitUsage {
			t.Errorf("print %q: got %v", text, err)
		}
	}
}

func TestGroupsFor(t *testing.T) {
	array := func(slot, offset, stride uint32) spv.Binding {
		return spv.Binding{Slot: slot, ArrayOffset: offset, ArrayStride: stride}
	}
	bufs := []buffer{{desc: tensor.Contiguous(tensor.F32, 1000)}, {desc: tensor.Contiguous(tensor.U8, 16+1)}, {desc: tensor.Contiguous(tensor.F32, 0)}}
	for _, c := range []struct {
		name  string
		local [3]uint32
		list  []spv.Binding
		want  uint32
		why   string
	}{
		{"an element each", [3]uint32{64, 1, 1}, []spv.Binding{array(0, 0, 4), array(1, 0, 4)}, 16, "16 workgroups of 64 invocations run, for 1000 elements"},
		{"vectors", [3]uint32{64, 1, 1}, []spv.Binding{array(0, 0, 16)}, 4, "4 workgroups of 64 invocations run, for 250 elements"},
		{"behind a head", [3]uint32{1, 1, 1}, []spv.Binding{array(1, 8, 4)}, 3, "for 3 elements"},
		{"all in one", [3]uint32{1000, 1, 1}, []spv.Binding{array(0, 0, 4)}, 1, ""},
		{"one too many", [3]uint32{999, 1, 1}, []spv.Binding{array(0, 0, 4)}, 2, "2 workgroups"},
		{"rows", [3]uint32{8, 8, 1}, []spv.Binding{array(0, 0, 4)}, 1, "one workgroup of 8×8×1 invocations runs"},
		{"no array", [3]uint32{64, 1, 1}, []spv.Binding{array(0, 0, 0)}, 1, "one workgroup of 64 invocations runs, because the shader has no array"},
		{"no elements", [3]uint32{64, 1, 1}, []spv.Binding{array(2, 0, 4)}, 1, "one workgroup"},
		{"head alone", [3]uint32{64, 1, 1}, []spv.Binding{array(2, 64, 4)}, 1, "one workgroup"},
		{"no buffer", [3]uint32{64, 1, 1}, []spv.Binding{array(7, 0, 4)}, 1, "one workgroup"},
		{"no size", [3]uint32{}, []spv.Binding{array(0, 0, 4)}, 1000, "1000 workgroups"},
	} {
		got, why := groupsFor(&spv.Module{LocalSize: c.local, Bindings: c.list}, bufs)
		if got != [3]uint32{c.want, 1, 1} || !strings.Contains(why, c.why) || (why == "") != (c.why == "") {
			t.Errorf("%s: got %v, %q, want %d, %q", c.name, got, why, c.want, c.why)
		}
	}
}

func TestValues(t *testing.T) {
	big, _ := scalar(tensor.I64, "9007199254740993")
	if got := values(big, tensor.I64, 1); got[0] != int64(9007199254740993) {
		t.Errorf("a large integer lost digits: %v", got)
	}
	third, _ := scalar(tensor.F32, "0.1")
	if got := fmt.Sprint(values(third, tensor.F32, 1)); got != "[0.1]" {
		t.Errorf("got %s", got)
	}
	nan, _ := scalar(tensor.F32, "nan")
	if got := values(nan, tensor.F32, 1); got[0] != "NaN" {
		t.Errorf("got %v", got)
	}
	if got := fmt.Sprint(values([]byte{0, 255}, tensor.U8, 2)); got != "[0 255]" {
		t.Errorf("got %s", got)
	}
}
