package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// narrowParams is the push-constant block of reduce_narrow.comp.
type narrowParams struct{ Count uint32 }

// addNarrow appends the rounding of n F32 elements to out, of a dtype of 16 bits.
func addNarrow(plan *spec.Plan, t *spec.Target, n int, from, out spec.Ref, d tensor.DType) error {
	k := flatKernel{name: "reduce/reduce_narrow." + d.String(), local: smallGroup, packs: 2}
	k.params = func(_, count int) any { return narrowParams{uint32(count)} }
	return addFlat(plan, t, k, n, flatOperand{from, tensor.F32}, flatOperand{out, d})
}

// axes checks dimensions along which to reduce, and returns which of rank they
// are: all of them, if none are given.
func axes(op string, dims []int, rank int) ([]bool, error) {
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
			return nil, invalid(op, "dimension %d (want %d to %d)", d, -rank, rank-1)
		}
		if set[k] {
			return nil, invalid(op, "dimension %d is named twice in %v", k, dims)
		}
		set[k] = true
	}
	return set, nil
}

// reducedShape is the shape left when the dimensions in set are reduced.
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

// runs merges neighbouring dimensions that are reduced alike, and drops those of
// size 1. It returns the sizes, and which of them are reduced.
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

// reduction is what one reduction adds to the family.
type reduction struct {
	name, doc string
	call      func(dims []int, keep bool) spec.Call
	dims      func(spec.Call) (dims []int, keep bool)
	folder    folder
	owns      bool          // the folder's kernels are this operation's
	kernels   []spec.Kernel // and these
	sum, mean bool
	dtypes    []tensor.DType
	empty     bool // nothing at all has a result
	from      float64
	f         func(a, b float64) float64
	low, high float64
	// tolerance is that for n elements by chains of h.
	tolerance func(d tensor.DType, n int, h float64) spec.Tolerance
	spread    float64 // if set, inputs are 1 ± spread over the number reduced, up to low and high
}

