package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/tensor"
)

// WindowsReference computes filters one after the other, in float64.
func WindowsReference(in, out *tensor.Host, calls ...Window) {
	for i, c := range calls {
		next := out
		if i < len(calls)-1 {
			next = tensor.NewHost(tensor.Contiguous(in.DType, in.Shape...))
		}
		windowReference(c, in, next)
		in = next
	}
}

// windowReference folds colours times alpha and alpha, in the scale of the dtype. In u8 all sums
// are whole numbers.
func windowReference(c Window, in, out *tensor.Host) {
	h, w, channels, full := in.Shape[0], in.Shape[1], in.Shape[2], Full(in.DType)
	weigh := c.Weigh && channels == 4
	folded := func(value func(y, x int) float64) []float64 {
		plane := make([]float64, h*w)
		for i := range plane {
			plane[i] = value(i/w, i%w)
		}
		if c.Disc {
			return foldDisc(c, plane, h, w)
		}
		plane = foldLines(c, plane, h, w, w, 1)
		return foldLines(c, plane, w, h, 1, w)
	}
	alpha := func(y, x int) float64 { return 1 }
	if weigh {
		alpha = func(y, x int) float64 { return in.At(y, x, 3) }
	}
	under, n := folded(alpha), 1.0
	if c.Fold == Mean {
		n = float64((2*c.Radius + 1) * (2*c.Radius + 1))
	}
	set := func(v float64, y, x, ch int) {
		if in.DType == tensor.U8 {
			v = math.Floor(v + 0.5)
		}
		out.Set(v, y, x, ch)
	}
	for ch := range channels {
		var plane []float64
		if ch < 3 {
			plane = folded(func(y, x int) float64 { return in.At(y, x, ch) * alpha(y, x) })
		}
		for y := range h {
			for x := range w {
				switch a := under[y*w+x]; {
				case ch == 3 && weigh:
					set(a/n, y, x, ch)
				case ch == 3:
					out.Set(in.At(y, x, ch), y, x, ch)
				case weigh && Hidden(in.DType, a/n/full):
					out.Set(0, y, x, ch)
				default:
					set(plane[y*w+x]/a, y, x, ch)
				}
			}
		}
	}
}

// reducer returns the function of two values.
func (c Window) reducer() func(a, b float64) float64 {
	switch c.Fold {
	case Least:
		return func(a, b float64) float64 { return min(a, b) }
	case Most:
		return func(a, b float64) float64 { return max(a, b) }
	}
	return func(a, b float64) float64 { return a + b }
}

// foldLines folds each value with those before and after it in its line. There are `lines` lines,
// `next` apart, of n values that are `by` apart.
func foldLines(c Window, values []float64, n, lines, by, next int) []float64 {
	out, fold := make([]float64, len(values)), c.reducer()
	for l := range lines {
		for i := range n {
			v := values[l*next+ClampIndex(i-c.Radius, n)*by]
			for d := 1 - c.Radius; d <= c.Radius; d++ {
				v = fold(v, values[l*next+ClampIndex(i+d, n)*by])
			}
			out[l*next+i*by] = v
		}
	}
	return out
}

func foldDisc(c Window, values []float64, h, w int) []float64 {
	out, fold := make([]float64, len(values)), c.reducer()
	for i := range out {
		out[i] = values[i]
		for dy := -c.Radius; dy <= c.Radius; dy++ {
			for dx := -c.Radius; dx <= c.Radius; dx++ {
				if dx*dx+dy*dy <= c.Radius*c.Radius {
					out[i] = fold(out[i], values[ClampIndex(i/w+dy, h)*w+ClampIndex(i%w+dx, w)])
				}
			}
		}
	}
	return out
}
