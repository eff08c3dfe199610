// Package mir is the middle representation of the graph compiler: a graph of single operations in static
// single assignment. A node computes values from the values of nodes before it, so that the order of the
// nodes is an order in which they can run. Nodes are only ever appended. A pass reads one graph and builds
// another one.
//
// The kinds of operations are those of the table of operations: a node has a spec.Call, and its shape rule
// says what it computes. Views, such as a transposed matrix, are nodes that compute nothing.
package mir

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Value names a value of a graph. Values count from 0 in the order in which nodes make them.
type Value int

// None stands for an input that a call leaves out, though it has later ones.
const None Value = -1

// Kind says what a node is.
type Kind uint8

// These are the kinds of nodes.
const (
	// Input is a value that every run is given.
	Input Kind = iota
	// Param is a value that stays from run to run until somebody sets it, such as a weight.
	Param
	// Constant is a value that the graph itself has.
	Constant
	// View is the elements of another value in another shape or order, or a part of them.
	View
	// Op is a call of an operation.
	Op
	// If computes what one of two graphs computes, as a condition says.
	If
	// While computes a state again and again, as long as a condition holds.
	While
)

// String returns the kind in lower case.
func (k Kind) String() string {
	names := [...]string{"input", "param", "constant", "view", "op", "if", "while"}
	if int(k) < len(names) {
		return names[k]
	}
	return fmt.Sprintf("kind %d", uint8(k))
}

// Control reports whether a node of the kind runs bodies: that of an If or a While.
func (k Kind) Control() bool { return k == If || k == While }

// Node makes values.
type Node struct {
	// Kind says what the node is.
	Kind Kind
	// Name is the name of an Input or Param. Other nodes may have a label, which is for readers.
	Name string
	// Call is the call of an Op, in the type of its operation's Defaults.
	Call spec.Call
	// Weight says of a Param that nothing writes to its tensor: its elements change only when it is set. So what depends on it alone need not
	// run each time.
	Weight bool
	// Data are the bytes of a Constant.
	Data []byte
	// Offset is where a View begins, in bytes from the first element of In[0].
	Offset int64
	// In are the values that the node reads. In[0] of a View is not a View itself. None stands for an input that
	// an Op leaves out. An If reads its condition and then what its Bodies are given; a While reads its first state and then
	// what each of its Bodies is given besides.
	In []Value
	// Bodies are the graphs that an If or a While runs, see AddIf and AddWhile. They must not be changed.
	Bodies []*Graph
	// Most is the largest number of times that a While computes its state. 0 is no bound.
	Most int
	// Out are the values that the node makes: one, or as many as the operation or the bodies have outputs.
	Out []Value
}

// Output is a result of a graph.
type Output struct {
	Name  string
	Value Value
}

// Graph is a graph. The zero Graph is empty. Many goroutines may read a Graph that nobody changes.
type Graph struct {
	nodes   []Node
	descs   []tensor.Desc
	makers  []int // the node that makes each value
	outputs []Output
	depth   int // how deep bodies lie in each other
}

// Nodes are the nodes in order. They must not be changed.
func (g *Graph) Nodes() []Node {
	if g == nil {
		return nil
	}
	return g.nodes
}

// Outputs are the results in the order of AddOutput. They must not be changed.
func (g *Graph) Outputs() []Output {
	if g == nil {
		return nil
	}
	return g.outputs
}

// Values is the number of values.
func (g *Graph) Values() int {
	if g == nil {
		return 0
	}
	return len(g.descs)
}

// Desc describes a value. Values of a View may have strides. It is empty for a value that the graph lacks.
func (g *Graph) Desc(v Value) tensor.Desc {
	if g.has(v) != nil {
		return tensor.Desc{}
	}
	return g.descs[v]
}

// Maker returns the number of the node that makes a value, or -1.
func (g *Graph) Maker(v Value) int {
	if g.has(v) != nil {
		return -1
	}
	return g.makers[v]
}

// Root returns the value whose memory a value lies in, and where, in bytes: of a View what it is a view of, and
// of other values themselves.
func (g *Graph) Root(v Value) (Value, int64) {
	if n := g.Maker(v); n >= 0 && g.nodes[n].Kind == View {
		return g.nodes[n].In[0], g.nodes[n].Offset
	}
	return v, 0
}

