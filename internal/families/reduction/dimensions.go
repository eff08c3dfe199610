package reduction

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// dimensions checks a list of dimensions to reduce. It returns for each of the rank
// dimensions whether it is reduced. An empty list means all dimensions.
// Errors: ErrInvalidArgument.
func dimensions(dims []int, rank int) ([]bool, error) {
	set := make([]bool, rank)
	for i := range set {
		set[i] = len(dims) == 0
	}
	for _, d := range dims {
		k := d
		if k < 0 {
			k += rank
		}
		if k < 0 || k >= rank {
			return nil, planner.Invalid("dimension %d (want %d to %d)", d, -rank, rank-1)
		}
		if set[k] {
			return nil, planner.Invalid("dimension %d is named twice in %v", k, dims)
		}
		set[k] = true
	}
	return set, nil
}

// noIdentity returns the error for a reduction that has no elements and no result.
func noIdentity(in tensor.Desc) error {
	return planner.Invalid("the reduced dimensions of %v have no elements (want at least one)", in)
}

// reducedShape returns the shape that is left when the dimensions in set are reduced.
// With keep, they stay, with size 1.
func reducedShape(shape []int, set []bool, keep bool) []int {
	out := []int{}
	for i, n := range shape {
		switch {
		case !set[i]:
			out = append(out, n)
		case keep:
			out = append(out, 1)
		}
	}
	return out
}

// length returns the number of elements that are reduced to one.
func length(shape []int, set []bool) int {
	n := 1
	for i, reduced := range set {
		if reduced {
			n *= shape[i]
		}
	}
	return n
}

// runs merges neighbouring dimensions that are all reduced or all kept, and drops those
// of size 1. It returns the sizes, and for each of them whether it is reduced.
func runs(shape []int, set []bool) (sizes []int, reduced []bool) {
	for i, n := range shape {
		last := len(sizes) - 1
		switch {
		case n == 1:
		case last >= 0 && reduced[last] == set[i]:
			sizes[last] *= n
		default:
			sizes, reduced = append(sizes, n), append(reduced, set[i])
		}
	}
	return sizes, reduced
}

// chainOf returns the longest chain of a reduction, added up over all its passes.
func chainOf(shape []int, set []bool) float64 {
	h := 0.0
	sizes, reduced := runs(shape, set)
	for i, n := range sizes {
		if reduced[i] {
			h += Chain(n)
		}
	}
	return h
}

// plan appends one pass for each run of reduced dimensions, the longest first. The values
// between two passes have the dtype of the accumulators, so that the result is rounded to
// its dtype only once. The passes after the first use the kernels of more.combine, or those of
// f if that is empty. If accumulators have several values, or are sums of 64 bits without more.combine, these passes merge them.
// Errors: *LimitError.
func (f Reducer) plan(t *spec.Target, in, out tensor.Desc, set []bool, more stages) (*spec.Plan, error) {
	plan := &spec.Plan{}
	if out.Elems() == 0 {
		return plan, nil
	}
	_, err := f.addPasses(plan, t, in, out, set, more, spec.In(0), spec.Out(0))
	return plan, err
}

// AddAlong appends to a plan the launches that reduce the dimensions in set of a contiguous tensor, which from refers to and
// which is not empty. The results go to out, in the dtype of in. If out is the zero Ref, they stay in scratch memory, in the dtype
// of the accumulators. AddAlong returns where they are. Accumulators of f have one value.
// Errors: *LimitError.
func AddAlong(plan *spec.Plan, t *spec.Target, f Reducer, in tensor.Desc, set []bool, from, out spec.Ref) (spec.Ref, error) {
	return f.addPasses(plan, t, in, tensor.Contiguous(in.DType, reducedShape(in.Shape, set, false)...), set, stages{}, from, out)
}

