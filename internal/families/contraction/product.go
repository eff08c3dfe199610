package contraction

import (
	"cmp"
	"errors"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	mulShader = "math/mul"
	// leastRows is the number of rows, or of columns, that matrices of a product have at least if some labels of rows or columns are
	// taken as a batch. To copy an operand, so that they are rows or columns too, is faster than products of smaller matrices.
	leastRows = 16
)

// addElements appends the launches of a product that sums nothing. All views have one dtype, and to is contiguous.
// Errors: *LimitError.
func (w *builder) addElements(x, y, to view) error {
	m := w.mark()
	err := w.tryElements(x, y, to)
	if !errors.Is(err, errs.ErrUnsupported) {
		return err
	}
	// The operands have too many dimensions that differ, or would need too many launches. Copies in the order of the result
	// need few, and have at most three dimensions that differ if the labels of each operand lie together.
	for _, own := range []view{to, {labels: ownOrder(x, y, to.labels)}} {
		w.undo(m)
		if own.ref.Kind == spec.RefNone {
			own = w.scratch(to.dtype, own.labels)
		}
		var a, b view
		if a, err = w.copied(x, common(own.labels, x.labels)); err != nil {
			return err
		}
		if b, err = w.copied(y, common(own.labels, y.labels)); err != nil {
			return err
		}
		if err = w.tryElements(a, b, own); err == nil && own.ref != to.ref {
			return w.addCopy(own, to)
		}
		if !errors.Is(err, errs.ErrUnsupported) {
			return err
		}
	}
	return err
}

// tryElements appends the launches of a product that sums nothing.
// Errors: *LimitError; ErrUnsupported for strides that need copies.
func (w *builder) tryElements(x, y, to view) error {
	var in []tensor.Desc
	for _, v := range []view{x, y} {
		d := tensor.Desc{DType: v.dtype, Shape: w.shape(to.labels), Strides: v.stridesOf(to.labels)}
		for i, l := range to.labels {
			if !slices.Contains(v.labels, l) {
				d.Shape[i] = 1
			}
		}
		in = append(in, d)
	}
	return elementwise.AddBinary(w.plan, w.t, mulShader, in, tensor.Contiguous(to.dtype, w.shape(to.labels)...), [3]spec.Ref{x.ref, y.ref, to.ref})
}

// addContraction appends the launches of a product that sums over labels which both operands have. x and y have one dtype, and to is
// contiguous. If the kernels cannot work with the strides, some of the views are copied before or after.
// Errors: *LimitError.
func (w *builder) addContraction(x, y view, summed []label, to view) error {
	if n := len(to.labels); n > 0 && !slices.Contains(y.labels, to.labels[n-1]) {
		x, y = y, x // The rows of the kernels lie side by side in the result, so their columns are of y.
	}
	if wide := planner.Accumulator(to.dtype); wide != to.dtype {
		if done, err := w.tryContraction(x, y, summed, to, [3]bool{}); done || err != nil {
			return err
		}
		// The kernels write F32 by strides, and elements of 16 bits in their own order only.
		first := w.scratch(wide, to.labels)
		if err := w.addContraction(x, y, summed, first); err != nil {
			return err
		}
		return elementwise.AddCast(w.plan, w.t, wide, to.dtype, w.elems(to.labels), first.ref, to.ref)
	}
	// copies lists which of x, y and to are copied, the smallest copies first.
	sizes := [3]float64{w.count(x.labels), w.count(y.labels), w.count(to.labels)}
	copies := [][3]bool{{}, {true}, {false, true}, {true, true}, {false, false, true}, {true, false, true}, {false, true, true}, {true, true, true}}
	cost := func(c [3]bool) (elements float64) {
		for i, yes := range c {
			if yes {
				elements += sizes[i]
			}
		}
		return elements
	}
	slices.SortStableFunc(copies, func(a, b [3]bool) int { return cmp.Compare(cost(a), cost(b)) })
	for _, c := range copies {
		if done, err := w.tryContraction(x, y, summed, to, c); done || err != nil {
			return err
		}
	}
	return planner.Unsupported("labels that cannot be brought into the order of a matrix product")
}