// add appends a node that makes values of such descriptions.
func (g *Graph) add(n Node, descs ...tensor.Desc) []Value {
	for _, d := range descs {
		n.Out = append(n.Out, Value(len(g.descs)))
		g.descs = append(g.descs, d)
		g.makers = append(g.makers, len(g.nodes))
	}
	g.nodes = append(g.nodes, n)
	for _, b := range n.Bodies {
		g.depth = max(g.depth, b.depth+1)
	}
	return n.Out
}

// named returns an error unless name can be that of a new Input or Param.
func (g *Graph) named(name string) error {
	if g == nil {
		return fmt.Errorf("%w: no graph", errs.ErrInvalidArgument)
	}
	if name == "" {
		return fmt.Errorf("%w: no name", errs.ErrInvalidArgument)
	}
	for i := range g.nodes {
		if n := &g.nodes[i]; n.Name == name && (n.Kind == Input || n.Kind == Param) {
			return fmt.Errorf("%w: there is another %v of this name", errs.ErrInvalidArgument, n.Kind)
		}
	}
	return nil
}

// contiguous returns an error unless d can be the description of an Input, Param or Constant.
func contiguous(d tensor.Desc) error {
	if err := d.Check(); err != nil {
		return err
	}
	if !d.IsContiguous() {
		return fmt.Errorf("%w: strides %v (want row-major order without gaps; take a view of it)", errs.ErrInvalidArgument, d.Strides)
	}
	return nil
}

// AddInput appends an Input. Its elements lie in row-major order without gaps.
// Errors: ErrInvalidArgument for a name that another Input or Param has, or a bad description.
func (g *Graph) AddInput(name string, d tensor.Desc) (Value, error) {
	return g.addNamed(Input, name, d)
}

// AddParam appends a Param, as AddInput appends an Input.
func (g *Graph) AddParam(name string, d tensor.Desc) (Value, error) {
	return g.addNamed(Param, name, d)
}

// AddWeight appends a Param whose elements change only when it is set.
// Errors: as AddInput.
func (g *Graph) AddWeight(name string, d tensor.Desc) (Value, error) {
	v, err := g.addNamed(Param, name, d)
	if err == nil {
		g.nodes[g.makers[v]].Weight = true
	}
	return v, err
}

// Fixed says of each node whether its values depend on constants and weights only.
func (g *Graph) Fixed() []bool {
	if g == nil {
		return nil
	}
	fixed := make([]bool, len(g.nodes))
	for i := range g.nodes {
		n := &g.nodes[i]
		fixed[i] = n.Kind != Input && (n.Kind != Param || n.Weight) && !n.Kind.Control()
		for _, v := range n.In {
			fixed[i] = fixed[i] && (v == None || fixed[g.makers[v]])
		}
	}
	return fixed
}

func (g *Graph) addNamed(k Kind, name string, d tensor.Desc) (Value, error) {
	err := g.named(name)
	if err == nil {
		err = contiguous(d)
	}
	if err != nil {
		return None, fmt.Errorf("mir: %v %q: %w", k, name, err)
	}
	return g.add(Node{Kind: k, Name: name}, tensor.Contiguous(d.DType, slices.Clone(d.Shape)...))[0], nil
}

// AddConstant appends a Constant with such bytes, which it does not copy. They must not be changed.
// Errors: ErrInvalidArgument for a bad description or another number of bytes.
func (g *Graph) AddConstant(d tensor.Desc, data []byte) (Value, error) {
	err := contiguous(d)
	if g == nil {
		err = fmt.Errorf("%w: no graph", errs.ErrInvalidArgument)
	}
	if err == nil && int64(len(data)) != d.Bytes() {
		err = fmt.Errorf("%w: bytes (got %d, want %d for %v)", errs.ErrInvalidArgument, len(data), d.Bytes(), d)
	}
	if err != nil {
		return None, fmt.Errorf("mir: constant: %w", err)
	}
	return g.add(Node{Kind: Constant, Data: data}, tensor.Contiguous(d.DType, slices.Clone(d.Shape)...))[0], nil
}

