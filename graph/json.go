package graph

import (
	"fmt"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// FromMIR returns a Graph with the nodes and outputs of m, which does not change. So a program can compile a graph that it made, or changed, node by
// node, and can add to it: Input and the calls go on where m ends.
// Errors: ErrInvalidArgument for a graph that mir.Graph.Verify refuses.
func FromMIR(m *mir.Graph) (*Graph, error) {
	if err := m.Verify(); err != nil {
		return nil, fmt.Errorf("graph: %w", err)
	}
	r := mir.NewRewriter(m)
	for i := range m.Nodes() {
		r.Copy(i)
	}
	g := New()
	g.mir = r.Finish()
	return g, nil
}

// MarshalJSON returns the graph as JSON, as mir.Graph.MarshalJSON does.
// Errors: those of Err and of mir.Graph.MarshalJSON.
func (g *Graph) MarshalJSON() ([]byte, error) {
	m, err := g.MIR()
	if err != nil {
		return nil, err
	}
	return m.MarshalJSON()
}

// UnmarshalJSON makes g the graph that MarshalJSON has written, whatever it was before. Values of what it was belong to no graph then. Operations
// are found by their names, so that the program imports package ops/all.
// Errors: ErrInvalidArgument, which names the node, or the byte, of the mistake. g does not change then.
func (g *Graph) UnmarshalJSON(data []byte) error {
	if g == nil {
		return fmt.Errorf("graph: read: %w: no graph", errs.ErrInvalidArgument)
	}
	var m mir.Graph
	if err := m.UnmarshalJSON(data); err != nil {
		return err
	}
	*g = *New()
	g.mir = &m
	return nil
}
