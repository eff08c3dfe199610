package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/spec"
)

// supporting is a compiler that refuses the operations which names does not list.
type supporting struct {
	lir.Compiler
	names []string
}

// Compile refuses the call, and each call that it is made of, unless its operation is listed.
func (c supporting) Compile(call spec.Call, in, out []spec.Place) (lir.Code, error) {
	for _, one := range partsOf(call) {
		if name := one.Spec().Name; !slices.Contains(c.names, name) {
			return nil, fmt.Errorf("%w: Options.Supported does not list %q", errs.ErrUnsupported, name)
		}
	}
	return c.Compiler.Compile(call, in, out)
}

// partsOf is a call, and those that it is made of.
func partsOf(call spec.Call) []spec.Call {
	list := []spec.Call{call}
	switch c := call.(type) {
	case fusion.Fused:
		list = append(list, c.Calls...)
	case fusion.Epilogue:
		list = append(append(list, partsOf(c.Call)...), c.Then.Calls...)
	case fusion.Prologue:
		list = append(append(list, partsOf(c.Call)...), c.First.Calls...)
	}
	return list
}

// where names the node.
func (m *Missed) where() string {
	if m.Body == "" {
		return fmt.Sprint(m.Node)
	}
	return fmt.Sprintf("%d of %s", m.Node, m.Body)
}

// clean returns an error that lists what was not fused.
func (r *FusionReport) clean() error {
	if len(r.Missed) == 0 {
		return nil
	}
	var b strings.Builder
	for _, m := range r.Missed {
		fmt.Fprintf(&b, "\n\tnode %s, %s: %s", m.where(), m.Call, m.Reason)
	}
	return fmt.Errorf("graph: %w: AssertFusionClean: %d calls are not fused:%s", errs.ErrGraphRefused, len(r.Missed), &b)
}
