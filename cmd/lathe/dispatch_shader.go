package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// choose returns the module of the selected entry point, or of the only one.
func (c *dispatchCmd) choose(code []byte) ([]byte, error) {
	if c.Entry == "" {
		return code, nil
	}
	one, err := spv.Entry(code, c.Entry)
	if err != nil {
		return nil, misuse(fmt.Errorf("%s: %w%s", c.Shader, err, session.SourceHint(code)))
	}
	return one, nil
}

// list prints what the shader expects: entry points, bindings, parameters.
func (c *dispatchCmd) list(a *app, code []byte) error {
	names, err := spv.Entries(code)
	if err != nil {
		return misuse(fmt.Errorf("%s: %w%s", c.Shader, err, session.SourceHint(code)))
	}
	one, err := c.choose(code)
	if err != nil {
		return err
	}
	m, err := spv.Parse("", one)
	if errors.Is(err, errs.ErrUnsupported) && len(names) > 1 && c.Entry == "" { // it must be chosen
		if a.cli.JSON {
			return a.writeJSON(shaderJSON{Entries: names})
		}
		fmt.Fprintf(a.out, "entry points: %s\n", strings.Join(names, ", "))
		return nil
	}
	if err != nil {
		return misuse(fmt.Errorf("%s: %w%s", c.Shader, err, session.SourceHint(code)))
	}
	if a.cli.JSON {
		return a.writeJSON(describeShader(names, m))
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

// shaderJSON is the output of --list --json. If a file has several entry points and none is
// selected, it has only their names.
type shaderJSON struct {
	Entries   []string     `json:"entries"`
	Workgroup []uint32     `json:"workgroup,omitempty"` // invocations along x, y, z
	Buffers   []bufferJSON `json:"buffers,omitempty"`
	Push      []pushJSON   `json:"push,omitempty"`
}

type bufferJSON struct {
	Buffer  uint32 `json:"buffer"` // as --buf counts
	Set     uint32 `json:"set"`
	Binding uint32 `json:"binding"`
	Kind    string `json:"kind"`
	Type    string `json:"type"` // of the elements
	Access  string `json:"access"`
	Name    string `json:"name"`
}

type pushJSON struct {
	Offset uint32 `json:"offset"` // bytes
	Type   string `json:"type"`
	Name   string `json:"name"`
}

func describeShader(names []string, m *spv.Module) shaderJSON {
	x := shaderJSON{Entries: names, Workgroup: m.LocalSize[:]}
	for i := range m.Bindings {
		b := &m.Bindings[i]
		x.Buffers = append(x.Buffers, bufferJSON{b.Slot, b.Set, b.Number, b.Kind.String(), b.Type, b.Access.String(), b.Name})
	}
	for _, p := range m.Params {
		x.Push = append(x.Push, pushJSON{p.Offset, p.Type, p.Name})
	}
	return x
}
