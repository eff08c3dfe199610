// Package graph builds graphs of operations, which Device.Compile of package lathe compiles once, to run them many times.
// A graph reads like the mathematics:
//
//	g := graph.New()
//	x := g.Input("x", tensor.F32, 64, 784)
//	w := g.Param("w", tensor.F32, 784, 10)
//	b := g.Param("b", tensor.F32, 10)
//	g.Output("p", g.Softmax(g.Add(g.MatMul(x, w), b), -1))
//	exe, err := dev.Compile(ctx, g, graph.Options{})
//
// The methods of a Graph are those of lathe.Device that are named after operations. They return values, which have shapes and
// no elements. No method returns an error: mistakes are collected, each with its place in the program, and Err and
// Device.Compile return all of them.
//
// A run of the compiled graph is one submission. Its intermediate values share one piece of memory. Calls that are equal run
// once, calls that no output needs do not run, and what depends on constants only is computed when the graph is compiled.
package graph

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/number"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Graph is a graph in the making. New makes one. One goroutine at a time may use it.
type Graph struct {
	mir    *mir.Graph
	errs   []error
	more   int                     // mistakes that were not kept
	copied map[mir.Value]mir.Value // of views that a call needs without strides
	dims   Dims                    // the sizes of named dims
	asked  map[string]bool         // the dims that Dim was called for
	body   *body                   // what makes it the body of an If or a While, or nil
}

// New returns an empty Graph.
func New() *Graph { return &Graph{mir: &mir.Graph{}, copied: map[mir.Value]mir.Value{}} }

// mostErrors is how many mistakes a Graph keeps. The rest are counted.
const mostErrors = 100

// Err returns the mistakes that were made in building the graph, or nil: the first 100, and how many more there are. It matches ErrGraph, and what each mistake matches.
func (g *Graph) Err() error {
	switch {
	case g == nil || g.mir == nil:
		return fmt.Errorf("graph: %w: a Graph that New did not make", errs.ErrNotInitialized)
	}
	g = g.whole()
	if len(g.errs) == 0 {
		return nil
	}
	list := g.errs
	if g.more > 0 {
		list = append(slices.Clone(list), fmt.Errorf("and %d more", g.more))
	}
	return &buildError{list}
}

// buildError is the mistakes in building a graph.
type buildError struct{ list []error }

func (e *buildError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "graph: %v", errs.ErrGraph)
	for _, err := range e.list {
		fmt.Fprintf(&b, "\n\t%v", err)
	}
	return b.String()
}

// Unwrap returns ErrGraph and the mistakes.
func (e *buildError) Unwrap() []error { return append([]error{errs.ErrGraph}, e.list...) }

// fail collects a mistake with its place in the program. The value that it returns remembers the mistake, for a graph that it is
// given to later.
func (g *Graph) fail(err error) *Value { return g.collect(fmt.Errorf("%w%s", err, caller())) }

// collect is fail for a mistake that has its place.
func (g *Graph) collect(err error) *Value {
	switch all := g.whole(); {
	case g == nil:
	case len(all.errs) < mostErrors:
		all.errs = append(all.errs, err)
	default:
		all.more++
	}
	return &Value{g: g, failed: err}
}

// caller is the place in the program that called this package, or a block of hir, as " (file.go:12)".
func caller() string {
	const dir = "github.com/lathe-gpu/lathe/"
	if at := errs.CallSite(dir+"graph.", dir+"graph/hir.", dir+"internal/errs."); at != "" {
		return " (" + at + ")"
	}
	return ""
}

// Input declares an input, which every run is given. Its elements lie in row-major order.
func (g *Graph) Input(name string, d tensor.DType, shape ...int) *Value {
	return g.declare(name, d, shape, (*mir.Graph).AddInput)
}

// Param declares a param. It stays from run to run until Executable.SetParam gives another tensor, as a weight does.
func (g *Graph) Param(name string, d tensor.DType, shape ...int) *Value {
	return g.declare(name, d, shape, (*mir.Graph).AddParam)
}

// Weight declares a param whose elements change only when Executable.SetParam gives another tensor: the program promises to write nothing to that tensor. So
// what depends on weights and constants only is computed once after SetParam, before the next run: casts, views that are copied, and what kernels
// make of a weight before they use it, such as a packed matrix. It stays in memory of its own.
func (g *Graph) Weight(name string, d tensor.DType, shape ...int) *Value {
	return g.declare(name, d, shape, (*mir.Graph).AddWeight)
}

func (g *Graph) declare(name string, d tensor.DType, shape []int, add func(*mir.Graph, string, tensor.Desc) (mir.Value, error)) *Value {
	if err := g.made(); err != nil {
		return g.fail(err)
	}
	if g.body != nil {
		return g.fail(fmt.Errorf("graph: %q: %w: an input or a param in the body of an If or a While (want it outside; the body can read it)", name, errs.ErrInvalidArgument))
	}
	v, err := add(g.mir, name, tensor.Contiguous(d, slices.Clone(shape)...))
	if err != nil {
		return g.fail(err)
	}
	return &Value{g: g, id: v}
}

// made returns an error for a Graph that New did not make.
func (g *Graph) made() error {
	if g == nil || g.mir == nil {
		return fmt.Errorf("graph: %w: a Graph that New did not make", errs.ErrNotInitialized)
	}
	if g.body != nil && g.body.ended {
		return fmt.Errorf("graph: %w: the function that builds this body of an If or a While has returned", errs.ErrInvalidArgument)
	}
	return nil
}

