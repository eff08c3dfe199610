package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/view"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// StackReport says which calls that share inputs have become one.
type StackReport struct {
	// Joined is how many calls have become parts of others.
	Joined int `json:"joined"`
	// Missed lists calls that share all inputs but one with others, and are not joined with them, with the reasons. Node counts in the graph before the pass.
	Missed []Missed `json:"missed"`
}

// add adds the report of a graph.
func (r *StackReport) add(of *StackReport) {
	r.Joined += of.Joined
	r.Missed = append(r.Missed, of.Missed...)
}

// stackProducts joins calls that differ in one input only, such as the products of one x with several matrices, into one call of the inputs side by side, if these are
// fixed: they are concatenated once. The results are views of the parts. Elementwise calls of fixed operands that read some of the results alike, such as biases, are joined
// too. It returns how many calls have become parts of others. What it does is told to r.
func stackProducts(g *mir.Graph, t *spec.Target, r *StackReport) (*mir.Graph, int, error) {
	s := &stacker{g: g, most: t.MaxBinding, fixed: g.Fixed(), readers: make([][]int, g.Values()), outputs: map[mir.Value]bool{}, report: r}
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
		s.group(groups[key])
	}
	slices.SortStableFunc(r.Missed, func(a, b Missed) int { return cmp.Compare(a.Node, b.Node) })
	if r.Joined == 0 {
		return g, 0, nil
	}
	to, err := sorted(s.all, len(g.Nodes()), s.replaced)
	return to, r.Joined, err
}

// stacker joins calls that share inputs.
type stacker struct {
	g, all   *mir.Graph // all is g, and behind it what is added
	fixed    []bool
	readers  [][]int // the nodes that read a value, views among them
	outputs  map[mir.Value]bool
	replaced map[mir.Value]mir.Value
	most     int64 // bytes: larger values are computed in parts, of which there are no fewer then
	report   *StackReport
}

