// Package planview draws the plan of a graph: its calls in layers, and beneath them what lies in the arena while they run.
package planview

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/graph"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/units"
	"github.com/lathe-gpu/lathe/spec"
)

// node is what has a place in the picture: an input, a call, an output, or a point that a long line passes.
type node struct {
	kind  kind
	title string   // in the box
	lines []string // under the title
	tip   string
	step  int     // in the order of the calls, from 1, or 0
	cost  float64 // of the largest one
	fused bool
	to    []*line // to nodes of later layers

	layer int
	order float64 // within the layer
	chain *chain  // of a point
	x, y  float64 // the middle of the upper edge
	w, h  float64
}

// chain is the points of a long line.
type chain struct {
	points []*node
	mean   float64 // of their x
}

// line leads from a node to one of a later layer.
type line struct {
	to     *node
	viewed bool // through a view
	tip    string
}

// kind decides the colour of a node.
type kind int

const (
	inputs kind = iota
	outputs
	contraction
	elementwise
	normalisation
	reduction
	movement
	other
	control
	point // where a long line passes a layer
)

// kinds are the kinds that have a box, with their classes in CSS and their names for readers.
var kinds = []struct{ class, name string }{
	{"io", "input"}, {"io", "output"}, {"con", "contraction"}, {"ele", "elementwise"}, {"nor", "normalisation"}, {"red", "reduction"}, {"mov", "movement"}, {"oth", "other"}, {"ctl", "control flow"},
}

// kindOf is the kind of a call.
func kindOf(s *lir.Step) kind {
	if s.Control != nil {
		return control
	}
	op := s.Call.Spec()
	if op.Internal { // several calls: the first one does most of the work
		name, _, _ := strings.Cut(s.Label, ",")
		name, _, _ = strings.Cut(name, " ")
		if first := spec.Lookup(name); first != nil {
			op = first
		}
	}
	switch op.Class {
	case spec.MatrixProduct:
		return contraction
	case spec.Elementwise:
		return elementwise
	case spec.AxisWise:
		return normalisation
	case spec.Reduction:
		return reduction
	case spec.Movement, spec.Indexing:
		return movement
	}
	return other
}

// flopsPerByte is how much arithmetic counts as much as a byte of memory traffic, for the bar that says what a call costs.
const flopsPerByte = 16

// early is the number of calls that do not run each time.
func early(p *graph.Plan) int { return len(p.Program.Once) + len(p.Program.Prepare) }

// model makes the nodes of a plan. Params and constants have no node of their own: the calls that read them name them.
func model(p *graph.Plan) []*node {
	m := &maker{p: p, nodes: map[mir.Value]*node{}}
	for _, port := range p.Graph.Nodes() {
		if port.Kind == mir.Input {
			d := p.Graph.Desc(port.Out[0])
			m.add(port.Out[0], &node{kind: inputs, title: port.Name, lines: []string{d.String()}, tip: fmt.Sprintf("input %s %v, %s", port.Name, d, units.Bytes(d.Bytes()))})
		}
	}
	steps, most := p.Steps(), 1.0
	for i, s := range slices.Concat(p.Program.Once, p.Program.Prepare, p.Program.Steps) {
		inside := 1
		for inside < len(steps) && steps[inside].Body != "" {
			inside++
		}
		n := m.call(&s, &steps[0])
		m.bodies(n, &s, steps[1:inside])
		steps = steps[inside:]
		if early := early(p); i >= early {
			n.step = i - early + 1
		}
		most = max(most, n.cost)
	}
	for _, o := range p.Graph.Outputs() {
		d := p.Graph.Desc(o.Value)
		n := &node{kind: outputs, title: o.Name, lines: []string{d.String()}, tip: fmt.Sprintf("output %s %v, %s", o.Name, d, units.Bytes(d.Bytes()))}
		m.join(o.Value, n)
		m.list = append(m.list, n)
	}
	for _, n := range m.list {
		n.cost /= most
		n.w = 36
		for i, l := range append([]string{n.title}, n.lines...) {
			n.w = max(n.w, textWidth(l, i == 0)+map[bool]float64{true: 46, false: 24}[i == 0]) // a title has a number beside it
		}
		n.h = 26 + 14*float64(len(n.lines))
	}
	return m.list
}

// maker makes a model.
type maker struct {
	p     *graph.Plan
	list  []*node
	nodes map[mir.Value]*node // what makes each value
}

func (m *maker) add(v mir.Value, n *node) {
	m.nodes[v] = n
	m.list = append(m.list, n)
}

