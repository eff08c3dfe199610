package graph

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/tensor"
)

// If returns what then computes if cond is true, and else what otherwise computes. cond is Bool and has one element. A run
// computes only the branch that is taken.
//
//	y := g.If(g.Greater(loss, limit),
//		func(g *graph.Graph) []*graph.Value { return []*graph.Value{g.Mul(x, graph.Scalar(0.5))} },
//		func(g *graph.Graph) []*graph.Value { return []*graph.Value{x} })[0]
//
// Both functions are called at once, each with a graph of its own, to which they add calls. They may read values from outside. Their results have
// the same dtypes and shapes. Params and inputs are declared outside.
func (g *Graph) If(cond *Value, then, otherwise func(g *Graph) []*Value) []*Value {
	before := g.mistakes()
	id, failed := g.condition(cond)
	if failed != nil {
		return none(nil, failed)
	}
	var bodies [2]*Graph
	for i, f := range []func(*Graph) []*Value{then, otherwise} {
		if f == nil {
			return none(nil, g.fail(fmt.Errorf("graph: if: %w: no function", errs.ErrInvalidArgument)))
		}
		bodies[i] = g.child()
		bodies[i].results(f(bodies[i]), "")
	}
	results := len(bodies[0].body.out)
	if failed := g.failedSince(before, bodies[:]); failed != nil {
		return repeated(failed, results)
	}
	if n := len(bodies[1].body.out); n != results || n == 0 {
		return repeated(g.fail(fmt.Errorf("graph: if: %w: the branches have %d and %d results (want as many, and some)", errs.ErrInvalidArgument, results, n)), results)
	}
	captured := captures(bodies[:])
	out, err := g.mir.AddIf(id, captured, bodies[0].finish(captured), bodies[1].finish(captured))
	if err != nil {
		return repeated(g.fail(fmt.Errorf("graph: %w", err)), results)
	}
	return g.values(out)
}

// While computes a state again and again: as long as cond returns true for the state, body computes the next one from it. It returns the last state,
// which is the first one if cond is false at once. cond returns one element of Bool. The state keeps its dtypes and shapes. A loop whose condition never becomes
// false ends by the context of Run only: WhileAtMost has a bound.
//
//	root := g.While([]*graph.Value{guess},
//		func(g *graph.Graph, s []*graph.Value) *graph.Value { return g.Greater(distance(g, s[0]), graph.Scalar(1e-6)) },
//		func(g *graph.Graph, s []*graph.Value) []*graph.Value { return []*graph.Value{newton(g, s[0])} })[0]
//
// Both functions are called once each, with a graph of their own. They may read values from outside, which are the same in each step.
func (g *Graph) While(initial []*Value, cond func(g *Graph, state []*Value) *Value, body func(g *Graph, state []*Value) []*Value) []*Value {
	return g.while(0, initial, cond, body)
}

// WhileAtMost is While that takes at most so many steps, and then returns the state that it has, whatever cond says. It has gradients, which need memory for
// as many states as there can be steps.
func (g *Graph) WhileAtMost(steps int, initial []*Value, cond func(g *Graph, state []*Value) *Value, body func(g *Graph, state []*Value) []*Value) []*Value {
	if steps < 1 {
		return repeated(g.fail(fmt.Errorf("graph: while: %w: at most %d steps (want 1 or more)", errs.ErrInvalidArgument, steps)), len(initial))
	}
	return g.while(steps, initial, cond, body)
}

func (g *Graph) while(most int, initial []*Value, cond func(*Graph, []*Value) *Value, body func(*Graph, []*Value) []*Value) []*Value {
	before := g.mistakes()
	state, failed := g.state(initial)
	if failed == nil && (cond == nil || body == nil) {
		failed = g.fail(fmt.Errorf("graph: while: %w: no function", errs.ErrInvalidArgument))
	}
	if failed != nil {
		return repeated(failed, len(initial))
	}
	bodies := []*Graph{g.child(), g.child()}
	for i, b := range bodies {
		own := b.stateful(state)
		if i == 0 {
			b.results([]*Value{cond(b, own)}, "the condition")
		} else {
			b.results(body(b, own), "")
		}
	}
	if failed := g.failedSince(before, bodies); failed != nil {
		return repeated(failed, len(initial))
	}
	captured := captures(bodies)
	out, err := g.mir.AddWhile(state, captured, most, bodies[0].finish(captured), bodies[1].finish(captured))
	if err != nil {
		return repeated(g.fail(fmt.Errorf("graph: %w", err)), len(initial))
	}
	return g.values(out)
}

