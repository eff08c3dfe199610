package mir

import (
	"slices"

	"github.com/lathe-gpu/lathe/spec"
)

// decide is the pass control. A branch that becomes a part of the graph may have others in it, so that it goes over the graph until nothing changes. It looks
// into no other body: each is a graph of its own, which learns here what constants it is given.
func decide(g *Graph, _ *spec.Target) (*Graph, int, error) {
	all := 0
	for {
		to, changes, err := g.decideOnce()
		if all += changes; err != nil || changes == 0 {
			return to, all, err
		}
		g = to
	}
}

func (g *Graph) decideOnce() (*Graph, int, error) {
	r, changes := NewRewriter(g), 0
	for i := range g.nodes {
		n := &g.nodes[i]
		body, skip := g.decided(n)
		switch {
		case skip:
			for k, v := range n.Out {
				r.Set(v, r.At(n.In[k]))
			}
		case body != nil:
			out, err := r.to.inline(body, r.translate(n.In[1:]))
			if err != nil {
				return nil, 0, err
			}
			for k, v := range n.Out {
				r.Set(v, out[k])
			}
		default:
			r.Copy(i)
			if err := r.to.tellBodies(&r.to.nodes[len(r.to.nodes)-1]); err != nil {
				return nil, 0, err
			}
			continue
		}
		changes++
	}
	return r.Finish(), changes, nil
}

// translate returns the values of the new graph for some of the old one.
func (r *Rewriter) translate(list []Value) []Value {
	out := make([]Value, len(list))
	for i, v := range list {
		out[i] = r.At(v)
	}
	return out
}

// decided returns the branch of an If whose condition is a constant, and whether a While is false at once.
func (g *Graph) decided(n *Node) (branch *Graph, skip bool) {
	switch n.Kind {
	case If:
		if is, known := g.known(n.In[0]); known && is {
			return n.Bodies[0], false
		} else if known {
			return n.Bodies[1], false
		}
	case While:
		b := n.Bodies[condition]
		v := b.outputs[0].Value
		is, known := b.known(v)
		root, _ := b.Root(v)
		if m := b.Maker(root); b.nodes[m].Kind == Input { // a state or a captured value
			at := 0
			for _, before := range b.nodes[:m] {
				if before.Kind == Input {
					at++
				}
			}
			is, known = g.known(n.In[at])
		}
		return nil, known && !is
	}
	return nil, false
}

// known is the condition that a value is, if that is a constant.
func (g *Graph) known(v Value) (is, known bool) {
	root, offset := g.Root(v)
	n := &g.nodes[g.Maker(root)]
	if n.Kind != Constant || offset >= int64(len(n.Data)) {
		return false, false
	}
	return n.Data[offset] != 0, true
}

// inline appends the nodes of a body with values in place of its inputs, and returns its outputs.
func (g *Graph) inline(body *Graph, in []Value) (out []Value, err error) {
	r := NewRewriter(body)
	r.to = g
	for i := range body.nodes {
		n := &body.nodes[i]
		switch n.Kind {
		case Input:
			r.Set(n.Out[0], in[0])
			in = in[1:]
		case View: // the value may be a view itself now
			v, err := g.AddView(n.Name, r.At(n.In[0]), n.Offset, body.Desc(n.Out[0]))
			if err != nil {
				return nil, err
			}
			r.Set(n.Out[0], v)
		default:
			r.Copy(i)
		}
	}
	for _, o := range body.outputs {
		out = append(out, r.At(o.Value))
	}
	return out, nil
}

// tellBodies puts constants into the bodies of a node, in place of inputs that are always one number.
func (g *Graph) tellBodies(n *Node) error {
	if !n.Kind.Control() {
		return nil
	}
	captured := n.In[1:]
	if n.Kind == While {
		captured = n.In[len(n.Out):]
	}
	constants := make([]*Node, len(captured))
	some := false
	for i, v := range captured {
		if m := &g.nodes[g.Maker(v)]; m.Kind == Constant && g.Desc(v).Elems() == 1 {
			constants[i], some = m, true
		}
	}
	if !some {
		return nil
	}
	n.Bodies = slices.Clone(n.Bodies)
	for k, b := range n.Bodies {
		state := 0
		if n.Kind == While {
			state = len(n.Out)
		}
		told, err := b.withConstants(state, constants)
		if err != nil {
			return err
		}
		n.Bodies[k] = told
	}
	return nil
}

// withConstants puts constants in place of inputs, from input number first on. nil leaves an input as it is.
func (g *Graph) withConstants(first int, constants []*Node) (*Graph, error) {
	r, input := NewRewriter(g), 0
	for i := range g.nodes {
		r.Copy(i)
		n := &g.nodes[i]
		if n.Kind != Input {
			continue
		}
		if at := input - first; at >= 0 && at < len(constants) && constants[at] != nil {
			v, err := r.to.AddConstant(g.Desc(n.Out[0]), constants[at].Data)
			if err != nil {
				return nil, err
			}
			r.Set(n.Out[0], v)
		}
		input++
	}
	return r.Finish(), nil
}
