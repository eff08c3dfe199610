package lathe

import (
	"context"
	"image"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/tensor"
)

// The windows of SSIM, and its constants.
const (
	ssimRadius = 5 // ⌈3σ⌉, where imageops.GaussianBlur ends too
	ssimSigma  = 1.5
	ssimC1     = 0.01 * 0.01
	ssimC2     = 0.03 * 0.03
)

// tileSums are sums over the pixels of a tile. Differences are in levels.
type tileSums struct {
	max, abs, square float64
	loss             float64 // the sum of 1 − SSIM over windows, for luma and for alpha
}

// windowCentres are the pixels that are the middle of a window.
func windowCentres(size image.Point) image.Rectangle {
	r := image.Rectangle{Max: size}
	if size.X > 2*ssimRadius {
		r.Min.X, r.Max.X = ssimRadius, size.X-ssimRadius
	}
	if size.Y > 2*ssimRadius {
		r.Min.Y, r.Max.Y = ssimRadius, size.Y-ssimRadius
	}
	return r
}

// comparison is what a tile has on the device: tensors [h,w,4] of levels.
type comparison struct {
	*Scope
	a, b *Tensor
}

// load sends a part of both pictures.
func (p *picturePair) load(ctx context.Context, d *Device, r image.Rectangle) *comparison {
	c := &comparison{Scope: d.Scope(ctx)}
	c.a, c.b = p.tile(ctx, c, p.a, r), p.tile(ctx, c, p.b, r)
	if p.alpha {
		c.a, c.b = c.weigh(c.a), c.weigh(c.b)
	}
	return c
}

// tile sends a part of a picture.
func (p *picturePair) tile(ctx context.Context, c *comparison, s samples, r image.Rectangle) *Tensor {
	if s.floats != nil {
		return c.Take(FromSlice(ctx, c.dev, cut(s.floats, p.size.X, r), r.Dy(), r.Dx(), 4))
	}
	return c.Cast(c.Take(FromSlice(ctx, c.dev, cut(s.bytes, p.size.X, r), r.Dy(), r.Dx(), 4)), tensor.F32)
}

// cut returns a part of a picture of w pixels a row, without gaps.
func cut[T uint8 | float32](all []T, w int, r image.Rectangle) []T {
	if r.Dx() == w {
		return all[4*w*r.Min.Y : 4*w*r.Max.Y]
	}
	part := make([]T, 0, 4*r.Dx()*r.Dy())
	for y := r.Min.Y; y < r.Max.Y; y++ {
		part = append(part, all[4*(y*w+r.Min.X):4*(y*w+r.Max.X)]...)
	}
	return part
}

// weigh multiplies colours by alpha, and leaves alpha as it is.
func (c *comparison) weigh(t *Tensor) *Tensor {
	alpha := c.Mul(c.Take(t.Narrow(2, 3, 1)), Scalar(1.0/255))
	return c.Mul(t, c.Maximum(alpha, c.Take(FromSlice(c.ctx, c.dev, []float32{0, 0, 0, 1}))))
}

// part is the part r of t, which has the pixels of whole.
func (c *comparison) part(t *Tensor, whole, r image.Rectangle) *Tensor {
	t = c.Take(t.Narrow(0, r.Min.Y-whole.Min.Y, r.Dy()))
	return c.Take(t.Narrow(1, r.Min.X-whole.Min.X, r.Dx()))
}

