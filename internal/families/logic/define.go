package logic

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Relation is a set of relations that two elements may have.
type Relation uint32

// These are the relations of two elements. They are unordered if one is NaN.
const (
	Less Relation = 1 << iota
	Equal
	Greater
	Unordered
)

// relationOf returns the relation of two numbers.
func relationOf(x, y float64) Relation {
	switch {
	case x < y:
		return Less
	case x == y:
		return Equal
	case x > y:
		return Greater
	}
	return Unordered
}

// truth is 1 for true and 0 for false.
func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// DefineComparison declares a comparison, with attributes of type A. The result is true for elements
// that have one of the relations.
func DefineComparison[A spec.Call](name, doc, onnx string, relations Relation) *spec.Op {
	var names []string // ONNX has no operator for not equal.
	if onnx != "" {
		names = []string{onnx}
	}
	return Define(Function[A]{
		Name: name, Doc: doc, ONNX: names, Shader: "logic/compare", Operands: 2,
		DTypes: tensor.DTypes(), Result: tensor.Bool,
		Words: func(_ A, d tensor.DType) [3]uint32 {
			return [3]uint32{uint32(relations), kindOf(d), infinityOf(d)}
		},
		F:   func(_ A, _ tensor.DType, x, y float64) float64 { return truth(relations&relationOf(x, y) != 0) },
		Low: -3, High: 3,
	})
}

// Bits of words[0] of logic/classify.comp.
const (
	IsInfinity      = 1
	IsMinusInfinity = 2
	IsNaN           = 4
)

// Classify completes the declaration of a function that is true for elements of some classes, which
// classes returns for a call.
func Classify[A spec.Call](f Function[A], classes func(a A) uint32) Function[A] {
	f.Shader, f.Operands, f.DTypes, f.Result = "logic/classify", 1, planner.Floats, tensor.Bool
	f.Words = func(a A, d tensor.DType) [3]uint32 {
		infinity := infinityOf(d)
		if d.Size() == 2 {
			infinity <<= 16
		}
		return [3]uint32{classes(a), infinity}
	}
	f.F = func(a A, _ tensor.DType, x, _ float64) float64 {
		class := uint32(0)
		switch {
		case math.IsNaN(x):
			class = IsNaN
		case math.IsInf(x, 1):
			class = IsInfinity
		case math.IsInf(x, -1):
			class = IsMinusInfinity
		}
		return truth(classes(a)&class != 0)
	}
	f.Low, f.High = -100, 100
	return f
}

// DefineBits declares a function of the bits of one or two integers, or of Bool. Bit 2·x + y of table
// is the result for the bits x and y.
func DefineBits[A spec.Call](name, doc, onnx string, table uint32, operands int, dtypes []tensor.DType) *spec.Op {
	return Define(Function[A]{
		Name: name, Doc: doc, ONNX: []string{onnx}, Shader: "logic/bitwise", Operands: operands, Twice: operands == 1,
		DTypes: dtypes,
		Words: func(_ A, d tensor.DType) [3]uint32 {
			if d == tensor.Bool {
				return [3]uint32{table, 1}
			}
			return [3]uint32{table, uint32(uint64(1)<<min(8*d.Size(), 32) - 1)}
		},
		F: func(_ A, d tensor.DType, x, y float64) float64 {
			a, b, r := int64(x), int64(y), int64(0)
			for i, bits := range [4]int64{^a & ^b, ^a & b, a & ^b, a & b} {
				if table>>i&1 == 1 {
					r |= bits
				}
			}
			return wrapped(r, d)
		},
		Low: -1000, High: 1000,
	})
}

// wrapped returns the number that the low bits of v are in a dtype, or the float64 next to it.
func wrapped(v int64, d tensor.DType) float64 {
	if d == tensor.Bool {
		return float64(v & 1)
	}
	return planner.Number(d, planner.Wrap(d, v))
}
