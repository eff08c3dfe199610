package graph

import (
	"fmt"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
)

// Options say how a graph is compiled. The zero value is the usual choice.
type Options struct {
	// Without names passes that are left out: "cse" or "dce". mir.Passes lists them.
	Without []string
}

// Compile compiles a graph for a device: it runs the passes and makes a schedule. Device.Compile of package lathe calls it. It
// does not change g, and many goroutines may compile one graph that nobody changes.
// Errors: those of Graph.Err; ErrGraph for a graph without outputs; ErrInvalidArgument for an unknown pass; ErrGraphRefused, which
// lists each call that the device cannot run.
func Compile(g *Graph, c lir.Compiler, o Options) (*Plan, error) {
	m, err := g.MIR()
	if err != nil {
		return nil, err
	}
	if len(m.Outputs()) == 0 {
		return nil, fmt.Errorf("graph: compile: %w: it has no outputs", errs.ErrGraph)
	}
	for _, name := range o.Without {
		if !mir.IsPass(name) {
			return nil, fmt.Errorf("graph: compile: %w: there is no pass %q", errs.ErrInvalidArgument, name)
		}
	}
	report := Report{Calls: calls(m)}
	if m, report.Changes, err = mir.Optimise(m, o.Without); err != nil {
		return nil, fmt.Errorf("graph: compile: %w", err)
	}
	if m, err = m.WithOwnOutputs(ops.Copy{}); err != nil {
		return nil, fmt.Errorf("graph: compile: %w", err)
	}
	p, err := lir.Schedule(m, c)
	if err != nil {
		return nil, fmt.Errorf("graph: compile: %w", err)
	}
	return &Plan{Graph: m, Program: p, Report: report}, nil
}

// calls counts the calls of a graph.
func calls(m *mir.Graph) int {
	n := 0
	for _, node := range m.Nodes() {
		if node.Kind == mir.Op {
			n++
		}
	}
	return n
}