// join draws a line from what makes a value, if that has a node.
func (m *maker) join(v mir.Value, n *node) {
	root, _ := m.p.Graph.Root(v)
	from := m.nodes[root]
	if from == nil || slices.ContainsFunc(from.to, func(l *line) bool { return l.to == n }) {
		return
	}
	tip := fmt.Sprintf("%v %v", root, m.p.Graph.Desc(root))
	if v != root {
		tip += fmt.Sprintf(", read as %v %v by a view: %s", v, m.p.Graph.Desc(v), cmp.Or(m.p.Graph.Nodes()[m.p.Graph.Maker(v)].Name, "view"))
	}
	from.to = append(from.to, &line{n, v != root, tip})
}

// call adds the node of a call.
func (m *maker) call(s *lir.Step, t *graph.Step) *node {
	n := &node{kind: kindOf(s), title: short(titleOf(s), 34), fused: isFused(s), cost: float64(t.Moved) + float64(t.Flops)/flopsPerByte}
	tip := []string{t.Call}
	switch {
	case n.fused:
		tip[0] = "fused: " + s.Label
	case s.Label != "":
		n.lines = append(n.lines, s.Label)
		tip[0] += " (" + s.Label + ")"
	}
	var shapes, names []string
	for _, o := range s.Out {
		shapes = append(shapes, o.Desc.String())
		m.nodes[o.Value] = n
	}
	for _, o := range s.In {
		if o.Value == mir.None {
			continue
		}
		root, _ := m.p.Graph.Root(o.Value)
		switch maker := m.p.Graph.Nodes()[m.p.Graph.Maker(root)]; maker.Kind {
		case mir.Param:
			names = append(names, maker.Name)
		case mir.Constant:
			if name := cmp.Or(maker.Name, "constant"); !slices.Contains(names, name) {
				names = append(names, name)
			}
		default:
			m.join(o.Value, n)
		}
	}
	n.lines = append(n.lines, short(strings.Join(shapes, " "), 34))
	if len(names) > 0 {
		n.lines = append(n.lines, short(strings.Join(names, ", "), 34))
	}
	for _, in := range t.In {
		tip = append(tip, "reads "+in)
	}
	for _, out := range t.Out {
		tip = append(tip, "makes "+out)
	}
	tip = append(tip, fmt.Sprintf("%s flop, %s at least", units.Count(t.Flops), units.Bytes(t.Moved)))
	for i, k := range t.Kernels {
		if i < len(t.Fixed) && t.Fixed[i] {
			k += ", once"
		}
		tip = append(tip, "kernel "+k)
	}
	switch {
	case t.Once:
		n.lines = append(n.lines, "runs once")
	case t.Prepare:
		n.lines = append(n.lines, "runs once a weight is set")
	}
	n.tip = strings.Join(tip, "\n")
	m.list = append(m.list, n)
	return n
}

// titleOf names a call: by its operation, or by all of them if it is a fused one, whose label lists them.
func titleOf(s *lir.Step) string {
	if isFused(s) && s.Label != "" {
		return strings.ReplaceAll(s.Label, ", ", " · ")
	}
	return nameOf(s)
}

// nameOf is the name of the operation of a call, or "if" or "while".
func nameOf(s *lir.Step) string {
	if s.Control != nil {
		return s.Control.Kind.String()
	}
	return s.Call.Spec().Name
}

// isFused reports whether a call is several ones in one launch.
func isFused(s *lir.Step) bool { return s.Control == nil && s.Call.Spec().Internal }

// bodies adds the calls inside of an If or a While to its node: how many there are in the box, and each of them in the tip. They count once for the cost.
func (m *maker) bodies(n *node, s *lir.Step, inside []graph.Step) {
	if s.Control == nil {
		return
	}
	for k, b := range s.Control.Bodies {
		n.lines = append(n.lines, s.Control.Name(k)+": "+units.Of(b.Launches(), "launch"))
	}
	var tip []string
	for i := range inside {
		t := &inside[i]
		n.cost += float64(t.Moved) + float64(t.Flops)/flopsPerByte
		tip = append(tip, t.Body+": "+t.Call)
	}
	n.tip += "\n" + strings.Join(tip, "\n")
}

// short cuts a text off that is longer than n characters.
func short(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}

// textWidth is about how wide a text is, in the sizes of titles and of lines under them.
func textWidth(text string, title bool) float64 {
	each := 6.0
	if title {
		each = 7.5
	}
	return each * float64(len([]rune(text)))
}
