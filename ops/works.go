package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// benchShapes are the matrices that benches give to most operations: 64 KiB, 2 MiB
// and 16 MiB of f32.
var benchShapes = [][]int{{64, 256}, {512, 1024}, {4096, 1024}}

// works is Cases.Bench for calls with that many inputs of such a shape.
func benchCases(c spec.Call, inputs int) func(tensor.DType) []spec.BenchCase {
	return benchCasesOf(c, func(d tensor.DType, rows, columns int) []tensor.Desc {
		var in []tensor.Desc
		for range inputs {
			in = append(in, tensor.Contiguous(d, rows, columns))
		}
		return in
	})
}

// benchCasesOf is Cases.Bench for inputs made of the rows and columns of benchShapes.
func benchCasesOf(c spec.Call, inputs func(d tensor.DType, rows, columns int) []tensor.Desc) func(tensor.DType) []spec.BenchCase {
	return func(d tensor.DType) []spec.BenchCase {
		var ws []spec.BenchCase
		for _, s := range benchShapes {
			ws = append(ws, spec.BenchCase{Call: c, In: inputs(d, s[0], s[1])})
		}
		return ws
	}
}

// moreBenchCases adds the works of more.
func moreBenchCases(first func(tensor.DType) []spec.BenchCase, more ...func(tensor.DType) []spec.BenchCase) func(tensor.DType) []spec.BenchCase {
	return func(d tensor.DType) []spec.BenchCase {
		ws := first(d)
		for _, m := range more {
			ws = append(ws, m(d)...)
		}
		return ws
	}
}
