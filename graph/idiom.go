package graph

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/view"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// IdiomReport says which spelled-out forms of an operation have become calls of it.
type IdiomReport struct {
	// Replaced is how many have.
	Replaced int `json:"replaced"`
	// Missed lists calls that end nearly such a form, with the reason why it is none. Node counts in the graph before the pass.
	Missed []Missed `json:"missed"`
}

// add adds the report of a graph that is a body, or of the whole one if body is empty.
func (r *IdiomReport) add(of *IdiomReport, body string) {
	r.Replaced += of.Replaced
	for _, m := range of.Missed {
		m.Body = body
		r.Missed = append(r.Missed, m)
	}
}

// replaceIdioms puts calls of operations in the place of their spelled-out forms, which the operations know: see spec.Idiomatic. supported says whether a call of
// an operation of that name may be added. What it does is told to r.
func replaceIdioms(g *mir.Graph, t *spec.Target, supported func(name string) bool, r *IdiomReport) (*mir.Graph, int, error) {
	all := whole(g)
	f := &idioms{recorder: recorder{&Graph{mir: all, copied: map[mir.Value]mir.Value{}}}, target: t, supported: supported,
		known: known{all, g.Fixed(), map[mir.Value]*tensor.Host{}}, readers: liveReaders(g)}
	replaced := map[mir.Value]mir.Value{}
	for i, n := range g.Nodes() {
		if n.Kind != mir.Op || len(n.Out) != 1 || f.readers[n.Out[0]] == 0 || f.known.fixed[i] {
			continue
		}
		in := make([]spec.Value, len(n.In))
		for k, v := range n.In {
			in[k] = spec.Value(v)
		}
		v, missed, err := spec.FindIdiom(n.Call, f, in)
		if err != nil {
			return nil, 0, err
		}
		if missed != "" {
			m := Missed{Node: i, Call: spec.FormatBrief(n.Call), Reason: missed}
			if n.Name != "" {
				m.Call += " (" + n.Name + ")"
			}
			r.Missed = append(r.Missed, m)
		}
		if v == spec.NoValue {
			continue
		}
		if was, is := g.Desc(n.Out[0]), f.Desc(v); was.DType != is.DType || !slices.Equal(was.Shape, is.Shape) || !is.IsContiguous() {
			return nil, 0, fmt.Errorf("idiom of %s: %w: its result is %v (want %v)", n.Call.Spec().Name, errs.ErrInvalidArgument, is, was)
		}
		if n.Name != "" {
			f.g.mir.SetName(mir.Value(v), n.Name)
		}
		replaced[n.Out[0]] = mir.Value(v)
		r.Replaced++
	}
	if len(replaced) == 0 {
		return g, 0, nil
	}
	to, err := sorted(f.g.mir, len(g.Nodes()), replaced)
	return to, r.Replaced, err
}

// whole is a copy of a graph, in which values have the same numbers, and to which calls can be added.
func whole(g *mir.Graph) *mir.Graph {
	r := mir.NewRewriter(g)
	for i := range g.Nodes() {
		r.Copy(i)
	}
	return r.Finish()
}

// liveReaders is how many nodes and outputs read each value. Nodes that no output needs do not count.
func liveReaders(g *mir.Graph) []int {
	readers := make([]int, g.Values())
	for _, o := range g.Outputs() {
		readers[o.Value]++
	}
	for _, n := range slices.Backward(g.Nodes()) {
		if slices.ContainsFunc(n.Out, func(v mir.Value) bool { return readers[v] > 0 }) {
			for _, v := range n.In {
				if v != mir.None {
					readers[v]++
				}
			}
		}
	}
	return readers
}

// replacement makes a graph in which other values take the place of some. all is a graph with the nodes that make them at its end, and old the number of its
// nodes before these. A node comes after those that it reads, and nodes whose results are no longer read are left out.
type replacement struct {
	all      *mir.Graph
	r        *mir.Rewriter
	replaced map[mir.Value]mir.Value
	done     []bool
}

func sorted(all *mir.Graph, old int, replaced map[mir.Value]mir.Value) (*mir.Graph, error) {
	p := &replacement{all, mir.NewRewriter(all), replaced, make([]bool, len(all.Nodes()))}
	dropped := p.unread(old)
	for i := range old {
		if dropped[i] {
			continue
		}
		if err := p.emit(i); err != nil {
			return nil, err
		}
	}
	for _, o := range all.Outputs() {
		if err := p.value(o.Value); err != nil {
			return nil, err
		}
	}
	return p.r.Finish(), nil
}

