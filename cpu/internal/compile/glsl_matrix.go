package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// together computes all leaves of a value whose leaves have one shape: f returns functions
// that push them.
func (e *emitter) together(v *ir.Value, f func(m mode) []func()) {
	h := e.homeOf(v)
	modes := []mode{{e: e, scalar: true}}
	if h.leaves[0].shape.varying {
		modes = nil
		for half := range vectors(h.leaves[0].t) {
			modes = append(modes, mode{e: e, half: half})
		}
	}
	for _, m := range modes {
		for i, push := range f(m) {
			push()
			e.popLeaf(&h.leaves[i], m.half)
		}
	}
}

// minors computes determinants of parts of a square matrix, each once. Floats of 16 bits are
// rounded at the end only.
type minors struct {
	m    mode
	a    *ir.Value
	n    int
	t    *ir.Type
	done map[[2]uint]func()
}

func minorsOf(m mode, a *ir.Value) *minors {
	t := a.Type.Elem.Elem
	if isHalf(t) {
		t = &ir.Type{Kind: ir.Float, Bits: 32}
	}
	return &minors{m, a, int(a.Type.N), t, map[[2]uint]func(){}}
}

// of returns what pushes the determinant of the columns and rows that two sets of bits name,
// of which each has as many.
func (d *minors) of(columns, rows uint) func() {
	if known := d.done[[2]uint{columns, rows}]; known != nil {
		return known
	}
	c := 0
	for columns>>c&1 == 0 {
		c++
	}
	type term struct{ element, minor func() }
	var terms []term
	for r := range d.n {
		if rows>>r&1 == 0 {
			continue
		}
		element := func() { d.m.get(d.a, c*d.n+r) }
		if columns == 1<<c {
			return element
		}
		terms = append(terms, term{element, d.of(columns&^(1<<c), rows&^(1<<r))})
	}
	for k, x := range terms {
		x.element()
		x.minor()
		d.m.op(ir.FMul, d.t)
		switch {
		case k == 0:
		case k%2 == 1:
			d.m.op(ir.FSub, d.t)
		default:
			d.m.op(ir.FAdd, d.t)
		}
	}
	known := d.m.local(d.t)
	d.done[[2]uint{columns, rows}] = known
	return known
}

// every is the set of all rows or columns.
func (d *minors) every() uint { return 1<<d.n - 1 }

// determinant writes Determinant.
func (e *emitter) determinant(v *ir.Value) {
	e.expression(v, 0, func(m mode) {
		d := minorsOf(m, v.Args[0])
		d.of(d.every(), d.every())()
		m.normalise(v.Type)
	})
}

// inverse writes MatrixInverse: the transposed matrix of the signed minors, divided by the
// determinant.
func (e *emitter) inverse(v *ir.Value) {
	e.together(v, func(m mode) (list []func()) {
		d := minorsOf(m, v.Args[0])
		whole := d.of(d.every(), d.every())
		for c := range d.n {
			for r := range d.n {
				// Element r of column c comes of the minor without column r and row c.
				minor := func() { m.constant(d.t, one(d.t)) }
				if d.n > 1 {
					minor = d.of(d.every()&^(1<<r), d.every()&^(1<<c))
				}
				list = append(list, func() {
					minor()
					if (c+r)%2 == 1 {
						m.ops(simple[ir.FNegate], d.t)
					}
					whole()
					m.op(ir.FDiv, d.t)
					m.normalise(v.Type.Scalar())
				})
			}
		}
		return list
	})
}

// refract writes Refract. I and N are the vectors, and k is 1 - eta²(1 - dot(N, I)²). The
// result is 0 if k is negative, otherwise eta*I - (eta*dot(N, I) + sqrt(k))*N.
func (e *emitter) refract(v *ir.Value) {
	i, n, eta := v.Args[0], v.Args[1], v.Args[2]
	t := leavesOf(i.Type)[0]
	e.together(v, func(m mode) (list []func()) {
		for k := range countLeaves(i.Type) {
			m.get(n, k)
			m.get(i, k)
			m.op(ir.FMul, t)
			if k > 0 {
				m.op(ir.FAdd, t)
			}
		}
		dot := m.local(t)
		m.constant(t, one(t))
		m.get(eta, 0)
		m.get(eta, 0)
		m.op(ir.FMul, t)
		m.constant(t, one(t))
		dot()
		dot()
		m.op(ir.FMul, t)
		m.op(ir.FSub, t)
		m.op(ir.FMul, t)
		m.op(ir.FSub, t)
		under := m.local(t)
		m.get(eta, 0)
		dot()
		m.op(ir.FMul, t)
		under()
		m.ops(glslSimple[glslSqrt], t)
		m.normalise(t)
		m.op(ir.FAdd, t)
		factor := m.local(t)
		for k := range countLeaves(i.Type) {
			list = append(list, func() {
				m.constant(t, 0)
				m.get(eta, 0)
				m.get(i, k)
				m.op(ir.FMul, t)
				factor()
				m.get(n, k)
				m.op(ir.FMul, t)
				m.op(ir.FSub, t)
				under()
				m.constant(t, 0)
				m.compare(ir.FOrdLessThan, t)
				m.selects(t)
			})
		}
		return list
	})
}
