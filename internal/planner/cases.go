package planner

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// BenchShapes are the matrices that benches give to most operations: 64 KiB, 2 MiB
// and 16 MiB of f32.
var BenchShapes = [][]int{{64, 256}, {512, 1024}, {4096, 1024}}

// BenchCases is Cases.Bench for calls with that many inputs of such a shape.
func BenchCases(c spec.Call, inputs int) func(tensor.DType) []spec.BenchCase {
	return BenchCasesOf(c, func(d tensor.DType, rows, columns int) []tensor.Desc {
		var in []tensor.Desc
		for range inputs {
			in = append(in, tensor.Contiguous(d, rows, columns))
		}
		return in
	})
}

// BenchCasesOf is Cases.Bench for inputs made of the rows and columns of BenchShapes.
func BenchCasesOf(c spec.Call, inputs func(d tensor.DType, rows, columns int) []tensor.Desc) func(tensor.DType) []spec.BenchCase {
	return func(d tensor.DType) []spec.BenchCase {
		var cases []spec.BenchCase
		for _, s := range BenchShapes {
			cases = append(cases, spec.BenchCase{Call: c, In: inputs(d, s[0], s[1])})
		}
		return cases
	}
}

// AllBenchCases joins several Cases.Bench.
func AllBenchCases(list ...func(tensor.DType) []spec.BenchCase) func(tensor.DType) []spec.BenchCase {
	return func(d tensor.DType) []spec.BenchCase {
		var cases []spec.BenchCase
		for _, f := range list {
			cases = append(cases, f(d)...)
		}
		return cases
	}
}

// SameInputs is CasesOf.Inputs for n contiguous inputs whose shape is that of the free
// dimensions.
func SameInputs[A spec.Call](n int) func(_ A, d tensor.DType, dims []int) []tensor.Desc {
	return func(_ A, d tensor.DType, dims []int) []tensor.Desc {
		in := make([]tensor.Desc, n)
		for i := range in {
			in[i] = tensor.Contiguous(d, dims...)
		}
		return in
	}
}
