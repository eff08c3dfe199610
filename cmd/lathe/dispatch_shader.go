package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/abi"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// choose gives the module of the entry point asked for, or the one there is.
func (c *dispatchCmd) choose(code []byte) ([]byte, error) {
	if c.Entry == "" {
		return code, nil
	}
	one, err := abi.Entry(code, c.Entry)
	if err != nil {
		return nil, misuse(fmt.Errorf("%s: %w", c.Shader, err))
	}
	return one, nil
}

// list prints what the shader expects: entry points, bindings, parameters.
func (c *dispatchCmd) list(a *app, code []byte) error {
	names, err := abi.Entries(code)
	if err != nil {
		return misuse(fmt.Errorf("%s: %w", c.Shader, err))
	}
	one, err := c.choose(code)
	if err != nil {
		return err
	}
	m, err := abi.Parse("", one)
	if errors.Is(err, errs.ErrUnsupported) && len(names) > 1 && c.Entry == "" { // it must be chosen
		fmt.Fprintf(a.out, "entry points: %s\n", strings.Join(names, ", "))
		return nil
	}
	if err != nil {
		return misuse(fmt.Errorf("%s: %w", c.Shader, err))
	}
	fmt.Fprintf(a.out, "entry points: %s\nworkgroup: %d,%d,%d\n", strings.Join(names, ", "), m.LocalSize[0], m.LocalSize[1], m.LocalSize[2])
	for i := range m.Bindings {
		b := &m.Bindings[i]
		fmt.Fprintf(a.out, "buffer %d: set %d, binding %d, %v of %s, %v %s\n", b.Slot, b.Set, b.Number, b.Kind, b.Type, b.Access, b.Name)
	}
	for _, p := range m.Params {
		fmt.Fprintf(a.out, "push constant at byte %d: %s %s\n", p.Offset, p.Type, p.Name)
	}
	return nil
}
