package axiswise

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/tensor"
)

// set is the positions of the elements that share statistics, and the channel of each.
type set struct{ at, channel []int }

// sets lists the sets of elements of a tensor.
func (c channels) sets() []set {
	all := make([]set, c.count)
	if c.groups > 0 {
		all = make([]set, c.pictures*c.groups)
	}
	for n := range c.pictures {
		for k := range c.count {
			at := k
			if c.groups > 0 {
				at = n*c.groups + k*c.groups/c.count
			}
			s := &all[at]
			for i := range c.size {
				s.at, s.channel = append(s.at, (n*c.count+k)*c.size+i), append(s.channel, k)
			}
		}
	}
	return all
}

// of returns the elements of a set.
func (s set) of(x []float64) []float64 {
	v := make([]float64, len(s.at))
	for i, at := range s.at {
		v[i] = x[at]
	}
	return v
}

// reference computes a normalisation, or its gradients, in float64.
func (o Channels[A]) reference(a A, in, out []*tensor.Host) {
	c, eps := channelsOf(in[0].Shape, o.groups(a, in[0].Shape)), o.Eps(a)
	x, gamma := in[0].Floats(), in[1].Floats()
	for i, g := range gamma {
		if math.IsInf(g, 0) && !o.Given && (!o.Grad || o.Groups == nil) {
			gamma[i] = math.NaN()
		}
	}
	if o.Grad {
		c.gradientReference(eps, x, gamma, in[2].Floats(), out)
		return
	}
	beta := in[2].Floats()
	var means, variances, given, givenVar []float64
	if o.Given {
		given, givenVar = in[3].Floats(), in[4].Floats()
	}
	y := slices.Clone(x)
	for k, s := range c.sets() {
		row := s.of(x)
		origin, mean, variance := 0.0, 0.0, 0.0
		switch {
		case o.Given:
			mean, variance = given[k], givenVar[k]
		case len(row) > 0:
			origin = row[0]
			mean, variance = center(row)
		}
		for i, at := range s.at {
			y[at] = (row[i]-mean)/math.Sqrt(variance+eps)*gamma[s.channel[i]] + beta[s.channel[i]]
		}
		if math.IsNaN(variance) {
			origin = variance
		}
		means, variances = append(means, origin+mean), append(variances, variance)
	}
	out[0].SetFloats(y)
	if o.Momentum == nil {
		return
	}
	out[1].SetFloats(means)
	out[2].SetFloats(variances)
	m, running := o.Momentum(a), [2][]float64{in[3].Floats(), in[4].Floats()}
	for k := range means {
		running[0][k] = running[0][k]*m + means[k]*(1-m)
		running[1][k] = running[1][k]*m + variances[k]*(1-m)
	}
	out[3].SetFloats(running[0])
	out[4].SetFloats(running[1])
}

// gradientReference computes the gradients in float64.
func (c channels) gradientReference(eps float64, x, gamma, dy []float64, out []*tensor.Host) {
	hat, dx := make([]float64, len(x)), make([]float64, len(x))
	for _, s := range c.sets() {
		row, grad := s.of(x), s.of(dy)
		if len(row) == 0 {
			continue
		}
		mean, variance := center(row)
		scale := 1 / math.Sqrt(variance+eps)
		// Gamma is a factor of all that a channel with statistics of its own has.
		before, after := func(int) float64 { return 1 }, func(i int) float64 { return gamma[s.channel[i]] }
		if c.groups > 0 {
			before, after = after, before
		}
		// As in the reference of layer norm, weighted gradients are relative to the first one.
		origin := grad[0] * before(0)
		if math.IsInf(origin, 0) || math.IsNaN(origin) {
			origin = 0
		}
		for i := range row {
			row[i] = (row[i] - mean) * scale
			hat[s.at[i]] = row[i]
			grad[i] = grad[i]*before(i) - origin
		}
		n := float64(len(row))
		a := reduction.Sum(len(row), func(i int) float64 { return row[i] * grad[i] }) / n
		b := reduction.Sum(len(row), func(i int) float64 { return grad[i] }) / n
		for i, at := range s.at {
			dx[at] = (grad[i] - b - row[i]*a) * scale * after(i)
		}
	}
	dgamma, dbeta := make([]float64, c.count), make([]float64, c.count)
	own := c
	own.groups = 0
	for k, s := range own.sets() {
		dgamma[k] = reduction.Sum(len(s.at), func(i int) float64 { return dy[s.at[i]] * hat[s.at[i]] })
		dbeta[k] = reduction.Sum(len(s.at), func(i int) float64 { return dy[s.at[i]] })
	}
	out[0].SetFloats(dx)
	out[1].SetFloats(dgamma)
	out[2].SetFloats(dbeta)
}
