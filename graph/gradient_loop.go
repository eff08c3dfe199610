package graph

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// loop adds the gradients of what a While of at most n.Most steps reads, by two others. The first one takes the steps again, and keeps the state before
// each: value i of the state in a stack of n.Most of them. The second one goes back through the steps that were taken. It computes each again from the state before it, and from
// the gradients behind it those in front. results are the gradients of its results.
func (t *reverse) loop(n mir.Node, results []spec.Value) error {
	if n.Most == 0 {
		return fmt.Errorf("gradient of while: %w: a loop without a bound has no gradient, since the states of all steps are needed (want WhileAtMost)", errs.ErrUnsupported)
	}
	l := &loop{t: t, n: n, state: n.In[:len(n.Out)], captured: n.In[len(n.Out):]}
	for i, v := range n.Out {
		if floating(t.g.mir.Desc(v).DType) {
			l.moving = append(l.moving, i)
		}
	}
	for i, v := range l.captured {
		if t.depends[v] {
			l.needed = append(l.needed, i)
		}
	}
	steps, stacks, err := l.forward()
	if err != nil {
		return fmt.Errorf("gradient of while: %w", err)
	}
	grads, err := l.backward(steps, stacks, results)
	if err != nil {
		return fmt.Errorf("gradient of while: %w", err)
	}
	for k, i := range l.moving {
		if v := l.state[i]; t.depends[v] {
			t.parts[v] = append(t.parts[v], grads[k])
		}
	}
	for k, i := range l.needed {
		v := l.captured[i]
		t.parts[v] = append(t.parts[v], grads[len(l.moving)+k])
	}
	return nil
}

// loop is a While whose gradients are made.
type loop struct {
	t               *reverse
	n               mir.Node
	state, captured []mir.Value // the first state and the values from outside
	moving          []int       // the values of the state that have gradients
	needed          []int       // the values from outside whose gradients are needed
}

// forward takes the steps again. It returns how many were taken, and the stacks.
func (l *loop) forward() (steps mir.Value, stacks []mir.Value, err error) {
	c := &builder{g: l.t.g}
	first := append([]mir.Value{c.number(0)}, l.state...)
	for _, v := range l.state {
		d := c.desc(v)
		first = append(first, c.call(ops.Fill{DType: d.DType, Shape: append([]int{l.n.Most}, d.Shape...)}))
	}
	// The bound may be larger than what this program could hold as a constant, and the rows are made once here.
	rows := c.call(ops.Range{Limit: float64(l.n.Most), Delta: 1, DType: tensor.I32})
	if c.err != nil {
		return mir.None, nil, c.err
	}
	captured := append(slices.Clone(l.captured), rows)
	cond, err := l.again(l.n.Bodies[0], first, captured, nil)
	if err != nil {
		return mir.None, nil, err
	}
	body, err := l.again(l.n.Bodies[1], first, captured, func(b *builder, given, out []mir.Value) []mir.Value {
		k := given[0]
		results := append([]mir.Value{b.call(ops.Add{}, k, b.number(1))}, out...)
		at := b.call(ops.Equal{}, given[len(given)-1], k)
		for i, v := range l.state {
			is := b.view(at, append([]int{l.n.Most}, slices.Repeat([]int{1}, len(l.t.g.mir.Desc(v).Shape))...)...)
			results = append(results, b.call(ops.Where{}, is, given[1+i], given[1+len(l.state)+i]))
		}
		return results
	})
	if err != nil {
		return mir.None, nil, err
	}
	out, err := l.t.g.mir.AddWhile(first, captured, l.n.Most, cond, body)
	if err != nil {
		return mir.None, nil, err
	}
	return out[0], out[1+len(l.state):], nil
}

// backward goes back through the steps. It returns the gradients of the moving values of the first state, and then those of the needed values from outside.
func (l *loop) backward(steps mir.Value, stacks []mir.Value, results []spec.Value) ([]mir.Value, error) {
	g := l.t.g
	first := []mir.Value{steps}
	for _, i := range l.moving {
		grad := mir.Value(results[i])
		var err error
		if results[i] == spec.NoValue {
			grad, err = l.t.filled(0, g.mir.Desc(l.n.Out[i]))
		} else {
			grad, err = g.direct(grad)
		}
		if err != nil {
			return nil, err
		}
		first = append(first, grad)
	}
	for _, i := range l.needed {
		zero, err := l.t.filled(0, g.mir.Desc(l.captured[i]))
		if err != nil {
			return nil, err
		}
		first = append(first, zero)
	}
	given := slices.Concat(stacks, l.captured)
	cond := &builder{g: g.child()}
	j := cond.inputs(g, first, given)[0]
	cond.output(cond.call(ops.Greater{}, j, cond.number(0)))
	if cond.err != nil {
		return nil, cond.err
	}
	body, err := l.step(first, given)
	if err != nil {
		return nil, err
	}
	out, err := g.mir.AddWhile(first, given, l.n.Most, cond.g.mir, body)
	if err != nil {
		return nil, err
	}
	return out[1:], nil
}

