package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/internal/pack"
)

// A part is a module of one function that package internal/spv/link takes out of it. In the source the
// function is called partName. It must survive spirv-opt, which inlines what it calls and nothing of it.
const partName = "linked("

// isPart reports whether a kernel is a part, and no kernel that is launched.
func isPart(name string) bool { return pack.IsPart(name) }

// The opcode of a function, and the bit of its control that keeps spirv-opt from inlining it.
const (
	opEntryPoint   = 15
	opFunction     = 54
	opFunctionCall = 57
	dontInline     = 2
)

// keep marks the function of a part, so that it is not inlined. release takes the mark away.
func keep(code []byte) ([]byte, error) {
	part := uint32(0)
	err := instructions(code, func(op uint32, words []uint32) {
		if op == opName && strings.HasPrefix(text(words[2:]), partName) {
			part = words[1]
		}
	})
	if err == nil && part == 0 {
		err = fmt.Errorf("genspirv: a part has a function %s", strings.TrimSuffix(partName, "("))
	}
	if err != nil {
		return nil, err
	}
	return control(code, func(id, bits uint32) uint32 {
		if id == part {
			bits |= dontInline
		}
		return bits
	})
}

// release is the last step of making a part.
func release(code []byte) ([]byte, error) {
	called, main := map[uint32]bool{}, uint32(0)
	inMain := false
	if err := instructions(code, func(op uint32, words []uint32) {
		switch op {
		case opEntryPoint:
			main = words[2]
		case opFunction:
			inMain = words[2] == main
		case opFunctionCall:
			if inMain {
				called[words[3]] = true
			}
		}
	}); err != nil {
		return nil, err
	}
	if len(called) != 1 {
		return nil, fmt.Errorf("genspirv: main of a part calls %d functions (want one, %s)", len(called), strings.TrimSuffix(partName, "("))
	}
	return control(code, func(_, bits uint32) uint32 { return bits &^ dontInline })
}

// control changes the control bits of functions.
func control(code []byte, f func(id, bits uint32) uint32) ([]byte, error) {
	out := bytes.Clone(code[:headerBytes])
	err := instructions(code, func(op uint32, words []uint32) {
		if op == opFunction {
			words[3] = f(words[2], words[3])
		}
		out = appendWords(out, words...)
	})
	return out, err
}

// text is a literal string.
func text(words []uint32) string {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	s, _, _ := strings.Cut(string(b), "\x00")
	return s
}
