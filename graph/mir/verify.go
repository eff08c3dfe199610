package mir

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Verify returns an error unless the graph is as the methods of Graph make it: nodes read values of nodes before
// them, calls make what their operations' shape rules say, views lie in what they are views of, and names are
// different. That holds for the bodies of If and While too. The compiler verifies the graph after each pass.
// Errors: ErrInvalidArgument, which names the node.
func (g *Graph) Verify() error {
	if g == nil {
		return fmt.Errorf("mir: %w: no graph", errs.ErrInvalidArgument)
	}
	made, names := Value(0), map[string]bool{}
	for i := range g.nodes {
		n := &g.nodes[i]
		for _, v := range n.In {
			if v != None && (v < 0 || v >= made) {
				return fmt.Errorf("mir: node %d, %s: %w: it reads value %d, which no node before it makes", i, n.label(), errs.ErrInvalidArgument, v)
			}
		}
		if err := g.verifyNode(n); err != nil {
			return fmt.Errorf("mir: node %d, %s: %w", i, n.label(), err)
		}
		for _, v := range n.Out {
			if v != made || g.Maker(v) != i {
				return fmt.Errorf("mir: node %d, %s: %w: it makes value %d (want %d)", i, n.label(), errs.ErrInvalidArgument, v, made)
			}
			made++
		}
		if n.Kind == Input || n.Kind == Param {
			if n.Name == "" || names[n.Name] {
				return fmt.Errorf("mir: node %d: %w: the name %q of an %v is empty or taken", i, errs.ErrInvalidArgument, n.Name, n.Kind)
			}
			names[n.Name] = true
		}
	}
	if int(made) != len(g.descs) {
		return fmt.Errorf("mir: %w: %d values, of which nodes make %d", errs.ErrInvalidArgument, len(g.descs), made)
	}
	for i, o := range g.outputs {
		if o.Name == "" || slices.ContainsFunc(g.outputs[:i], func(b Output) bool { return b.Name == o.Name }) {
			return fmt.Errorf("mir: %w: the name %q of output %d is empty or taken", errs.ErrInvalidArgument, o.Name, i)
		}
		if err := g.has(o.Value); err != nil {
			return fmt.Errorf("mir: output %q: %w", o.Name, err)
		}
	}
	return nil
}

// verifyNode checks what is particular to the kind of a node.
func (g *Graph) verifyNode(n *Node) error {
	if n.Kind <= View && len(n.Out) != 1 {
		return fmt.Errorf("%w: it makes %d values (want 1)", errs.ErrInvalidArgument, len(n.Out))
	}
	switch n.Kind {
	case Input, Param:
		return contiguous(g.Desc(n.Out[0]))
	case Constant:
		d := g.Desc(n.Out[0])
		if err := contiguous(d); err != nil {
			return err
		}
		if int64(len(n.Data)) != d.Bytes() {
			return fmt.Errorf("%w: bytes (got %d, want %d)", errs.ErrInvalidArgument, len(n.Data), d.Bytes())
		}
	case View:
		if len(n.In) != 1 || g.has(n.In[0]) != nil || g.nodes[g.Maker(n.In[0])].Kind == View {
			return fmt.Errorf("%w: it is a view of %v", errs.ErrInvalidArgument, n.In)
		}
		return g.checkView(n, g.Desc(n.Out[0]))
	case Op:
		return g.verifyCall(n)
	case If, While:
		return g.verifyControl(n)
	default:
		return fmt.Errorf("%w: its kind", errs.ErrInvalidArgument)
	}
	return nil
}

// verifyCall compares the results of a call with the shape rule of its operation.
func (g *Graph) verifyCall(n *Node) error {
	c, err := spec.Resolve(n.Call)
	if err != nil {
		return err
	}
	descs, err := g.inputs(c, n.In)
	if err != nil {
		return err
	}
	want, err := c.Spec().Shape(c, descs)
	if err != nil {
		return err
	}
	if len(want) != len(n.Out) {
		return fmt.Errorf("%w: results (got %d, want %d)", errs.ErrInvalidArgument, len(n.Out), len(want))
	}
	for i, d := range want {
		if have := g.Desc(n.Out[i]); have.DType != d.DType || !slices.Equal(have.Shape, d.Shape) || !have.IsContiguous() {
			return fmt.Errorf("%w: result %d (got %v, want %v)", errs.ErrInvalidArgument, i, have, d)
		}
	}
	return nil
}
