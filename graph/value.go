package graph

import (
	"fmt"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/number"
	"github.com/lathe-gpu/lathe/internal/view"
	"github.com/lathe-gpu/lathe/tensor"
)

// Value is a value of a Graph: a tensor that a run will compute. Methods such as Transpose make views, which cost nothing.
type Value struct {
	g      *Graph
	id     mir.Value
	number *number.Number // what a Scalar is, or nil
	failed error          // why there is no value, or nil
}

// Scalar is a number as an operand, as in g.Mul(x, graph.Scalar(0.5)). It stands for a tensor of shape [] with the dtype of the
// call's first operand that is no Scalar, as lathe.Scalar does.
func Scalar[T int | int8 | int16 | int32 | int64 | uint8 | uint16 | uint32 | uint64 | float32 | float64](v T) *Value {
	return &Value{number: number.Of(v)}
}

// Desc describes the value: dtype, shape and, of views, strides. It is empty for a Scalar and after a mistake.
func (v *Value) Desc() tensor.Desc {
	if v == nil || v.g == nil || v.failed != nil {
		return tensor.Desc{}
	}
	return v.g.mir.Desc(v.id)
}

// Shape is the shape; empty for a scalar. It must not be changed.
func (v *Value) Shape() []int { return v.Desc().Shape }

// DType is the type of the elements.
func (v *Value) DType() tensor.DType { return v.Desc().DType }

// String describes the value as "f32[2,3]".
func (v *Value) String() string {
	switch {
	case v == nil || v.failed != nil:
		return "no value"
	case v.number != nil:
		return "scalar " + v.number.String()
	case v.g == nil:
		return "no value"
	}
	return v.Desc().String()
}

// Label names the value's node in plans and traces, and returns the value.
func (v *Value) Label(text string) *Value {
	if v != nil && v.g != nil && v.failed == nil {
		v.g.mir.SetName(v.id, text)
	}
	return v
}

// viewed is a view of the value. make computes it.
func (v *Value) viewed(label string, make func(d tensor.Desc) (tensor.Desc, int64, error)) *Value {
	switch {
	case v == nil || v.number != nil || v.g == nil:
		var g *Graph
		if v != nil {
			g = v.g
		}
		return g.fail(fmt.Errorf("graph: %s: %w: no value of a graph", label, errs.ErrInvalidArgument))
	case v.failed != nil:
		return v
	}
	d, offset, err := make(v.Desc())
	if err == nil {
		var id mir.Value
		if id, err = v.g.mir.AddView(label, v.id, offset, d); err == nil {
			return &Value{g: v.g, id: id}
		}
	}
	return v.g.fail(fmt.Errorf("graph: %s of %v: %w", label, v, err))
}

// Reshape has another shape and the same elements in the same order. One dimension may be -1, and then follows from the number of
// elements. If the elements of a view do not lie one after the other, they are copied.
func (v *Value) Reshape(shape ...int) *Value {
	if v != nil && v.g != nil && v.failed == nil && !v.Desc().IsContiguous() {
		id, err := v.g.contiguous(v.id)
		if err != nil {
			return v.g.fail(err)
		}
		v = &Value{g: v.g, id: id}
	}
	return v.viewed("reshape", func(d tensor.Desc) (tensor.Desc, int64, error) {
		to, err := view.Reshape(d, shape...)
		return to, 0, err
	})
}

// Transpose has the dimensions in another order: dimension i of the result is dimension perm[i] of v. A negative perm[i] counts
// from the end. Without perm the order is reversed, which transposes a matrix.
func (v *Value) Transpose(perm ...int) *Value {
	return v.viewed("transpose", func(d tensor.Desc) (tensor.Desc, int64, error) {
		to, err := view.Transpose(d, perm...)
		return to, 0, err
	})
}

// Narrow has n indices of dimension dim, beginning with index start. A negative dim and a negative start count from the end.
func (v *Value) Narrow(dim, start, n int) *Value {
	return v.viewed("narrow", func(d tensor.Desc) (tensor.Desc, int64, error) { return view.Narrow(d, dim, start, n) })
}

// Expand repeats dimensions of size 1, by NumPy's rule: dimensions are matched from the last one on, and shape may have more of
// them.
func (v *Value) Expand(shape ...int) *Value {
	return v.viewed("expand", func(d tensor.Desc) (tensor.Desc, int64, error) {
		to, err := view.Expand(d, shape...)
		return to, 0, err
	})
}
