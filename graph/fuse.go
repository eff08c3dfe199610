package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/families/fusion"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// mostFused is the largest number of calls that become one launch. Longer chains gain nothing more.
const mostFused = 32

// Missed is an elementwise call that reads the result of another one, and does not share a launch with it, although each of both can be
// fused with others.
type Missed struct {
	// Node is the call's number in the graph before the pass, Call the call, and Reason why.
	Node int `json:"node"`
	// Body is the body of an If or a While that the node is in, such as "5 then" for a body of node 5 of the graph after the passes. It is empty for a node of
	// the graph itself.
	Body   string `json:"body,omitempty"`
	Call   string `json:"call"`
	Reason string `json:"reason"`
}

// FusionReport says which calls share launches.
type FusionReport struct {
	// Launches is the number of fused calls, and Calls how many calls they are made of.
	Launches int `json:"launches"`
	Calls    int `json:"calls"`
	// Epilogues is the number of calls whose kernels compute elementwise calls before they store.
	Epilogues int `json:"epilogues"`
	// Prologues is the number of calls whose kernels compute elementwise calls from what they load.
	Prologues int `json:"prologues"`
	// Missed lists calls that could have been fused with the maker of an input, and were not.
	Missed []Missed `json:"missed"`

	node map[mir.Value]int // by a value: the node before the pass fuse, which Missed names
}

// add adds what was found in a body.
func (r *FusionReport) add(of *FusionReport, body string) {
	r.Launches, r.Calls, r.Epilogues, r.Prologues = r.Launches+of.Launches, r.Calls+of.Calls, r.Epilogues+of.Epilogues, r.Prologues+of.Prologues
	for _, m := range of.Missed {
		m.Body = body
		r.Missed = append(r.Missed, m)
	}
}

// joined takes the call that makes a value out of Missed, because it shares a launch with another one after all.
func (r *FusionReport) joined(v mir.Value) {
	if node, ok := r.node[v]; ok {
		r.Missed = slices.DeleteFunc(r.Missed, func(m Missed) bool { return m.Node == node })
	}
}

// moved notes which values of a new graph stand for those of g.
func (r *FusionReport) moved(g *mir.Graph, to *mir.Rewriter) {
	node := map[mir.Value]int{}
	for i, n := range g.Nodes() {
		for _, v := range n.Out {
			if from, ok := r.node[v]; ok {
				node[to.At(v)] = from
			} else if r.node == nil {
				node[to.At(v)] = i
			}
		}
	}
	r.node = node
}

// fuser divides elementwise calls into groups, each of which becomes one call of fusion.Fused.
type fuser struct {
	g      *mir.Graph
	target *spec.Target
	strict bool
	// group is the group of each node, by the number of one of its nodes. -1 is a node that cannot be fused.
	group   []int
	members map[int][]int
	readers [][]int // the nodes, views among them, that read a result of each node
	kept    []bool  // by value: an output, or read through a view
	// inside and seen have the number of the last search that has found a node to be inside, or has seen it.
	inside, seen []int
	search       int
	report       *FusionReport
}

// fuse joins elementwise calls that read each other's results into fused calls. Results that other nodes or outputs need are
// results of the fused call too. What it does is told to r.
func fuse(g *mir.Graph, target *spec.Target, strict bool, r *FusionReport) (*mir.Graph, int, error) {
	f := &fuser{g: g, target: target, strict: strict, members: map[int][]int{}, report: r}
	f.prepare()
	for i := range g.Nodes() {
		if f.group[i] >= 0 {
			f.join(i)
		}
	}
	to, err := f.rewrite()
	return to, r.Calls - r.Launches, err
}

// prepare finds the calls that can be fused, and who reads what.
func (f *fuser) prepare() {
	nodes := f.g.Nodes()
	f.inside, f.seen = make([]int, len(nodes)), make([]int, len(nodes))
	f.group, f.readers, f.kept = make([]int, len(nodes)), make([][]int, len(nodes)), make([]bool, f.g.Values())
	for _, o := range f.g.Outputs() {
		f.kept[o.Value] = true
	}
	fixed := f.g.Fixed() // runs once, and is not joined with what does not
	for i, n := range nodes {
		f.group[i] = -1
		for _, v := range n.In {
			if v == mir.None {
				continue
			}
			m := f.g.Maker(v)
			f.readers[m] = append(f.readers[m], i)
			if n.Kind == mir.View {
				f.kept[v] = true
			}
		}
		if !fixed[i] && f.alone(&n) == nil {
			f.group[i], f.members[i] = i, []int{i}
		}
	}
}

// alone returns nil if a call by itself can be a fused one.
func (f *fuser) alone(n *mir.Node) error {
	if n.Kind != mir.Op || len(n.Out) != 1 || slices.Contains(n.In, mir.None) || f.g.Desc(n.Out[0]).Elems() == 0 {
		return fmt.Errorf("it is no function of single elements")
	}
	if n.Call.Spec().Class != spec.Elementwise {
		return fmt.Errorf("it is no function of single elements")
	}
	return fusion.Fusible(n.Call, f.target, f.descs(n.In))
}

func (f *fuser) descs(values []mir.Value) []tensor.Desc {
	list := make([]tensor.Desc, len(values))
	for i, v := range values {
		list[i] = f.g.Desc(v)
	}
	return list
}

