package abi

import (
	"crypto/sha256"
	"fmt"
	"slices"
)

// Parse validates a SPIR-V compute shader and reflects it. It refuses what the
// rules of SPIR-V and Vulkan forbid, because drivers crash on such modules
// instead of reporting them, and it keeps no reference to code. The name goes
// into Module.Name and into error texts, and may be empty.
//
// Errors: ErrInvalidShader naming the rule broken, ErrUnsupported naming a
// construct that is valid but that Lathe cannot bind (sampled images, resource
// arrays, acceleration structures, descriptor sets other than 0).
func Parse(name string, code []byte) (*Module, error) {
	m, err := parse(name, code)
	if err != nil {
		if name != "" {
			return nil, fmt.Errorf("abi: parse %s: %w", name, err)
		}
		return nil, fmt.Errorf("abi: parse: %w", err)
	}
	return m, nil
}

func parse(name string, code []byte) (*Module, error) {
	s, err := decode(code)
	if err != nil {
		return nil, err
	}
	m := &Module{Name: name, Code: slices.Clone(code), Hash: sha256.Sum256(code), Foreign: true}
	// The order matters: each step relies on what the ones before established.
	steps := []func() error{
		s.define,
		s.annotate,
		s.declare,
		s.operands,
		s.decorated,
		s.abilities,
		s.order,
		s.link,
		s.check,
		func() error { return s.entry(m) },
		func() error { return s.private(m) },
		s.interfaces,
		func() error { return s.reflect(m) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	return m, nil
}
