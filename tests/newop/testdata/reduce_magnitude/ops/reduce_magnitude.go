package ops

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
)

// ReduceMagnitude finds the largest magnitude along dimensions, the maximum norm. NaN
// wins. The largest magnitude of none is 0.
type ReduceMagnitude struct {
	Dims     []int `attr:"dims" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceMagnitude) Spec() *spec.Op { return reduceMagnitudeOp }

var reduceMagnitudeOp = reduction.Define(reduction.Reduction[ReduceMagnitude]{
	Name: "reduce_magnitude", Shader: "reduce/reduce_magnitude",
	Doc:        "The largest magnitude along dimensions; 0 of none. NaN wins.",
	Call:       func(dims []int, keep bool) ReduceMagnitude { return ReduceMagnitude{dims, keep} },
	Attributes: func(a ReduceMagnitude) (dims []int, keep bool) { return a.Dims, a.KeepDims },
	DTypes:     planner.Floats, Empty: true,
	F:   func(a, b float64) float64 { return maxNaN(a, math.Abs(b)) },
	Low: -4, High: 4, Tolerance: reduction.ExactTolerance,
})