// join joins the group of a node with the groups that make its inputs, as far as that is possible.
func (f *fuser) join(node int) {
	for _, v := range f.g.Nodes()[node].In {
		m := f.g.Maker(v)
		to, from := f.group[m], f.group[node]
		if to < 0 || to == from {
			continue
		}
		union := append(slices.Clone(f.members[to]), f.members[from]...)
		slices.Sort(union)
		if err := f.possible(union); err != nil {
			f.report.Missed = append(f.report.Missed, Missed{Node: node, Call: spec.FormatBrief(f.g.Nodes()[node].Call), Reason: err.Error()})
			continue
		}
		delete(f.members, to)
		delete(f.members, from)
		for _, i := range union {
			f.group[i] = union[0]
		}
		f.members[union[0]] = union
	}
}

// possible returns an error unless nodes can be one call.
func (f *fuser) possible(nodes []int) error {
	if len(nodes) > mostFused {
		return fmt.Errorf("more than %d calls", mostFused)
	}
	if f.leavesAndReturns(nodes) {
		return fmt.Errorf("a call between them cannot be fused")
	}
	call, in, _ := f.call(nodes)
	return call.Check(f.target, f.descs(in))
}

// leavesAndReturns reports whether a node outside reads a result of the nodes, and makes what one of them reads. Nodes of one
// group count as one, because they will be. Nodes after the last one of nodes have not been joined, so that no way leads back from them.
func (f *fuser) leavesAndReturns(nodes []int) bool {
	f.search++
	for _, i := range nodes {
		f.inside[i] = f.search
	}
	var next []int
	visit := func(i int) {
		if i < nodes[len(nodes)-1] && f.inside[i] != f.search && f.seen[i] != f.search {
			f.seen[i] = f.search
			next = append(next, i)
		}
	}
	for _, i := range nodes {
		for _, r := range f.readers[i] {
			visit(r)
		}
	}
	for len(next) > 0 {
		i := next[len(next)-1]
		next = next[:len(next)-1]
		for _, r := range f.readers[i] {
			if f.inside[r] == f.search {
				return true
			}
			visit(r)
		}
		if g := f.group[i]; g >= 0 && len(f.members[g]) > 1 {
			for _, m := range f.members[g] {
				visit(m)
			}
		}
	}
	return false
}

// call makes the fused call of nodes, in order. in are the values that it reads, and out those that it makes for others.
func (f *fuser) call(nodes []int) (call fusion.Fused, in, out []mir.Value) {
	call.Strict = f.strict
	inside := map[mir.Value]int{}
	for k, i := range nodes {
		inside[f.g.Nodes()[i].Out[0]] = k
	}
	for _, i := range nodes {
		for _, v := range f.g.Nodes()[i].In {
			if _, ok := inside[v]; !ok && !slices.Contains(in, v) {
				in = append(in, v)
			}
		}
	}
	for k, i := range nodes {
		n := f.g.Nodes()[i]
		args := make([]int, len(n.In))
		for a, v := range n.In {
			if at, ok := inside[v]; ok {
				args[a] = len(in) + at
			} else {
				args[a] = slices.Index(in, v)
			}
		}
		call.Calls, call.Args = append(call.Calls, n.Call), append(call.Args, args)
		if v := n.Out[0]; f.kept[v] || slices.ContainsFunc(f.readers[i], func(r int) bool { return !slices.Contains(nodes, r) }) {
			call.Outs, out = append(call.Outs, len(in)+k), append(out, v)
		}
	}
	return call, in, out
}

// rewrite makes the graph with the fused calls. A node is copied after those that it reads, which may have become parts of later
// calls.
func (f *fuser) rewrite() (*mir.Graph, error) {
	r := mir.NewRewriter(f.g)
	done := make([]bool, len(f.g.Nodes()))
	var emit func(i int) error
	emit = func(i int) error {
		if done[i] {
			return nil
		}
		nodes := []int{i}
		if g := f.group[i]; g >= 0 {
			nodes = f.members[g]
		}
		for _, m := range nodes {
			done[m] = true
		}
		for _, m := range nodes {
			for _, v := range f.g.Nodes()[m].In {
				if v == mir.None {
					continue
				}
				if err := emit(f.g.Maker(v)); err != nil {
					return err
				}
			}
		}
		if len(nodes) == 1 {
			r.Copy(i)
			return nil
		}
		call, in, out := f.call(nodes)
		for k, v := range in {
			in[k] = r.At(v)
		}
		made, err := r.To().AddCall(call, in...)
		if err != nil {
			return err
		}
		for k, v := range out {
			r.Set(v, made[k])
		}
		r.To().SetName(made[0], f.label(nodes))
		f.report.Launches, f.report.Calls = f.report.Launches+1, f.report.Calls+len(nodes)
		return nil
	}
	for i := range f.g.Nodes() {
		if err := emit(i); err != nil {
			return nil, err
		}
	}
	f.report.node = nil
	f.report.moved(f.g, r)
	slices.SortStableFunc(f.report.Missed, func(a, b Missed) int { return cmp.Compare(a.Node, b.Node) })
	return r.Finish(), nil
}

// label names the calls of a fused one: "add, gelu".
func (f *fuser) label(nodes []int) string {
	text := ""
	for k, i := range nodes {
		if k > 0 {
			text += ", "
		}
		n := &f.g.Nodes()[i]
		text += n.Call.Spec().Name
		if n.Name != "" {
			text += " (" + n.Name + ")"
		}
	}
	return text
}
