package graph

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Gradients returns the gradients of a loss, which has one element, with respect to values: each has the dtype and shape of its value.
// It adds calls to the graph, in reverse mode: those that the operations of the graph declare. The gradient of a value that the loss does
// not depend on is zeros. Integers and Bool have no gradient, and none goes through them.
//
// The values are inputs, params, constants or results of calls, and no views: a view is another way to see its value. To take gradients of
// gradients, give the result to Gradients again, after sums that make one element of it.
func (g *Graph) Gradients(loss *Value, of ...*Value) []*Value {
	if n := loss.Desc(); loss != nil && loss.failed == nil && loss.number == nil && g != nil && loss.g.whole() == g.whole() && n.Elems() != 1 {
		return g.noGradients(of, fmt.Errorf("graph: gradients: %w: the loss is %v (want one element; GradientsFrom takes more)", errs.ErrInvalidArgument, n))
	}
	return g.gradients(loss, nil, of)
}

// GradientsFrom is Gradients of a value of any shape. seed is the gradient of that value, of its dtype and shape. So the results are those of
// the sum of value·seed: the product of seed and the Jacobian.
func (g *Graph) GradientsFrom(value, seed *Value, of ...*Value) []*Value {
	if err := g.made(); err != nil {
		return g.noGradients(of, err)
	}
	seed, err := g.own(seed, "the seed")
	if err != nil {
		return g.noGradients(of, err)
	}
	return g.gradients(value, seed, of)
}

// own returns v, as the body of an If or a While reads it. It returns an error unless v is a value of this graph.
func (g *Graph) own(v *Value, what string) (*Value, error) {
	switch {
	case v == nil || v.number != nil:
		return nil, fmt.Errorf("graph: gradients: %w: %s is no value of a graph", errs.ErrInvalidArgument, what)
	case v.failed != nil:
		g.again(v)
		return nil, v.failed
	}
	id, err := g.local(v)
	if err != nil {
		return nil, fmt.Errorf("%w (%s of gradients)", err, what)
	}
	return &Value{g: g, id: id}, nil
}

// noGradients collects a mistake, unless it was, and returns as many values as there would be.
func (g *Graph) noGradients(of []*Value, err error) []*Value {
	return slices.Repeat([]*Value{g.fail(err)}, len(of))
}

// gradients is GradientsFrom. Without a seed it is ones.
func (g *Graph) gradients(from, seed *Value, of []*Value) []*Value {
	if err := g.made(); err != nil {
		return g.noGradients(of, err)
	}
	all := append([]*Value{from}, of...)
	for i, v := range all {
		what := "the value to differentiate"
		if i > 0 {
			what = fmt.Sprintf("value %d", i-1)
		}
		own, err := g.own(v, what)
		if err == nil {
			v, all[i] = own, own
		}
		switch {
		case err != nil && v != nil && v.failed != nil:
			return slices.Repeat([]*Value{v}, len(of)) // its mistake is collected
		case err == nil && !floating(v.DType()):
			err = fmt.Errorf("graph: gradients: %w: %s is %v (want floating-point elements)", errs.ErrInvalidArgument, what, v)
		case err == nil && i > 0 && g.mir.Nodes()[g.mir.Maker(v.id)].Kind == mir.View:
			err = fmt.Errorf("graph: gradients: %w: %s is a view (want the value that it is a view of)", errs.ErrInvalidArgument, what)
		}
		if err != nil {
			return g.noGradients(of, err)
		}
	}
	from, of = all[0], all[1:]
	if seed != nil && (seed.DType() != from.DType() || !slices.Equal(seed.Shape(), from.Shape())) {
		return g.noGradients(of, fmt.Errorf("graph: gradients: %w: the seed is %v (want %v)", errs.ErrInvalidArgument, seed, from))
	}
	t := &reverse{g: g, parts: map[mir.Value][]mir.Value{}}
	list, err := t.run(from, seed, of)
	if err != nil {
		return g.noGradients(of, err)
	}
	return list
}

// floating reports whether elements have gradients.
func floating(d tensor.DType) bool {
	return d == tensor.F32 || d == tensor.F64 || d == tensor.F16 || d == tensor.BF16
}

// reverse is one walk of a graph from its end to its beginning.
type reverse struct {
	g       *Graph
	depends []bool                    // of each value, whether it depends on one of those whose gradients are asked for
	parts   map[mir.Value][]mir.Value // gradients of a value, one from each reader
}

func (t *reverse) run(from, seed *Value, of []*Value) ([]*Value, error) {
	ids := make([]mir.Value, len(of))
	for i, v := range of {
		ids[i] = v.id
	}
	sums, err := t.walk([]mir.Value{from.id}, func(int) (mir.Value, error) { return t.seed(from, seed) }, ids)
	if err != nil {
		return nil, err
	}
	list := make([]*Value, len(of))
	for i, sum := range sums {
		list[i] = &Value{g: t.g, id: sum}
	}
	return list, nil
}

