package mir

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// mostDeep bounds how deep bodies lie in each other.
const mostDeep = 64

// The bodies of a While.
const (
	condition = iota
	step
	carry // which WithOwnOutputs adds
)

// BodyName names a body of an If or a While: "then" and "else", or "condition", "body" and "carry".
func (n *Node) BodyName(i int) string {
	names := []string{"then", "else"}
	if n != nil && n.Kind == While {
		names = []string{"condition", "body", "carry"}
	}
	if i >= 0 && i < len(names) {
		return names[i]
	}
	return fmt.Sprintf("body %d", i)
}

// AddIf appends an If and returns its results: the outputs of then if cond is true, and else those of otherwise. cond is Bool and has one
// element. Both graphs have an input for each captured value, in that order and of its dtype and shape, no params, and
// outputs of the same dtypes and shapes. Captured values and outputs have row-major order without gaps and begin where their memory does, so that a
// graph can be given them. The graphs are copied. Results have no names; they are in the order of the outputs.
// Errors: ErrInvalidArgument.
func (g *Graph) AddIf(cond Value, captured []Value, then, otherwise *Graph) ([]Value, error) {
	return g.addControl(Node{Kind: If, In: append([]Value{cond}, captured...), Bodies: []*Graph{then, otherwise}}, then)
}

// AddWhile appends a While and returns its last state. As long as cond is true, body computes the next state from the last one: at most so many times
// as most says, unless it is 0. Both graphs have an input for each value of the state and then one for each captured value. cond has one output of
// one Bool. body has an output for each value of the state, of its dtype and shape. What holds for the values and graphs of AddIf holds here too.
// Errors: ErrInvalidArgument.
func (g *Graph) AddWhile(state, captured []Value, most int, cond, body *Graph) ([]Value, error) {
	if n := len(body.Outputs()); n != len(state) || n == 0 {
		return nil, fmt.Errorf("mir: while: %w: a state of %d values, and a body with %d results (want as many)", errs.ErrInvalidArgument, len(state), n)
	}
	return g.addControl(Node{Kind: While, In: slices.Concat(state, captured), Most: most, Bodies: []*Graph{cond, body}}, body)
}

// addControl appends an If or a While, whose results are as the outputs of a body.
func (g *Graph) addControl(n Node, like *Graph) ([]Value, error) {
	fail := func(err error) ([]Value, error) { return nil, fmt.Errorf("mir: %v: %w", n.Kind, err) }
	if g == nil {
		return fail(fmt.Errorf("%w: no graph", errs.ErrInvalidArgument))
	}
	for i, b := range n.Bodies {
		if err := b.Verify(); err != nil {
			return fail(fmt.Errorf("%s: %w", n.BodyName(i), err))
		}
		n.Bodies[i] = b.rebuild(func(int) bool { return true }, func(v Value) Value { return v }) // so that no graph can contain itself
	}
	for _, v := range n.In {
		if err := g.has(v); err != nil {
			return fail(err)
		}
	}
	var descs []tensor.Desc
	for i, o := range like.outputs {
		d := like.Desc(o.Value)
		descs, n.Out = append(descs, tensor.Contiguous(d.DType, slices.Clone(d.Shape)...)), append(n.Out, Value(i))
	}
	if err := g.checkControl(&n, descs); err != nil {
		return fail(err)
	}
	n.Out = nil
	return g.add(n, descs...), nil
}

// whole reports whether a value can be given to a body: its elements lie in row-major order from the start of its memory on.
func (g *Graph) whole(v Value) bool {
	_, offset := g.Root(v)
	return offset == 0 && g.Desc(v).IsContiguous()
}

// verifyControl checks an If or a While and its bodies.
func (g *Graph) verifyControl(n *Node) error {
	for i, b := range n.Bodies {
		if err := b.Verify(); err != nil {
			return fmt.Errorf("%s: %w", n.BodyName(i), err)
		}
	}
	descs := make([]tensor.Desc, len(n.Out))
	for i, v := range n.Out {
		if descs[i] = g.Desc(v); !descs[i].IsContiguous() {
			return fmt.Errorf("%w: result %d has strides", errs.ErrInvalidArgument, i)
		}
	}
	return g.checkControl(n, descs)
}

