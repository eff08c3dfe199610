package mir

import "github.com/lathe-gpu/lathe/spec"

// decide is the pass control. It looks into the branches that it takes too, and into no others: bodies are graphs of their own.
func decide(g *Graph, _ *spec.Target) (*Graph, int, error) {
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
			out, more, err := r.to.inline(body, r.translate(n.In[1:]))
			if err != nil {
				return nil, 0, err
			}
			for k, v := range n.Out {
				r.Set(v, out[k])
			}
			changes += more
		default:
			r.Copy(i)
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

// inline appends the nodes of a body with values in place of its inputs, and returns its outputs. It decides what the body decides by
// constants, and counts that.
func (g *Graph) inline(body *Graph, in []Value) (out []Value, changes int, err error) {
	body, changes, err = decide(body, nil)
	if err != nil {
		return nil, 0, err
	}
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
				return nil, 0, err
			}
			r.Set(n.Out[0], v)
		default:
			r.Copy(i)
		}
	}
	for _, o := range body.outputs {
		out = append(out, r.At(o.Value))
	}
	return out, changes, nil
}