// AddView appends a View of a value, or returns the value if the view is the whole of it. label says for readers
// what made it. offset is its distance in bytes from the first element of the value.
// Errors: ErrInvalidArgument for a value that the graph lacks, or a view that exceeds it.
func (g *Graph) AddView(label string, of Value, offset int64, d tensor.Desc) (Value, error) {
	if err := g.has(of); err != nil {
		return None, fmt.Errorf("mir: %s: %w", label, err)
	}
	root, base := g.Root(of)
	if offset == 0 && sameView(g.Desc(of), d) {
		return of, nil
	}
	if base+offset == 0 && sameView(g.Desc(root), d) { // a view back to it
		return root, nil
	}
	n := Node{Kind: View, Name: label, Offset: base + offset, In: []Value{root}}
	if err := g.checkView(&n, d); err != nil {
		return None, fmt.Errorf("mir: %s: %w", label, err)
	}
	return g.add(n, d)[0], nil
}

// sameView reports whether two descriptions are of the same elements, if they begin at one place.
func sameView(a, b tensor.Desc) bool {
	return sameShape(a, b) && slices.Equal(a.ElementStrides(), b.ElementStrides())
}

// checkView returns an error unless a View lies in what it is a view of.
func (g *Graph) checkView(n *Node, d tensor.Desc) error {
	root := g.Desc(n.In[0])
	if err := d.Check(); err != nil {
		return err
	}
	if d.DType != root.DType || n.Offset < 0 || n.Offset%int64(d.DType.Size()) != 0 || n.Offset > root.Bytes()-d.Bytes() {
		return fmt.Errorf("%w: %v, %d bytes into %v", errs.ErrInvalidArgument, d, n.Offset, root)
	}
	return nil
}

// has returns an error unless the graph has a value.
func (g *Graph) has(v Value) error {
	if v < 0 || int(v) >= g.Values() {
		return fmt.Errorf("%w: there is no value %d", errs.ErrInvalidArgument, v)
	}
	return nil
}

// AddCall appends a call of an operation and returns its results.
// Errors: those of spec.Resolve and of the operation's Shape; ErrInvalidArgument for values that the graph lacks.
func (g *Graph) AddCall(c spec.Call, in ...Value) ([]Value, error) {
	c, err := spec.Resolve(c)
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, fmt.Errorf("mir: %s: %w: no graph", c.Spec().Name, errs.ErrInvalidArgument)
	}
	c = cloneCall(c)
	descs, err := g.inputs(c, in)
	if err != nil {
		return nil, err
	}
	out, err := c.Spec().Shape(c, descs)
	if err != nil {
		return nil, err
	}
	return g.add(Node{Kind: Op, Call: c, In: slices.Clone(in)}, out...), nil
}

// inputs describes the inputs of a call.
func (g *Graph) inputs(c spec.Call, in []Value) ([]tensor.Desc, error) {
	op := c.Spec()
	descs := make([]tensor.Desc, len(in))
	for i, v := range in {
		if v == None && i > 0 {
			var ok bool
			if descs[i], ok = op.LeftOut(i, descs[0].DType); ok {
				continue
			}
		}
		if v == None {
			return nil, fmt.Errorf("mir: %s: %w: input %d is left out", op.Name, errs.ErrInvalidArgument, i)
		}
		if err := g.has(v); err != nil {
			return nil, fmt.Errorf("mir: %s: input %d: %w", op.Name, i, err)
		}
		descs[i] = g.Desc(v)
	}
	return descs, nil
}

// AddOutput makes a value a result. A value may be several results.
// Errors: ErrInvalidArgument for a name that another result has, or a value that the graph lacks.
func (g *Graph) AddOutput(name string, v Value) error {
	err := g.has(v)
	switch {
	case err != nil:
	case name == "":
		err = fmt.Errorf("%w: no name", errs.ErrInvalidArgument)
	case slices.ContainsFunc(g.outputs, func(o Output) bool { return o.Name == name }):
		err = fmt.Errorf("%w: there is another output of this name", errs.ErrInvalidArgument)
	}
	if err != nil {
		return fmt.Errorf("mir: output %q: %w", name, err)
	}
	g.outputs = append(g.outputs, Output{name, v})
	return nil
}

// SetName labels the node that makes a value, for readers. It does nothing for an Input and a Param, whose
// names are theirs.
func (g *Graph) SetName(v Value, label string) {
	if n := g.Maker(v); n >= 0 && g.nodes[n].Kind != Input && g.nodes[n].Kind != Param {
		g.nodes[n].Name = label
	}
}
