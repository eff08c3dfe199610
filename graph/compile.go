package graph

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
)

// Options say how a graph is compiled. The zero value is the usual choice.
type Options struct {
	// Without names passes that are left out: "cse" or "dce", which mir.Passes lists, or "fuse".
	Without []string
	// Strict says that results of 16 bits inside of a launch are rounded as those of single calls are. Without it they are
	// rounded once, at the end of the launch, which is more exact and other bits. Results of other types are the same either way.
	Strict bool
}

// fusing is the name of the pass that joins elementwise calls. It is not in mir.Passes, because it asks the device.
const fusing = "fuse"

// Compile compiles a graph for a device: it runs the passes and makes a schedule. Device.Compile of package lathe calls it. It
// does not change g, and many goroutines may compile one graph that nobody changes.
// Errors: those of Graph.Err; ErrGraph for a graph without outputs, or with a size of a dim that it does not have; ErrInvalidArgument for an unknown pass; ErrGraphRefused, which
// lists each call that the device cannot run.
func Compile(g *Graph, c lir.Compiler, o Options) (*Plan, error) {
	m, err := g.MIR()
	if err != nil {
		return nil, err
	}
	if errs.Nil(c) {
		return nil, fmt.Errorf("graph: compile: %w: no compiler", errs.ErrInvalidArgument)
	}
	if len(m.Outputs()) == 0 {
		return nil, fmt.Errorf("graph: compile: %w: it has no outputs", errs.ErrGraph)
	}
	if err := g.allAsked(); err != nil {
		return nil, err
	}
	for _, name := range o.Without {
		if !mir.IsPass(name) && name != fusing {
			return nil, fmt.Errorf("graph: compile: %w: there is no pass %q", errs.ErrInvalidArgument, name)
		}
	}
	report := Report{Calls: calls(m)}
	if m, report.Changes, err = mir.Optimise(m, o.Without); err != nil {
		return nil, fmt.Errorf("graph: compile: %w", err)
	}
	if !slices.Contains(o.Without, fusing) {
		target := c.Target()
		if m, report.Fusion, err = fuse(m, &target, o.Strict); err == nil {
			err = m.Verify()
		}
		if err != nil {
			return nil, fmt.Errorf("graph: compile: pass %s: %w", fusing, err)
		}
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