// body is what makes a Graph the body of an If or a While.
type body struct {
	outer *Graph
	ended bool // the function that builds it has returned
	// state are the inputs for the state of a While. inputs has that for each captured value of outer, which order lists.
	state  []mir.Value
	inputs map[mir.Value]mir.Value
	order  []mir.Value
	out    []mir.Value
	failed *Value // a result that is no value, whose mistake is collected
}

// whole is the graph that a body is in at last: it has the mistakes.
func (g *Graph) whole() *Graph {
	for g != nil && g.body != nil {
		g = g.body.outer
	}
	return g
}

// mistakes counts the mistakes so far.
func (g *Graph) mistakes() int {
	if g = g.whole(); g == nil {
		return 0
	}
	return len(g.errs) + g.more
}

// failedSince is a value with the mistake for which bodies cannot be, or nil: one that was made since there were so many as before, or one of a result.
func (g *Graph) failedSince(before int, bodies []*Graph) *Value {
	for _, b := range bodies {
		if b.body.failed != nil {
			return b.body.failed
		}
	}
	if all := g.whole(); g.mistakes() != before {
		return &Value{g: g, failed: all.errs[len(all.errs)-1]}
	}
	return nil
}

// repeated are as many results as an If or a While would have, and at least one.
func repeated(failed *Value, n int) []*Value { return slices.Repeat([]*Value{failed}, max(n, 1)) }

func (g *Graph) values(ids []mir.Value) []*Value {
	list := make([]*Value, len(ids))
	for i, id := range ids {
		list[i] = &Value{g: g, id: id}
	}
	return list
}

// child is an empty body. It asks for dims as the graph does.
func (g *Graph) child() *Graph {
	b := New()
	b.dims, b.asked = g.dims, g.asked
	b.body = &body{outer: g, inputs: map[mir.Value]mir.Value{}}
	return b
}

// stateful adds the inputs of a state of outer.
func (g *Graph) stateful(state []mir.Value) []*Value {
	for _, v := range state {
		g.body.state = append(g.body.state, g.input("s", len(g.body.state), v))
	}
	return g.values(g.body.state)
}

// input adds an input for a value of outer.
func (g *Graph) input(name string, i int, of mir.Value) mir.Value {
	v, err := g.mir.AddInput(fmt.Sprint(name, i), g.body.outer.mir.Desc(of))
	if err != nil {
		g.fail(err)
	}
	return v
}

// local is the value of this graph that v is. A body gets an input for a value from outside.
func (g *Graph) local(v *Value) (mir.Value, error) {
	switch {
	case v.g == g:
		return v.id, nil
	case v.g != nil && v.g.body != nil && v.g.whole() == g: // g is no body
		return mir.None, fmt.Errorf("graph: %w: a value of the body of an If or a While is used outside of it (return it from the body's function)", errs.ErrInvalidArgument)
	case v.g == nil || g.body == nil:
		return mir.None, fmt.Errorf("graph: %w: a value of another graph", errs.ErrInvalidArgument)
	}
	outer := g.body.outer
	id, err := outer.local(v)
	if err == nil {
		id, err = outer.direct(id)
	}
	if err != nil {
		return mir.None, err
	}
	if own, ok := g.body.inputs[id]; ok {
		return own, nil
	}
	own := g.input("c", len(g.body.order), id)
	g.body.order = append(g.body.order, id)
	g.body.inputs[id] = own
	return own, nil
}

