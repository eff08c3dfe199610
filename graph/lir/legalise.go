package lir

import (
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Refused is a call that the device cannot run.
type Refused struct {
	// Node is the number of the node, Op the name of its operation, and Label its label. Body is where it is, such as "5 then" for a body of node 5,
	// or empty for a node of the graph itself.
	Body      string
	Node      int
	Op, Label string
	// Err is the reason.
	Err error
}

// LegaliseError lists every call of a graph that the device cannot run. It matches ErrGraphRefused and the reasons.
type LegaliseError struct{ Nodes []Refused }

// Error lists the calls with their reasons.
func (e *LegaliseError) Error() string {
	if e == nil {
		return errs.ErrGraphRefused.Error()
	}
	var b strings.Builder
	fmt.Fprintf(&b, "graph: %v: the device cannot run %d of the calls:", errs.ErrGraphRefused, len(e.Nodes))
	for _, n := range e.Nodes {
		fmt.Fprintf(&b, "\n\tnode %d", n.Node)
		if n.Body != "" {
			fmt.Fprintf(&b, " of %s", n.Body)
		}
		fmt.Fprintf(&b, ", %s", n.Op)
		if n.Label != "" {
			fmt.Fprintf(&b, " (%s)", n.Label)
		}
		fmt.Fprintf(&b, ": %v", n.Err)
	}
	return b.String()
}

// Unwrap returns the reasons.
func (e *LegaliseError) Unwrap() []error {
	list := []error{errs.ErrGraphRefused}
	if e == nil {
		return list
	}
	for _, n := range e.Nodes {
		list = append(list, n.Err)
	}
	return list
}
