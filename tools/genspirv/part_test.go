package main

import (
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/testkit"
)

// TestKeep checks that keep marks the function of a part and release takes the mark away, and that both refuse what is
// no part.
func TestKeep(t *testing.T) {
	const head = "#version 450\nlayout(local_size_x = 1) in;\nlayout(binding = 0) buffer B { float b[]; };\n"
	controls := func(code []byte) (list []uint32) {
		if err := instructions(code, func(op uint32, words []uint32) {
			if op == opFunction {
				list = append(list, words[3])
			}
		}); err != nil {
			t.Fatal(err)
		}
		return list
	}
	sum := func(list []uint32) (n uint32) {
		for _, v := range list {
			n += v
		}
		return n
	}
	code := testkit.GLSL(t, head+"float linked(const float x) { return x * 2.0; }\nvoid main() { b[0] = linked(b[1]); }\n")
	kept, err := keep(code)
	if err != nil || sum(controls(kept)) != dontInline {
		t.Errorf("kept: controls %v, error %v", controls(kept), err)
	}
	if out, err := release(kept); err != nil || sum(controls(out)) != 0 {
		t.Errorf("released: error %v", err)
	}
	for what, source := range map[string]string{
		"function linked": "float other(const float x) { return x * 2.0; }\nvoid main() { b[0] = other(b[1]); }\n",
	} {
		code := testkit.GLSL(t, head+source)
		kept, err := keep(code)
		if err == nil {
			_, err = release(kept)
		}
		if err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("error %v, want one with %q", err, what)
		}
	}
}
