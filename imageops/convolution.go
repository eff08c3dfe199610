package imageops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// convolution describes an operation that is a convolution. Its attributes have the type A.
type convolution[A spec.Call] struct {
	name, doc, source string
	defaults          A
	// check checks the attributes.
	check func(A) error
	// of returns the convolution, and opaque the call that ignores alpha.
	of             func(A) picture.Convolution
	opaque         func(A) A
	calls, invalid []A
}

func defineConvolution[A spec.Call](c convolution[A]) *spec.Op {
	return picture.Define(picture.Filter[A]{
		Name: c.name, Source: c.source, Defaults: c.defaults,
		Doc:     c.doc + " Alpha stays. It weighs pixels, and the one in the middle stands for the rest. Where alpha is 0, the colours become 0.",
		Kernels: picture.ConvolveKernels(),
		Check:   c.check,
		Plan: func(a A, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanConvolve(t, in, out, c.of(a))
		},
		Halo: func(a A) int {
			k := c.of(a)
			return max(k.Width, k.Height()) / 2
		},
		ForOpaque: c.opaque,
		Reference: func(a A, in, out *tensor.Host) { picture.ConvolveReference(c.of(a), in, out) },
		Tolerance: func(a A, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			k := c.of(a)
			sum := math.Abs(k.Bias)
			for _, v := range k.Kernel {
				sum += math.Abs(v * k.Scale)
			}
			err := sum * float64(len(k.Kernel)+6) * 0x1p-24
			if d == tensor.U8 {
				return spec.Tolerance{Abs: math.Ceil(255*err + 0.5), Why: "sums in f32 near half a level may be rounded up or down"}
			}
			return spec.Tolerance{Abs: err, Why: "as many roundings to f32 as the kernel has numbers, of sums of the sizes of its numbers times the scale"}
		},
		Flops: func(a A) int64 { return int64(2 * 3 * len(c.of(a).Kernel)) },
		Calls: c.calls, Invalid: c.invalid,
	})
}
