package spec

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// Differentiable is a Call whose operation declares its gradient, as a vector-Jacobian product: the method says which calls turn
// the gradients of the results into the gradients of the inputs.
//
//	func (Exp) Gradient(t *spec.Tape) { t.SetGradient(0, t.Call(Mul{}, t.Gradient(0), t.Out(0))) }
//
// The method is beside Spec, and not in the Definition, so that a program which takes no gradients does not have the operations
// that gradients call. An input whose gradient is not set has the gradient zero. So an operation such as floor, which is constant nearly
// everywhere, has a method that does nothing. An operation that has no method cannot be differentiated.
type Differentiable interface {
	Call
	// Gradient sets the gradients of the inputs. It must do nothing if no result has a gradient, which is so on a nil or zero Tape.
	Gradient(t *Tape)
}

// Value is a value of the graph that a Recorder makes.
type Value int

// NoValue stands for an input that a call leaves out, for a gradient that is zero, and for the result of a call that was refused.
const NoValue Value = -1

// Recorder is a graph to which gradients are added. Package graph has one. Values of views may have strides.
type Recorder interface {
	// Desc describes a value.
	Desc(v Value) tensor.Desc
	// Call adds a call and returns its results. NoValue is an input that is left out.
	Call(c Call, in ...Value) ([]Value, error)
	// Constant adds a tensor that is a part of the graph.
	Constant(h *tensor.Host) (Value, error)
	// Reshape, Transpose, Narrow and Expand add views, as the methods of graph.Value of these names do.
	Reshape(v Value, shape ...int) (Value, error)
	Transpose(v Value, perm ...int) (Value, error)
	Narrow(v Value, dim, start, n int) (Value, error)
	Expand(v Value, shape ...int) (Value, error)
}

// Tape is what the gradient of one call is written on: the inputs and results of the call, the gradients of the results, and a graph
// to which it adds calls. Gradients makes one. The first call that is refused ends it: later ones give NoValue.
type Tape struct {
	r               Recorder
	in, out         []Value
	results, inputs []Value // gradients
	needs           []bool
	err             error
}

// Gradients adds to r the calls that turn gradients of the results of c into gradients of its inputs, which it returns. in and out are the
// inputs and results of c. results has a gradient for each result, or NoValue. needs says of which inputs the gradient is read.
// What it returns for the other inputs is NoValue, and also where the gradient is zero. Where an input was broadcast, its gradient may have
// the shape to which it was, and must be summed.
// Errors: ErrUnsupported if the operation declares no gradient, or none for these attributes; those of r.
func Gradients(c Call, r Recorder, in, out, results []Value, needs []bool) ([]Value, error) {
	op, err := opOf(c)
	if err != nil {
		return nil, err
	}
	if errs.Nil(r) || len(results) != len(out) || len(needs) != len(in) {
		return nil, fmt.Errorf("spec: gradient of %s: %w: no graph, or a gradient for each of %d results and %d inputs is missing", op.Name, errs.ErrInvalidArgument, len(out), len(in))
	}
	d, ok := c.(Differentiable)
	if !ok {
		return nil, fmt.Errorf("gradient of %s: %w: the operation declares none", op.Name, errs.ErrUnsupported)
	}
	t := &Tape{r: r, in: in, out: out, results: results, needs: needs, inputs: make([]Value, len(in))}
	for i := range t.inputs {
		t.inputs[i] = NoValue
	}
	d.Gradient(t)
	if t.err != nil {
		return nil, fmt.Errorf("gradient of %s: %w", op.Name, t.err)
	}
	return t.inputs, nil
}

// at is element i of list, or NoValue.
func at(list []Value, i int) Value {
	if i < 0 || i >= len(list) {
		return NoValue
	}
	return list[i]
}

// In is input i of the call, or NoValue if it is left out.
func (t *Tape) In(i int) Value {
	if t == nil {
		return NoValue
	}
	return at(t.in, i)
}

// Inputs is the number of inputs of the call.
func (t *Tape) Inputs() int {
	if t == nil {
		return 0
	}
	return len(t.in)
}

