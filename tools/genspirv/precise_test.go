package main

import (
	"bytes"
	"context"
	"testing"
)

// A shader of which four copies of a loop have two precise differences each, and one that is not.
const copies = `// Takes two numbers off each element.
//lathe:variant f32 T=float
#version 450
#extension GL_EXT_control_flow_attributes : require
layout(local_size_x = 1) in;
layout(std430, binding = 0) buffer X { vec4 x[]; };
layout(push_constant) uniform Params { float a, b; } p;
T rest(T v) {
	precise T r = (v - p.a) - p.b;
	return r;
}
void main() {
	vec4 v = x[0];
	[[unroll]] for (int i = 0; i < 4; i++) v[i] = rest(v[i]) - 3.0;
	x[0] = v;
}
`

// TestPreciseCopies wants each copy of a precise instruction decorated, and no other one.
func TestPreciseCopies(t *testing.T) {
	needCompiler(t)
	g, _ := repo(t, map[string]string{"shaders/test/copies.comp": copies})
	code, err := compile(context.Background(), g.root, kernel{"test/copies.f32", "shaders/test/copies.comp", []string{"T=float"}})
	if err != nil {
		t.Fatal(err)
	}
	has, err := decorated(code)
	if err != nil {
		t.Fatal(err)
	}
	differences, precise := 0, 0
	err = instructions(code, func(op uint32, words []uint32) {
		switch op {
		case 131: // FSub
			differences++
			if has[words[2]] {
				precise++
			}
		case opString, opLine, opNoLine:
			t.Errorf("opcode %d is left", op)
		}
	})
	if err != nil || differences != 12 || precise != 8 {
		t.Errorf("got %d differences, %d of them precise, error %v, want 12 and 8", differences, precise, err)
	}
}

// TestMark wants a module without precise instructions back as it is, and an error for what is no module.
func TestMark(t *testing.T) {
	plain := appendWords(nil, 0x07230203, 0x10300, 0, 9, 0, 71|4<<16, 5, 34, 0, 129|5<<16, 1, 2, 3, 4)
	for name, f := range map[string]func([]byte) ([]byte, error){"mark": mark, "unmark": unmark} {
		if got, err := f(plain); err != nil || !bytes.Equal(got, plain) {
			t.Errorf("%s: %v, error %v, want the same module", name, got, err)
		}
		for _, bad := range [][]byte{nil, plain[:22], appendWords(plain, 0), appendWords(plain, 9<<16)} {
			if _, err := f(bad); err == nil {
				t.Errorf("%s: no error for %d bytes that are no module", name, len(bad))
			}
		}
	}
}
