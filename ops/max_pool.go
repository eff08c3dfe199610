package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// MaxPool returns the largest element of each window of a tensor [N,C,spatial...] with 1 to 3
// spatial dimensions. NaN counts as larger than all numbers. Pads are no elements: a window
// without elements gives −∞. The size of the output along a dimension is
// (size + pads − (kernel−1)·dilation − 1)/stride + 1, rounded down, or up with CeilMode. A
// window that would begin in the pad at the end is left out. Pads are smaller than the extent
// of a window.
type MaxPool struct {
	Kernel    []int `attr:"kernel,required" onnx:"kernel_shape" doc:"the size of a window"`
	Strides   []int `attr:"strides" onnx:"strides" doc:"the steps from window to window; empty means 1"`
	Pads      []int `attr:"pads" onnx:"pads" doc:"the pads before each dimension, then after each; empty means 0"`
	Dilations []int `attr:"dilations" onnx:"dilations" doc:"the steps within a window; empty means 1"`
	CeilMode  bool  `attr:"ceil_mode" onnx:"ceil_mode" doc:"round the number of windows up"`
}

// Spec returns the declaration.
func (MaxPool) Spec() *spec.Op { return maxPoolOp.Op() }

// Gradient declares the gradient, by MaxPoolGrad.
func (c MaxPool) Gradient(t *spec.Tape) {
	derivative(t, MaxPoolGrad(c))
}

var maxPoolOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.Define(pooling.Max(pooling.Pool[*MaxPool]{
		Name: "max_pool", ONNX: []string{"MaxPool"},
		Doc:      "The largest element of each window. NaN counts as larger than all numbers.",
		Defaults: &MaxPool{Kernel: []int{2, 2}},
		Windows: func(a *MaxPool) pooling.Windows {
			return pooling.Windows{Kernel: a.Kernel, Strides: a.Strides, Pads: a.Pads, Dilations: a.Dilations, CeilMode: a.CeilMode}
		},
		Cases: maxPoolCases(),
	}))
}}

// maxPoolCases are those of all windows, and windows without gaps along one dimension and along two of three, which are computed by whole packs.
func maxPoolCases() spec.CasesOf[*MaxPool] {
	c := pooling.WindowCases(func(w pooling.Windows) *MaxPool {
		return &MaxPool{w.Kernel, w.Strides, w.Pads, w.Dilations, w.CeilMode}
	})
	c.Calls = append(c.Calls, &MaxPool{Kernel: []int{4}, Strides: []int{3}, Pads: []int{1, 2}, CeilMode: true}, &MaxPool{Kernel: []int{1, 2, 3}, Strides: []int{1, 3, 1}, Pads: []int{0, 1, 0, 0, 0, 2}})
	return c
}
