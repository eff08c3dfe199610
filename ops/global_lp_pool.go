package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// GlobalLpPool returns the Lp norm of each plane of a tensor [N,C,spatial...], as [N,C,1...]:
// the p-th root of the sum of |x| to the power p. Powers that overflow make the result infinite.
// p is at most 15.
type GlobalLpPool struct {
	P int `attr:"p" onnx:"p" doc:"the power, 1 to 15"`
}

// Spec returns the declaration.
func (GlobalLpPool) Spec() *spec.Op { return globalLpPoolOp.Op() }

// Gradient declares the gradient, dy·y^(1−p)·sign x·|x|^(p−1), which is 0 where y is 0.
func (c GlobalLpPool) Gradient(t *spec.Tape) {
	if dy := t.Gradient(0); dy != spec.NoValue {
		t.SetGradient(0, times(t, lpFactor(t, dy, t.Out(0), c.P), lpTerm(t, t.In(0), c.P)))
	}
}

var globalLpPoolOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.DefineGlobal(pooling.GlobalNorm(pooling.Global[*GlobalLpPool]{
		Name: "global_lp_pool", ONNX: []string{"GlobalLpPool"},
		Doc:      "The Lp norm of each plane: the p-th root of the sum of |x| to the power p.",
		Defaults: &GlobalLpPool{P: 2},
		Calls:    []*GlobalLpPool{{2}, {1}, {3}},
		Invalid:  []*GlobalLpPool{{-1}},
	}, func(a *GlobalLpPool) int { return a.P }))
}}