// newReduction declares a reduction of contiguous tensors; views are copied before.
func newReduction(r reduction) *spec.Op {
	op := &spec.Op{
		Name: r.name, Group: "reduce", Doc: r.doc,
		In:       []spec.Arg{{Name: "in", Doc: "a tensor of any shape"}},
		Out:      []spec.Arg{{Name: "out", Doc: "of the same dtype, without the reduced dimensions, or with 1 in their place"}},
		Defaults: r.call(nil, false),
		InPlace:  []int{-1},
	}
	if r.owns {
		op.Kernels = append(r.folder.kernels(r.dtypes...), r.kernels...)
	}
	op.Shape = func(c spec.Call, in []tensor.Desc) ([]tensor.Desc, error) {
		if err := check(op, in, r.dtypes...); err != nil {
			return nil, err
		}
		dims, keep := r.dims(c)
		set, err := axes(op.Name, dims, len(in[0].Shape))
		if err != nil {
			return nil, err
		}
		shape := reducedShape(in[0].Shape, set, keep)
		out := tensor.Contiguous(in[0].DType, shape...)
		if !r.empty && in[0].Elems() == 0 && out.Elems() > 0 {
			return nil, invalid(op.Name, "zero-size reduction of %v has no identity", in[0])
		}
		return []tensor.Desc{out}, nil
	}
	op.Plan = func(c spec.Call, t *spec.Target, in, out []tensor.Desc) (*spec.Plan, error) {
		if err := checkTarget(op.Name, t, in[0]); err != nil {
			return nil, err
		}
		if !in[0].IsContiguous() || !out[0].IsContiguous() {
			return nil, unsupported(op.Name, "strides")
		}
		dims, _ := r.dims(c)
		set, err := axes(op.Name, dims, len(in[0].Shape))
		if err != nil {
			return nil, err
		}
		return planReduction(t, r, in[0], out[0], set)
	}
	op.Strategies = byFold
	op.SizeClass = func(c spec.Call, in []tensor.Desc) []int {
		dims, _ := r.dims(c)
		set, err := axes(op.Name, dims, len(in[0].Shape))
		if err != nil {
			return nil
		}
		sizes, reduced := runs(in[0].Shape, set)
		first := 0 // whether the first run is reduced; the others alternate
		if len(reduced) > 0 && reduced[0] {
			first = 1
		}
		return append([]int{first}, sizes...)
	}
	op.Reference = func(c spec.Call, in, out []*tensor.Host) {
		dims, _ := r.dims(c)
		set, _ := axes(op.Name, dims, len(in[0].Shape))
		referenceReduction(r, in[0], out[0], set)
	}
	length := func(c spec.Call, in []tensor.Desc) int { // how many become one
		dims, _ := r.dims(c)
		set, err := axes(op.Name, dims, len(in[0].Shape))
		if err != nil {
			set = nil
		}
		n := 1
		for i, reduced := range set {
			if reduced {
				n *= in[0].Shape[i]
			}
		}
		return n
	}
	op.Tolerance = func(c spec.Call, d tensor.DType, in []tensor.Desc) spec.Tolerance {
		dims, _ := r.dims(c)
		set, err := axes(op.Name, dims, len(in[0].Shape))
		if err != nil {
			set = make([]bool, len(in[0].Shape))
		}
		return r.tolerance(d, length(c, in), chainOf(in[0].Shape, set))
	}
	op.Cost = func(_ spec.Call, in []tensor.Desc) spec.Cost {
		return spec.Cost{Flops: int64(in[0].Elems()), Bytes: in[0].Bytes()}
	}
	op.Cases = spec.Cases{
		DTypes: r.dtypes,
		Calls:  []spec.Call{r.call(nil, false), r.call([]int{1}, false), r.call([]int{-1}, true), r.call([]int{2, 0}, false)},
		Dims:   []spec.Dim{{Name: "outer"}, {Name: "n", Tiles: []int{16}}, {Name: "inner", Tiles: []int{4, 8}}},
		Sizes: [][]int{
			{1, 65535, 1}, {1, 65536, 1}, {2, 100000, 1}, {1, 1000000, 1}, {2, 65535, 2}, {1, 65536, 4}, {2, 100000, 3}, {1, 1000000, 3},
			{100000, 2, 1}, {3, 5, 100000}, {2, 3, 150001}, {1, 5, 300000},
		},
		Inputs: func(d tensor.DType, dims []int) []tensor.Desc {
			if !r.empty && slices.Contains(dims, 0) {
				return nil
			}
			return []tensor.Desc{tensor.Contiguous(d, dims...)}
		},
		Bench: moreBenchCases(benchCases(r.call([]int{1}, false), 1), benchCases(r.call([]int{0}, false), 1), benchCases(r.call(nil, false), 1)),
		Low:   r.low, High: r.high, Specials: true,
		Invalid: []spec.Call{r.call([]int{3}, false), r.call([]int{-4}, true), r.call([]int{1, -2}, false)},
	}
	if r.spread > 0 {
		op.Cases.Range = func(c spec.Call, _ int, in []tensor.Desc) (low, high float64) {
			w := r.spread / float64(max(length(c, in), 1))
			return max(1-w, r.low), min(1+w, r.high)
		}
	}
	return spec.Register(op)
}

