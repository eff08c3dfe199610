package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// AvgPool returns the mean of each window of a tensor [N,C,spatial...] with 1 to 3 spatial
// dimensions. Pads are no elements, but with CountIncludePad they count as zeros. What CeilMode
// adds beyond the pads never counts. The mean of a window without elements is 0. Sizes are as
// for MaxPool.
type AvgPool struct {
	Kernel          []int `attr:"kernel,required" onnx:"kernel_shape" doc:"the size of a window"`
	Strides         []int `attr:"strides" onnx:"strides" doc:"the steps from window to window; empty means 1"`
	Pads            []int `attr:"pads" onnx:"pads" doc:"the pads before each dimension, then after each; empty means 0"`
	Dilations       []int `attr:"dilations" onnx:"dilations" doc:"the steps within a window; empty means 1"`
	CeilMode        bool  `attr:"ceil_mode" onnx:"ceil_mode" doc:"round the number of windows up"`
	CountIncludePad bool  `attr:"count_include_pad" onnx:"count_include_pad" doc:"count pads as elements that are 0"`
}

// Spec returns the declaration.
func (AvgPool) Spec() *spec.Op { return avgPoolOp.Op() }

// Gradient declares the gradient, by AvgPoolGrad.
func (c AvgPool) Gradient(t *spec.Tape) {
	if x := t.Shape(t.In(0)); len(x) > 2 {
		linear(t, 0, AvgPoolGrad{Size: x[2:], Kernel: c.Kernel, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, CeilMode: c.CeilMode, CountIncludePad: c.CountIncludePad})
	}
}

var avgPoolOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.Define(pooling.Mean(pooling.Pool[*AvgPool]{
		Name: "avg_pool", ONNX: []string{"AveragePool"},
		Doc:      "The mean of each window. Pads do not count, or count as zeros.",
		Defaults: &AvgPool{Kernel: []int{2, 2}},
		Windows: func(a *AvgPool) pooling.Windows {
			return pooling.Windows{Kernel: a.Kernel, Strides: a.Strides, Pads: a.Pads, Dilations: a.Dilations, CeilMode: a.CeilMode}
		},
		Cases: pooling.WindowCases(func(w pooling.Windows) *AvgPool {
			return &AvgPool{w.Kernel, w.Strides, w.Pads, w.Dilations, w.CeilMode, len(w.Pads) >= 4}
		}),
	}, func(a *AvgPool) bool { return a.CountIncludePad }))
}}