// direct is a value that a body can be given, or can return: v itself, or a copy of a view with strides or from another place on.
func (g *Graph) direct(v mir.Value) (mir.Value, error) {
	if _, offset := g.mir.Root(v); offset == 0 {
		return g.contiguous(v)
	}
	if c, ok := g.copied[v]; ok {
		return c, nil
	}
	out, err := g.mir.AddCall(ops.Copy{}, v)
	if err != nil {
		return mir.None, err
	}
	g.copied[v] = out[0]
	return out[0], nil
}

// condition is a condition as a value of the graph.
func (g *Graph) condition(cond *Value) (id mir.Value, failed *Value) {
	err := g.made()
	switch {
	case err != nil:
	case cond == nil || cond.number != nil:
		err = fmt.Errorf("graph: if: %w: the condition is no value of a graph (want a value; g.Constant makes one of a number)", errs.ErrInvalidArgument)
	case cond.failed != nil:
		return mir.None, g.again(cond)
	default:
		id, err = g.local(cond)
	}
	if err != nil {
		return mir.None, g.fail(err)
	}
	return id, nil
}

// state are the values of a first state.
func (g *Graph) state(initial []*Value) (list []mir.Value, failed *Value) {
	if err := g.made(); err != nil {
		return nil, g.fail(err)
	}
	if len(initial) == 0 {
		return nil, g.fail(fmt.Errorf("graph: while: %w: no state", errs.ErrInvalidArgument))
	}
	ids := make([]mir.Value, len(initial))
	for i, v := range initial {
		var err error
		switch {
		case v == nil || v.number != nil:
			err = fmt.Errorf("graph: while: %w: state %d is no value of a graph (want a value; g.Constant makes one of a number)", errs.ErrInvalidArgument, i)
		case v.failed != nil:
			return nil, g.again(v)
		default:
			if ids[i], err = g.local(v); err == nil {
				ids[i], err = g.direct(ids[i])
			}
		}
		if err != nil {
			return nil, g.fail(err)
		}
	}
	return ids, nil
}

// results ends a body with such results. name is that of a single one, in errors, or "".
func (g *Graph) results(list []*Value, name string) {
	for i, v := range list {
		what := name
		if what == "" {
			what = fmt.Sprintf("result %d of a body", i)
		}
		id, err := mir.None, error(nil)
		switch {
		case v == nil || v.number != nil:
			err = fmt.Errorf("graph: %w: %s is no value of a graph (want a value; g.Constant makes one of a number)", errs.ErrInvalidArgument, what)
		case v.failed != nil:
			g.body.failed = g.again(v)
		default:
			if id, err = g.local(v); err == nil {
				id, err = g.direct(id)
			}
		}
		if err != nil {
			g.body.failed = g.fail(err)
		}
		g.body.out = append(g.body.out, id)
	}
	g.body.ended = true
}

// captures are the values from outside that bodies read.
func captures(bodies []*Graph) []mir.Value {
	var all []mir.Value
	for _, b := range bodies {
		for _, v := range b.body.order {
			if !slices.Contains(all, v) {
				all = append(all, v)
			}
		}
	}
	return all
}

// finish is the body with inputs for its state and then for all captured values of its node.
func (g *Graph) finish(captured []mir.Value) *mir.Graph {
	r := mir.NewRewriter(g.mir)
	add := func(name string, d tensor.Desc, own mir.Value) {
		v, err := r.To().AddInput(name, d)
		if err != nil {
			g.fail(err)
		}
		r.Set(own, v)
	}
	for i, v := range g.body.state {
		add(fmt.Sprint("s", i), g.mir.Desc(v), v)
	}
	for i, v := range captured {
		own, ok := g.body.inputs[v]
		if !ok {
			own = mir.None
		}
		add(fmt.Sprint("c", i), g.body.outer.mir.Desc(v), own)
	}
	for i, n := range g.mir.Nodes() {
		if n.Kind != mir.Input {
			r.Copy(i)
		}
	}
	m := r.Finish()
	for i, v := range g.body.out {
		if err := m.AddOutput(fmt.Sprint("r", i), r.At(v)); err != nil {
			g.fail(err)
		}
	}
	return m
}