// tryContraction is addContraction with copies of some of x, y and to. It returns false, and has appended nothing, if the kernels
// cannot do that.
func (w *builder) tryContraction(x, y view, summed []label, to view, copies [3]bool) (bool, error) {
	m := w.mark()
	c := to
	if copies[2] {
		c = w.scratch(to.dtype, ownOrder(x, y, to.labels))
	}
	k := x.sorted(summed)
	if copies[0] && !copies[1] {
		k = y.sorted(summed)
	}
	a, b := x, y
	if copies[0] {
		a = w.scratch(x.dtype, slices.Concat(common(c.labels, x.labels), k))
	}
	if copies[1] {
		batch := common(common(c.labels, y.labels), x.labels)
		b = w.scratch(y.dtype, slices.Concat(batch, k, apart(common(c.labels, y.labels), x.labels)))
	}
	p, ok := w.matrices(a, b, c, k)
	for _, o := range []planner.Operand{p.a, p.b, p.c} {
		ok = ok && w.isNear(p.shape, o)
	}
	if !ok {
		w.undo(m)
		return false, nil
	}
	for i, from := range []view{x, y} {
		if copies[i] {
			if err := w.addCopy(from, []view{a, b}[i]); err != nil {
				return false, err
			}
		}
	}
	made, err := gemm.AddProduct(w.plan, w.t, p.shape, p.a, p.b, p.c)
	switch {
	case err != nil:
		return false, err
	case !made:
		w.undo(m)
		return false, nil
	case copies[2]:
		return true, w.addCopy(c, to)
	}
	return true, nil
}

// product is what gemm.AddProduct takes.
type product struct {
	shape   []int
	a, b, c planner.Operand
}

// matrices describes a product c = a·b with sums over the labels k. It reports false if the labels of rows, of columns or of the sum
// cannot be walked as one dimension, or those of the batch as two. Some labels of rows or columns may be taken as a batch, along which the
// other operand does not vary.
func (w *builder) matrices(a, b, c view, k []label) (product, bool) {
	operand := func(v view, labels []label) planner.Operand {
		return planner.Operand{Ref: v.ref, DType: v.dtype, Strides: v.stridesOf(labels)}
	}
	sum, both := planner.Collapse(w.shape(k), []planner.Operand{operand(a, k), operand(b, k)})
	dims, all := planner.Collapse(w.shape(c.labels), []planner.Operand{operand(a, c.labels), operand(b, c.labels), operand(c, c.labels)})
	if len(sum) > 1 {
		return product{}, false
	}
	m, n := -1, -1
	for d := range dims {
		switch ofA, ofB := all[0].Strides[d] != 0, all[1].Strides[d] != 0; {
		case ofA && !ofB:
			m = d
		case ofB && !ofA:
			n = d
		}
	}
	p := product{a: all[0], b: all[1], c: all[2]}
	operands := []*planner.Operand{&p.a, &p.b, &p.c}
	var strides [3][]int
	add := func(d int) {
		size := 1
		if d >= 0 {
			size = dims[d]
		}
		p.shape = append(p.shape, size)
		for i, o := range operands {
			stride := 0
			if d >= 0 {
				stride = o.Strides[d]
			}
			strides[i] = append(strides[i], stride)
		}
	}
	var batch []int
	for d, size := range dims {
		if d == m || d == n || size == 1 {
			continue
		}
		batch = append(batch, d)
		ofA, ofB := p.a.Strides[d] != 0, p.b.Strides[d] != 0
		if ofA && !ofB && dims[m] < leastRows || ofB && !ofA && dims[n] < leastRows {
			return product{}, false
		}
	}
	if len(batch) > 2 {
		return product{}, false
	}
	for range 2 - len(batch) {
		add(-1)
	}
	for _, d := range append(batch, m, n) {
		add(d)
	}
	p.shape = append(p.shape, sum[0])
	for i, o := range operands {
		o.Strides = append(strides[i], 0)
		if i < 2 {
			o.Strides[len(o.Strides)-1] = both[i].Strides[0]
		}
	}
	return p, true
}

// isNear reports whether a binding holds the operand of a product, or whether its matrices lie one after the other, so that
// parts of the batch do not reach over much more memory than they have elements.
func (w *builder) isNear(shape []int, o planner.Operand) bool {
	all := planner.RegionOf(shape)
	if o.Extent(all)*int64(o.DType.Size()) <= planner.MaxSpan(w.t, planner.HasTexels(w.t, planner.SmallGroup))-planner.WindowAlign(w.t) {
		return true
	}
	all.N[0], all.N[1] = 1, 1
	for d := 1; d >= 0; d-- {
		if s := int64(o.Strides[d]); shape[d] > 1 && s != 0 && s < o.Extent(all) {
			return false
		}
		all.N[d] = shape[d]
	}
	return true
}