// sums computes the sums of a tile. Its windows reach into the tiles around it.
func (p *picturePair) sums(ctx context.Context, d *Device, r image.Rectangle) (sums tileSums, err error) {
	inner := windowCentres(p.size).Intersect(r)
	whole := r
	if !inner.Empty() {
		whole = r.Union(inner.Inset(-ssimRadius)).Intersect(image.Rectangle{Max: p.size})
	}
	c := p.load(ctx, d, whole)
	defer c.Close()
	delta := c.Sub(c.a, c.b)
	all := c.Abs(delta)
	own := c.part(all, whole, r)
	got, err := c.numbers(c.ReduceMax(all), c.ReduceMax(own), c.ReduceSum(own), c.ReduceSum(c.Mul(own, own)))
	if err != nil {
		return sums, err
	}
	sums = tileSums{max: got[1], abs: got[2], square: got[3]}
	if inner.Empty() || got[0] == 0 {
		return sums, nil // windows of equal pixels lose nothing
	}
	total := c.Add(c.a, c.b)
	losses := []*Tensor{c.loss(total, delta, []float32{.299, .587, .114, 0}, whole, inner)}
	if p.alpha {
		losses = append(losses, c.loss(total, delta, []float32{0, 0, 0, 1}, whole, inner))
	}
	if got, err = c.numbers(losses...); err != nil {
		return sums, err
	}
	for _, v := range got {
		sums.loss += v
	}
	return sums, nil
}

// numbers waits for tensors of one element.
func (c *comparison) numbers(list ...*Tensor) ([]float64, error) {
	for i, t := range list {
		list[i] = c.Take(t.Reshape(1))
	}
	return ToFloats[float64](c.ctx, c.Concat(0, list...))
}

// loss is the sum of 1 − SSIM over the windows with a centre in inner. What is compared is the
// weighed sum of the channels, x and y. total is x + y for each channel, and delta x − y.
//
// With s = (x+y)/2 and d = (x−y)/2, 2·μx·μy is 2·(μs²−μd²), μx²+μy² is 2·(μs²+μd²), and the
// same is true of the variances. So there are four blurs and not five. With P = μs² + C1/2,
// Q = μd², V = σs² + C2/2 and W = σd², SSIM is (P−Q)·(V−W) / ((P+Q)·(V+W)), and 1 − SSIM is
// 2·(P·W + Q·V) / ((P+Q)·(V+W)). This is 0 for equal pictures whatever is rounded, and exact
// where they are nearly equal.
func (c *comparison) loss(total, delta *Tensor, weights []float32, whole, inner image.Rectangle) *Tensor {
	for i := range weights {
		weights[i] /= 2 * 255
	}
	by := c.Take(FromSlice(c.ctx, c.dev, weights, 4, 1))
	// Numbers around 0 lose less where σ² is the difference of two means.
	s, d := c.Add(c.MatMul(total, by), Scalar(-0.5)), c.MatMul(delta, by)
	mean := func(t *Tensor) *Tensor {
		return c.Call(imageops.GaussianBlur{Sigma: ssimSigma, IgnoreAlpha: true}, t)[0]
	}
	ms, md := mean(s), mean(d)
	q := c.Mul(md, md)
	v := c.Add(c.Sub(mean(c.Mul(s, s)), c.Mul(ms, ms)), Scalar(ssimC2/2))
	w := c.Sub(mean(c.Mul(d, d)), q)
	ms = c.Add(ms, Scalar(0.5))
	p := c.Add(c.Mul(ms, ms), Scalar(ssimC1/2))
	half := c.Add(c.Mul(p, w), c.Mul(q, v))
	losses := c.Div(half, c.Mul(c.Add(p, q), c.Add(v, w)))
	return c.Mul(c.ReduceSum(c.part(losses, whole, inner)), Scalar(2))
}

// draw draws the differences of a tile.
func (p *picturePair) draw(ctx context.Context, d *Device, out *image.NRGBA, r image.Rectangle, gain float64) error {
	c := p.load(ctx, d, r)
	defer c.Close()
	delta := c.Abs(c.Sub(c.a, c.b))
	if p.alpha {
		delta = c.Maximum(delta, c.Take(delta.Narrow(2, 3, 1)))
	}
	opaque := c.Take(FromSlice(ctx, d, []float32{0, 0, 0, 255}))
	levels := c.Round(c.Minimum(c.Mul(delta, Scalar(gain)), Scalar(255)))
	pix, err := ToSlice[uint8](ctx, c.Cast(c.Maximum(levels, opaque), tensor.U8))
	if err != nil {
		return err
	}
	for y := range r.Dy() {
		copy(out.Pix[out.PixOffset(r.Min.X, r.Min.Y+y):], pix[4*r.Dx()*y:4*r.Dx()*(y+1)])
	}
	return nil
}
