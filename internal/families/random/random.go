// Package random declares the operations that draw random numbers. A number depends on a seed, a stream and
// its place in the tensor only, so it does not matter in which order or in how many launches numbers are
// made.
package random

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// DTypes are the element types of random numbers.
var DTypes = []tensor.DType{tensor.F32, tensor.F16, tensor.BF16}

// Source says which words of Philox 4×32-10 a call takes. Element i of its tensor takes word i mod 4 of block
// Offset + i/4.
type Source struct {
	// Seed is the key of the generator, and Stream the upper half of its counter. Their bits count.
	Seed, Stream int
	// Offset is the number of the first block.
	Offset int
}

// params is the push-constant block of lib/philox.glsl.
type params struct {
	Count, KeyLow, KeyHigh, BlockLow, BlockHigh, StreamLow, StreamHigh uint32
	Scale, Offset                                                      float32
	Zero                                                               uint32
}

// Kernels names the kernels of a shader for dtypes.
func Kernels(shader string, dtypes []tensor.DType) []spec.Kernel {
	return planner.DTypeVariants(shader, params{}, dtypes, func(tensor.DType) bool { return true })
}

// Plan plans that a shader sets out from numbers of the source. in is the input of the shader, if it has one. All
// operands are contiguous and have one dtype. scale and offset are those of lib/philox.glsl.
// Errors: *LimitError.
func Plan(t *spec.Target, shader string, s Source, scale, offset float64, in []tensor.Desc, out tensor.Desc) (*spec.Plan, error) {
	plan, k := &spec.Plan{}, planner.FlatVariant(t, shader, out.DType)
	k.Params = func(first, count int) any {
		block := uint64(int64(s.Offset)) + uint64(first/4)
		key, stream := uint64(int64(s.Seed)), uint64(int64(s.Stream))
		return params{
			uint32(count), uint32(key), uint32(key >> 32), uint32(block), uint32(block >> 32), uint32(stream), uint32(stream >> 32),
			float32(scale), float32(offset), 0,
		}
	}
	var operands []planner.Operand
	for i, d := range in {
		operands = append(operands, planner.Flat(spec.In(i), d.DType))
	}
	return plan, planner.AddFlat(plan, t, k, out.Elems(), append(operands, planner.Flat(spec.Out(0), out.DType))...)
}

// Word returns the word of element i, for references. It multiplies in 64 bits, as the paper writes it.
func (s Source) Word(i int) uint32 {
	low, high := uint64(int64(s.Offset))+uint64(i/4), uint64(int64(s.Stream))
	c := [4]uint32{uint32(low), uint32(low >> 32), uint32(high), uint32(high >> 32)}
	k := [2]uint32{uint32(uint64(int64(s.Seed))), uint32(uint64(int64(s.Seed)) >> 32)}
	for range 10 {
		h0, l0 := bits.Mul32(0xd2511f53, c[0])
		h1, l1 := bits.Mul32(0xcd9e8d57, c[2])
		c = [4]uint32{h1 ^ c[1] ^ k[0], l1, h0 ^ c[3] ^ k[1], l0}
		k[0], k[1] = k[0]+0x9e3779b9, k[1]+0xbb67ae85
	}
	return c[i%4]
}

// Unit returns the number in 0..1, without 1, of element i, for references.
func (s Source) Unit(i int) float64 { return math.Ldexp(float64(s.Word(i)>>8), -24) }

// Deviate returns the normal number of element i, for references.
func (s Source) Deviate(i int) float64 {
	first := i &^ 1
	r := math.Sqrt(-2 * math.Log(s.Unit(first)+0x1p-24))
	sin, cos := math.Sincos(2 * math.Pi * s.Unit(first+1))
	if i == first {
		return r * cos
	}
	return r * sin
}

// Made returns the description of a new tensor, for Shape functions. most is the largest magnitude that its
// elements may have.
// Errors: ErrInvalidArgument, ErrUnsupported.
func Made(d tensor.DType, shape []int, most float64) ([]tensor.Desc, error) {
	out := tensor.Contiguous(d, shape...)
	if err := out.Check(); err != nil {
		return nil, err
	}
	one, err := tensor.FromFloats(d, nil, []float64{most})
	switch {
	case err != nil:
		return nil, err
	case math.IsNaN(most) || math.IsInf(one.At(), 0) || math.IsInf(float64(float32(most)), 0):
		return nil, planner.Invalid("numbers up to %v (want finite ones that %v can hold)", most, d)
	}
	return []tensor.Desc{out}, nil
}

// Supported returns ErrUnsupported unless there are random numbers of dtype d.
func Supported(d tensor.DType) error {
	for _, other := range DTypes {
		if d == other {
			return nil
		}
	}
	if !d.Valid() {
		return planner.Invalid("dtype %v (want f32, f16 or bf16)", d)
	}
	return planner.Unsupported("dtype %v (want f32, f16 or bf16; cast makes others of these)", d)
}

// Shapes are shapes that the suite tries: awkward sizes, and more elements than a launch of small limits has.
var Shapes = [][]int{{}, {0, 4}, {1}, {3}, {5}, {31}, {257, 5}, {1029}, {4099, 3}}
