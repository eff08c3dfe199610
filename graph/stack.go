package graph

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/view"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// stackProducts joins calls that differ in one input only, such as the products of one x with several matrices, into one call of the inputs side by side, if these are
// fixed: they are concatenated once. The results are views of the parts. Elementwise calls of fixed operands that read each of the results alike, such as biases, are joined
// too. It returns how many calls have become parts of others.
func stackProducts(g *mir.Graph, t *spec.Target) (*mir.Graph, int, error) {
	s := &stacker{g: g, most: t.MaxBinding, fixed: g.Fixed(), readers: make([][]int, g.Values()), outputs: map[mir.Value]bool{}}
	for _, o := range g.Outputs() {
		s.outputs[o.Value] = true
	}
	for i, n := range g.Nodes() {
		for _, v := range n.In {
			if v != mir.None {
				s.readers[v] = append(s.readers[v], i)
			}
		}
	}
	var order []string
	groups := map[string][]int{}
	for i := range g.Nodes() {
		if key := s.key(i); key != "" {
			if groups[key] == nil {
				order = append(order, key)
			}
			groups[key] = append(groups[key], i)
		}
	}
	s.all, s.replaced = whole(g), map[mir.Value]mir.Value{}
	for _, key := range order {
		if err := s.join(groups[key]); err != nil {
			return nil, 0, err
		}
	}
	if s.joined == 0 {
		return g, 0, nil
	}
	to, err := sorted(s.all, len(g.Nodes()), s.replaced)
	return to, s.joined, err
}

// stacker joins calls that share inputs.
type stacker struct {
	g, all   *mir.Graph // all is g, and behind it what is added
	fixed    []bool
	readers  [][]int // the nodes that read a value, views among them
	outputs  map[mir.Value]bool
	replaced map[mir.Value]mir.Value
	joined   int
	most     int64 // bytes: larger values are computed in parts, of which there are no fewer then
}

// stacking says how a node could be one with others.
func (s *stacker) stacking(i int) (spec.Stacking, bool) {
	n := &s.g.Nodes()[i]
	c, ok := n.Call.(spec.Stackable)
	if n.Kind != mir.Op || !ok || len(n.Out) != 1 || slices.Contains(n.In, mir.None) || s.g.Desc(n.Out[0]).Elems() == 0 {
		return spec.Stacking{}, false
	}
	descs := make([]tensor.Desc, len(n.In))
	for k, v := range n.In {
		descs[k] = s.g.Desc(v)
	}
	at, ok := c.Stacks(descs)
	if !ok || at.Input < 0 || at.Input >= len(n.In) || at.Dim < 0 || at.Dim >= len(descs[at.Input].Shape) || at.OutDim < 0 || at.OutDim >= len(s.g.Desc(n.Out[0]).Shape) {
		return spec.Stacking{}, false
	}
	return at, true
}

// key is the same for calls that can be one, and empty for others.
func (s *stacker) key(i int) string {
	at, ok := s.stacking(i)
	if !ok || s.fixed[i] {
		return ""
	}
	n := &s.g.Nodes()[i]
	w := n.In[at.Input]
	if !s.fixed[s.g.Maker(w)] {
		return ""
	}
	in, shape := slices.Clone(n.In), slices.Clone(s.g.Desc(w).Shape)
	in[at.Input], shape[at.Dim] = mir.None, 0
	return fmt.Sprint(spec.FormatCall(n.Call), in, s.g.Desc(w).DType, shape)
}

// part is one of several results that have become one.
type part struct {
	node  int // what makes it
	other mir.Value
	size  int
}

// join makes one call of several. It leaves out those whose parts would be copied, or would lose the kernel that computes the call that reads them, which saves no launch.
func (s *stacker) join(nodes []int) error {
	if len(nodes) < 2 {
		return nil
	}
	at, _ := s.stacking(nodes[0])
	parts := make([]part, len(nodes))
	for i, n := range nodes {
		w := s.g.Nodes()[n].In[at.Input]
		parts[i] = part{n, w, s.g.Desc(w).Shape[at.Dim]}
	}
	layers := [][]part{parts}
	for {
		next := s.behind(layers[len(layers)-1], at.OutDim)
		if next == nil {
			break
		}
		layers = append(layers, next)
	}
	last := layers[len(layers)-1]
	for k, p := range last {
		if v := s.g.Nodes()[p.node].Out[0]; s.outputs[v] || s.hosts(v) {
			return s.join(without(nodes, nodes[k]))
		}
	}
	// What is added stays unread, and is left out, if a part cannot be a view.
	made := mir.None
	for k, layer := range layers {
		n := s.g.Nodes()[layer[0].node]
		in, other, dim := slices.Clone(n.In), at.Input, at.Dim
		if k > 0 {
			other, dim = slices.Index(n.In, layer[0].other), -1 // -1 for an elementwise call of one operand
			for j := range in {
				if j != other {
					in[j] = made
				}
			}
		}
		if other >= 0 {
			var list []mir.Value
			for _, p := range layer {
				list = append(list, p.other)
			}
			out, err := s.all.AddCall(ops.Concat{Dim: dim}, list...)
			if err != nil {
				return err
			}
			in[other] = out[0]
			if s.all.Desc(out[0]).Bytes() > s.most {
				return nil
			}
		}
		out, err := s.all.AddCall(n.Call, in...)
		if err != nil {
			return err
		}
		if made = out[0]; s.all.Desc(made).Bytes() > s.most {
			return nil
		}
		s.all.SetName(made, s.label(layer))
	}
	offset, views := 0, map[mir.Value]mir.Value{}
	for k, p := range last {
		if !s.views(s.g.Nodes()[p.node].Out[0], made, at.OutDim, offset, views) {
			return s.join(without(nodes, nodes[k]))
		}
		offset += p.size
	}
	for v, w := range views {
		s.replaced[v] = w
	}
	s.joined += len(nodes) - 1
	return nil
}

