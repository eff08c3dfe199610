package convolution

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Product is a convolution whose sums are made in runs, for operations that do more with each sum.
type Product struct{ p problem }

// NewProduct checks a convolution of x with the filter w, of any dtypes. args names the inputs in errors.
// Errors: ErrInvalidArgument.
func NewProduct(a Attributes, args []spec.Arg, x, w tensor.Desc) (Product, error) {
	p, err := newProblem(Forward, a, nil, nil, args, []tensor.Desc{x, w})
	return Product{p}, err
}

// Shape returns the shape of the result.
func (v Product) Shape() []int { return v.p.out.Shape }

// Terms returns the number of products of an element of the result.
func (v Product) Terms() int { return v.p.terms() }

// Strategies lists the strategies, see spec.Op.Strategies.
func (v Product) Strategies() []string {
	x := v.geometry([2]spec.Ref{}, spec.Ref{})
	// Runs have no plan by products of matrices.
	return slices.DeleteFunc(x.strategies(), func(s string) bool { return s == byProduct })
}

// SizeClass returns the numbers that decide which strategy is best, see spec.Op.SizeClass.
func (v Product) SizeClass() []int {
	x := v.geometry([2]spec.Ref{}, spec.Ref{})
	return x.sizeClass()
}

// Reference computes it in float64.
func (v Product) Reference(x, w, out *tensor.Host) { v.p.reference([]*tensor.Host{x, w}, out) }

func (v Product) geometry(refs [2]spec.Ref, to spec.Ref) geometry {
	of := func(r spec.Ref) plane { return plane{ref: r, dtype: tensor.F32} }
	return forward(v.p.window, v.p.channels, of(refs[0]), of(refs[1]), of(to), nil)
}

// AddRuns appends to a plan the launches for the convolution, of at most run products of an element
// at a time. x and w are refs, which are F32 and contiguous. The sums of a run go to the buffer to, as F32 and
// contiguous, and after appends the launches that take them from there. first says that it is the first run.
// A convolution without products has one run, whose sums are 0.
// Errors: those of after, *LimitError.
func (v Product) AddRuns(plan *spec.Plan, t *spec.Target, refs [2]spec.Ref, to spec.Ref, run int, after func(first bool) error) error {
	whole := v.geometry(refs, to)
	if whole.outputs() == 0 {
		return nil
	}
	s := &steps{t: t, plan: plan}
	panel := whole.packs(t)
	first := true
	var near [2]nearby
	for _, part := range whole.runs(run) {
		s.geometry = &part
		if err := near[0].copyFrom(plan, t, &part.in, [4]int{part.b, part.g, 1, part.c}, part.i.elems()); err != nil {
			return err
		}
		if err := near[1].copyFrom(plan, t, &part.filter, [4]int{1, part.g, part.k, part.c}, part.r.elems()); err != nil {
			return err
		}
		if err := s.add(panel); err != nil {
			return err
		}
		if err := after(first); err != nil {
			return err
		}
		first = false
	}
	return nil
}

// nearby holds the part of an operand that a run reads, without gaps.
type nearby struct {
	ref  spec.Ref
	size int64
}

// copyFrom appends a copy of what a run reads of an operand, and makes the operand that copy, if the run reads
// a little of many places which together exceed a binding. Else each launch would reach few of these
// places, and a run would need a launch for each pair of places of both operands. sizes are the numbers of indices
// along the strides of p, and elems is the number of elements that follow each other.
// Errors: *LimitError.
func (v *nearby) copyFrom(plan *spec.Plan, t *spec.Target, p *plane, sizes [4]int, elems int) error {
	strides := [4]int{p.b, p.g, p.k, p.c}
	span, apart := int64(elems), sizes[0]*sizes[1]*sizes[2]
	for a, n := range sizes {
		span += int64(n-1) * int64(strides[a])
	}
	size := int64(p.dtype.Size())
	one := size * int64(sizes[3]) * int64(elems)
	if size*span <= t.MaxBinding || apart == 1 || one > t.MaxBinding/8 {
		return nil
	}
	if n := one * int64(apart); v.size < n { // The first run is the longest one.
		v.ref, v.size = planner.AddScratch(plan, n), n
	}
	shape, from := append(sizes[:], elems), append(strides[:], 1)
	to := tensor.Contiguous(p.dtype, shape...)
	err := movement.AddCopy(plan, t, p.dtype, shape, planner.Operand{Ref: p.ref, Strides: from, Base: p.first}, planner.Operand{Ref: v.ref, Strides: to.ElementStrides()})
	near := to.ElementStrides()
	for a := range strides {
		if strides[a] == 0 { // It does not vary.
			near[a] = 0
		}
	}
	*p = plane{ref: v.ref, dtype: p.dtype, b: near[0], g: near[1], k: near[2], c: near[3]}
	return err
}

// runs divides the sums of a geometry whose taps are not flipped: the channels, and the taps if those of one
// channel are more than a run.
func (x *geometry) runs(run int) []geometry {
	p, taps := x.whole(), x.r.elems()
	if x.c == 0 {
		return []geometry{*x}
	}
	chunk := max(run/taps, 1)
	if chunk > 4 {
		chunk -= chunk % 4 // Four channels are a texel.
	}
	var list []geometry
	var add func(p part)
	add = func(p part) {
		if p.c.n*sizes(p.r).elems() > run {
			low, high, _ := p.halve(dimR)
			add(low)
			add(high)
			return
		}
		y := *x
		y.c, y.r = p.c.n, sizes(p.r)
		y.in.first += p.c.from * x.in.c
		y.filter.first += p.c.from*x.filter.c + flat(p.r, x.r)
		for a := range y.p {
			y.p[a] -= p.r[a].from * x.d[a]
		}
		list = append(list, y)
	}
	for p.c.from = 0; p.c.from < x.c; p.c.from += chunk {
		p.c.n = min(chunk, x.c-p.c.from)
		add(p)
	}
	return list
}
