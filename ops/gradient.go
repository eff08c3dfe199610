package ops

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// The functions of this file write the calls of gradients as formulas.

func sum(t *spec.Tape, a, b spec.Value) spec.Value        { return t.Call(Add{}, a, b) }
func difference(t *spec.Tape, a, b spec.Value) spec.Value { return t.Call(Sub{}, a, b) }
func times(t *spec.Tape, a, b spec.Value) spec.Value      { return t.Call(Mul{}, a, b) }
func over(t *spec.Tape, a, b spec.Value) spec.Value       { return t.Call(Div{}, a, b) }
func squared(t *spec.Tape, a spec.Value) spec.Value       { return t.Call(Mul{}, a, a) }
func minus(t *spec.Tape, a spec.Value) spec.Value         { return t.Call(Neg{}, a) }

// scaled is x·a, and plus is a + x.
func scaled(t *spec.Tape, a spec.Value, x float64) spec.Value { return times(t, a, t.Scalar(x, a)) }
func plus(t *spec.Tape, a spec.Value, x float64) spec.Value   { return sum(t, a, t.Scalar(x, a)) }

// where is a where condition is true, and 0 elsewhere.
func where(t *spec.Tape, condition, a spec.Value) spec.Value {
	return t.Call(Where{}, condition, a, t.Scalar(0, a))
}

// unless is a where condition is false, and 0 elsewhere.
func unless(t *spec.Tape, condition, a spec.Value) spec.Value {
	return t.Call(Where{}, condition, t.Scalar(0, a), a)
}

// negative says where a is below 0.
func negative(t *spec.Tape, a spec.Value) spec.Value { return t.Call(Less{}, a, t.Scalar(0, a)) }

// linear sets the gradient of an input of which the result is a linear function, and whose gradient c computes from that of the result.
func linear(t *spec.Tape, i int, c spec.Call, more ...spec.Value) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(i, t.Call(c, append([]spec.Value{dy}, more...)...))
	}
}

// derivative sets the gradient of a function of one element: c computes it from the element and the gradient of the result.
func derivative(t *spec.Tape, c spec.Call) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(0, t.Call(c, t.In(0), dy))
	}
}

// second sets the gradients of a call c of an operation (x, dy) → dy·f'(x): that of dy is c again, and that of x is dy times f”, which the
// function computes. Without it f” is 0.
func second(t *spec.Tape, c spec.Call, curvature func(x spec.Value) spec.Value) {
	d := t.Gradient(0)
	if d == spec.NoValue {
		return
	}
	if t.Needs(1) {
		t.SetGradient(1, t.Call(c, t.In(0), d))
	}
	if t.Needs(0) && curvature != nil {
		t.SetGradient(0, times(t, times(t, d, t.In(1)), curvature(t.In(0))))
	}
}

// zeros are as many as like has elements.
func zeros(t *spec.Tape, like spec.Value) spec.Value {
	d := t.Desc(like)
	return t.Call(Fill{DType: d.DType, Shape: d.Shape})
}

// from counts a dimension from 0 on.
func from(dim, rank int) int {
	if dim < 0 {
		dim += rank
	}
	return dim
}

// reducedDims are the dimensions of a reduction, from 0 on. None means all.
func reducedDims(dims []int, rank int) []int {
	var list []int
	for d := range rank {
		if len(dims) == 0 || slices.Contains(dims, d) || slices.Contains(dims, d-rank) {
			list = append(list, d)
		}
	}
	return list
}

// kept is the result of a reduction of in, or its gradient, with the dimensions that were reduced as ones.
func kept(t *spec.Tape, v, in spec.Value, dims []int) spec.Value {
	shape := slices.Clone(t.Shape(in))
	for _, d := range reducedDims(dims, len(shape)) {
		shape[d] = 1
	}
	return t.Reshape(v, shape...)
}

// elements is the number of elements that each element of a reduction is made of.
func elements(t *spec.Tape, in spec.Value, dims []int) int {
	n, shape := 1, t.Shape(in)
	for _, d := range reducedDims(dims, len(shape)) {
		n *= shape[d]
	}
	return n
}

// extremes sets the gradient of a reduction to the largest or smallest elements: equal ones have equal parts of it.
func extremes(t *spec.Tape, dims []int) {
	dy, in := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	found := t.Call(Cast{To: t.Desc(in).DType}, t.Call(Equal{}, in, kept(t, t.Out(0), in, dims)))
	n := t.Call(ReduceSum{Dims: reducedDims(dims, len(t.Shape(in))), KeepDims: true}, found)
	t.SetGradient(0, times(t, found, over(t, kept(t, dy, in, dims), n)))
}