// walk returns the gradients of values from those of others, which seed makes.
func (t *reverse) walk(from []mir.Value, seed func(i int) (mir.Value, error), of []mir.Value) ([]mir.Value, error) {
	m := t.g.mir
	begin := 0
	for _, v := range from {
		begin = max(begin, m.Maker(v))
	}
	last := begin
	for _, v := range of {
		last = max(last, m.Maker(v))
	}
	nodes := m.Nodes()[:last+1] // the nodes that this walk adds come after
	t.mark(nodes, of)
	for i, v := range from {
		if t.depends[v] {
			first, err := seed(i)
			if err != nil {
				return nil, err
			}
			t.parts[v] = append(t.parts[v], first)
		}
	}
	for i := begin; i >= 0; i-- {
		if err := t.node(nodes[i]); err != nil {
			return nil, fmt.Errorf("graph: %w", err)
		}
	}
	list := make([]mir.Value, len(of))
	for i, v := range of {
		sum, err := t.sum(v)
		if err == nil && sum == mir.None {
			sum, err = t.filled(0, m.Desc(v))
		}
		if err != nil {
			return nil, err
		}
		list[i] = sum
	}
	return list, nil
}

// mark finds the values that depend on those whose gradients are asked for.
func (t *reverse) mark(nodes []mir.Node, of []mir.Value) {
	t.depends = make([]bool, t.g.mir.Values())
	for _, v := range of {
		t.depends[v] = true
	}
	for _, n := range nodes {
		if !slices.ContainsFunc(n.In, func(v mir.Value) bool { return v != mir.None && t.depends[v] }) {
			continue
		}
		for _, v := range n.Out {
			t.depends[v] = t.depends[v] || floating(t.g.mir.Desc(v).DType)
		}
	}
}

// seed is the gradient of the value from which the walk begins.
func (t *reverse) seed(from, seed *Value) (mir.Value, error) {
	if seed != nil {
		return seed.id, nil
	}
	return t.filled(1, from.Desc())
}

// filled is a tensor of one number.
func (t *reverse) filled(x float64, d tensor.Desc) (mir.Value, error) {
	out, err := t.g.mir.AddCall(ops.Fill{Value: x, DType: d.DType, Shape: d.Shape})
	if err != nil {
		return mir.None, err
	}
	return out[0], nil
}

// sum is the gradient of a value once all its readers have added theirs, or None.
func (t *reverse) sum(v mir.Value) (mir.Value, error) {
	parts := t.parts[v]
	if len(parts) == 0 {
		return mir.None, nil
	}
	sum := parts[0]
	for _, p := range parts[1:] {
		out, err := t.g.mir.AddCall(ops.Add{}, sum, p)
		if err != nil {
			return mir.None, err
		}
		sum = out[0]
	}
	t.parts[v] = []mir.Value{sum}
	return sum, nil
}

// node adds the gradients of what a node reads.
func (t *reverse) node(n mir.Node) error {
	if !slices.ContainsFunc(n.In, func(v mir.Value) bool { return v != mir.None && t.depends[v] }) {
		return nil
	}
	var in, out, results []spec.Value
	var needs []bool
	some := false
	for _, v := range n.Out {
		sum, err := t.sum(v)
		if err != nil {
			return err
		}
		out, results, some = append(out, spec.Value(v)), append(results, spec.Value(sum)), some || sum != mir.None
	}
	if !some {
		return nil
	}
	switch n.Kind {
	case mir.If:
		return t.branches(n, results)
	case mir.While:
		return t.loop(n, results)
	case mir.View:
		root, err := t.unview(n, mir.Value(results[0]))
		t.parts[n.In[0]] = append(t.parts[n.In[0]], root)
		return err
	}
	for _, v := range n.In {
		in, needs = append(in, spec.Value(v)), append(needs, v != mir.None && t.depends[v])
	}
	grads, err := spec.Gradients(n.Call, recorder{t.g}, in, out, results, needs)
	if err != nil {
		return err
	}
	for i, v := range n.In {
		if !needs[i] || grads[i] == spec.NoValue {
			continue
		}
		part, err := t.like(mir.Value(grads[i]), t.g.mir.Desc(v))
		if err != nil {
			return fmt.Errorf("gradient of %s: input %d: %w", n.Call.Spec().Name, i, err)
		}
		t.parts[v] = append(t.parts[v], part)
	}
	return nil
}

// like sums a gradient over the dimensions along which its value was broadcast.
func (t *reverse) like(v mir.Value, want tensor.Desc) (mir.Value, error) {
	r, have := recorder{t.g}, t.g.mir.Desc(v)
	bad := fmt.Errorf("%w: its gradient is %v (want %v)", errs.ErrInvalidArgument, have, want)
	skip := len(have.Shape) - len(want.Shape)
	if have.DType != want.DType || skip < 0 {
		return mir.None, bad
	}
	var dims []int
	for i, n := range have.Shape {
		switch {
		case i < skip, want.Shape[i-skip] == 1 && n != 1:
			dims = append(dims, i)
		case want.Shape[i-skip] != n:
			return mir.None, bad
		}
	}
	if len(dims) == 0 {
		return v, nil
	}
	out, err := t.g.mir.AddCall(ops.ReduceSum{Dims: dims, KeepDims: true}, v)
	if err != nil {
		return mir.None, err
	}
	shaped, err := r.Reshape(spec.Value(out[0]), want.Shape...)
	return mir.Value(shaped), err
}
