package contraction

import (
	"cmp"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// sumReducer adds elements.
var sumReducer = reduction.Reducer{Shader: "reduce/reduce_sum", Values: 1}

// builder appends the steps of a call to a plan. Intermediate results are in scratch memory, in the dtype of accumulators.
type builder struct {
	*space
	t    *spec.Target
	plan *spec.Plan
}

// add plans a call whose result is not empty.
func (w *builder) add(out tensor.Desc) error {
	if w.isEmpty() {
		return movement.AddFill(w.plan, w.t, 0, out.DType, spec.Out(0), out.Elems())
	}
	to := w.rowMajor(spec.Out(0), out.DType, w.varying(w.out))
	steps, operands := w.steps(), slices.Clone(w.in)
	if len(steps) == 0 {
		return w.addCopy(operands[0], to)
	}
	for i, s := range steps {
		var made *view
		if i == len(steps)-1 {
			made = &to
		}
		if s.y < 0 {
			v, err := w.addSum(operands[s.x], s, made)
			if err != nil {
				return err
			}
			operands[s.x] = v
			continue
		}
		x, y := operands[s.x], operands[s.y]
		v, err := w.addProduct(x, y, s, made)
		if err != nil {
			return err
		}
		operands = append(slices.Delete(slices.Delete(operands, s.y, s.y+1), s.x, s.x+1), v)
	}
	return nil
}

// rowMajor returns a contiguous view.
func (w *builder) rowMajor(ref spec.Ref, d tensor.DType, labels []label) view {
	return view{ref: ref, dtype: d, labels: labels, strides: tensor.Desc{Shape: w.shape(labels)}.ElementStrides()}
}

// scratch returns a contiguous view of new scratch memory.
func (w *builder) scratch(d tensor.DType, labels []label) view {
	return w.rowMajor(planner.AddScratch(w.plan, tensor.Contiguous(d, w.shape(labels)...).Bytes()), d, labels)
}

// stridesOf returns the strides of v for labels, 0 for those that it does not have.
func (v view) stridesOf(labels []label) []int {
	strides := make([]int, len(labels))
	for i, l := range labels {
		if at := slices.Index(v.labels, l); at >= 0 {
			strides[i] = v.strides[at]
		}
	}
	return strides
}

// sorted returns labels of v by their strides, the largest first.
func (v view) sorted(labels []label) []label {
	strides := v.stridesOf(v.labels)
	stride := func(l label) int { return strides[slices.Index(v.labels, l)] }
	labels = slices.Clone(labels)
	slices.SortStableFunc(labels, func(a, b label) int { return cmp.Compare(stride(b), stride(a)) })
	return labels
}

// isDense reports whether the elements of v lie side by side, in some order.
func (w *builder) isDense(v view) bool {
	order := v.sorted(v.labels)
	return slices.Equal(v.stridesOf(order), w.rowMajor(v.ref, v.dtype, order).strides)
}

// addCopy appends the launches that copy from to to, which has the same dtype and the same labels, in any order.
// Errors: *LimitError.
func (w *builder) addCopy(from, to view) error {
	c := movement.Copy{
		Shape: w.shape(to.labels),
		Src:   planner.Operand{Ref: from.ref, DType: from.dtype, Strides: from.stridesOf(to.labels)},
		Dst:   planner.Operand{Ref: to.ref, DType: to.dtype, Strides: to.strides},
	}
	for _, part := range movement.Unroll(to.dtype, c) {
		if err := movement.AddCopy(w.plan, w.t, to.dtype, part.Shape, part.Src, part.Dst); err != nil {
			return err
		}
	}
	return nil
}

// copied appends the launches that copy v to scratch memory, and returns the copy. labels are its labels in the order of the copy.
// Errors: *LimitError.
func (w *builder) copied(v view, labels []label) (view, error) {
	to := w.scratch(v.dtype, labels)
	return to, w.addCopy(v, to)
}

// addSum appends the launches of a sum. They write to made, or to scratch memory if that is nil.
// Errors: *LimitError.
func (w *builder) addSum(x view, s step, made *view) (view, error) {
	order := x.sorted(x.labels)
	to := view{dtype: planner.Accumulator(x.dtype), labels: common(order, s.kept)}
	if made != nil {
		to = *made
	}
	if !w.isDense(x) || !slices.Equal(to.labels, common(order, s.kept)) {
		order = append(slices.Clone(to.labels), common(order, s.summed)...)
		var err error
		if x, err = w.copied(x, order); err != nil {
			return view{}, err
		}
	}
	set := make([]bool, len(order))
	for i, l := range order {
		set[i] = slices.Contains(s.summed, l)
	}
	ref, err := reduction.AddAlong(w.plan, w.t, sumReducer, tensor.Contiguous(x.dtype, w.shape(order)...), set, x.ref, to.ref)
	return w.rowMajor(ref, to.dtype, to.labels), err
}

// addProduct appends the launches of a product. They write to made, or to scratch memory if that is nil.
// Errors: *LimitError.
func (w *builder) addProduct(x, y view, s step, made *view) (view, error) {
	wide := planner.Accumulator(x.dtype)
	if x.dtype != y.dtype || made == nil && len(s.summed) == 0 {
		var err error
		if x, err = w.widened(x); err != nil {
			return view{}, err
		}
		if y, err = w.widened(y); err != nil {
			return view{}, err
		}
		wide = x.dtype
	}
	var to view
	if made != nil {
		to = *made
	} else {
		to = w.scratch(wide, ownOrder(x, y, s.kept))
	}
	if len(s.summed) > 0 {
		return to, w.addContraction(x, y, s.summed, to)
	}
	if to.dtype == x.dtype {
		return to, w.addElements(x, y, to)
	}
	// Elements of 16 bits are rounded after the product.
	first := w.scratch(wide, to.labels)
	if err := w.addElements(x, y, first); err != nil {
		return view{}, err
	}
	return to, elementwise.AddCast(w.plan, w.t, wide, to.dtype, w.elems(to.labels), first.ref, to.ref)
}

// elems returns the number of elements of a view with these labels.
func (w *builder) elems(labels []label) int {
	return tensor.Contiguous(tensor.F32, w.shape(labels)...).Elems()
}

// widened appends the launches that convert a view of 16 bits to F32, and returns the result.
// Errors: *LimitError.
func (w *builder) widened(v view) (view, error) {
	d := planner.Accumulator(v.dtype)
	if v.dtype == d {
		return v, nil
	}
	order := v.sorted(v.labels)
	if !w.isDense(v) {
		var err error
		if v, err = w.copied(v, order); err != nil {
			return view{}, err
		}
	}
	to := w.scratch(d, order)
	return to, elementwise.AddCast(w.plan, w.t, v.dtype, d, w.elems(order), v.ref, to.ref)
}

// ownOrder returns the labels of a product in an order in which those that both operands have, those of x and those of y lie
// together.
func ownOrder(x, y view, kept []label) []label {
	own := x.sorted(common(x.labels, kept))
	return slices.Concat(common(own, y.labels), apart(own, y.labels), y.sorted(apart(common(y.labels, kept), x.labels)))
}

// mark is how far a plan was when an attempt began.
type mark struct{ steps, scratch int }

func (w *builder) mark() mark { return mark{len(w.plan.Steps), len(w.plan.Scratch)} }

// undo takes back what was appended after a mark.
func (w *builder) undo(m mark) {
	w.plan.Steps, w.plan.Scratch = w.plan.Steps[:m.steps], w.plan.Scratch[:m.scratch]
}
