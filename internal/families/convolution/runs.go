package convolution

import (
	"slices"

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
func (v Product) Strategies(t *spec.Target) []string {
	x := v.geometry([2]spec.Ref{}, spec.Ref{})
	// Runs have no plan by products of matrices, nor by tiles.
	return slices.DeleteFunc(x.strategies(t), func(s string) bool { return s == byProduct || s == byTiles })
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
	strategy := whole.strategy(t)
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
		if err := s.add(strategy); err != nil {
			return err
		}
		if err := after(first); err != nil {
			return err
		}
		first = false
	}
	return nil
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