// planReduction reduces one run of dimensions after the other, the longest
// first. What lies between two passes is in the type of the arithmetic, so that
// the result is rounded once.
func planReduction(t *spec.Target, r reduction, in, out tensor.Desc, set []bool) (*spec.Plan, error) {
	plan := &spec.Plan{}
	if out.Elems() == 0 {
		return plan, nil
	}
	sizes, reduced := runs(in.Shape, set)
	passes, n := 0, 1
	for i, yes := range reduced {
		if yes {
			passes++
			n *= sizes[i]
		}
	}
	if passes == 0 { // one pass over nothing turns elements into results
		sizes, reduced, passes = append(sizes, 1), append(reduced, true), 1
	}
	from, d := spec.In(0), in.DType
	for ; passes > 0; passes-- {
		k := -1
		for i, yes := range reduced {
			if yes && (k < 0 || sizes[i] > sizes[k]) {
				k = i
			}
		}
		to, f := spec.Ref{}, r.folder
		if passes == 1 {
			if work(in.DType) == in.DType {
				to = spec.Out(0)
			}
			if r.mean {
				f.mean, f.divisor = true, n
			}
		}
		var err error
		if from, err = addFold(plan, t, f, d, normalise(sizes, k), to, from); err != nil {
			return nil, err
		}
		d = work(in.DType)
		sizes, reduced = slices.Delete(sizes, k, k+1), slices.Delete(reduced, k, k+1)
		if k > 0 && k < len(sizes) && reduced[k-1] == reduced[k] { // neighbours now
			sizes[k-1] *= sizes[k]
			sizes, reduced = slices.Delete(sizes, k, k+1), slices.Delete(reduced, k, k+1)
		}
	}
	if d != in.DType {
		return plan, addNarrow(plan, t, out.Elems(), from, spec.Out(0), in.DType)
	}
	return plan, nil
}

// referenceReduction computes a reduction in float64; integers wrap as they do
// in Go.
func referenceReduction(r reduction, in, out *tensor.Host, set []bool) {
	v := make([]float64, out.Elems())
	whole := make([]int64, len(v))
	for i := range v {
		v[i] = r.from
	}
	lost := make([]float64, len(v)) // what rounding left out of a sum
	steps := make([]int, len(set))
	step := 1
	for i := len(set) - 1; i >= 0; i-- {
		if !set[i] {
			steps[i] = step
			step *= in.Shape[i]
		}
	}
	src, k := in.Floats(), 0
	in.Each(func(index []int, _ int) {
		at := 0
		for i, x := range index {
			at += x * steps[i]
		}
		before := v[at]
		v[at] = r.f(before, src[k])
		if r.sum {
			lost[at] += rounding(before, src[k], v[at])
		}
		whole[at] += int64(src[k])
		k++
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
		case r.mean:
			v[i] /= float64(n)
		case in.DType == tensor.I32:
			v[i] = float64(int32(whole[i]))
		case in.DType == tensor.I64:
			v[i] = float64(whole[i])
		}
	}
	out.SetFloats(v)
}

// rounding is what sum lacks of a + b.
func rounding(a, b, sum float64) float64 {
	if math.Abs(a) < math.Abs(b) {
		a, b = b, a
	}
	return a - sum + b
}

// exactReduction is the tolerance of a choice among elements.
func exactReduction(tensor.DType, int, float64) spec.Tolerance {
	return spec.Tolerance{Why: "the result is one of the elements"}
}

// sumTolerance bounds the error of a sum of n values of at most 1, by chains of h.
func sumTolerance(d tensor.DType, n int, h float64) spec.Tolerance {
	if d == tensor.I32 || d == tensor.I64 {
		return spec.Tolerance{Why: "integers add exactly"}
	}
	e := workEpsilon(d)
	return spec.Tolerance{
		Abs: e*(4+float64(n)/4) + tiny(d), Rel: e*(4+math.Sqrt(h/3)) + storeEpsilon(d),
		Law: "ε·(4 + n/4) + ε·(4 + √(h/3)) of the value, " + passesText,
		Any: rounded(h+1, e), AnyLaw: "((1 + ε)^(h+1) − 1)·Σ|x|",
		Why: "elements are added up in blocks and these in turn, so that each is rounded at most h times; sorted values of either sign make partial sums of up to n/4 before they cancel, and what is at random adds up as roots do",
	}
}

const passesText = "h the sum of " + foldChainText + " over the dimensions reduced, neighbours taken together"

// chainOf is the longest chain of a reduction: of all its passes.
func chainOf(shape []int, set []bool) float64 {
	h := 0.0
	sizes, reduced := runs(shape, set)
	for i, n := range sizes {
		if reduced[i] {
			h += foldChain(n)
		}
	}
	return h
}
