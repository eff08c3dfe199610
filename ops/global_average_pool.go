package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// GlobalAveragePool returns the mean of each plane of a tensor [N,C,spatial...], as [N,C,1...].
type GlobalAveragePool struct{}

// Spec returns the declaration.
func (GlobalAveragePool) Spec() *spec.Op { return globalAveragePoolOp.Op() }

// Gradient declares the gradient: dy over the number of elements of a plane for each of them.
func (GlobalAveragePool) Gradient(t *spec.Tape) {
	x := t.Shape(t.In(0))
	if dy := t.Gradient(0); dy != spec.NoValue {
		n := 1
		for _, size := range x[2:] {
			n *= size
		}
		t.SetGradient(0, t.Expand(scaled(t, dy, 1/float64(n)), x...))
	}
}

var globalAveragePoolOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.DefineGlobal(pooling.GlobalMean(pooling.Global[GlobalAveragePool]{
		Name: "global_average_pool", ONNX: []string{"GlobalAveragePool"},
		Doc:   "The mean of each plane.",
		Calls: []GlobalAveragePool{{}},
	}))
}}
