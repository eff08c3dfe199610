package graph

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/view"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// unview is the gradient of the value of which a node is a view, from the gradient of the view: sums over the dimensions that repeat elements,
// and zeros for the elements that the view leaves out.
func (t *reverse) unview(n mir.Node, grad mir.Value) (mir.Value, error) {
	m := t.g.mir
	root, own := m.Desc(n.In[0]), m.Desc(n.Out[0])
	if own.Elems() == 0 {
		return t.filled(0, root)
	}
	// The dimensions with more than one element, those with the largest stride first. The view has no other order than the root then.
	var repeated, order, one []int
	strides := own.ElementStrides()
	for i, size := range own.Shape {
		switch {
		case size == 1:
			one = append(one, i)
		case strides[i] == 0:
			repeated = append(repeated, i)
		default:
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(strides[b], strides[a]) })
	e := embedding{recorder: recorder{t.g}, v: spec.Value(grad)}
	if len(repeated) > 0 {
		e.call(ops.ReduceSum{Dims: repeated, KeepDims: true})
	}
	e.transpose(slices.Concat(one, repeated, order))
	sizes, steps := []int{1}, []int{root.Elems()}
	for _, i := range order {
		sizes, steps = append(sizes, own.Shape[i]), append(steps, strides[i])
	}
	e.spread(sizes, steps, int(n.Offset/int64(root.DType.Size())))
	e.reshape(root.Shape...)
	return mir.Value(e.v), e.err
}

// embedding puts a gradient into zeros. It stops at the first error.
type embedding struct {
	recorder
	v   spec.Value
	err error
}

func (e *embedding) set(v spec.Value, err error) {
	if e.err == nil {
		e.v, e.err = v, err
	}
}

func (e *embedding) call(c spec.Call) {
	if e.err == nil {
		out, err := e.Call(c, e.v)
		e.set(append(out, spec.NoValue)[0], err)
	}
}

func (e *embedding) reshape(shape ...int) {
	if e.err == nil {
		e.set(e.Reshape(e.v, shape...))
	}
}

func (e *embedding) transpose(perm []int) {
	if e.err == nil && len(perm) > 0 {
		e.set(e.Transpose(e.v, perm...))
	}
}

// spread makes row-major elements of a tensor, whose dimensions have such sizes and are such steps apart, from offset on. The steps fall, and
// sizes[0] is 1: steps[0] is the number of elements that it makes.
func (e *embedding) spread(sizes, steps []int, offset int) {
	width, zeros := 1, 0 // how many elements an index covers, and how many zeros they end with
	for k := len(sizes) - 1; k >= 0; k-- {
		before := offset % steps[k]
		if k == 0 {
			before = offset
		}
		if k > 0 && steps[k]-before-width+zeros < 0 {
			before = 0 // A part of the offset belongs to a dimension that is further out.
		}
		offset -= before
		after := steps[k] - before - width // Below 0 it takes away some of the zeros.
		if zeros += after; zeros < 0 {
			e.set(spec.NoValue, fmt.Errorf("gradient of a view: %w: its elements, %v of them at steps of %v, overlap", errs.ErrUnsupported, sizes[1:], steps[1:]))
			return
		}
		if before != 0 || after != 0 {
			e.reshape(-1, width)
			e.call(ops.PadTensor{Pads: []int{0, before, 0, after}})
		}
		width = sizes[k] * steps[k]
	}
}

// recorder adds the calls of gradients to a graph. It is a spec.Recorder.
type recorder struct{ g *Graph }

func (r recorder) Desc(v spec.Value) tensor.Desc { return r.g.mir.Desc(mir.Value(v)) }

func (r recorder) Call(c spec.Call, in ...spec.Value) ([]spec.Value, error) {
	ids := make([]mir.Value, len(in))
	for i, v := range in {
		ids[i] = mir.Value(v)
	}
	for len(ids) > 0 && ids[len(ids)-1] == mir.None {
		ids = ids[:len(ids)-1]
	}
	out, err := r.g.mir.AddCall(c, ids...)
	values := make([]spec.Value, len(out))
	for i, v := range out {
		values[i] = spec.Value(v)
	}
	return values, err
}

func (r recorder) Constant(h *tensor.Host) (spec.Value, error) {
	v, err := r.g.mir.AddConstant(h.Desc, h.Data)
	return spec.Value(v), err
}

// view adds a view of a value.
func (r recorder) view(label string, v spec.Value, d tensor.Desc, offset int64, err error) (spec.Value, error) {
	if err != nil {
		return spec.NoValue, fmt.Errorf("graph: %s of %v: %w", label, r.Desc(v), err)
	}
	id, err := r.g.mir.AddView(label, mir.Value(v), offset, d)
	return spec.Value(id), err
}

func (r recorder) Reshape(v spec.Value, shape ...int) (spec.Value, error) {
	id, err := r.g.contiguous(mir.Value(v))
	if err != nil {
		return spec.NoValue, err
	}
	d, err := view.Reshape(r.g.mir.Desc(id), shape...)
	return r.view("reshape", spec.Value(id), d, 0, err)
}

func (r recorder) Transpose(v spec.Value, perm ...int) (spec.Value, error) {
	d, err := view.Transpose(r.Desc(v), perm...)
	return r.view("transpose", v, d, 0, err)
}

func (r recorder) Narrow(v spec.Value, dim, start, n int) (spec.Value, error) {
	d, offset, err := view.Narrow(r.Desc(v), dim, start, n)
	return r.view("narrow", v, d, offset, err)
}

func (r recorder) Expand(v spec.Value, shape ...int) (spec.Value, error) {
	d, err := view.Expand(r.Desc(v), shape...)
	return r.view("expand", v, d, 0, err)
}
