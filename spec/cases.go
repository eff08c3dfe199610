package spec

import (
	"github.com/lathe-gpu/lathe/tensor"
)

// Cases is what a conformance suite should try of an operation, whatever the type of its
// attributes.
type Cases = CasesOf[Call]

// CasesOf is what a conformance suite should try of an operation with attributes A.
type CasesOf[A Call] struct {
	// DTypes are those to try, the one most used first.
	DTypes []tensor.DType
	// Calls are attribute settings, the defaults first.
	Calls []A
	// Dims are the free dimensions. The suite combines awkward values of each
	// (0, 1, primes, around every Tile).
	Dims []Dim
	// Sizes are further values of Dims to try once each, such as those at which
	// a kernel's loop would exceed what an invocation may run.
	Sizes [][]int
	// Inputs builds the inputs of a call for values of Dims, or gives nil where there
	// is no such case.
	Inputs func(a A, d tensor.DType, dims []int) []tensor.Desc
	// Bench returns calls of everyday use for inputs of the dtype, small ones
	// first: three sizes at least, of some 64 KiB, 2 MiB and 16 MiB an operand.
	Bench func(d tensor.DType) []BenchCase
	// Low and High bound the random values of inputs of floating point, and of
	// integers of 32 and 64 bits.
	Low, High float64
	// Range, if set, bounds the values of input i instead, both ends included:
	// indices lie within what they index, second moments are not negative.
	Range func(a A, i int, in []tensor.Desc) (low, high float64)
	// Specials says that NaN and infinities in the inputs must come out as
	// IEEE 754 has it in Reference. The suite then tries such inputs.
	Specials bool
	// Invalid are calls that must be refused with ErrInvalidArgument.
	Invalid []A
	// Refused are inputs that must be refused with ErrInvalidArgument or
	// ErrUnsupported, for the default call.
	Refused [][]tensor.Desc
	// Faults are inputs that only the device can refuse (see DeviceCheck), for
	// the default call: the run must fail with ErrInvalidArgument by the next
	// Sync, its outputs unchanged.
	Faults func(d tensor.DType) [][]*tensor.Host
}

// erase returns the cases of any Call. There are no inputs for calls of another type.
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
	// The suite resolves its calls, so that they are of the type A.
	if c.Inputs != nil {
		e.Inputs = func(call Call, d tensor.DType, dims []int) []tensor.Desc {
			if a, ok := call.(A); ok {
				return c.Inputs(a, d, dims)
			}
			return nil
		}
	}
	if c.Range != nil {
		e.Range = func(call Call, i int, in []tensor.Desc) (low, high float64) {
			if a, ok := call.(A); ok {
				return c.Range(a, i, in)
			}
			return c.Low, c.High
		}
	}
	return e
}

// BenchCase is a call to measure and the inputs it gets.
type BenchCase struct {
	Call Call
	In   []tensor.Desc
	// Opaque says that inputs are pictures whose fourth channel, alpha, is full
	// everywhere, as that of most pictures is.
	Opaque bool
}

// Dim is a free dimension of an operation's cases.
type Dim struct {
	Name string
	// Tiles are sizes at which the kernels change behaviour.
	Tiles []int
	// Only, if set, lists all legal values, and the suite tries no others.
	Only []int
}
