package ops

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Idiom declares that a product may end attention in its spelled-out form, softmax(q·kᵀ·scale + mask)·v. The scale is a product with a number, or a quotient, of
// the scores, of q or of k. The mask is added to the scores, or puts −∞ in the place of scores by a condition. Masks that are constants and hide from each query the keys
// after it become Causal. Scores of 16 bits may be cast to F32 for the softmax, and the probabilities back. Keys and values may be copies that repeat each head for a group of queries.
func (c MatMul) Idiom(m *spec.Match) {
	made, in, readers := probabilities(m, m.In(0))
	softmax, ok := made.(Softmax)
	if !ok {
		nearProbabilities(m, made, in)
		return
	}
	shape := m.Desc(in[0]).Shape
	a := &spelledAttention{m: m, scale: 1, shape: shape}
	switch {
	case !a.isScores(in[0], mostSteps):
		if isNear(m, in[0], mostSteps) {
			m.Miss("a view or a copy of the scores is between the product and the softmax")
		}
		return
	case c.TransA:
		m.Miss("the probabilities are transposed")
	case from(softmax.Dim, len(shape)) != len(shape)-1:
		m.Miss("the softmax is over dimension %d of %v (want the last one, the keys)", softmax.Dim, shape)
	case readers != 1:
		m.Miss("another call or an output reads the probabilities")
	}
	if a.walk(in[0]) {
		a.replace(m.In(1), c.TransB)
	}
}

// probabilities is the call that makes a value, before a cast if there is one, and how many read its result.
func probabilities(m *spec.Match, p spec.Value) (made spec.Call, in []spec.Value, readers int) {
	made, in = m.Maker(p)
	readers = m.Readers(p)
	if _, ok := made.(Cast); ok {
		readers = max(readers, m.Readers(in[0]))
		made, in = m.Maker(in[0])
	}
	return made, in, readers
}

// nearProbabilities says what is between a softmax of scores and a product. made makes what the product reads, of in.
func nearProbabilities(m *spec.Match, made spec.Call, in []spec.Value) {
	isSoftmax := func(v spec.Value) bool {
		c, in, _ := probabilities(m, v)
		_, ok := c.(Softmax)
		return ok && isNear(m, in[0], mostSteps)
	}
	if made == nil {
		if isSoftmax(m.Source(m.In(0)).Of) {
			m.Miss("a view of the probabilities is between the softmax and the product")
		}
		return
	}
	for _, v := range in {
		if isSoftmax(v) || isSoftmax(m.Source(v).Of) {
			m.Miss("the call %s is between the softmax and the product", made.Spec().Name)
		}
	}
}

// isNear is isScores of a value that may be a view or a copy of scores.
func isNear(m *spec.Match, v spec.Value, steps int) bool {
	c, in := m.Maker(v)
	if of := m.Source(v).Of; of != v && steps > 0 {
		return isNear(m, of, steps-1)
	}
	if _, ok := c.(MatMul); ok || steps == 0 {
		return ok
	}
	switch c.(type) {
	case Mul, Add, Div, Cast, Where:
		return slices.ContainsFunc(in, func(w spec.Value) bool { return isNear(m, w, steps-1) })
	}
	return false
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
			if own, to := a.m.Desc(in[0]).DType, a.m.Desc(v).DType; !keeps(own, to) {
				a.m.Miss("scores of %v become %v", own, to)
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

// keeps reports whether each score of one dtype is a number of another. One of 16 bits or of F32 is, in F32 or F64. Integers have no fractions, and F16 and BF16 have other numbers.
func keeps(from, to tensor.DType) bool {
	return from == to || to == tensor.F32 && (from == tensor.F16 || from == tensor.BF16) || to == tensor.F64 && (from == tensor.F16 || from == tensor.BF16 || from == tensor.F32)
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
