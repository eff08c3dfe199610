package main

import (
	"math"
	"slices"
)

// run64 is the same training once more, written from the formulas in float64
// and plain loops. It shares the data and the weights to begin with, and no
// arithmetic, with the device.
type run64 struct {
	w1, b1, gamma, beta, w2, b2 param64
	step                        int
}

// param64 is weights, their gradient and Adam's two moments.
type param64 struct{ v, g, m, s []float64 }

func newRun64(w weights) *run64 {
	p := func(v []float32) param64 {
		q := param64{make([]float64, len(v)), make([]float64, len(v)), make([]float64, len(v)), make([]float64, len(v))}
		for i, x := range v {
			q.v[i] = float64(x)
		}
		return q
	}
	return &run64{w1: p(w[0]), b1: p(w[1]), gamma: p(w[2]), beta: p(w[3]), w2: p(w[4]), b2: p(w[5])}
}

func (r *run64) params() []*param64 {
	return []*param64{&r.w1, &r.b1, &r.gamma, &r.beta, &r.w2, &r.b2}
}

func (r *run64) clone() *run64 {
	c := *r
	for _, p := range c.params() {
		*p = param64{slices.Clone(p.v), slices.Clone(p.g), slices.Clone(p.m), slices.Clone(p.s)}
	}
	return &c
}

// row64 is what the forward pass of one digit leaves for the backward pass.
type row64 struct {
	x, h, a, hat, y, p []float64
	sigma              float64
}

const gelu64 = 0.7978845608028653558798921198687637 // √(2/π)

// forward takes one digit through the network.
func (r *run64) forward(image []uint8) row64 {
	o := row64{make([]float64, pixels), make([]float64, hidden), make([]float64, hidden), make([]float64, hidden), make([]float64, hidden), make([]float64, classes), 0}
	copy(o.h, r.b1.v)
	for i, v := range image {
		o.x[i] = float64(float32(v) / 255)
		for j := range o.h {
			o.h[j] += o.x[i] * r.w1.v[i*hidden+j]
		}
	}
	mean, variance := 0.0, 0.0
	for j, h := range o.h {
		o.a[j] = h / 2 * (1 + math.Tanh(gelu64*(h+0.044715*h*h*h)))
		mean += o.a[j] / hidden
	}
	for _, a := range o.a {
		variance += (a - mean) * (a - mean) / hidden
	}
	o.sigma = math.Sqrt(variance + epsNorm)
	copy(o.p, r.b2.v)
	for j, a := range o.a {
		o.hat[j] = (a - mean) / o.sigma
		o.y[j] = o.hat[j]*r.gamma.v[j] + r.beta.v[j]
		for c := range o.p {
			o.p[c] += o.y[j] * r.w2.v[j*classes+c]
		}
	}
	most, sum := math.Inf(-1), 0.0
	for _, z := range o.p {
		most = math.Max(most, z)
	}
	for c, z := range o.p {
		o.p[c] = math.Exp(z - most)
		sum += o.p[c]
	}
	for c := range o.p {
		o.p[c] /= sum
	}
	return o
}

// train makes one step on a batch and returns the mean loss before it.
func (r *run64) train(d dataset, batch []int) float64 {
	for _, p := range r.params() {
		clear(p.g)
	}
	loss := 0.0
	n := float64(len(batch))
	for _, i := range batch {
		o := r.forward(d.image(i))
		loss -= math.Log(o.p[d.labels[i]]) / n
		dy := make([]float64, hidden)
		for c, p := range o.p {
			dz := p / n
			if int32(c) == d.labels[i] {
				dz -= 1 / n
			}
			r.b2.g[c] += dz
			for j := range dy {
				r.w2.g[j*classes+c] += o.y[j] * dz
				dy[j] += r.w2.v[j*classes+c] * dz
			}
		}
		sum, dot := 0.0, 0.0 // of dy·γ, and of dy·γ·x̂
		for j := range dy {
			r.gamma.g[j] += dy[j] * o.hat[j]
			r.beta.g[j] += dy[j]
			dy[j] *= r.gamma.v[j]
			sum += dy[j] / hidden
			dot += dy[j] * o.hat[j] / hidden
		}
		for j := range dy {
			da := (dy[j] - sum - o.hat[j]*dot) / o.sigma
			h := o.h[j]
			t := math.Tanh(gelu64 * (h + 0.044715*h*h*h))
			dh := da * (0.5*(1+t) + 0.5*h*(1-t*t)*gelu64*(1+3*0.044715*h*h))
			r.b1.g[j] += dh
			dy[j] = dh
		}
		for k, x := range o.x {
			if x != 0 {
				for j, dh := range dy {
					r.w1.g[k*hidden+j] += x * dh
				}
			}
		}
	}
	r.step++
	for _, p := range r.params() {
		p.adam(r.step)
	}
	return loss
}

// adam makes a step of Adam, whose number is step.
func (p param64) adam(step int) {
	for i, g := range p.g {
		p.m[i] = beta1*p.m[i] + (1-beta1)*g
		p.s[i] = beta2*p.s[i] + (1-beta2)*g*g
		m := p.m[i] / (1 - math.Pow(beta1, float64(step)))
		s := p.s[i] / (1 - math.Pow(beta2, float64(step)))
		p.v[i] -= rate * m / (math.Sqrt(s) + epsAdam)
	}
}

// right counts the digits that are recognised.
func (r *run64) right(d dataset) int {
	n := 0
	for i := range d.len() {
		if p := r.forward(d.image(i)).p; best(p) == int(d.labels[i]) {
			n++
		}
	}
	return n
}
