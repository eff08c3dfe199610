package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/spec"
)

// Laplacian applies the kernel [0 1 0; 1 −4 1; 0 1 0], or with Diagonal [1 1 1; 1 −8 1; 1 1 1], and
// adds Bias. The result is clamped to 0..1. Outside of the image the pixels of the edge are
// repeated. Alpha is treated as Convolve treats it.
type Laplacian struct {
	Bias        float64 `attr:"bias" doc:"what is added to the result, where 1 is full: 0.5 makes areas grey, and keeps both sides of edges; any number within ±10⁶"`
	Diagonal    bool    `attr:"diagonal" doc:"add the pixels at the corners too"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"add colours regardless of alpha; for data that is not colour"`
}

// Spec returns the declaration.
func (Laplacian) Spec() *spec.Op { return laplacianOp.Op() }

var laplacianOp = spec.Declaration{Define: func() *spec.Op {
	return defineConvolution(convolution[*Laplacian]{
		name:  "laplacian",
		doc:   "Finds edges by the kernel [0 1 0; 1 −4 1; 0 1 0], or one with corners, and adds a bias, clamped to 0..1.",
		check: func(c *Laplacian) error { return picture.Finite("bias", c.Bias) },
		of: func(c *Laplacian) picture.Convolution {
			k := picture.Convolution{Kernel: []float64{0, 1, 0, 1, -4, 1, 0, 1, 0}, Width: 3, Scale: 1, Bias: c.Bias, Weigh: !c.IgnoreAlpha}
			if c.Diagonal {
				k.Kernel = []float64{1, 1, 1, 1, -8, 1, 1, 1, 1}
			}
			return k
		},
		opaque:  func(c *Laplacian) *Laplacian { c.IgnoreAlpha = true; return c },
		calls:   []*Laplacian{{}, {Bias: 0.5, Diagonal: true}},
		invalid: []*Laplacian{{Bias: nan}},
	})
}}
