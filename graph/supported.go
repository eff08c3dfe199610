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

// Compile refuses the call, and each call that a fused one is made of, unless its operation is listed.
func (c supporting) Compile(call spec.Call, in, out []spec.Place) (lir.Code, error) {
	calls := []spec.Call{call}
	switch f := call.(type) {
	case fusion.Fused:
		calls = append(calls, f.Calls...)
	case *fusion.Fused:
		calls = append(calls, f.Calls...)
	}
	for _, one := range calls {
		if name := one.Spec().Name; !slices.Contains(c.names, name) {
			return nil, fmt.Errorf("%w: Options.Supported does not list %q", errs.ErrUnsupported, name)
		}
	}
	return c.Compiler.Compile(call, in, out)
}

// clean returns an error that lists what was not fused.
func (r *FusionReport) clean() error {
	if len(r.Missed) == 0 {
		return nil
	}
	var b strings.Builder
	for _, m := range r.Missed {
		fmt.Fprintf(&b, "\n\tnode %d, %s: %s", m.Node, m.Call, m.Reason)
	}
	return fmt.Errorf("graph: %w: AssertFusionClean: %d calls are not fused:%s", errs.ErrGraphRefused, len(r.Missed), &b)
}
