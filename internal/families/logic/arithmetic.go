package logic

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Arithmetic is a function of integers that operations on floats have too.
type Arithmetic uint32

// These are the functions. None says that an operation has none.
const (
	None Arithmetic = iota
	Sum
	Difference
	Product
	Smaller
	Larger
	Magnitude
	Sign
	Negative
	Quotient
)

const (
	arithmeticShader = "logic/arithmetic"
	divideShader     = "logic/divide"
)

// Types returns the dtypes of an operation on floats, and of the integers that f adds to them.
func (f Arithmetic) Types(floats []tensor.DType) []tensor.DType {
	list := slices.Clone(floats)
	if f == None {
		return list
	}
	for _, d := range planner.Integers {
		if !slices.Contains(list, d) {
			list = append(list, d)
		}
	}
	return list
}

func (f Arithmetic) isUnary() bool { return f == Magnitude || f == Sign || f == Negative }

func (f Arithmetic) shader() string {
	if f == Quotient {
		return divideShader
	}
	return arithmeticShader
}

// Kernels lists the kernels that Plan launches for integers.
func (f Arithmetic) Kernels() []spec.Kernel {
	var ks []spec.Kernel
	if f == None {
		return nil
	}
	for _, size := range []string{".u8", ".u16", ".u32", ".u64"} {
		ks = append(ks, spec.Kernel{Name: f.shader() + size, Params: flatParams{}})
		if !f.isUnary() {
			ks = append(ks, spec.Kernel{Name: f.shader() + size + ".strided", Params: stridedParams{}})
		}
	}
	return ks
}

// Plan plans the function of one or two tensors of integers.
// Errors: ErrUnsupported, ErrStrides, *LimitError.
func (f Arithmetic) Plan(t *spec.Target, in []tensor.Desc, out tensor.Desc) (*spec.Plan, error) {
	refs := []spec.Ref{spec.In(0), spec.In(1), spec.Out(0)}
	if f.isUnary() {
		in, refs[1] = []tensor.Desc{in[0], in[0]}, spec.In(0)
	}
	plan := &spec.Plan{}
	return plan, f.Add(plan, t, in, out, refs...)
}

// Part returns the function as a part, for elements of d. It has no name if there is none.
func (f Arithmetic) Part(d tensor.DType) spec.Part {
	if f == None {
		return spec.Part{}
	}
	p := partOf(f.shader(), d)
	p.Words, p.Twice = [3]uint32{uint32(f - Sum), kindOf(d)}, f.isUnary()
	return p
}

// Add appends to a plan the launches of the function of two tensors of integers. The inputs may have any strides, and out is
// contiguous. refs says where the inputs and then out are.
// Errors: ErrUnsupported, ErrStrides, *LimitError.
func (f Arithmetic) Add(plan *spec.Plan, t *spec.Target, in []tensor.Desc, out tensor.Desc, refs ...spec.Ref) error {
	return add(plan, t, f.shader()+sizeName(out.DType), [3]uint32{uint32(f - Sum), kindOf(out.DType)}, in, out, refs)
}

// Of returns the function of numbers of dtype d. exact is the same function of real numbers.
func (f Arithmetic) Of(d tensor.DType, exact float64, y float64) float64 {
	if f == Quotient && y == 0 {
		return 0
	}
	return wrapped(int64(math.Trunc(exact)), d)
}
