package spec

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Idiomatic is a Call with which the spelled-out form of another operation may end, as a product of probabilities and values ends
// attention. The method looks at the calls before this one. If they are such a form, it adds the calls of the other operation, and says
// which value takes the place of the result.
//
// The method is beside Spec, as that of Differentiable is, so that only programs that compile graphs have the other operation.
type Idiomatic interface {
	Call
	// Idiom looks for a form that ends with this call. It must do nothing on a nil or zero Match.
	Idiom(m *Match)
}

// Copying is a Call of an operation with one input, whose result is a copy of elements of the input.
type Copying interface {
	Call
	// Source is a view of the input whose elements in row-major order are those of the result. It begins at the first element
	// of the input, and may have other dimensions than the result. It reports false if there is no such view.
	Source(in tensor.Desc) (tensor.Desc, bool)
}

// Axis is a dimension of a view, or a part of one: Size indices, each of them Stride elements after the one before.
type Axis struct{ Size, Stride int }

// Source is where the elements of a value come from: the memory of a value that is no view and no copy.
type Source struct {
	Of Value
	// Offset is where the first element is, in bytes.
	Offset int64
	// Dims has for each dimension the axes that it walks, the outermost first, and at least one. Their sizes multiply to the size of the dimension.
	Dims [][]Axis
}

// Rewritable is a graph in which idioms are looked for, and to which the calls that replace them are added. Package graph has one.
type Rewritable interface {
	Recorder
	// Maker returns the call that makes a value, and its inputs, or nil for a value that no call makes.
	Maker(v Value) (Call, []Value)
	// Readers is how many calls, views and outputs read a value.
	Readers(v Value) int
	// Elements are the elements of a value that the graph itself has, or nil.
	Elements(v Value) *tensor.Host
	// Source sees through views and calls of Copying.
	Source(v Value) Source
	// View adds a view of a value: offset is in bytes from its first element.
	View(v Value, d tensor.Desc, offset int64) (Value, error)
}

// Match is a call of a graph that is perhaps the end of an idiom, and the graph before it. FindIdiom makes one.
type Match struct {
	g        Rewritable
	in       []Value
	replaced Value
	missed   string
	err      error
}

// FindIdiom asks a call that reads in whether it ends an idiom. It returns the value that takes the place of its result, or NoValue. missed says why a form
// that is nearly an idiom is none, and is empty for other calls.
// Errors: those of opOf for a call that is none; ErrInvalidArgument without a graph.
func FindIdiom(c Call, g Rewritable, in []Value) (replaced Value, missed string, err error) {
	if _, err := opOf(c); err != nil {
		return NoValue, "", err
	}
	if errs.Nil(g) {
		return NoValue, "", fmt.Errorf("spec: idiom: %w: no graph", errs.ErrInvalidArgument)
	}
	call, ok := c.(Idiomatic)
	if !ok {
		return NoValue, "", nil
	}
	m := &Match{g: g, in: in, replaced: NoValue}
	call.Idiom(m)
	switch {
	case m.missed != "":
		return NoValue, m.missed, nil
	case m.err != nil:
		return NoValue, m.err.Error(), nil
	}
	return m.replaced, "", nil
}

// In is input i of the call, or NoValue if it is left out.
func (m *Match) In(i int) Value {
	if m == nil {
		return NoValue
	}
	return at(m.in, i)
}

// Maker returns the call that makes a value, and its inputs, or nil for a value that no call makes: an input, a param, a constant or a view.
func (m *Match) Maker(v Value) (Call, []Value) {
	if m == nil || m.g == nil || v < 0 {
		return nil, nil
	}
	return m.g.Maker(v)
}

// Readers is how many calls, views and outputs read a value.
func (m *Match) Readers(v Value) int {
	if m == nil || m.g == nil || v < 0 {
		return 0
	}
	return m.g.Readers(v)
}

// Desc describes a value. It is empty for NoValue.
func (m *Match) Desc(v Value) tensor.Desc {
	if m == nil || m.g == nil || v < 0 {
		return tensor.Desc{}
	}
	return m.g.Desc(v)
}

// Elements are the elements of a value that depends on constants only, without strides, or nil: for other values, and if it is long work to compute them.
func (m *Match) Elements(v Value) *tensor.Host {
	if m == nil || m.g == nil || v < 0 {
		return nil
	}
	return m.g.Elements(v)
}

// Number is the number that all elements of a value are. It reports false if they are not known, or differ.
func (m *Match) Number(v Value) (float64, bool) {
	d := m.Desc(v)
	if d.DType == tensor.Invalid || d.Elems() == 0 {
		return 0, false
	}
	h := m.Elements(v)
	if h == nil {
		return 0, false
	}
	list := h.Floats()
	for _, x := range list {
		if x != list[0] {
			return 0, false
		}
	}
	return list[0], true
}

// Source sees through views and copies: it says where the elements of a value come from.
func (m *Match) Source(v Value) Source {
	if m == nil || m.g == nil || v < 0 {
		return Source{Of: NoValue}
	}
	return m.g.Source(v)
}

// Miss says why a form that is nearly an idiom is none, for the report of the compiler. The first reason counts.
func (m *Match) Miss(format string, args ...any) {
	if m != nil && m.missed == "" {
		m.missed = fmt.Sprintf(format, args...)
	}
}

// Missed reports whether Miss was called.
func (m *Match) Missed() bool { return m != nil && m.missed != "" }

// Replace says which value takes the place of the result. It must have the dtype and the shape of the result.
func (m *Match) Replace(v Value) {
	if m.ready() {
		m.replaced = v
	}
}

// ready reports whether calls can be added.
func (m *Match) ready() bool { return m != nil && m.g != nil && m.err == nil && m.missed == "" }

// made is a value, unless it was refused. Then nothing is replaced.
func (m *Match) made(v Value, err error) Value {
	if err != nil {
		m.err = err
		return NoValue
	}
	return v
}

// Call adds a call and returns its first result. If the graph refuses it, as for a device that cannot run it, nothing is replaced.
func (m *Match) Call(c Call, in ...Value) Value {
	if !m.ready() {
		return NoValue
	}
	out, err := m.g.Call(c, in...)
	return m.made(at(out, 0), err)
}

// Constant is a tensor with such elements in row-major order.
func (m *Match) Constant(d tensor.DType, shape []int, values []float64) Value {
	if !m.ready() {
		return NoValue
	}
	h, err := tensor.FromFloats(d, shape, values)
	if err != nil {
		return m.made(NoValue, err)
	}
	return m.made(m.g.Constant(h))
}

// View is a view of v. offset is in bytes from its first element.
func (m *Match) View(v Value, d tensor.Desc, offset int64) Value {
	if !m.ready() || v < 0 {
		return NoValue
	}
	return m.made(m.g.View(v, d, offset))
}

// Reshape is a view of v in another shape. One dimension may be -1.
func (m *Match) Reshape(v Value, shape ...int) Value {
	if !m.ready() || v < 0 {
		return NoValue
	}
	return m.made(m.g.Reshape(v, shape...))
}
