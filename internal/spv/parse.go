package spv

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
// Of several entry points it takes the one called "main", and the only compute shader
// whatever it is called; [Entry] chooses another. Descriptor sets become one, as
// [Binding] says. Module.Code is code itself, or what was written of it in that form:
// all that reads a Module meets one entry point "main" and descriptor set 0.
//
// Errors: ErrInvalidShader naming the rule broken, ErrUnsupported naming a
// construct that is valid but that Lathe cannot bind or does not know (sampled
// images, resource arrays, acceleration structures, capabilities of extensions).
func Parse(name string, code []byte) (*Module, error) {
	m, err := parse(name, code)
	if err != nil {
		if name != "" {
			return nil, fmt.Errorf("spv: parse %s: %w", name, err)
		}
		return nil, fmt.Errorf("spv: parse: %w", err)
	}
	return m, nil
}

func parse(name string, code []byte) (*Module, error) {
	code, err := canonical(code, "")
	if err != nil {
		return nil, err
	}
	s, err := cut(code)
	if err != nil {
		return nil, err
	}
	m := &Module{Name: name, Foreign: true}
	// The order matters: each step relies on what the ones before established.
	steps := []func() error{
		s.familiar,
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
		func() error { return s.iterations(m) },
		s.interfaces,
		func() error { return s.reflect(m) },
	}
	for _, step := range steps {
		if err := step(); err != nil {
			return nil, err
		}
	}
	m.Code = s.oneSet(m)
	if m.Code == nil {
		m.Code = slices.Clone(code)
	}
	m.Hash = sha256.Sum256(m.Code)
	return m, nil
}