// wide is v in F32 if it has 16 bits, and else v.
func wide(t *spec.Tape, v spec.Value) spec.Value {
	if d := t.Desc(v).DType; d == tensor.F16 || d == tensor.BF16 {
		return t.Call(Cast{To: tensor.F32}, v)
	}
	return v
}

// as is v in the dtype of like.
func as(t *spec.Tape, v, like spec.Value) spec.Value {
	if d := t.Desc(like).DType; v != spec.NoValue && t.Desc(v).DType != d {
		return t.Call(Cast{To: d}, v)
	}
	return v
}

// channels are the dimensions of a tensor [N,C,spatial...] but C, and the shape of a vector [C] that is broadcast to it.
func channels(shape []int) (rest, column []int) {
	column = make([]int, max(len(shape)-1, 0))
	for d := range shape {
		if d != 1 {
			rest = append(rest, d)
		}
		if d > 1 {
			column[d-1] = 1
		}
	}
	if len(shape) > 1 {
		column[0] = shape[1]
	}
	return rest, column
}

// ones are as many as like has elements.
func ones(t *spec.Tape, like spec.Value) spec.Value {
	d := t.Desc(like)
	return t.Call(Fill{Value: 1, DType: d.DType, Shape: d.Shape})
}

// curvedSwish is the second derivative of x·s(alpha·x), with s the logistic function.
func curvedSwish(t *spec.Tape, x spec.Value, alpha float64) spec.Value {
	z := scaled(t, x, alpha)
	bend := plus(t, times(t, z, plus(t, scaled(t, t.Call(Sigmoid{}, z), -2), 1)), 2)
	return t.Call(SigmoidGrad{}, z, scaled(t, bend, alpha))
}

// scatterGradient declares the gradients of a scatter, whose updates gather reads back. Updates that another one replaces have the gradient 0.
func scatterGradient(t *spec.Tape, scatter, gather spec.Call, reduction string) {
	dy := t.Gradient(0)
	if dy == spec.NoValue {
		return
	}
	back := func(v spec.Value) spec.Value { return t.Call(gather, v, t.In(1)) }
	switch {
	case indexing.Replaces(reduction):
		if t.Needs(0) {
			t.SetGradient(0, t.Call(scatter, dy, t.In(1), zeros(t, t.In(2))))
		}
		if t.Needs(2) {
			data := t.Call(Fill{DType: tensor.I32, Shape: t.Shape(t.In(0))})
			t.SetGradient(2, remaining(t, t.In(2), func(own spec.Value) spec.Value { return back(t.Call(scatter, data, t.In(1), own)) }, back(dy)))
		}
	case indexing.Adds(reduction):
		t.SetGradient(0, dy)
		if t.Needs(2) {
			t.SetGradient(2, back(dy))
		}
	default:
		t.Refuse("reduction %s (want none or add)", reduction)
	}
}

// remaining is v, the gradient of updates, and 0 where another update took the place of one. replaced puts the number of each update to its
// place, and returns what is there.
func remaining(t *spec.Tape, updates spec.Value, replaced func(own spec.Value) spec.Value, v spec.Value) spec.Value {
	shape := t.Shape(updates)
	own := t.Reshape(t.Call(Range{Limit: float64(t.Desc(updates).Elems()), Delta: 1, DType: tensor.I32}), shape...)
	return where(t, t.Call(Equal{}, own, replaced(own)), v)
}

// lpFactor is dy·y^(1−p), and 0 where y is 0, of which lpTerm makes the gradient of a norm y of order p.
func lpFactor(t *spec.Tape, dy, y spec.Value, p int) spec.Value {
	if p == 1 {
		return dy
	}
	return unless(t, t.Call(Equal{}, y, t.Scalar(0, y)), times(t, dy, t.Call(Pow{}, y, t.Scalar(float64(1-p), y))))
}

// lpTerm is sign x·|x|^(p−1).
func lpTerm(t *spec.Tape, x spec.Value, p int) spec.Value {
	sign := t.Call(Sign{}, x)
	if p == 1 {
		return sign
	}
	return times(t, sign, t.Call(Pow{}, t.Call(Abs{}, x), t.Scalar(float64(p-1), x)))
}