// addPasses is plan for elements of from and results in made. Without made, the results stay accumulators in scratch
// memory. It returns where they are.
func (f Reducer) addPasses(plan *spec.Plan, t *spec.Target, in, out tensor.Desc, set []bool, more stages, from, made spec.Ref) (spec.Ref, error) {
	sizes, reduced := runs(in.Shape, set)
	if in.Elems() == 0 { // One pass makes the results of no elements.
		sizes, reduced = []int{out.Elems(), 0}, []bool{false, true}
	}
	passes, n := 0, 1
	for i, yes := range reduced {
		if yes {
			passes++
			n *= sizes[i]
		}
	}
	if passes == 0 { // Without a dimension to reduce, one pass over size 1 turns elements into results.
		sizes, reduced, passes = append(sizes, 1), append(reduced, true), 1
	}
	mean := f.Mean
	d, wide := in.DType, f.accumulator(in.DType)
	for ; passes > 0; passes-- {
		k := -1
		for i, yes := range reduced {
			if yes && (k < 0 || sizes[i] > sizes[k]) {
				k = i
			}
		}
		to := spec.Ref{}
		f.Mean = mean && passes == 1 // Only the last pass divides.
		if passes == 1 {
			f.Divisor = n
			if wide == in.DType && more.last == "" && more.final == "" {
				to = made
			}
		}
		var err error
		if (f.Values > 1 || f.Sum64 && more.combine == "") && from.Kind != spec.RefIn {
			from, err = Merge(plan, t, f, in.DType, planner.ViewAxis(sizes, k), from)
		} else {
			from, err = Add(plan, t, f, d, planner.ViewAxis(sizes, k), to, from)
		}
		if err != nil {
			return spec.Ref{}, err
		}
		d = wide
		if more.combine != "" {
			f.Shader = more.combine
		}
		sizes, reduced = slices.Delete(sizes, k, k+1), slices.Delete(reduced, k, k+1)
		if k > 0 && k < len(sizes) && reduced[k-1] == reduced[k] { // The two runs are neighbours now.
			sizes[k-1] *= sizes[k]
			sizes, reduced = slices.Delete(sizes, k, k+1), slices.Delete(reduced, k, k+1)
		}
	}
	from, err := more.addLast(plan, t, wide, out, made, f.AccumulatorBytes(in.DType), from)
	if err != nil || d == in.DType || made.Kind == spec.RefNone {
		return from, err
	}
	return made, addNarrow(plan, t, out.Elems(), from, made, in.DType)
}

// reference computes a reduction in float64. Integers wrap around as they do in Go.
func (r Reduction[A]) reference(in, out *tensor.Host, set []bool) {
	v := make([]float64, out.Elems())
	whole := make([]int64, len(v))
	integer := isInteger(in.DType) && (r.Sum || r.Whole != nil) && r.Sum64 == nil
	for i := range v {
		v[i] = r.From
		if r.Whole != nil {
			whole[i] = int64(r.From)
		}
	}
	rows := make([][]float64, len(v)) // for Rows: what is reduced to each result
	lost := make([]float64, len(v))   // This is what rounding has removed from each sum.
	strides := make([]int, len(set))
	stride := 1
	for i := len(set) - 1; i >= 0; i-- {
		if !set[i] {
			strides[i] = stride
			stride *= in.Shape[i]
		}
	}
	src, k := in.Floats(), 0
	in.Each(func(index []int, _ int) {
		at := 0
		for i, x := range index {
			at += x * strides[i]
		}
		x, before := src[k], v[at]
		k++
		switch {
		case integer && r.Whole != nil && (r.Unsigned == "" || planner.Signed(in.DType) == in.DType):
			whole[at] = r.Whole(whole[at], planner.Whole(in.DType, x))
		case integer:
			whole[at] += planner.Whole(in.DType, x)
		case r.Rows != nil || r.Sum64 != nil && isInteger(in.DType):
			rows[at] = append(rows[at], x)
		default:
			v[at] = r.F(before, x)
			if r.Sum {
				lost[at] += rounding(before, x, v[at])
			}
		}
	})
	n := 1
	if len(v) > 0 {
		n = len(src) / len(v)
	}
	for i := range v {
		if !math.IsInf(v[i], 0) {
			v[i] += lost[i]
		}
		switch {
		case integer:
			whole[i] = planner.Wrap(in.DType, whole[i])
			switch {
			case r.Mean && n == 0:
				whole[i] = 0
			case r.Mean && in.DType == tensor.U64:
				whole[i] = int64(uint64(whole[i]) / uint64(n))
			case r.Mean:
				whole[i] /= int64(n)
			}
			v[i] = planner.Number(in.DType, whole[i])
		case r.Sum64 != nil && isInteger(in.DType):
			v[i] = r.Sum64.Rows(in.DType, rows[i])
			continue
		case r.Rows != nil:
			v[i] = r.Rows(rows[i])
		case r.Mean:
			v[i] /= float64(n)
		}
		if r.Finally != nil {
			v[i] = r.Finally(v[i])
		}
	}
	out.SetFloats(v)
}

// rounding returns the exact difference between a + b and the rounded value sum.
func rounding(a, b, sum float64) float64 {
	if math.Abs(a) < math.Abs(b) {
		a, b = b, a
	}
	return a - sum + b
}

// Sum adds f(0) to f(n-1) with twice the precision of float64. References use it, because
// a plain sum in float64 is less exact than some results that it has to check. The
// algorithm is that of Neumaier (1974).
func Sum(n int, f func(i int) float64) float64 {
	sum, lost := 0.0, 0.0
	for i := range n {
		x := f(i)
		next := sum + x
		lost += rounding(sum, x, next)
		sum = next
	}
	if math.IsInf(sum, 0) || math.IsNaN(lost) {
		return sum
	}
	return sum + lost
}
