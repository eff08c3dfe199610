package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// MaxPoolIndices is MaxPool with a second output, the index of each window's largest element.
// An index is the number of the element in the whole input, taken as flat, as ONNX defines it.
// It is I32, or I64 with Wide. Of equal elements the first one counts, and of several NaN the
// first one. A window without elements has index −1.
type MaxPoolIndices struct {
	Kernel    []int `attr:"kernel,required" doc:"the size of a window"`
	Strides   []int `attr:"strides" doc:"the steps from window to window; empty means 1"`
	Pads      []int `attr:"pads" doc:"the pads before each dimension, then after each; empty means 0"`
	Dilations []int `attr:"dilations" doc:"the steps within a window; empty means 1"`
	CeilMode  bool  `attr:"ceil_mode" doc:"round the number of windows up"`
	Wide      bool  `attr:"wide" doc:"the indices are i64, as in ONNX, instead of i32"`
}

// Spec returns the declaration.
func (MaxPoolIndices) Spec() *spec.Op { return maxPoolIndicesOp.Op() }

// Gradient declares the gradient of the input, by MaxPoolGrad.
func (c MaxPoolIndices) Gradient(t *spec.Tape) {
	derivative(t, MaxPoolGrad{Kernel: c.Kernel, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, CeilMode: c.CeilMode})
}

var maxPoolIndicesOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.Define(pooling.Max(pooling.Pool[*MaxPoolIndices]{
		// An importer takes it for MaxPool of ONNX where the second output is used.
		Name:     "max_pool_indices",
		Doc:      "The largest element of each window, and its index in the whole input. Of equal elements the first one counts.",
		Defaults: &MaxPoolIndices{Kernel: []int{2, 2}},
		Windows: func(a *MaxPoolIndices) pooling.Windows {
			return pooling.Windows{Kernel: a.Kernel, Strides: a.Strides, Pads: a.Pads, Dilations: a.Dilations, CeilMode: a.CeilMode}
		},
		Indices: func(a *MaxPoolIndices) tensor.DType {
			if a.Wide {
				return tensor.I64
			}
			return tensor.I32
		},
		Cases: pooling.WindowCases(func(w pooling.Windows) *MaxPoolIndices {
			return &MaxPoolIndices{w.Kernel, w.Strides, w.Pads, w.Dilations, w.CeilMode, len(w.Dilations) > 0 || len(w.Pads) == 0 && len(w.Kernel) == 1}
		}),
	}))
}}
