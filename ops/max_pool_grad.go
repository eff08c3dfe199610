package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// MaxPoolGrad is the gradient of MaxPool with respect to its input. It finds the largest element of
// each window again, and gives it the window's gradient: the first one of equal elements. The
// gradients of all windows around an element are added in a fixed order.
type MaxPoolGrad struct {
	Kernel    []int `attr:"kernel,required" doc:"the size of a window"`
	Strides   []int `attr:"strides" doc:"the steps from window to window; empty means 1"`
	Pads      []int `attr:"pads" doc:"the pads before each dimension, then after each; empty means 0"`
	Dilations []int `attr:"dilations" doc:"the steps within a window; empty means 1"`
	CeilMode  bool  `attr:"ceil_mode" doc:"round the number of windows up"`
}

// Spec returns the declaration.
func (MaxPoolGrad) Spec() *spec.Op { return maxPoolGradOp.Op() }

// Gradient declares the gradient: that of dy has the elements where the largest ones of in are, and that of in is zero.
func (c MaxPoolGrad) Gradient(t *spec.Tape) {
	d := t.Gradient(0)
	if d == spec.NoValue || !t.Needs(1) {
		return
	}
	at := t.Calls(MaxPoolIndices{Kernel: c.Kernel, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, CeilMode: c.CeilMode}, t.In(0))
	if len(at) == 2 { // An index of −1 is of a window without elements.
		t.SetGradient(1, unless(t, negative(t, at[1]), t.Call(Gather{}, t.Reshape(d, -1), at[1])))
	}
}

var maxPoolGradOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.DefineGradient(pooling.MaxGradient(pooling.Gradient[*MaxPoolGrad]{
		Name:     "max_pool_grad",
		Doc:      "The gradient of max_pool with respect to its input.",
		Defaults: &MaxPoolGrad{Kernel: []int{2, 2}},
		Windows: func(a *MaxPoolGrad) pooling.Windows {
			return pooling.Windows{Kernel: a.Kernel, Strides: a.Strides, Pads: a.Pads, Dilations: a.Dilations, CeilMode: a.CeilMode}
		},
		Cases: pooling.WindowCases(func(w pooling.Windows) *MaxPoolGrad {
			return &MaxPoolGrad{w.Kernel, w.Strides, w.Pads, w.Dilations, w.CeilMode}
		}),
	}))
}}
