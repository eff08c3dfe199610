package main

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe"
	"github.com/lathe-gpu/lathe/internal/testkit"
	"github.com/lathe-gpu/lathe/internal/testlevel"
)

// conv64 is the convolutional network once more, in float64 and plain loops.
type conv64 struct {
	w    []param64 // w1, b1, w2, b2, w3, b3
	step int
}

func newConv64(w weights) *conv64 {
	c := &conv64{}
	for _, v := range w {
		q := param64{make([]float64, len(v)), make([]float64, len(v)), make([]float64, len(v)), make([]float64, len(v))}
		for i, x := range v {
			q.v[i] = float64(x)
		}
		c.w = append(c.w, q)
	}
	return c
}

// layer64 is a convolution of square maps, and what the backward pass needs of it.
type layer64 struct {
	in, maps, size int
	x, sums, out   []float64
	from           []int // the element of sums that each element of out is
}

// forward convolves x [in,size,size] with w [maps,in,3,3], rectifies, and takes the largest of
// each two by two elements.
func (l *layer64) forward(x, w, b []float64) {
	n := l.size
	l.x, l.sums, l.out, l.from = x, make([]float64, l.maps*n*n), make([]float64, l.maps*n*n/4), make([]int, l.maps*n*n/4)
	for k := range l.maps {
		for i := range n * n {
			sum := b[k]
			l.taps(i, func(at, tap int) {
				for c := range l.in {
					sum += x[c*n*n+at] * w[(k*l.in+c)*9+tap]
				}
			})
			l.sums[k*n*n+i] = sum
		}
		for i := range n * n / 4 {
			y, col := i/(n/2), i%(n/2)
			at := k*n*n/4 + i
			l.from[at] = k*n*n + 2*y*n + 2*col
			for j := range 4 {
				if e := k*n*n + (2*y+j/2)*n + 2*col + j%2; math.Max(l.sums[e], 0) > math.Max(l.sums[l.from[at]], 0) {
					l.from[at] = e
				}
			}
			l.out[at] = math.Max(l.sums[l.from[at]], 0)
		}
	}
}

// taps calls f for the elements around element i that are in the picture.
func (l *layer64) taps(i int, f func(at, tap int)) {
	n := l.size
	for tap := range 9 {
		if y, x := i/n+tap/3-1, i%n+tap%3-1; y >= 0 && y < n && x >= 0 && x < n {
			f(y*n+x, tap)
		}
	}
}

// backward adds the gradients of w and b, and returns that of x.
func (l *layer64) backward(dout []float64, w, b *param64) []float64 {
	n, dx := l.size, make([]float64, len(l.x))
	for at, d := range dout {
		e := l.from[at]
		if l.sums[e] <= 0 {
			continue
		}
		k := e / (n * n)
		b.g[k] += d
		l.taps(e%(n*n), func(at, tap int) {
			for c := range l.in {
				w.g[(k*l.in+c)*9+tap] += d * l.x[c*n*n+at]
				dx[c*n*n+at] += d * w.v[(k*l.in+c)*9+tap]
			}
		})
	}
	return dx
}

// train makes one step on a batch and returns the mean loss before it.
func (c *conv64) train(d dataset, batch []int) float64 {
	for i := range c.w {
		clear(c.w[i].g)
	}
	loss, n := 0.0, float64(len(batch))
	w3, b3 := &c.w[4], &c.w[5]
	for _, i := range batch {
		x := make([]float64, pixels)
		for j, v := range d.image(i) {
			x[j] = float64(float32(v) / 255)
		}
		first, second := layer64{in: 1, maps: maps1, size: side}, layer64{in: maps1, maps: maps2, size: side / 2}
		first.forward(x, c.w[0].v, c.w[1].v)
		second.forward(first.out, c.w[2].v, c.w[3].v)
		z := append([]float64(nil), b3.v...)
		for j, v := range second.out {
			for k := range z {
				z[k] += v * w3.v[j*classes+k]
			}
		}
		sum := 0.0
		for k := range z {
			z[k] = math.Exp(z[k])
			sum += z[k]
		}
		label := int(d.labels[i])
		loss -= math.Log(z[label]/sum) / n
		dflat := make([]float64, flat)
		for k := range z {
			dz := z[k] / sum / n
			if k == label {
				dz -= 1 / n
			}
			b3.g[k] += dz
			for j, v := range second.out {
				w3.g[j*classes+k] += v * dz
				dflat[j] += w3.v[j*classes+k] * dz
			}
		}
		dfirst := second.backward(dflat, &c.w[2], &c.w[3])
		first.backward(dfirst, &c.w[0], &c.w[1])
	}
	c.step++
	for _, p := range c.w {
		p.adam(c.step)
	}
	return loss
}

// TestConvolutionTraining trains the convolutional network beside its float64 run for some steps.
// Both begin with the same weights. See near for the bound. Then it trains on without, and reads
// digits that it has not seen.
func TestConvolutionTraining(t *testing.T) {
	testlevel.Need(t, testlevel.Full) // trains for some seconds
	ctx := context.Background()
	dev, err := lathe.Open(ctx, lathe.WithLogger(nil))
	testkit.Device(t, dev, err)
	const steps, compared, seed = 150, 25, 1
	train, test, w := write(trained, 2*seed), write(tested, 2*seed+1), newWeights(convolutions, seed)
	net, err := newNetwork(ctx, dev, convolutions, w, train, test)
	if err != nil {
		t.Fatal(err)
	}
	want, worst := newConv64(w), 0.0
	for i, digits := range batches(train.len(), steps, seed) {
		if err := net.learn(ctx, digits); err != nil {
			t.Fatal(err)
		}
		if i >= compared {
			continue
		}
		got, err := net.loss(ctx)
		if err != nil {
			t.Fatal(err)
		}
		exact := want.train(train, digits)
		off := math.Abs(got-exact) / max(exact, 0.1)
		if worst = max(worst, off); !(off <= near) {
			t.Fatalf("step %d: loss %.7f, in float64 %.7f: %.2g apart, want at most %g", i+1, got, exact, off, near)
		}
	}
	guess, err := net.recognise(ctx)
	if err != nil {
		t.Fatal(err)
	}
	n := right(test, guess)
	t.Logf("losses at most %.2g apart; %d of %d digits right", worst, n, test.len())
	if n < test.len()*94/100 {
		t.Errorf("%d of %d digits right, want 94 %%", n, test.len())
	}
}

func (c *conv64) clone() *conv64 {
	d := &conv64{step: c.step}
	for _, p := range c.w {
		d.w = append(d.w, param64{slices.Clone(p.v), slices.Clone(p.g), slices.Clone(p.m), slices.Clone(p.s)})
	}
	return d
}

// The gradients of the float64 run are the slopes of its loss.
func TestConvolutionGradients64(t *testing.T) {
	d, digits := write(20, 3), []int{3, 1, 4}
	r := newConv64(newWeights(convolutions, 4))
	r.train(d, digits) // Biases of 0 are where relu has no slope, because paper is 0.
	exact := r.clone()
	exact.train(d, digits)
	for p, q := range exact.w {
		for i := 0; i < len(q.g); i += 1 + len(q.g)/5 {
			const h = 1e-6
			up, down := r.clone(), r.clone()
			up.w[p].v[i] += h
			down.w[p].v[i] -= h
			slope := (up.train(d, digits) - down.train(d, digits)) / (2 * h)
			if math.Abs(slope-q.g[i]) > 1e-7+1e-6*math.Abs(slope) {
				t.Errorf("parameter %d, element %d: gradient %g, slope %g", p, i, q.g[i], slope)
			}
		}
	}
}