// miss reports a call that is not joined with others.
func (s *stacker) miss(node int, format string, args ...any) {
	n := &s.g.Nodes()[node]
	m := Missed{Node: node, Call: spec.FormatBrief(n.Call), Reason: fmt.Sprintf(format, args...)}
	if n.Name != "" {
		m.Call += " (" + n.Name + ")"
	}
	s.report.Missed = append(s.report.Missed, m)
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

// key is the same for calls that can be one, or could if their inputs were fixed, and empty for others.
func (s *stacker) key(i int) string {
	at, ok := s.stacking(i)
	if !ok || s.fixed[i] {
		return ""
	}
	n := &s.g.Nodes()[i]
	w := n.In[at.Input]
	if !s.fixed[s.g.Maker(w)] && !s.isParam(w) {
		return ""
	}
	in, shape := slices.Clone(n.In), slices.Clone(s.g.Desc(w).Shape)
	in[at.Input], shape[at.Dim] = mir.None, 0
	return fmt.Sprint(spec.FormatCall(n.Call), in, s.g.Desc(w).DType, shape)
}

// isParam reports whether a value is a param, or a view of one.
func (s *stacker) isParam(v mir.Value) bool {
	root, _ := s.g.Root(v)
	return s.g.Nodes()[s.g.Maker(root)].Kind == mir.Param
}

// chain is a call, and the elementwise calls behind it that can be joined as it is.
type chain struct {
	links []link
	size  int    // of the part
	form  string // the same for chains that can be joined
	bytes int64  // of the largest value that is joined
}

// link is a call of a chain, and its operand that is concatenated: mir.None for an elementwise call of one operand.
type link struct {
	node  int
	other mir.Value
}

// result is what a chain makes.
func (s *stacker) result(c *chain) mir.Value { return s.g.Nodes()[c.links[len(c.links)-1].node].Out[0] }

// group joins calls of one key: those which the same calls follow.
func (s *stacker) group(nodes []int) {
	if len(nodes) < 2 {
		return
	}
	var forms []string
	alike := map[string][]*chain{}
	for _, i := range nodes {
		at, _ := s.stacking(i)
		if !s.fixed[s.g.Maker(s.g.Nodes()[i].In[at.Input])] {
			s.miss(i, "a param may change in each run (declare it with Weight)")
			continue
		}
		c := s.chain(i, at)
		if why := s.stays(s.result(c)); why != "" {
			s.miss(i, "%s", why)
			continue
		}
		if alike[c.form] == nil {
			forms = append(forms, c.form)
		}
		alike[c.form] = append(alike[c.form], c)
	}
	for _, form := range forms {
		s.fit(alike[form])
	}
}

// fit joins as many chains at a time as make values that fit a binding.
func (s *stacker) fit(chains []*chain) {
	for len(chains) > 0 {
		n, bytes := 0, int64(0)
		for n < len(chains) && (n == 0 || bytes+chains[n].bytes <= s.most) {
			bytes += chains[n].bytes
			n++
		}
		if n == 1 && len(chains) > 1 {
			s.miss(chains[0].links[0].node, "together with the next one it would be larger than a binding of %d bytes", s.most)
		} else {
			s.join(chains[:n])
		}
		chains = chains[n:]
	}
}

// chain follows the only readers of a call and of those behind it, as long as they are elementwise calls of what came before alone, or of that and a fixed operand that has
// an element for each index of the last dimension.
func (s *stacker) chain(node int, at spec.Stacking) *chain {
	n := &s.g.Nodes()[node]
	w, v := n.In[at.Input], n.Out[0]
	c := &chain{links: []link{{node, w}}, size: s.g.Desc(w).Shape[at.Dim], bytes: max(s.g.Desc(w).Bytes(), s.g.Desc(v).Bytes())}
	shape := s.g.Desc(v).Shape
	for len(s.readers[v]) == 1 && !s.outputs[v] && at.OutDim == len(shape)-1 {
		i := s.readers[v][0]
		n := &s.g.Nodes()[i]
		if n.Kind != mir.Op || n.Call.Spec().Class != spec.Elementwise || len(n.Out) != 1 || len(n.In) > 2 || slices.Contains(n.In, mir.None) || !slices.Equal(s.g.Desc(n.Out[0]).Shape, shape) {
			break
		}
		l, first := link{i, mir.None}, slices.Index(n.In, v)
		if len(n.In) == 2 {
			l.other = n.In[1-first]
			d := s.g.Desc(l.other)
			if !s.fixed[s.g.Maker(l.other)] || len(d.Shape) == 0 || d.Elems() != c.size || d.Shape[len(d.Shape)-1] != c.size {
				break
			}
			c.form += fmt.Sprint(d.DType, len(d.Shape))
		}
		c.form += fmt.Sprintf(" %s %d;", spec.FormatCall(n.Call), first)
		c.links, v = append(c.links, l), n.Out[0]
		c.bytes = max(c.bytes, s.g.Desc(v).Bytes())
	}
	return c
}

// stays says why a result cannot be a part of another one, or is empty.
func (s *stacker) stays(v mir.Value) string {
	if s.outputs[v] {
		return "its result is an output, for which a part would be copied"
	}
	if i := s.hosted(v); i >= 0 {
		return fmt.Sprintf("node %d, %s, reads its result and can be its epilogue, but not that of a part", i, spec.FormatBrief(s.g.Nodes()[i].Call))
	}
	return ""
}

// join makes one call of several. It leaves out those whose parts would be copied.
func (s *stacker) join(chains []*chain) {
	if len(chains) < 2 {
		for _, c := range chains {
			s.miss(c.links[0].node, "no other call of this input goes on alike")
		}
		return
	}
	made, err := s.joined(chains)
	if err != nil {
		for _, c := range chains {
			s.miss(c.links[0].node, "%v", err)
		}
		return
	}
	// What was added stays unread, and is left out, if a part cannot be a view.
	at, _ := s.stacking(chains[0].links[0].node)
	offset, views, rest := 0, map[mir.Value]mir.Value{}, chains[:0:0]
	for _, c := range chains {
		if why := s.views(s.result(c), made, at.OutDim, offset, views); why != "" {
			s.miss(c.links[0].node, "%s", why)
		} else {
			rest = append(rest, c)
		}
		offset += c.size
	}
	if len(rest) < len(chains) {
		s.join(rest)
		return
	}
	for v, w := range views {
		s.replaced[v] = w
	}
	s.report.Joined += len(chains) - 1
}

// joined adds the calls of some chains as one, and returns the last result.
func (s *stacker) joined(chains []*chain) (made mir.Value, err error) {
	at, _ := s.stacking(chains[0].links[0].node)
	made = mir.None
	for k, first := range chains[0].links {
		n := &s.g.Nodes()[first.node]
		in, other, dim := slices.Clone(n.In), at.Input, at.Dim
		if k > 0 {
			other, dim = slices.Index(n.In, first.other), -1 // -1 for an elementwise call of one operand
			for j := range in {
				if j != other {
					in[j] = made
				}
			}
		}
		var parts []mir.Value
		var nodes []int
		for _, c := range chains {
			parts, nodes = append(parts, c.links[k].other), append(nodes, c.links[k].node)
		}
		if other >= 0 {
			out, err := s.all.AddCall(ops.Concat{Dim: dim}, parts...)
			if err != nil {
				return mir.None, err
			}
			in[other] = out[0]
		}
		out, err := s.all.AddCall(n.Call, in...)
		if err != nil {
			return mir.None, err
		}
		made = out[0]
		s.all.SetName(made, s.label(nodes))
	}
	return made, nil
}

// label names the calls that have become one.
func (s *stacker) label(nodes []int) string {
	text := ""
	for k, i := range nodes {
		if k > 0 {
			text += ", "
		}
		n := &s.g.Nodes()[i]
		if n.Name != "" {
			text += n.Name
		} else {
			text += n.Call.Spec().Name
		}
	}
	return text
}

// hosted is the call that the kernel of a result computes, and would not if the result were a part, or -1.
func (s *stacker) hosted(v mir.Value) int {
	if len(s.readers[v]) != 1 {
		return -1
	}
	i := s.readers[v][0]
	n := &s.g.Nodes()[i]
	if n.Kind == mir.View && s.g.Desc(n.Out[0]).IsContiguous() && s.g.Desc(n.Out[0]).Elems() == s.g.Desc(v).Elems() && !s.outputs[n.Out[0]] {
		return s.hosted(n.Out[0])
	}
	if n.Kind == mir.Op && n.Call.Spec().Class == spec.Elementwise {
		return i
	}
	return -1
}

// views adds a view of a part in place of v, and of each view of v. It says why if a view or a reader of one needs elements without strides, where it did not before.
func (s *stacker) views(v, of mir.Value, dim, start int, views map[mir.Value]mir.Value) (why string) {
	whole := s.all.Desc(of)
	d, offset, err := view.Narrow(whole, dim, start, s.g.Desc(v).Shape[dim])
	if err != nil {
		return err.Error()
	}
	add := func(v mir.Value, d tensor.Desc, offset int64) string {
		if s.outputs[v] {
			return "an output is a view of its result, which would be copied from a part"
		}
		for _, i := range s.readers[v] {
			n := &s.g.Nodes()[i]
			if n.Kind.Control() {
				return fmt.Sprintf("node %d, %v, reads its result, and takes no strides", i, n.Kind)
			}
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
					return fmt.Sprintf("node %d, %s, reads its result, and takes no strides", i, spec.FormatBrief(n.Call))
				}
			}
		}
		w, err := s.all.AddView("part", of, offset, d)
		if err != nil {
			return err.Error()
		}
		views[v] = w
		return ""
	}
	if why := add(v, d, offset); why != "" {
		return why
	}
	for _, i := range s.readers[v] {
		n := &s.g.Nodes()[i]
		if n.Kind != mir.View {
			continue
		}
		own, size := s.g.Desc(n.Out[0]), int64(d.DType.Size())
		const noView = "a view of its result is none of a part"
		dims, from, ok := view.Through(view.Axes(own), int(n.Offset/size), d)
		if !ok {
			return noView
		}
		strides := make([]int, len(dims))
		for k, axes := range dims {
			if len(axes) != 1 {
				return noView
			}
			strides[k] = axes[0].Stride
		}
		if why := add(n.Out[0], view.Of(own, slices.Clone(own.Shape), strides), offset+int64(from)*size); why != "" {
			return why
		}
	}
	return ""
}
