package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
)

// Idiom declares that a product may end attention in its spelled-out form, softmax(q·kᵀ·scale + mask)·v. The scale is a product with a number, or a quotient, of
// the scores, of q or of k. The mask is added to the scores, or puts −∞ in the place of scores by a condition. Masks that are constants and hide from each query the keys
// after it become Causal. Scores of 16 bits may be cast to F32 for the softmax, and the probabilities back. Keys and values may be copies that repeat each head for a group of queries.
func (c MatMul) Idiom(m *spec.Match) {
	p := m.In(0)
	made, in := m.Maker(p)
	readers := m.Readers(p)
	if _, ok := made.(Cast); ok {
		readers = max(readers, m.Readers(in[0]))
		made, in = m.Maker(in[0])
	}
	softmax, ok := made.(Softmax)
	if !ok || c.TransA {
		return
	}
	shape := m.Desc(in[0]).Shape
	if from(softmax.Dim, len(shape)) != len(shape)-1 {
		return
	}
	a := &spelledAttention{m: m, scale: 1, shape: shape}
	if !a.isScores(in[0], mostSteps) {
		return
	}
	if readers != 1 {
		m.Miss("another call or an output reads the probabilities")
	}
	if a.walk(in[0]) {
		a.replace(m.In(1), c.TransB)
	}
}

// mostSteps is how many calls may stand between the first product and the softmax.
const mostSteps = 8

// farBelow is a score that counts as −∞ where a constant condition puts it, as networks in 16 bits write it: the exponential of its distance to any score
// above −9000 is 0.
const farBelow = -1e4

// spelledAttention is what is known of softmax(q·kᵀ·scale + mask)·v, from its end to its beginning.
type spelledAttention struct {
	m              *spec.Match
	shape          []int // of the scores
	q, k           spec.Value
	transQ, transK bool // q is [..., d,sq], and k is [..., d,skv]
	scale          float64
	masks          []addedMask
	causal         bool
	met            int  // how many masks there are, those that hide nothing among them
	finite         bool // a mask has a finite number for −∞
}

// addedMask is a mask that is added to the scores. exact says that its elements are 0 and −∞, so that it has the same in any dtype.
type addedMask struct {
	v     spec.Value
	exact bool
}

// isScores reports whether a value is a product, or made of one by calls such as those that scale and mask scores.
func (a *spelledAttention) isScores(v spec.Value, steps int) bool {
	c, in := a.m.Maker(v)
	if steps == 0 {
		return false
	}
	switch c.(type) {
	case MatMul:
		return true
	case Mul, Add:
		return a.isScores(in[0], steps-1) || a.isScores(in[1], steps-1)
	case Div, Cast:
		return a.isScores(in[0], steps-1)
	case Where:
		return a.isScores(in[1], steps-1) || a.isScores(in[2], steps-1)
	}
	return false
}

// walk goes from the softmax back to the product. It reports false, and says why, if the form is none.
func (a *spelledAttention) walk(v spec.Value) bool {
	for steps := mostSteps; !a.m.Missed(); steps-- {
		if a.m.Readers(v) != 1 {
			a.m.Miss("another call or an output reads the scores")
			break
		}
		if own := a.m.Desc(v).Shape; !slices.Equal(own, a.shape) {
			a.m.Miss("scores %v are broadcast to %v", own, a.shape)
			break
		}
		c, in := a.m.Maker(v)
		next := 0
		switch c := c.(type) {
		case MatMul:
			if a.finite && a.met > 1 {
				a.m.Miss("there are %d masks, one of them not −∞: together they may hide all keys of a query", a.met)
			}
			a.q, a.k, a.transQ, a.transK = in[0], in[1], c.TransA, !c.TransB
			return !a.m.Missed()
		case Mul:
			if !a.isScores(in[0], steps) || a.number(in[0]) {
				next = 1
			}
			a.scaled(in[1-next], func(x float64) float64 { return x })
		case Cast:
			if a.m.Desc(in[0]).DType.Size() > a.m.Desc(v).DType.Size() {
				a.m.Miss("scores are rounded to %v", a.m.Desc(v).DType)
			}
		case Div:
			a.scaled(in[1], func(x float64) float64 { return 1 / x })
		case Add:
			if full := func(v spec.Value) bool { return slices.Equal(a.m.Desc(v).Shape, a.shape) }; !a.isScores(in[0], steps) || !full(in[0]) && full(in[1]) && a.isScores(in[1], steps) {
				next = 1
			}
			a.added(in[1-next])
		case Where:
			if next = 2; !a.number(in[1]) {
				next = 1
			}
			a.chosen(in[0], in[3-next], next == 2)
		}
		if v = in[next]; !a.isScores(v, steps) {
			a.m.Miss("the scores are no product")
		}
	}
	return false
}