// label names the calls that have become one.
func (s *stacker) label(parts []part) string {
	text := ""
	for k, p := range parts {
		if k > 0 {
			text += ", "
		}
		n := &s.g.Nodes()[p.node]
		if n.Name != "" {
			text += n.Name
		} else {
			text += n.Call.Spec().Name
		}
	}
	return text
}

// behind are the only readers of some parts, if they are elementwise calls that are alike: of a part alone, or of a part and a fixed operand that has an element for each
// index of the last dimension. It is nil for others.
func (s *stacker) behind(parts []part, dim int) []part {
	list := make([]part, len(parts))
	var first *mir.Node
	at := 0
	for k, p := range parts {
		v := s.g.Nodes()[p.node].Out[0]
		shape := s.g.Desc(v).Shape
		if len(s.readers[v]) != 1 || s.outputs[v] || dim != len(shape)-1 {
			return nil
		}
		i := s.readers[v][0]
		n := &s.g.Nodes()[i]
		if n.Kind != mir.Op || n.Call.Spec().Class != spec.Elementwise || len(n.Out) != 1 || len(n.In) > 2 || slices.Contains(n.In, mir.None) {
			return nil
		}
		if own := s.g.Desc(n.Out[0]); own.DType != s.g.Desc(v).DType || !slices.Equal(own.Shape, shape) {
			return nil
		}
		if k == 0 {
			first, at = n, slices.Index(n.In, v)
		}
		if spec.FormatCall(n.Call) != spec.FormatCall(first.Call) || len(n.In) != len(first.In) || n.In[at] != v {
			return nil
		}
		list[k] = part{i, mir.None, p.size}
		if len(n.In) == 1 {
			continue
		}
		w := n.In[1-at]
		d := s.g.Desc(w)
		was := s.g.Desc(first.In[1-at]).Shape
		if !s.fixed[s.g.Maker(w)] || len(d.Shape) == 0 || len(d.Shape) != len(was) || d.Elems() != p.size || d.Shape[len(d.Shape)-1] != p.size {
			return nil
		}
		list[k].other = w
	}
	return list
}

// hosts reports whether the kernel of a result computes the call that reads it, and would not if the result were a part.
func (s *stacker) hosts(v mir.Value) bool {
	if len(s.readers[v]) != 1 {
		return false
	}
	n := &s.g.Nodes()[s.readers[v][0]]
	if n.Kind == mir.View && s.g.Desc(n.Out[0]).IsContiguous() && s.g.Desc(n.Out[0]).Elems() == s.g.Desc(v).Elems() && !s.outputs[n.Out[0]] {
		return s.hosts(n.Out[0])
	}
	return n.Kind == mir.Op && n.Call.Spec().Class == spec.Elementwise
}

// views adds a view of a part in place of v, and of each view of v. It reports false if a view or a reader of one needs elements without strides, where it did
// not before.
func (s *stacker) views(v, of mir.Value, dim, start int, views map[mir.Value]mir.Value) bool {
	whole := s.all.Desc(of)
	d, offset, err := view.Narrow(whole, dim, start, s.g.Desc(v).Shape[dim])
	if err != nil {
		return false
	}
	add := func(v mir.Value, d tensor.Desc, offset int64) bool {
		if s.outputs[v] {
			return false
		}
		for _, i := range s.readers[v] {
			n := &s.g.Nodes()[i]
			if n.Kind != mir.Op {
				continue
			}
			args := n.Call.Spec().In
			for k, w := range n.In {
				if w != v {
					continue
				}
				arg := args[min(k, len(args)-1)]
				if own := s.g.Desc(v); arg.Strides.Takes(own) && !arg.Strides.Takes(d) {
					return false
				}
			}
		}
		w, err := s.all.AddView("part", of, offset, d)
		views[v] = w
		return err == nil
	}
	if !add(v, d, offset) {
		return false
	}
	for _, i := range s.readers[v] {
		n := &s.g.Nodes()[i]
		if n.Kind != mir.View {
			continue
		}
		own, size := s.g.Desc(n.Out[0]), int64(d.DType.Size())
		dims, from, ok := view.Through(view.Axes(own), int(n.Offset/size), d)
		if !ok {
			return false
		}
		strides := make([]int, len(dims))
		for k, axes := range dims {
			if len(axes) != 1 {
				return false
			}
			strides[k] = axes[0].Stride
		}
		if !add(n.Out[0], view.Of(own, slices.Clone(own.Shape), strides), offset+int64(from)*size) {
			return false
		}
	}
	return true
}
