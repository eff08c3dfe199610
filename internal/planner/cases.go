package planner

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// benchShapes are the shapes of the matrices that most operations are measured on. In F32
// they take 64 KiB, 2 MiB and 16 MiB. gpuBenchShape is one more for GPUs. It takes 256 MiB, which
// is more than the cache of a GPU holds.
var (
	benchShapes   = [][2]int{{64, 256}, {512, 1024}, {4096, 1024}}
	gpuBenchShape = [2]int{16384, 4096}
)

// BenchCases returns a function for spec.CasesOf.Bench. It has the sizes of BenchCalls, and
// gives call c that many contiguous inputs of each.
func BenchCases(c spec.Call, inputs int) func(tensor.DType) []spec.BenchCase {
	return BenchCasesOf(c, func(d tensor.DType, rows, columns int) []tensor.Desc {
		var in []tensor.Desc
		for range inputs {
			in = append(in, tensor.Contiguous(d, rows, columns))
		}
		return in
	})
}

// BenchCasesOf returns a function for spec.CasesOf.Bench. It has the sizes of BenchCalls, with
// the inputs that the function inputs makes of the rows and columns.
func BenchCasesOf(c spec.Call, inputs func(d tensor.DType, rows, columns int) []tensor.Desc) func(tensor.DType) []spec.BenchCase {
	return BenchCalls(func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc) { return c, inputs(d, rows, columns) })
}

// BenchCalls returns a function for spec.CasesOf.Bench. It has the call and the inputs that
// the function call makes of rows and columns: for three sizes, which take 64 KiB, 2 MiB and 16 MiB
// in F32, and for one of 256 MiB on GPUs.
func BenchCalls(call func(d tensor.DType, rows, columns int) (spec.Call, []tensor.Desc)) func(tensor.DType) []spec.BenchCase {
	return func(d tensor.DType) []spec.BenchCase {
		var cases []spec.BenchCase
		for _, s := range benchShapes {
			c, in := call(d, s[0], s[1])
			cases = append(cases, spec.BenchCase{Call: c, In: in})
		}
		c, in := call(d, gpuBenchShape[0], gpuBenchShape[1])
		return append(cases, spec.BenchCase{Call: c, In: in, GPU: true})
	}
}

// AllBenchCases joins several functions for spec.CasesOf.Bench into one.
func AllBenchCases(list ...func(tensor.DType) []spec.BenchCase) func(tensor.DType) []spec.BenchCase {
	return func(d tensor.DType) []spec.BenchCase {
		var cases []spec.BenchCase
		for _, f := range list {
			cases = append(cases, f(d)...)
		}
		return cases
	}
}

// SameInputs returns a function for spec.CasesOf.Inputs. It makes n contiguous inputs of
// dtype d, whose shape is the list of the free dimensions.
func SameInputs[A spec.Call](n int) func(_ A, d tensor.DType, dims []int) []tensor.Desc {
	return func(_ A, d tensor.DType, dims []int) []tensor.Desc {
		in := make([]tensor.Desc, n)
		for i := range in {
			in[i] = tensor.Contiguous(d, dims...)
		}
		return in
	}
}
