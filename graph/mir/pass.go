package mir

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Pass is a step of the compiler that turns a graph into an equal one: for the same inputs both compute the same
// outputs.
type Pass struct {
	// Name is the name by which options and reports know the pass.
	Name string
	// Doc says what the pass does.
	Doc string
	// After lists passes that run before this one, and Why says what it needs of them.
	After []string
	Why   string
	// Run returns the new graph, and how many nodes it has changed or left out. It does not change g. t describes the
	// device.
	Run func(g *Graph, t *spec.Target) (new *Graph, changes int, err error)
}

// Passes are the passes that hold for every device, in the order in which the compiler runs them. Package graph adds others.
var Passes = []Pass{
	{
		Name: "control", Doc: "An If whose condition is a constant becomes its branch, and a While that is false at once disappears.",
		Run: decide,
	},
	{
		Name: "cse", Doc: "Calls, views and constants that are the same become one (common subexpression elimination).",
		Run: mergeEqual,
	},
	{
		Name: "dce", Doc: "Nodes that no output needs are left out (dead code elimination). Inputs and params stay.",
		After: []string{"cse"}, Why: "what cse has merged leaves nodes that nobody reads",
		Run: dropDead,
	},
}

// Optimise runs the passes that off does not name, and verifies the graph after each of them. changes says for each
// pass how many nodes it has changed. The bodies of If and While are graphs of their own: passes do not change them, unless they say so.
// Errors: ErrInvalidArgument for a bad graph, or an unknown pass in off; a pass that makes a bad graph is named.
func Optimise(g *Graph, t *spec.Target, passes []Pass, off []string) (out *Graph, changes map[string]int, err error) {
	for _, name := range off {
		if !slices.ContainsFunc(passes, func(p Pass) bool { return p.Name == name }) {
			return nil, nil, fmt.Errorf("mir: %w: there is no pass %q", errs.ErrInvalidArgument, name)
		}
	}
	if err := g.Verify(); err != nil {
		return nil, nil, err
	}
	changes = map[string]int{}
	for _, p := range passes {
		if p.Run == nil || slices.Contains(off, p.Name) {
			continue
		}
		was := g
		if g, changes[p.Name], err = p.Run(g, t); err == nil {
			err = g.Verify()
		}
		if err == nil {
			err = cmp.Or(g.returns(was), g.takes(was))
		}
		if err != nil {
			return nil, nil, fmt.Errorf("mir: pass %s: %w", p.Name, err)
		}
	}
	return g, changes, nil
}

// returns returns an error unless the graph has the outputs of another one, of the same dtypes and shapes.
func (g *Graph) returns(as *Graph) error {
	same := len(g.outputs) == len(as.outputs)
	for i := 0; same && i < len(g.outputs); i++ {
		o, was := g.outputs[i], as.outputs[i]
		if same = o.Name == was.Name && sameShape(g.Desc(o.Value), as.Desc(was.Value)); !same {
			return fmt.Errorf("%w: output %q is %v, and was %q, %v", errs.ErrInvalidArgument, o.Name, g.Desc(o.Value), was.Name, as.Desc(was.Value))
		}
	}
	if !same {
		return fmt.Errorf("%w: %d outputs, and there were %d", errs.ErrInvalidArgument, len(g.outputs), len(as.outputs))
	}
	return nil
}

// takes returns an error unless the graph has the inputs and params of another one in the same order, in which bodies and runs are given values.
func (g *Graph) takes(as *Graph) error {
	given := func(g *Graph) (list []string) {
		for i, n := range g.nodes {
			if g.declares(i) {
				list = append(list, fmt.Sprintf("%v %q, %v", n.Kind, n.Name, g.Desc(n.Out[0])))
			}
		}
		return list
	}
	have, was := given(g), given(as)
	for i := range max(len(have), len(was)) {
		switch {
		case i >= len(have):
			return fmt.Errorf("%w: it has lost %s", errs.ErrInvalidArgument, was[i])
		case i >= len(was) || have[i] != was[i]:
			return fmt.Errorf("%w: it has %s at another place", errs.ErrInvalidArgument, have[i])
		}
	}
	return nil
}

// rebuild copies the nodes for which keep is true. same maps a value to an equal one that takes its place, and other
// values to themselves. The makers of values that are read must be kept.
func (g *Graph) rebuild(keep func(node int) bool, same func(Value) Value) *Graph {
	r := NewRewriter(g)
	for i, n := range g.nodes {
		for _, v := range n.In {
			if v != None {
				r.Set(v, r.At(same(v)))
			}
		}
		if keep(i) {
			r.Copy(i)
		}
	}
	for _, o := range g.outputs {
		r.Set(o.Value, r.At(same(o.Value)))
	}
	return r.Finish()
}

// WithOwnOutputs returns a graph in which each output is the result of a call, and of no other output. copy, a call that copies
// its input, makes such results of others: of inputs, params, constants and views, and of a value that is an output already. A
// schedule needs that, because every run gives the outputs memory. The same is done to the bodies of If and While, and a While gets a
// third body, which copies its state.
// Errors: those of AddCall.
func (g *Graph) WithOwnOutputs(copy spec.Call) (*Graph, error) {
	if err := g.Verify(); err != nil {
		return nil, err
	}
	to, err := g.WithBodies(func(_, _ int, b *Graph) (*Graph, error) { return b.WithOwnOutputs(copy) })
	if err != nil {
		return nil, err
	}
	for i := range to.nodes {
		if err := to.addCarry(&to.nodes[i], copy); err != nil {
			return nil, err
		}
	}
	seen := map[Value]bool{}
	for i, o := range to.outputs {
		if to.nodes[to.Maker(o.Value)].Kind < Op || seen[o.Value] {
			out, err := to.AddCall(copy, o.Value)
			if err != nil {
				return nil, fmt.Errorf("mir: output %q: %w", o.Name, err)
			}
			to.outputs[i].Value = out[0]
		}
		seen[to.outputs[i].Value] = true
	}
	return to, nil
}
