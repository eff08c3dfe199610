package conformance

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// TestPublishedHashes looks for a line of each operation and element type in the list.
// `lathe verify --hash --compare published` compares the hashes.
func TestPublishedHashes(t *testing.T) {
	list, err := PublishedHashes()
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, op := range spec.All() {
		for _, d := range op.Cases.DTypes {
			want = append(want, op.Name+" "+d.String())
		}
	}
	want = append(want, "all all")
	for _, h := range list {
		got = append(got, h.Op+" "+h.DType)
		if len(h.Sum) != 32 {
			t.Errorf("%s %s has the hash %q, want 32 digits", h.Op, h.DType, h.Sum)
		}
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("run `make hashes`: the list has %d lines, and there are %d operations and element types", len(got), len(want))
	}
}

// TestDifferences reads lists and compares them.
func TestDifferences(t *testing.T) {
	parse := func(text string) Hashes {
		t.Helper()
		list, err := ParseHashes(text)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	want := parse("# a list\nadd f32 aa\nadd f16 bb\n\nmul f32 cc\nall all dd\n")
	if text := want.String(); text != "add f32 aa\nadd f16 bb\nmul f32 cc\nall all dd\n" {
		t.Errorf("the list is written as %q", text)
	}
	for text, differ := range map[string]string{
		want.String():                       "",
		"add f16 bb":                        "",
		"mul f32 c0":                        "mul f32: other results (got c0, want cc)",
		"sub f32 ee":                        "sub f32: not in the list (got ee)",
		"add f32 aa\nadd f16 bb\nall all x": "mul f32: no results (want cc)",
	} {
		if got := strings.Join(parse(text).Differences(want), "; "); got != differ {
			t.Errorf("%q differs by %q, want %q", text, got, differ)
		}
	}
	for _, bad := range []string{"", "# nothing\n", "add f32", "add f32 aa bb"} {
		if _, err := ParseHashes(bad); err == nil {
			t.Errorf("the list %q was read", bad)
		}
	}
}

// TestSameNaNs makes all NaNs the same, and leaves numbers alone.
func TestSameNaNs(t *testing.T) {
	for d, x := range map[tensor.DType][2][]byte{
		tensor.F32:  {{1, 0, 0x80, 0xff, 0, 0, 0x80, 0xff, 0, 0, 0, 0x80}, {0, 0, 0xc0, 0x7f, 0, 0, 0x80, 0xff, 0, 0, 0, 0x80}},
		tensor.F16:  {{1, 0xfc, 0, 0x7e, 0, 0x7c}, {0, 0x7e, 0, 0x7e, 0, 0x7c}},
		tensor.BF16: {{0x81, 0xff, 0xff, 0x7f, 0x80, 0xff}, {0xc0, 0x7f, 0xc0, 0x7f, 0x80, 0xff}},
		tensor.F64:  {{1, 0, 0, 0, 0, 0, 0xf0, 0xff}, {0, 0, 0, 0, 0, 0, 0xf8, 0x7f}},
		tensor.I32:  {{1, 0, 0x80, 0xff}, {1, 0, 0x80, 0xff}},
	} {
		got := slices.Clone(x[0])
		if sameNaNs(d, got); !slices.Equal(got, x[1]) {
			t.Errorf("%v: % x became % x, want % x", d, x[0], got, x[1])
		}
	}
}

// TestHashInputs compares the first random values, and the inputs of a job, with those
// that every machine must have.
func TestHashInputs(t *testing.T) {
	rng := splitMix(0)
	if a, b := rng.Uint64(), rng.Uint64(); a != 0xe220a8397b1dcdaf || b != 0x6e789e6aa1b965f4 {
		t.Errorf("the sequence begins with %#x, %#x", a, b)
	}
	h := tensor.NewHost(tensor.Contiguous(tensor.F32, 4))
	rng = 1
	fillInput(h, 0, "random", -3, 0.7, false, nil, &rng)
	var text []string
	for _, v := range h.Floats() {
		text = append(text, fmt.Sprintf("%08x", math.Float32bits(float32(v))))
	}
	if got := strings.Join(text, " "); got != "3f333333 be7661d0 3f17bbdb bfad8d2d" {
		t.Errorf("the inputs are %s", got)
	}
}
