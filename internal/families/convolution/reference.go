package convolution

import "github.com/lathe-gpu/lathe/tensor"

// reference computes a call in float64. It visits each pair of an element of y and a tap, which
// meet at an element of x, or outside of it.
func (p problem) reference(in []*tensor.Host, out *tensor.Host) {
	a, b := in[0].Floats(), in[1].Floats()
	res := make([]float64, out.Elems())
	size := p.window.in.elems()
	if p.kind == InputGrad || p.kind == Transposed {
		p.gather(a, b, res)
	} else {
		for n := range p.n {
			for k := range p.group * p.k {
				p.visit(func(o, r, i int) {
					for c := range p.c {
						x := ((n*p.group+k/p.k)*p.c + c) * size
						w, y := (k*p.c+c)*p.taps.elems()+r, (n*p.group*p.k+k)*p.window.out.elems()+o
						v := 0.0
						if i >= 0 {
							v = a[x+i]
						}
						if p.kind == Forward {
							res[y] += v * b[w]
						} else {
							res[w] += v * b[y]
						}
					}
				})
			}
		}
	}
	if len(in) > 2 {
		bias := in[2].Floats()
		each := len(res) / max(p.n*len(bias), 1)
		for i := range res {
			res[i] += bias[i/each%len(bias)]
		}
	}
	out.SetFloats(res)
}

// visit calls f for each element of y and each tap, with the element of x where they meet. It is
// -1 outside of x.
func (p problem) visit(f func(o, r, i int)) {
	for o := range p.window.out.elems() {
		for r := range p.taps.elems() {
			i, oo, rr, unit := 0, o, r, 1
			for d := 2; d >= 0; d-- {
				at := oo%p.window.out[d]*p.strides[d] + rr%p.taps[d]*p.dilations[d] - p.begin[d]
				if at < 0 || at >= p.window.in[d] || i < 0 {
					i = -1
				} else {
					i += at * unit
				}
				oo, rr, unit = oo/p.window.out[d], rr/p.taps[d], unit*p.window.in[d]
			}
			f(o, r, i)
		}
	}
}

// gather computes the gradient dx of x from dy and w. A tap that meets no element of dy adds a
// product with 0.
func (p problem) gather(dy, w, dx []float64) {
	taps, from := p.taps.elems(), p.window.out.elems()
	for i := range p.window.in.elems() {
		for r := range taps {
			o, ii, rr, unit := 0, i, r, 1
			for d := 2; d >= 0; d-- {
				at := ii%p.window.in[d] + p.begin[d] - rr%p.taps[d]*p.dilations[d]
				if at < 0 || at%p.strides[d] != 0 || at/p.strides[d] >= p.window.out[d] || o < 0 {
					o = -1
				} else {
					o += at / p.strides[d] * unit
				}
				ii, rr, unit = ii/p.window.in[d], rr/p.taps[d], unit*p.window.out[d]
			}
			for n := range p.n {
				for k := range p.group * p.k {
					v := 0.0
					if o >= 0 {
						v = dy[(n*p.group*p.k+k)*from+o]
					}
					for c := range p.c {
						dx[((n*p.group+k/p.k)*p.c+c)*p.window.in.elems()+i] += v * w[(k*p.c+c)*taps+r]
					}
				}
			}
		}
	}
}
