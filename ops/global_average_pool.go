package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// GlobalAveragePool returns the mean of each plane of a tensor [N,C,spatial...], as [N,C,1...].
type GlobalAveragePool struct{}

// Spec returns the declaration.
func (GlobalAveragePool) Spec() *spec.Op { return globalAveragePoolOp.Op() }

var globalAveragePoolOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.DefineGlobal(pooling.GlobalMean(pooling.Global[GlobalAveragePool]{
		Name: "global_average_pool", ONNX: []string{"GlobalAveragePool"},
		Doc:   "The mean of each plane.",
		Calls: []GlobalAveragePool{{}},
	}))
}}