// Out is result i of the call.
func (t *Tape) Out(i int) Value {
	if t == nil {
		return NoValue
	}
	return at(t.out, i)
}

// Gradient is the gradient of result i, or NoValue if it is zero. It has the dtype and the shape of the result.
func (t *Tape) Gradient(i int) Value {
	if t == nil {
		return NoValue
	}
	return at(t.results, i)
}

// Needs reports whether anybody reads the gradient of input i.
func (t *Tape) Needs(i int) bool { return t != nil && i >= 0 && i < len(t.needs) && t.needs[i] }

// SetGradient says what the gradient of input i is. It has the dtype of the input, and its shape or the shape to which it was broadcast.
// A tensor of shape [0], which can stand for an input that a call leaves out, has none.
func (t *Tape) SetGradient(i int, v Value) {
	if t.Needs(i) && t.err == nil && !slices.Equal(t.Shape(t.In(i)), []int{0}) {
		t.inputs[i] = v
	}
}

// Refuse says why the gradient does not exist for these attributes or inputs. The text is that of fmt.Sprintf.
func (t *Tape) Refuse(format string, args ...any) {
	if t != nil {
		t.fail(fmt.Errorf("%w: %s", errs.ErrUnsupported, fmt.Sprintf(format, args...)))
	}
}

func (t *Tape) fail(err error) Value {
	if t.err == nil {
		t.err = err
	}
	return NoValue
}

// ready reports whether calls can be added.
func (t *Tape) ready() bool { return t != nil && t.r != nil && t.err == nil }

// Desc describes a value. It is empty for NoValue.
func (t *Tape) Desc(v Value) tensor.Desc {
	if t == nil || t.r == nil || v == NoValue {
		return tensor.Desc{}
	}
	return t.r.Desc(v)
}

// Shape is the shape of a value. It must not be changed.
func (t *Tape) Shape(v Value) []int { return t.Desc(v).Shape }

// Call adds a call and returns its first result.
func (t *Tape) Call(c Call, in ...Value) Value { return at(t.Calls(c, in...), 0) }

// Calls adds a call and returns its results, or nil if it is refused.
func (t *Tape) Calls(c Call, in ...Value) []Value {
	if !t.ready() {
		return nil
	}
	out, err := t.r.Call(c, in...)
	if err != nil {
		t.fail(err)
		return nil
	}
	return out
}

// Scalar is a number of shape [] and of the dtype of a value.
func (t *Tape) Scalar(x float64, like Value) Value {
	return t.Constant(t.Desc(like).DType, nil, []float64{x})
}

// Constant is a tensor with such elements in row-major order.
func (t *Tape) Constant(d tensor.DType, shape []int, values []float64) Value {
	if !t.ready() {
		return NoValue
	}
	h, err := tensor.FromFloats(d, shape, values)
	if err != nil {
		return t.fail(err)
	}
	v, err := t.r.Constant(h)
	return t.made(v, err)
}

func (t *Tape) made(v Value, err error) Value {
	if err != nil {
		return t.fail(err)
	}
	return v
}

// Reshape is a view of v in another shape. One dimension may be -1.
func (t *Tape) Reshape(v Value, shape ...int) Value {
	if !t.ready() || v == NoValue {
		return NoValue
	}
	return t.made(t.r.Reshape(v, shape...))
}

// Transpose is a view of v with its dimensions in another order. Without perm the order is reversed.
func (t *Tape) Transpose(v Value, perm ...int) Value {
	if !t.ready() || v == NoValue {
		return NoValue
	}
	return t.made(t.r.Transpose(v, perm...))
}

// Narrow is a view of n indices of a dimension of v, from start on.
func (t *Tape) Narrow(v Value, dim, start, n int) Value {
	if !t.ready() || v == NoValue {
		return NoValue
	}
	return t.made(t.r.Narrow(v, dim, start, n))
}

// Expand is a view of v that repeats dimensions of size 1, by NumPy's rule.
func (t *Tape) Expand(v Value, shape ...int) Value {
	if !t.ready() || v == NoValue {
		return NoValue
	}
	return t.made(t.r.Expand(v, shape...))
}