// Constant is a tensor whose elements are a part of the graph.
func (g *Graph) Constant(h *tensor.Host) *Value {
	if err := g.made(); err != nil {
		return g.fail(err)
	}
	if h == nil {
		return g.fail(fmt.Errorf("graph: constant: %w: no tensor", errs.ErrInvalidArgument))
	}
	v, err := g.mir.AddConstant(h.Desc, slices.Clone(h.Data))
	if err != nil {
		return g.fail(err)
	}
	return &Value{g: g, id: v}
}

// Call is a call of an operation, also of one that the program declares. It returns the results. If the call is a mistake, these are
// values that later calls take without a mistake of their own. A nil input is left out, if the operation allows it.
func (g *Graph) Call(c spec.Call, in ...*Value) []*Value {
	if err := g.made(); err != nil {
		return none(c, g.fail(err))
	}
	if i := slices.IndexFunc(in, func(v *Value) bool { return v != nil && v.failed != nil }); i >= 0 {
		return none(c, g.again(in[i]))
	}
	ids, err := g.inputs(c, in)
	if err != nil {
		return none(c, g.fail(err))
	}
	out, err := g.mir.AddCall(c, ids...)
	if err != nil {
		return none(c, g.fail(err))
	}
	values := make([]*Value, len(out))
	for i, v := range out {
		values[i] = &Value{g: g, id: v}
	}
	return values
}

// again is a value whose mistake was collected, or else collects it: a mistake may have been made without a graph.
func (g *Graph) again(v *Value) *Value {
	if v.g.whole() != g.whole() {
		return g.collect(v.failed)
	}
	return v
}

// none are results of a call that cannot be: as many as it would have.
func none(c spec.Call, failed *Value) []*Value {
	n := 1
	if c != nil && !errs.Nil(c) && c.Spec() != nil {
		n = max(len(c.Spec().Out), 1)
	}
	return slices.Repeat([]*Value{failed}, n)
}

// inputs are the inputs of a call, with constants in place of numbers.
func (g *Graph) inputs(c spec.Call, in []*Value) ([]mir.Value, error) {
	types := make([]tensor.DType, len(in))
	for i, v := range in {
		switch {
		case v == nil:
		case v.number != nil:
		default:
			types[i] = v.DType()
		}
	}
	ids := make([]mir.Value, len(in))
	for i, v := range in {
		ids[i] = mir.None
		if v != nil && v.number == nil {
			id, err := g.local(v)
			if err != nil {
				return nil, fmt.Errorf("%w (input %d)", err, i)
			}
			ids[i] = id
		} else if v != nil {
			id, err := g.constant(c, v.number, types, i)
			if err != nil {
				return nil, err
			}
			ids[i] = id
		}
	}
	return ids, nil
}

// constant is a number as input i of a call.
func (g *Graph) constant(c spec.Call, n *number.Number, types []tensor.DType, i int) (mir.Value, error) {
	d := number.Type(c, types, i)
	if d == tensor.Invalid {
		return mir.None, fmt.Errorf("graph: %w: input %d is a Scalar, and so is each operand that could say its dtype (want a value among them)", errs.ErrInvalidArgument, i)
	}
	data, ok := n.Element(d)
	if !ok {
		return mir.None, fmt.Errorf("graph: %w: scalar as %v (got %v, want %s)", errs.ErrInvalidArgument, d, n, number.Wanted(d))
	}
	return g.mir.AddConstant(tensor.Contiguous(d), data)
}

// Output makes a value a result of the graph.
func (g *Graph) Output(name string, v *Value) {
	if err := g.made(); err != nil {
		g.fail(err)
		return
	}
	switch {
	case g.body != nil:
		g.fail(fmt.Errorf("graph: output %q: %w: in the body of an If or a While (its function returns the results)", name, errs.ErrInvalidArgument))
	case v == nil || v.number != nil:
		g.fail(fmt.Errorf("graph: output %q: %w: no value of the graph", name, errs.ErrInvalidArgument))
	case v.failed != nil:
		g.again(v)
	case v.g != nil && v.g != g && v.g.whole() == g:
		g.fail(fmt.Errorf("graph: output %q: %w: a value of the body of an If or a While is used outside of it (return it from the body's function)", name, errs.ErrInvalidArgument))
	case v.g != g:
		g.fail(fmt.Errorf("graph: output %q: %w: a value of another graph", name, errs.ErrInvalidArgument))
	default:
		if err := g.mir.AddOutput(name, v.id); err != nil {
			g.fail(err)
		}
	}
}

// MIR returns the graph of single operations.
// Errors: those of Err.
func (g *Graph) MIR() (*mir.Graph, error) {
	if err := g.Err(); err != nil {
		return nil, err
	}
	return g.mir, nil
}

// given are the inputs up to the last one that is not left out.
func given(in ...*Value) []*Value {
	for len(in) > 0 && in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	return in
}

// contiguous is a value without strides: v itself, or a copy.
func (g *Graph) contiguous(v mir.Value) (mir.Value, error) {
	if g.mir.Desc(v).IsContiguous() {
		return v, nil
	}
	if c, ok := g.copied[v]; ok {
		return c, nil
	}
	out, err := g.mir.AddCall(ops.Copy{}, v)
	if err != nil {
		return mir.None, err
	}
	g.copied[v] = out[0]
	return out[0], nil
}
