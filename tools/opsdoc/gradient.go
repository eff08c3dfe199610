package main

import (
	"errors"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/view"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// gradient is the operation of a network that computes the gradient of an operation, for its everyday call. It is empty if there is none, and if the
// gradient is a formula of several operations.
func gradient(op *spec.Op) string {
	call, ok := op.Defaults.(spec.Differentiable)
	if !ok {
		return ""
	}
	in, calls := floatInputs(op), map[string]bool{}
	for i, d := range in {
		needs := make([]bool, len(in))
		needs[i] = slices.Contains(floats, d.DType)
		out, err := op.Shape(call, in)
		if err != nil {
			return ""
		}
		r := &traced{calls: calls}
		inputs, outputs, results := r.add(in), r.add(out), r.add(out)
		for k := 1; k < len(results); k++ {
			results[k] = spec.NoValue
		}
		if _, err := spec.Gradients(call, r, inputs, outputs, results, needs); err != nil && !errors.Is(err, errs.ErrUnsupported) {
			return ""
		}
	}
	for name := range calls {
		if found := spec.Lookup(name); len(calls) == 1 && found != nil && found != op && found.Group == "nn" {
			return name
		}
	}
	return ""
}

// floats are the element types that have gradients.
var floats = []tensor.DType{tensor.F32, tensor.F64, tensor.F16, tensor.BF16}

// floatInputs are inputs of the everyday call.
func floatInputs(op *spec.Op) []tensor.Desc {
	for _, d := range op.Cases.DTypes {
		if in := op.TypicalInputs(d); in != nil && slices.Contains(floats, d) {
			return in
		}
	}
	for n := 1; n < 40 && len(op.Cases.DTypes) > 0; n++ { // where 64 is too large or does not suit the call
		dims := make([]int, len(op.Cases.Dims))
		for i, dim := range op.Cases.Dims {
			if dims[i] = n; len(dim.Only) > 0 {
				dims[i] = dim.Only[0]
			}
		}
		if in := op.Cases.InputsFor(op.Defaults, op.Cases.DTypes[0], dims); in != nil {
			return in
		}
	}
	return nil
}

// traced is a spec.Recorder that knows shapes only, and which operations were called.
type traced struct {
	descs []tensor.Desc
	calls map[string]bool
}

func (r *traced) add(list []tensor.Desc) []spec.Value {
	values := make([]spec.Value, len(list))
	for i, d := range list {
		values[i], r.descs = spec.Value(len(r.descs)), append(r.descs, d)
	}
	return values
}

func (r *traced) viewed(d tensor.Desc, err error) (spec.Value, error) {
	if err != nil {
		return spec.NoValue, err
	}
	return r.add([]tensor.Desc{d})[0], nil
}

// Desc describes a value.
func (r *traced) Desc(v spec.Value) tensor.Desc { return r.descs[v] }

// Call notes the operation and makes its results.
func (r *traced) Call(c spec.Call, in ...spec.Value) ([]spec.Value, error) {
	c, err := spec.Resolve(c)
	if err != nil {
		return nil, err
	}
	op := c.Spec()
	var descs []tensor.Desc
	for i, v := range in {
		if v == spec.NoValue {
			d, ok := op.LeftOut(i, descs[0].DType)
			if !ok {
				break
			}
			descs = append(descs, d)
			continue
		}
		descs = append(descs, r.descs[v])
	}
	out, err := op.Shape(c, descs)
	if err != nil {
		return nil, err
	}
	r.calls[op.Name] = true
	return r.add(out), nil
}

// Constant adds a tensor.
func (r *traced) Constant(h *tensor.Host) (spec.Value, error) { return r.viewed(h.Desc, nil) }

// Reshape adds a view.
func (r *traced) Reshape(v spec.Value, shape ...int) (spec.Value, error) {
	d := r.descs[v]
	return r.viewed(view.Reshape(tensor.Contiguous(d.DType, d.Shape...), shape...))
}

// Transpose adds a view.
func (r *traced) Transpose(v spec.Value, perm ...int) (spec.Value, error) {
	return r.viewed(view.Transpose(r.descs[v], perm...))
}

// Narrow adds a view.
func (r *traced) Narrow(v spec.Value, dim, start, n int) (spec.Value, error) {
	d, _, err := view.Narrow(r.descs[v], dim, start, n)
	return r.viewed(d, err)
}

// Expand adds a view.
func (r *traced) Expand(v spec.Value, shape ...int) (spec.Value, error) {
	return r.viewed(view.Expand(r.descs[v], shape...))
}
