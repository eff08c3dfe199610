package mir

import (
	"fmt"
	"strings"

	"github.com/lathe-gpu/lathe/spec"
)

// label names a node in errors and plans: "matmul", or "input x".
func (n *Node) label() string {
	switch n.Kind {
	case Input, Param:
		if n.Weight {
			return "weight " + n.Name
		}
		return n.Kind.String() + " " + n.Name
	case Op:
		if n.Call == nil {
			return "no call"
		}
		return n.Call.Spec().Name
	case View:
		if n.Name != "" {
			return n.Name
		}
	}
	return n.Kind.String()
}

// String returns the graph as text, a line for each node:
//
//	v0 = input x  f32[64,784]
//	v1 = param w  f32[784,10]
//	v2 = matmul v0 v1  f32[64,10]
//	output y = v2
//
// The bodies of an If or a While follow it, and count their values from 0 again.
func (g *Graph) String() string {
	if g == nil {
		return "no graph\n"
	}
	var b strings.Builder
	for i := range g.nodes {
		n := &g.nodes[i]
		var out, types []string
		for _, v := range n.Out {
			out, types = append(out, v.String()), append(types, g.Desc(v).String())
		}
		fmt.Fprintf(&b, "%s = %s  %s\n", strings.Join(out, " "), n.text(), strings.Join(types, " "))
		for k, body := range n.Bodies {
			text := strings.TrimSuffix(body.String(), "\n")
			fmt.Fprintf(&b, "    %s:\n        %s\n", n.BodyName(k), strings.ReplaceAll(text, "\n", "\n        "))
		}
	}
	for _, o := range g.outputs {
		fmt.Fprintf(&b, "output %s = %v\n", o.Name, o.Value)
	}
	return b.String()
}

// String returns "v" and the number of the value, or "-" for None.
func (v Value) String() string {
	if v == None {
		return "-"
	}
	return fmt.Sprintf("v%d", int(v))
}

// text is what a node does, without what it makes.
func (n *Node) text() string {
	words := []string{n.label()}
	if n.Kind == Op && n.Call != nil {
		words[0] = spec.FormatCall(n.Call)
	}
	for _, v := range n.In {
		words = append(words, v.String())
	}
	if n.Kind == View && n.Offset != 0 {
		words = append(words, fmt.Sprintf("+%d bytes", n.Offset))
	}
	if n.Most > 0 {
		words = append(words, fmt.Sprintf("at most %d times", n.Most))
	}
	if n.Kind >= Op && n.Name != "" {
		words = append(words, fmt.Sprintf("(%s)", n.Name))
	}
	return strings.Join(words, " ")
}
