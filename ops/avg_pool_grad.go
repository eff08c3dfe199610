package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// AvgPoolGrad is the gradient of AvgPool with respect to its input: each element of a window gets
// the window's gradient, divided by the number of elements that count. Of the input only the
// size counts, which is an attribute. The gradients of all windows around an element are added in a fixed order.
type AvgPoolGrad struct {
	Size            []int `attr:"size,required" doc:"the spatial sizes of in"`
	Kernel          []int `attr:"kernel,required" doc:"the size of a window"`
	Strides         []int `attr:"strides" doc:"the steps from window to window; empty means 1"`
	Pads            []int `attr:"pads" doc:"the pads before each dimension, then after each; empty means 0"`
	Dilations       []int `attr:"dilations" doc:"the steps within a window; empty means 1"`
	CeilMode        bool  `attr:"ceil_mode" doc:"round the number of windows up"`
	CountIncludePad bool  `attr:"count_include_pad" doc:"count pads as elements that are 0"`
}

// Spec returns the declaration.
func (AvgPoolGrad) Spec() *spec.Op { return avgPoolGradOp.Op() }

// Gradient declares the gradient, by AvgPool.
func (c AvgPoolGrad) Gradient(t *spec.Tape) {
	linear(t, 0, AvgPool{Kernel: c.Kernel, Strides: c.Strides, Pads: c.Pads, Dilations: c.Dilations, CeilMode: c.CeilMode, CountIncludePad: c.CountIncludePad})
}

var avgPoolGradOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.DefineGradient(pooling.MeanGradient(pooling.Gradient[*AvgPoolGrad]{
		Name:     "avg_pool_grad",
		Doc:      "The gradient of avg_pool with respect to its input.",
		Defaults: &AvgPoolGrad{Size: []int{8, 8}, Kernel: []int{2, 2}},
		Windows: func(a *AvgPoolGrad) pooling.Windows {
			return pooling.Windows{Kernel: a.Kernel, Strides: a.Strides, Pads: a.Pads, Dilations: a.Dilations, CeilMode: a.CeilMode}
		},
		Size:  func(a *AvgPoolGrad) []int { return a.Size },
		Cases: avgPoolGradCases(),
	}, func(a *AvgPoolGrad) bool { return a.CountIncludePad }))
}}

func avgPoolGradCases() spec.CasesOf[*AvgPoolGrad] {
	cases := pooling.WindowCases(func(w pooling.Windows) *AvgPoolGrad {
		size := []int{13, 31, 19}[:min(len(w.Kernel), 3)]
		switch {
		case len(w.Kernel) == 0:
			size = []int{8, 8}
		case w.Kernel[0] == 70000:
			size = []int{70003}
		case w.Kernel[0] == 300:
			size = []int{305, 252}
		}
		return &AvgPoolGrad{size, w.Kernel, w.Strides, w.Pads, w.Dilations, w.CeilMode, len(w.Pads) >= 4}
	})
	for _, size := range [][]int{{2, 2}, {3, 2}, {600, 1000}, {3, 400_000}} {
		cases.Calls = append(cases.Calls, &AvgPoolGrad{Size: size, Kernel: []int{3, 2}, Strides: []int{1, 2}, Pads: []int{1, 0, 0, 1}})
	}
	cases.Invalid = append(cases.Invalid, &AvgPoolGrad{Size: []int{8}, Kernel: []int{2, 2}}, &AvgPoolGrad{Size: []int{8, 0}, Kernel: []int{2, 2}})
	cases.Bench = func(d tensor.DType) []spec.BenchCase {
		var list []spec.BenchCase
		for _, n := range [][]int{{1, 4, 64}, {1, 32, 128}, {4, 64, 128}} {
			call := AvgPoolGrad{Size: []int{n[2], n[2]}, Kernel: []int{2, 2}, Strides: []int{2, 2}}
			list = append(list, spec.BenchCase{Call: call, In: []tensor.Desc{tensor.Contiguous(d, n[0], n[1], n[2]/2, n[2]/2)}})
		}
		return list
	}
	return cases
}
