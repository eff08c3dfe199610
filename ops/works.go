package ops

import (
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// workShapes are the matrices that benches give to most operations: 64 KiB, 2 MiB
// and 16 MiB of f32.
var workShapes = [][]int{{64, 256}, {512, 1024}, {4096, 1024}}

// works is Cases.Bench for calls with that many inputs of such a shape.
func works(c spec.Call, inputs int) func(tensor.DType) []spec.Work {
	return worksOf(c, func(d tensor.DType, rows, columns int) []tensor.Desc {
		var in []tensor.Desc
		for range inputs {
			in = append(in, tensor.Contiguous(d, rows, columns))
		}
		return in
	})
}

// worksOf is Cases.Bench for inputs made of the rows and columns of workShapes.
func worksOf(c spec.Call, inputs func(d tensor.DType, rows, columns int) []tensor.Desc) func(tensor.DType) []spec.Work {
	return func(d tensor.DType) []spec.Work {
		var ws []spec.Work
		for _, s := range workShapes {
			ws = append(ws, spec.Work{Call: c, In: inputs(d, s[0], s[1])})
		}
		return ws
	}
}

// alsoWorks adds the works of more.
func alsoWorks(first func(tensor.DType) []spec.Work, more ...func(tensor.DType) []spec.Work) func(tensor.DType) []spec.Work {
	return func(d tensor.DType) []spec.Work {
		ws := first(d)
		for _, m := range more {
			ws = append(ws, m(d)...)
		}
		return ws
	}
}