// unread finds the nodes whose results nobody reads any more.
func (p *replacement) unread(old int) []bool {
	nodes, dropped, read := p.all.Nodes()[:old], make([]bool, old), make([]int, p.all.Values())
	for _, n := range nodes {
		for _, v := range n.In {
			if v != mir.None {
				read[v]++
			}
		}
	}
	for _, o := range p.all.Outputs() {
		read[o.Value]++
	}
	lost := make([]bool, old) // a reader was dropped
	for i, n := range slices.Backward(nodes) {
		if n.Kind == mir.Input || n.Kind == mir.Param {
			continue
		}
		_, is := p.replaced[n.Out[0]]
		if dropped[i] = is || lost[i] && !slices.ContainsFunc(n.Out, func(v mir.Value) bool { return read[v] > 0 }); !dropped[i] {
			continue
		}
		for _, v := range n.In {
			if v != mir.None {
				read[v]--
				lost[p.all.Maker(v)] = true
			}
		}
	}
	return dropped
}

// value emits what makes a value, or the one that takes its place.
func (p *replacement) value(v mir.Value) error {
	at, ok := p.replaced[v]
	if !ok {
		return p.emit(p.all.Maker(v))
	}
	err := p.value(at)
	p.r.Set(v, p.r.At(at))
	return err
}

// emit copies a node behind those that it reads.
func (p *replacement) emit(i int) error {
	if p.done[i] {
		return nil
	}
	p.done[i] = true
	n := p.all.Nodes()[i]
	for _, v := range n.In {
		if v == mir.None {
			continue
		}
		if err := p.value(v); err != nil {
			return err
		}
	}
	if n.Kind == mir.View { // of what may be a view now
		v, err := p.r.To().AddView(n.Name, p.r.At(n.In[0]), n.Offset, p.all.Desc(n.Out[0]))
		p.r.Set(n.Out[0], v)
		return err
	}
	p.r.Copy(i)
	return nil
}

// idioms is a graph in which idioms are looked for. It is a spec.Rewritable.
type idioms struct {
	recorder
	target    *spec.Target
	supported func(name string) bool
	known     known
	readers   []int
}

func (f *idioms) Maker(v spec.Value) (spec.Call, []spec.Value) {
	i := f.g.mir.Maker(mir.Value(v))
	if i < 0 || f.g.mir.Nodes()[i].Kind != mir.Op {
		return nil, nil
	}
	n := &f.g.mir.Nodes()[i]
	in := make([]spec.Value, len(n.In))
	for k, w := range n.In {
		in[k] = spec.Value(w)
	}
	return n.Call, in
}

func (f *idioms) Readers(v spec.Value) int {
	if v < 0 || int(v) >= len(f.readers) {
		return 0
	}
	return f.readers[v]
}

func (f *idioms) Elements(v spec.Value) *tensor.Host { return f.known.elements(mir.Value(v)) }

func (f *idioms) Source(v spec.Value) spec.Source {
	m := f.g.mir
	root, bytes := m.Root(mir.Value(v))
	size := int64(m.Desc(root).DType.Size())
	dims, offset := view.Axes(m.Desc(mir.Value(v))), int(bytes/size)
	for {
		n := &m.Nodes()[m.Maker(root)]
		c, ok := n.Call.(spec.Copying)
		if n.Kind != mir.Op || !ok || len(n.In) != 1 {
			break
		}
		d, ok := c.Source(m.Desc(n.In[0]))
		if !ok || d.Elems() != m.Desc(root).Elems() {
			break
		}
		seen, from, ok := view.Through(dims, offset, d)
		if !ok {
			break
		}
		root, bytes = m.Root(n.In[0])
		dims, offset = seen, from+int(bytes/size)
	}
	s := spec.Source{Of: spec.Value(root), Offset: int64(offset) * size, Dims: make([][]spec.Axis, len(dims))}
	for i, axes := range dims {
		for _, a := range axes {
			s.Dims[i] = append(s.Dims[i], spec.Axis(a))
		}
	}
	return s
}

func (f *idioms) View(v spec.Value, d tensor.Desc, offset int64) (spec.Value, error) {
	if d.Strides != nil {
		d = view.Of(d, slices.Clone(d.Shape), slices.Clone(d.Strides))
	}
	return f.view("view", v, d, offset, nil)
}

// Call adds a call that the device can run.
func (f *idioms) Call(c spec.Call, in ...spec.Value) ([]spec.Value, error) {
	out, err := f.recorder.Call(c, in...)
	if err != nil {
		return nil, err
	}
	op := c.Spec()
	if !f.supported(op.Name) {
		return nil, fmt.Errorf("%w: Options.Supported does not list %q", errs.ErrUnsupported, op.Name)
	}
	n := &f.g.mir.Nodes()[f.g.mir.Maker(mir.Value(out[0]))]
	descs := func(values []mir.Value, args []spec.Arg) []tensor.Desc {
		list := make([]tensor.Desc, len(values))
		for i, v := range values {
			if list[i] = f.g.mir.Desc(v); !args[min(i, len(args)-1)].Strides.Takes(list[i]) {
				list[i].Strides = nil // It is copied first.
			}
		}
		return list
	}
	if slices.Contains(n.In, mir.None) || len(op.In) == 0 {
		return out, nil
	}
	_, err = op.Plan(n.Call, f.target, descs(n.In, op.In), descs(n.Out, op.Out))
	return out, err
}
