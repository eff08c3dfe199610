package ops

import (
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// ReduceSquareTotal adds the squares of elements along dimensions. The sum of none is 0.
type ReduceSquareTotal struct {
	Dims     []int `attr:"dims" onnx:"axes" doc:"dimensions to reduce, negative ones from the end; all of them if there are none"`
	KeepDims bool  `attr:"keepdims" onnx:"keepdims" doc:"leave reduced dimensions in place with size 1"`
}

// Spec returns the declaration.
func (ReduceSquareTotal) Spec() *spec.Op { return reduceSquareTotalOp.Op() }

var reduceSquareTotalOp = spec.Declaration{Define: func() *spec.Op {
	return reduction.Define(reduction.Reduction[*ReduceSquareTotal]{
		Name: "reduce_square_total", ONNX: []string{"ReduceSquareTotal"},
		Shader: "reduce/reduce_square_total", Combine: "reduce/reduce_sum",
		Doc:        "The sum of the squares of the elements along dimensions; 0 of none.",
		Call:       func(dims []int, keep bool) *ReduceSquareTotal { return &ReduceSquareTotal{dims, keep} },
		Attributes: func(a *ReduceSquareTotal) (dims []int, keep bool) { return a.Dims, a.KeepDims },
		DTypes:     planner.Floats, Empty: true,
		F:   func(a, b float64) float64 { return a + b*b },
		Low: -1, High: 1,
		Tolerance: func(d tensor.DType, n int, h float64) spec.Tolerance {
			return reduction.SumTolerance(d, n, h+1) // a square is rounded too
		},
	})
}}