// checkControl returns an error unless the bodies of a node suit what it reads, and its results, which are so described. The bodies are verified.
func (g *Graph) checkControl(n *Node, out []tensor.Desc) error {
	given, bodies := 1, 2 // by what the values of the bodies begin in In
	if n.Kind == While {
		given = 0
	}
	if n.Kind == While && len(n.Bodies) > bodies {
		bodies = 3
	}
	if len(n.Bodies) != bodies || n.Most < 0 || n.Most > 0 && n.Kind != While || len(out) == 0 {
		return fmt.Errorf("%w: %d bodies, %d results, at most %d times", errs.ErrInvalidArgument, len(n.Bodies), len(out), n.Most)
	}
	if len(n.In) < given || n.Kind == While && len(n.In) < len(out) {
		return fmt.Errorf("%w: it reads %d values", errs.ErrInvalidArgument, len(n.In))
	}
	for i, v := range n.In {
		if v == None || i >= given && !g.whole(v) {
			return fmt.Errorf("%w: input %d is left out, or a view with strides or from another place on (want a copy)", errs.ErrInvalidArgument, i)
		}
	}
	if n.Kind == If {
		if err := truth(g.Desc(n.In[0])); err != nil {
			return err
		}
	}
	for i, b := range n.Bodies {
		want := n.In[given:]
		if n.Kind == While && i == carry {
			want = want[:len(out)]
		}
		results := out
		if n.Kind == While && i == condition {
			results = nil
		}
		if err := g.checkBody(b, want, results); err != nil {
			return fmt.Errorf("%s: %w", n.BodyName(i), err)
		}
	}
	for i, d := range out {
		if n.Kind == While && !sameShape(d, g.Desc(n.In[i])) {
			return fmt.Errorf("%w: the body returns state %d as %v (want %v, as the first state)", errs.ErrInvalidArgument, i, d, g.Desc(n.In[i]))
		}
	}
	return nil
}

// checkBody returns an error unless a body takes such values and has such outputs. Without outputs it has a condition.
func (g *Graph) checkBody(b *Graph, in []Value, out []tensor.Desc) error {
	if b.depth >= mostDeep {
		return fmt.Errorf("%w: bodies in bodies, more than %d deep", errs.ErrInvalidArgument, mostDeep)
	}
	inputs := 0
	for i := range b.nodes {
		switch n := &b.nodes[i]; n.Kind {
		case Param:
			return fmt.Errorf("%w: param %q (want it outside of the body)", errs.ErrInvalidArgument, n.Name)
		case Input:
			if inputs < len(in) && !sameShape(b.Desc(n.Out[0]), g.Desc(in[inputs])) {
				return fmt.Errorf("%w: input %d is %v (want %v)", errs.ErrInvalidArgument, inputs, b.Desc(n.Out[0]), g.Desc(in[inputs]))
			}
			inputs++
		}
	}
	isCondition := out == nil
	if isCondition {
		out = make([]tensor.Desc, 1)
	}
	if inputs != len(in) || len(b.outputs) != len(out) {
		return fmt.Errorf("%w: %d inputs and %d outputs (want %d and %d)", errs.ErrInvalidArgument, inputs, len(b.outputs), len(in), len(out))
	}
	for i, o := range b.outputs {
		d := b.Desc(o.Value)
		if !b.whole(o.Value) {
			return fmt.Errorf("%w: output %d is a view with strides or from another place on (want a copy)", errs.ErrInvalidArgument, i)
		}
		if isCondition {
			return truth(d)
		}
		if !sameShape(d, out[i]) {
			return fmt.Errorf("%w: output %d is %v (want %v)", errs.ErrInvalidArgument, i, d, out[i])
		}
	}
	return nil
}

// truth returns an error unless a value can be a condition.
func truth(d tensor.Desc) error {
	if d.DType != tensor.Bool || d.Elems() != 1 {
		return fmt.Errorf("%w: the condition is %v (want one element of bool)", errs.ErrInvalidArgument, d)
	}
	return nil
}

func sameShape(a, b tensor.Desc) bool { return a.DType == b.DType && slices.Equal(a.Shape, b.Shape) }

// WithBodies returns a graph in which f has made another one of each body of an If or a While. f is given the numbers of the node and the body. What it
// returns has inputs and outputs of the same dtypes and shapes, in the same order.
// Errors: those of f, and of Verify.
func (g *Graph) WithBodies(f func(node, body int, b *Graph) (*Graph, error)) (*Graph, error) {
	if f == nil || g == nil {
		return nil, fmt.Errorf("mir: bodies: %w: no graph or no function", errs.ErrInvalidArgument)
	}
	to := g.rebuild(func(int) bool { return true }, func(v Value) Value { return v })
	for i := range to.nodes {
		n := &to.nodes[i]
		n.Bodies = slices.Clone(n.Bodies)
		for k, b := range n.Bodies {
			made, err := f(i, k, b)
			if err != nil {
				return nil, err
			}
			n.Bodies[k] = made
		}
		if len(n.Bodies) > 0 {
			if err := to.verifyNode(n); err != nil {
				return nil, fmt.Errorf("mir: node %d, %s: %w", i, n.label(), err)
			}
		}
	}
	return to, nil
}

// addCarry gives a While the body that copies its state: a schedule runs it when the last state does not lie in the memory of the results.
func (g *Graph) addCarry(n *Node, copy spec.Call) error {
	if n.Kind != While || len(n.Bodies) > carry {
		return nil
	}
	var b Graph
	for i, v := range n.Out {
		name := fmt.Sprintf("s%d", i)
		in, err := b.AddInput(name, g.Desc(v))
		if err == nil {
			err = b.AddOutput(name, in)
		}
		if err != nil {
			return err
		}
	}
	own, err := b.WithOwnOutputs(copy)
	n.Bodies = append(n.Bodies, own)
	return err
}
