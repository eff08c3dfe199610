package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// LpPool returns the Lp norm of each window of a tensor [N,C,spatial...] with 1 to 3 spatial
// dimensions: the p-th root of the sum of |x| to the power p. Pads count as zeros. Powers that
// overflow make the result infinite. Sizes are as for MaxPool. p is at most 15.
type LpPool struct {
	Kernel    []int `attr:"kernel,required" onnx:"kernel_shape" doc:"the size of a window"`
	Strides   []int `attr:"strides" onnx:"strides" doc:"the steps from window to window; empty means 1"`
	Pads      []int `attr:"pads" onnx:"pads" doc:"the pads before each dimension, then after each; empty means 0"`
	Dilations []int `attr:"dilations" onnx:"dilations" doc:"the steps within a window; empty means 1"`
	CeilMode  bool  `attr:"ceil_mode" onnx:"ceil_mode" doc:"round the number of windows up"`
	P         int   `attr:"p" onnx:"p" doc:"the power, 1 to 15"`
}

// Spec returns the declaration.
func (LpPool) Spec() *spec.Op { return lpPoolOp.Op() }

// Gradient declares the gradient: sign x·|x|^(p−1) times the sum of dy·y^(1−p) over the windows that have the element. Windows whose result is 0
// have no part in it.
func (c LpPool) Gradient(t *spec.Tape) {
	dy, x := t.Gradient(0), t.In(0)
	if dy == spec.NoValue {
		return
	}
	// avg_pool_grad divides by the number of elements of a window, which are the sum of ones.
	count := c
	count.P = 1
	part := times(t, lpFactor(t, dy, t.Out(0), c.P), t.Call(count, ones(t, x)))
	windows := AvgPoolGrad{Size: t.Shape(x)[2:], Kernel: c.Kernel, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, CeilMode: c.CeilMode}
	t.SetGradient(0, times(t, lpTerm(t, x, c.P), t.Call(windows, part)))
}

var lpPoolOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.Define(pooling.Norm(pooling.Pool[*LpPool]{
		Name: "lp_pool", ONNX: []string{"LpPool"},
		Doc:      "The Lp norm of each window: the p-th root of the sum of |x| to the power p.",
		Defaults: &LpPool{Kernel: []int{2, 2}, P: 2},
		Windows: func(a *LpPool) pooling.Windows {
			return pooling.Windows{Kernel: a.Kernel, Strides: a.Strides, Pads: a.Pads, Dilations: a.Dilations, CeilMode: a.CeilMode}
		},
		Cases: lpPoolCases(),
	}, func(a *LpPool) int { return a.P }))
}}

func lpPoolCases() spec.CasesOf[*LpPool] {
	n := 0
	cases := pooling.WindowCases(func(w pooling.Windows) *LpPool {
		n++
		return &LpPool{w.Kernel, w.Strides, w.Pads, w.Dilations, w.CeilMode, []int{3, 2, 1, 2, 5}[n%5]}
	})
	cases.Invalid = append(cases.Invalid, &LpPool{Kernel: []int{2, 2}, P: -1})
	return cases
}
