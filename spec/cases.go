package spec

import (
	"github.com/lathe-gpu/lathe/tensor"
)

// Cases says what the conformance suite should try with an operation, whatever the type
// of its attributes.
type Cases = CasesOf[Call]

// CasesOf says what the conformance suite should try with an operation whose attributes
// have type A.
type CasesOf[A Call] struct {
	// DTypes are the element types to try. The one that is used most comes first.
	DTypes []tensor.DType
	// Calls are the attributes to try. The everyday call comes first: it gets the most cases.
	// That is the call with the defaults, unless such a call changes nothing.
	Calls []A
	// Dims are the free dimensions. The suite combines awkward sizes of each: 0, 1,
	// primes, and sizes around every one of Tiles.
	Dims []Dim
	// Sizes are further lists of sizes for Dims. Each is tried once. They are, for
	// example, sizes at which the loops of a kernel would need more iterations than an
	// invocation may run.
	Sizes [][]int
	// Inputs returns the inputs of a call for sizes of Dims. It returns nil if there is no
	// such case.
	Inputs func(a A, d tensor.DType, dims []int) []tensor.Desc
	// Bench returns calls that programs often make, for inputs of dtype d. The smallest
	// comes first. There are at least three sizes, of about 64 KiB, 2 MiB and 16 MiB for
	// each operand, besides those with BenchCase.GPU.
	Bench func(d tensor.DType) []BenchCase
	// Low and High bound the random values of inputs, if these are floating-point numbers
	// or integers of 32 or 64 bits.
	Low, High float64
	// Range, if set, bounds the random values of input i instead. Both bounds are
	// included. Indices, for example, must be in range, and second moments must not be
	// negative.
	Range func(a A, i int, in []tensor.Desc) (low, high float64)
	// Settle, if set, changes the row-major values with which the suite has filled input i, where bounds
	// cannot say which are legal. Each value depends only on the value that it replaces and on its index.
	Settle func(a A, i int, d tensor.Desc, values []float64)
	// Specials says that NaN and infinities in the inputs must give the results that IEEE
	// 754 and Reference give. The suite then tries such inputs.
	Specials bool
	// Invalid are attributes that Shape must refuse with ErrInvalidArgument.
	Invalid []A
	// Refused are inputs of the default call that Shape must refuse with
	// ErrInvalidArgument or ErrUnsupported.
	Refused [][]tensor.Desc
	// Faults returns inputs of the default call that only the device can refuse, by a
	// DeviceCheck. The run must fail with ErrInvalidArgument by the next Sync, and must
	// not change its outputs.
	Faults func(d tensor.DType) [][]*tensor.Host
}

// erase returns the cases for calls of any type. Its functions panic for a call of another
// type than A: callTypes.cases checks that.
func (c CasesOf[A]) erase() Cases {
	e := Cases{
		DTypes: c.DTypes, Dims: c.Dims, Sizes: c.Sizes, Bench: c.Bench, Low: c.Low, High: c.High,
		Specials: c.Specials, Refused: c.Refused, Faults: c.Faults,
	}
	for _, a := range c.Calls {
		e.Calls = append(e.Calls, a)
	}
	for _, a := range c.Invalid {
		e.Invalid = append(e.Invalid, a)
	}
	if c.Inputs != nil {
		e.Inputs = func(call Call, d tensor.DType, dims []int) []tensor.Desc { return c.Inputs(call.(A), d, dims) }
	}
	if c.Range != nil {
		e.Range = func(call Call, i int, in []tensor.Desc) (low, high float64) { return c.Range(call.(A), i, in) }
	}
	if c.Settle != nil {
		e.Settle = func(call Call, i int, d tensor.Desc, values []float64) { c.Settle(call.(A), i, d, values) }
	}
	return e
}

// BenchCase is a call to measure, with its inputs.
type BenchCase struct {
	// Call is the call.
	Call Call
	// In describes the inputs.
	In []tensor.Desc
	// Opaque says that the inputs are pictures whose fourth channel, alpha, is 1 for every
	// pixel. Most pictures are like that.
	Opaque bool
	// GPU says that the call is measured on GPUs only. It takes a processor too long, and on
	// a GPU the smaller calls show little but the launch or the cache.
	GPU bool
}

// Dim is a free dimension of an operation's cases.
type Dim struct {
	// Name is the name of the dimension, such as "rows".
	Name string
	// Tiles are sizes at which the kernels change their behaviour, such as the size of a
	// tile.
	Tiles []int
	// Only, if set, lists all legal sizes. The suite then tries no others.
	Only []int
}
