package graph

import (
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// withEpilogue is a call that gets an epilogue: the call, the view of its result if there is one, and the elementwise call that
// reads it.
type withEpilogue struct {
	call     fusion.Epilogue
	in       []mir.Value
	producer int
	view     int // or -1
}

// addEpilogues lets kernels of calls compute the elementwise calls that read their results, before they store them. A result must have no other
// reader. What it does is told to r.
func addEpilogues(g *mir.Graph, target *spec.Target, strict bool, r *FusionReport) (*mir.Graph, int, error) {
	f, fixed := newJoiner(g, target, strict, r)
	made := map[int]withEpilogue{} // by the elementwise call
	for i := range g.Nodes() {
		if fixed[i] {
			continue
		}
		if e, ok := f.of(i, fixed); ok {
			made[i] = e
			r.joined(g.Nodes()[i].Out[0])
			f.taken[e.producer] = true
			if e.view >= 0 {
				f.taken[e.view] = true
			}
		}
	}
	rewriter := mir.NewRewriter(g)
	for i, n := range g.Nodes() {
		e, ok := made[i]
		switch {
		case f.taken[i]:
		case !ok:
			rewriter.Copy(i)
		default:
			in := slices.Clone(e.in)
			for k, v := range in {
				in[k] = rewriter.At(v)
			}
			out, err := rewriter.To().AddCall(e.call, in...)
			if err != nil {
				return nil, 0, err
			}
			rewriter.Set(n.Out[0], out[0])
			rewriter.To().SetName(out[0], f.label(e.producer)+", "+f.label(i))
		}
	}
	r.moved(g, rewriter)
	return rewriter.Finish(), len(made), nil
}

// joiner finds the calls that can have an epilogue or a prologue.
type joiner struct {
	g       *mir.Graph
	target  *spec.Target
	strict  bool
	readers []int        // how many nodes and outputs read a value
	taken   map[int]bool // nodes that have become a part of an epilogue
	report  *FusionReport
}

// newJoiner counts the readers of each value. fixed are the nodes that depend on constants and weights only, which run once and are joined with nothing.
func newJoiner(g *mir.Graph, target *spec.Target, strict bool, r *FusionReport) (f *joiner, fixed []bool) {
	f = &joiner{g: g, target: target, strict: strict, readers: make([]int, g.Values()), taken: map[int]bool{}, report: r}
	for _, o := range g.Outputs() {
		f.readers[o.Value]++
	}
	for _, n := range g.Nodes() {
		for _, v := range n.In {
			if v != mir.None {
				f.readers[v]++
			}
		}
	}
	return f, g.Fixed()
}

// descs are the descriptions of values.
func (f *joiner) descs(values []mir.Value) []tensor.Desc {
	list := make([]tensor.Desc, len(values))
	for i, v := range values {
		list[i] = f.g.Desc(v)
	}
	return list
}

// miss reports an elementwise call that is not joined with another.
func (f *joiner) miss(i int, what string, err error) {
	n := &f.g.Nodes()[i]
	if node, ok := f.report.node[n.Out[0]]; ok {
		i = node // Missed names nodes before the pass fuse.
	}
	m := Missed{Node: i, Call: spec.FormatBrief(n.Call), Reason: what + ": " + err.Error()}
	if n.Name != "" {
		m.Call += " (" + n.Name + ")"
	}
	if !slices.Contains(f.report.Missed, m) { // Both inputs of a call may come from the same kernel.
		f.report.Missed = append(f.report.Missed, m)
	}
}

// of finds the call whose kernels can compute elementwise call i: the last one in the graph of those whose results it reads.
func (f *joiner) of(i int, fixed []bool) (withEpilogue, bool) {
	n := &f.g.Nodes()[i]
	then, ok := f.elementwise(n)
	if !ok {
		return withEpilogue{}, false
	}
	inputs := slices.Clone(n.In)
	slices.SortFunc(inputs, func(a, b mir.Value) int { return int(b) - int(a) })
	for _, v := range slices.Compact(inputs) {
		e := withEpilogue{producer: f.g.Maker(v), view: -1}
		at := v
		if p := &f.g.Nodes()[e.producer]; p.Kind == mir.View && p.Offset == 0 && f.g.Desc(v).IsContiguous() && f.g.Desc(p.In[0]).Elems() == f.g.Desc(v).Elems() && len(f.g.Desc(v).Shape) > 0 { // an As without dimensions says nothing
			e.view, at = e.producer, p.In[0]
			e.producer = f.g.Maker(at)
			e.call.As = f.g.Desc(v).Shape
		}
		p := &f.g.Nodes()[e.producer]
		if p.Kind != mir.Op || len(p.Out) != 1 || fixed[e.producer] || f.taken[e.producer] || f.readers[v] != 1 || f.readers[at] != 1 || p.Call.Spec().Class == spec.Elementwise ||
			!f.g.Desc(p.Out[0]).IsContiguous() || f.g.Desc(v).Elems() == 0 {
			continue
		}
		in := p.In
		for len(in) > 0 && in[len(in)-1] == mir.None {
			in = in[:len(in)-1]
		}
		if slices.Contains(in, mir.None) || len(in) == 0 {
			continue
		}
		e.call.Call, e.call.Inputs, e.call.Then = p.Call, len(in), behind(then, slices.Index(n.In, v))
		e.in = append(slices.Clone(in), without(n.In, v)...)
		if err := e.call.Check(f.target, f.descs(e.in)); err != nil {
			f.miss(i, "not in the kernel of "+spec.FormatBrief(p.Call), err)
			continue
		}
		f.report.Epilogues++
		return e, true
	}
	return withEpilogue{}, false
}

// elementwise is a call as a fused one of one output.
func (f *joiner) elementwise(n *mir.Node) (fusion.Fused, bool) {
	if n.Kind != mir.Op || len(n.Out) != 1 || slices.Contains(n.In, mir.None) || n.Call.Spec().Class != spec.Elementwise {
		return fusion.Fused{}, false
	}
	if fused, ok := n.Call.(fusion.Fused); ok {
		return fused, true
	}
	args := make([]int, len(n.In))
	for i := range n.In {
		args[i] = i
	}
	if fusion.Fusible(n.Call, f.target, f.descs(n.In)) != nil {
		return fusion.Fused{}, false
	}
	return fusion.Fused{Calls: []spec.Call{n.Call}, Args: [][]int{args}, Outs: []int{len(n.In)}, Strict: f.strict}, true
}

// behind is a fused call whose input k is its first one. It may be there several times in a call that is not fused yet.
func behind(f fusion.Fused, k int) fusion.Fused {
	args := make([][]int, len(f.Args))
	for i, list := range f.Args {
		args[i] = slices.Clone(list)
		for j, a := range list {
			switch {
			case a == k:
				args[i][j] = 0
			case a < k:
				args[i][j] = a + 1
			}
		}
	}
	f.Args = args
	return f
}

// without is a list without the first v.
func without[E comparable](list []E, v E) []E {
	k := slices.Index(list, v)
	return slices.Concat(list[:k], list[k+1:])
}

func (f *joiner) label(i int) string {
	n := &f.g.Nodes()[i]
	if n.Name != "" {
		return n.Name
	}
	return n.Call.Spec().Name
}
