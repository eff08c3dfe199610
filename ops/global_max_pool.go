package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/pooling"
	"github.com/lathe-gpu/lathe/spec"
)

// GlobalMaxPool returns the largest element of each plane of a tensor [N,C,spatial...], as
// [N,C,1...]. NaN counts as larger than all numbers.
type GlobalMaxPool struct{}

// Spec returns the declaration.
func (GlobalMaxPool) Spec() *spec.Op { return globalMaxPoolOp.Op() }

// Gradient declares the gradient: dy goes to the largest elements of a plane, in equal parts.
func (GlobalMaxPool) Gradient(t *spec.Tape) {
	var planes []int
	for d := 2; d < len(t.Shape(t.In(0))); d++ {
		planes = append(planes, d)
	}
	extremes(t, planes)
}

var globalMaxPoolOp = spec.Declaration{Define: func() *spec.Op {
	return pooling.DefineGlobal(pooling.GlobalMax(pooling.Global[GlobalMaxPool]{
		Name: "global_max_pool", ONNX: []string{"GlobalMaxPool"},
		Doc:   "The largest element of each plane. NaN counts as larger than all numbers.",
		Calls: []GlobalMaxPool{{}},
	}))
}}