// step is the body of backward.
func (l *loop) step(first, given []mir.Value) (*mir.Graph, error) {
	b := bodyOf(l.t.g, l.n.Bodies[1])
	in := b.inputs(l.t.g, first, given)
	grads, stacks, captured := in[1:], in[len(first):], in[len(first)+len(l.state):]
	j := b.call(ops.Sub{}, in[0], b.number(1))
	var state []mir.Value
	for i := range l.state {
		state = append(state, b.call(ops.Gather{}, stacks[i], j))
	}
	if b.err != nil {
		return nil, b.err
	}
	out := b.copy(append(state[:len(state):len(state)], captured...))
	var from, of []mir.Value
	for _, i := range l.moving {
		from, of = append(from, out[i]), append(of, state[i])
	}
	for _, i := range l.needed {
		of = append(of, captured[i])
	}
	back := &reverse{g: b.g, parts: map[mir.Value][]mir.Value{}}
	sums, err := back.walk(from, func(i int) (mir.Value, error) { return grads[i], nil }, of)
	if err != nil {
		return nil, err
	}
	b.output(j)
	for i, v := range sums {
		if i >= len(l.moving) {
			v = b.call(ops.Add{}, grads[i], v)
		}
		b.output(v)
	}
	return b.g.mir, b.err
}

// again is a body of the While in a graph that is given more: the number of the step before the state, the stacks behind it, and more behind the values from outside. It has the
// outputs that add returns of what it is given and of those of the body, or without add those of the body.
func (l *loop) again(body *mir.Graph, first, captured []mir.Value, add func(b *builder, given, out []mir.Value) []mir.Value) (*mir.Graph, error) {
	b := bodyOf(l.t.g, body)
	in := b.inputs(l.t.g, first, captured)
	out := b.copy(append(slices.Clone(in[1:1+len(l.state)]), in[len(first):]...))
	if add != nil && b.err == nil {
		out = add(b, in, out)
	}
	for _, v := range out {
		b.output(v)
	}
	return b.g.mir, b.err
}

// builder adds nodes to a graph. The first error stays.
type builder struct {
	g    *Graph
	from *mir.Graph    // a body that copy copies, or nil
	r    *mir.Rewriter // of it
	err  error
}

// bodyOf begins a body of outer that has the nodes of another one in it.
func bodyOf(outer *Graph, from *mir.Graph) *builder {
	c := &builder{g: outer.child(), from: from, r: mir.NewRewriter(from)}
	c.g.mir = c.r.To()
	return c
}

func (c *builder) keep(v mir.Value, err error) mir.Value {
	if c.err == nil {
		c.err = err
	}
	return v
}

func (c *builder) desc(v mir.Value) tensor.Desc { return c.g.mir.Desc(v) }

// call adds a call of one result.
func (c *builder) call(call spec.Call, in ...mir.Value) mir.Value {
	if c.err != nil {
		return mir.None
	}
	out, err := c.g.mir.AddCall(call, in...)
	if err != nil {
		return c.keep(mir.None, err)
	}
	return out[0]
}

// number adds a constant of I32, a scalar.
func (c *builder) number(x float64) mir.Value {
	h, err := tensor.FromFloats(tensor.I32, nil, []float64{x})
	if err != nil {
		return c.keep(mir.None, err)
	}
	return c.keep(c.g.mir.AddConstant(h.Desc, h.Data))
}

// view is a value in another shape.
func (c *builder) view(v mir.Value, shape ...int) mir.Value {
	if c.err != nil {
		return mir.None
	}
	made, err := recorder{c.g}.Reshape(spec.Value(v), shape...)
	return c.keep(mir.Value(made), err)
}

// inputs adds inputs as values of outer.
func (c *builder) inputs(outer *Graph, lists ...[]mir.Value) (in []mir.Value) {
	for i, v := range slices.Concat(lists...) {
		in = append(in, c.keep(c.g.mir.AddInput(fmt.Sprint("g", i), outer.mir.Desc(v))))
	}
	return in
}

// output adds an output that a body may have.
func (c *builder) output(v mir.Value) {
	if c.err != nil {
		return
	}
	v = c.keep(c.g.direct(v))
	if c.err == nil {
		c.err = c.g.mir.AddOutput(fmt.Sprint("r", len(c.g.mir.Outputs())), v)
	}
}

// copy adds the nodes of the body, with such values for its inputs, and returns its outputs. There may be more values than inputs.
func (c *builder) copy(in []mir.Value) (out []mir.Value) {
	if c.err != nil {
		return nil
	}
	for i, n := range c.from.Nodes() {
		if n.Kind == mir.Input {
			c.r.Set(n.Out[0], in[0])
			in = in[1:]
		} else {
			c.r.Copy(i)
		}
	}
	for _, o := range c.from.Outputs() {
		out = append(out, c.r.At(o.Value))
	}
	return out
}
