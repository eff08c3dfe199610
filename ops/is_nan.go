package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/logic"
	"github.com/lathe-gpu/lathe/spec"
)

// IsNaN is true where an element is NaN.
type IsNaN struct{}

// Spec returns the declaration.
func (IsNaN) Spec() *spec.Op { return isNaNOp.Op() }

var isNaNOp = spec.Declaration{Define: func() *spec.Op {
	return logic.Define(logic.Classify(logic.Function[IsNaN]{
		Name: "is_nan", Doc: "True where the element is NaN.", ONNX: []string{"IsNaN"},
	}, func(IsNaN) uint32 { return logic.IsNaN }))
}}
