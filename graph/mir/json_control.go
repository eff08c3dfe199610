package mir

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// writeBodies writes the bodies of an If or a While, but for the one that a schedule adds.
func (f *fileNode) writeBodies(n *Node) error {
	for i, b := range n.Bodies[:2] {
		body := &fileBody{Nodes: []*fileNode{}, Outputs: []fileOutput{}}
		for k := range b.nodes {
			node, err := b.fileNode(&b.nodes[k])
			if err != nil {
				return fmt.Errorf("%s, node %d, %s: %w", n.BodyName(i), k, b.nodes[k].label(), err)
			}
			body.Nodes = append(body.Nodes, node)
		}
		for _, o := range b.outputs {
			body.Outputs = append(body.Outputs, fileOutput(o))
		}
		f.Bodies = append(f.Bodies, body)
	}
	return nil
}

// readControl appends an If or a While of a file.
func (g *Graph) readControl(f *fileNode, want []tensor.Desc) error {
	n := Node{Kind: If}
	if f.Kind == While.String() {
		n.Kind = While
	}
	if len(f.Bodies) != 2 {
		return fmt.Errorf("%w: %d bodies (want 2)", errs.ErrInvalidArgument, len(f.Bodies))
	}
	var bodies [2]*Graph
	for i, body := range f.Bodies {
		if body == nil {
			return fmt.Errorf("%w: no %s", errs.ErrInvalidArgument, n.BodyName(i))
		}
		bodies[i] = &Graph{}
		for k, node := range body.Nodes {
			if node == nil {
				return fmt.Errorf("%s, node %d: %w: no node", n.BodyName(i), k, errs.ErrInvalidArgument)
			}
			if err := bodies[i].read(node); err != nil {
				return fmt.Errorf("%s, node %d, %s: %w", n.BodyName(i), k, node.Kind, err)
			}
		}
		for _, o := range body.Outputs {
			if err := bodies[i].AddOutput(o.Name, o.Value); err != nil {
				return fmt.Errorf("%s: %w", n.BodyName(i), err)
			}
		}
	}
	var out []Value
	var err error
	switch {
	case n.Kind == While && len(f.In) < len(want):
		err = fmt.Errorf("%w: it reads %d values (want at least %d)", errs.ErrInvalidArgument, len(f.In), len(want))
	case n.Kind == While:
		out, err = g.AddWhile(f.In[:len(want)], f.In[len(want):], f.Most, bodies[0], bodies[1])
	case len(f.In) == 0:
		err = fmt.Errorf("%w: no condition", errs.ErrInvalidArgument)
	default:
		out, err = g.AddIf(f.In[0], f.In[1:], bodies[0], bodies[1])
	}
	if err != nil {
		return err
	}
	return g.makes("the body", out, want)
}
