package spv

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
)

// Reflect gives what Parse gives of a module that is known to pass Parse, at a
// small part of its cost: it reads the declarations and no function, and keeps
// code, which must not change afterwards. It is for shaders that were validated
// when they were built and come with the program. Of any other module it may
// return anything but nil, or ErrInvalidShader, and no driver must see it.
//
// Errors: ErrInvalidShader, ErrUnsupported.
func Reflect(name string, code []byte) (m *Module, err error) {
	defer func() {
		// Reflection relies on what validation would have established.
		if p := recover(); p != nil {
			err = invalid("declarations that contradict each other: %v", p)
		}
		if err != nil {
			m, err = nil, fmt.Errorf("spv: reflect %s: %w", name, err)
		}
	}()
	s, err := decode(head(code))
	if err != nil {
		return nil, err
	}
	s.trusted = true
	m = &Module{Name: name, Code: code, Hash: sha256.Sum256(code)}
	var main *inst
	for i := range s.insts {
		if s.insts[i].op == opEntryPoint {
			main = &s.insts[i]
		}
	}
	if main == nil {
		return nil, invalid("no entry point")
	}
	for _, step := range []func() error{s.define, s.annotate, s.declare, func() error { return s.localSize(m, main) }, func() error { return s.reflect(m) }} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m, nil
}

// head is the code up to the first function: all declarations stand before it.
func head(code []byte) []byte {
	for at := 4 * headerWords; at+4 <= len(code); {
		w := binary.LittleEndian.Uint32(code[at:])
		if opcode(w&0xffff) == opFunction {
			return code[:at]
		}
		if w>>16 == 0 {
			break
		}
		at += int(w>>16) * 4
	}
	return code
}