func (a *spelledAttention) number(v spec.Value) bool {
	_, ok := a.m.Number(v)
	return ok
}

// scaled notes a factor of the scores.
func (a *spelledAttention) scaled(by spec.Value, factor func(float64) float64) {
	x, ok := a.m.Number(by)
	switch {
	case !ok:
		a.m.Miss("the scale is no constant")
	default:
		a.scale *= factor(x)
	}
}

// added notes a mask that is added.
func (a *spelledAttention) added(mask spec.Value) {
	a.another()
	h := a.m.Elements(mask)
	if h == nil {
		a.masks = append(a.masks, addedMask{mask, false})
		return
	}
	hidden := make([]bool, 0, h.Elems())
	for _, x := range h.Floats() {
		if x != 0 && !math.IsInf(x, -1) {
			a.masks = append(a.masks, addedMask{mask, false})
			return
		}
		hidden = append(hidden, x != 0)
	}
	a.hide(h.Shape, hidden, func() spec.Value { return mask })
}

// chosen notes that scores become x where a condition is what hides says.
func (a *spelledAttention) chosen(condition, x spec.Value, hides bool) {
	a.another()
	far, ok := a.m.Number(x)
	switch {
	case !ok:
		a.m.Miss("scores are replaced by no constant")
		return
	case !(far <= farBelow):
		a.m.Miss("masked scores become %v (want −∞, or at most %v)", far, farBelow)
		return
	}
	h, dtype := a.m.Elements(condition), a.m.Desc(x).DType
	if h == nil {
		if !math.IsInf(far, -1) {
			a.m.Miss("the condition is no constant, and masked scores become %v (want −∞)", far)
			return
		}
		zero := a.m.Constant(dtype, nil, []float64{0})
		x = a.m.Constant(dtype, nil, []float64{far})
		if !hides {
			x, zero = zero, x
		}
		a.masks = append(a.masks, addedMask{a.m.Call(Where{}, condition, x, zero), true})
		return
	}
	hidden, values := make([]bool, h.Elems()), make([]float64, h.Elems())
	for i, c := range h.Floats() {
		if hidden[i] = (c != 0) == hides; hidden[i] {
			values[i] = math.Inf(-1)
		}
	}
	if !math.IsInf(far, -1) {
		a.finite = true
	}
	if !math.IsInf(far, -1) && blind(h.Shape, hidden) {
		a.m.Miss("masked scores become %v, and a query sees no key (want −∞)", far)
	}
	a.hide(h.Shape, hidden, func() spec.Value { return a.m.Constant(dtype, h.Shape, values) })
}

// another notes that there is a mask. The walk goes backwards, so that what scales the masked scores was met before.
func (a *spelledAttention) another() {
	if a.met++; a.scale != 1 {
		a.m.Miss("scores are scaled after they are masked")
	}
}

// blind reports whether a row has hidden elements only.
func blind(shape []int, hidden []bool) bool {
	if len(shape) == 0 {
		return hidden[0]
	}
	n := shape[len(shape)-1]
	for len(hidden) > 0 {
		if !slices.Contains(hidden[:n], false) {
			return true
		}
		hidden = hidden[n:]
	}
	return false
}

// hide notes a mask that is 0, and −∞ where hidden is true.
func (a *spelledAttention) hide(shape []int, hidden []bool, mask func() spec.Value) {
	switch {
	case !slices.Contains(hidden, true):
	case a.triangle(shape, hidden):
		a.causal = true
	default:
		a.masks = append(a.masks, addedMask{mask(), true})
	}
}

// triangle reports whether each query sees the keys up to its own, and the last query all of them.
func (a *spelledAttention) triangle(shape []int, hidden []bool) bool {
	rank := len(a.shape)
	sq, skv := a.shape[rank-2], a.shape[rank-1]
	if len(hidden) != sq*skv || len(shape) < 2 || shape[len(shape)-1] != skv || shape[len(shape)-2] != sq {
		return false
	}
	for i, h := range hidden {
		if h != (i%skv > i/skv+skv-sq) {
			return false
		}
	}
	return true
}
