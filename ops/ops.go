// Package ops declares the tensor operations: elementwise maths with
// broadcasting, reductions, moves, matrix products, and what neural networks
// are made and trained with.
//
// An operation is called by the struct of its attributes, such as
// Softmax{Dim: -1}, which is a spec.Call. Tensors are row-major. F16 and BF16
// are storage: arithmetic on them is done in F32, and results are rounded to
// nearest even. NaN and infinities go through every operation as IEEE 754 says.
package ops

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// floats are the element types of arithmetic, the one every device has first.
var floats = []tensor.DType{tensor.F32, tensor.F16, tensor.BF16, tensor.F64}

// invalid is an ErrInvalidArgument of an operation.
func invalid(op, format string, args ...any) error {
	return fmt.Errorf("ops: %s: %w: %s", op, errs.ErrInvalidArgument, fmt.Sprintf(format, args...))
}

// unsupported is an ErrUnsupported of an operation.
func unsupported(op, format string, args ...any) error {
	return fmt.Errorf("ops: %s: %w: %s", op, errs.ErrUnsupported, fmt.Sprintf(format, args...))
}

// check is the part of a shape rule that all operations share: the number of
// inputs, and that each is a tensor of one of the dtypes (any, if none are
// given).
func check(op *spec.Op, in []tensor.Desc, dtypes ...tensor.DType) error {
	if err := op.CheckInputs(len(in)); err != nil {
		return fmt.Errorf("ops: %w", err)
	}
	for i, d := range in {
		name := op.In[min(i, len(op.In)-1)].Name
		if err := d.Check(); err != nil {
			return fmt.Errorf("ops: %s: input %s: %w", op.Name, name, err)
		}
		if len(dtypes) > 0 && !slices.Contains(dtypes, d.DType) {
			return unsupported(op.Name, "input %s is %v (want one of %v)", name, d, dtypes)
		}
	}
	return nil
}

// checkTarget reports ErrUnsupported for a dtype the device cannot compute in.
func checkTarget(op string, t *spec.Target, ds ...tensor.Desc) error {
	for _, d := range ds {
		if d.DType == tensor.F64 && !t.F64 {
			return unsupported(op, "f64: this device has no double precision")
		}
	}
	return nil
}

// epsilon is the distance from 1 to the next number of a dtype.
func epsilon(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return 0x1p-52
	case tensor.F16:
		return 0x1p-10
	case tensor.BF16:
		return 0x1p-7
	}
	return 0x1p-23
}

// workEpsilon is epsilon of the arithmetic done for a dtype.
func workEpsilon(d tensor.DType) float64 {
	if d == tensor.F64 {
		return 0x1p-52
	}
	return 0x1p-23
}

// tiny is a bound on what is lost where results fall below the least normal
// number of a dtype, which devices may flush to zero.
func tiny(d tensor.DType) float64 {
	switch d {
	case tensor.F64:
		return 0x1p-1022
	case tensor.F16:
		return 0x1p-24
	}
	return 0x1p-126
}

// dtypeVariants names the kernels of a base name for dtypes: each as "f32", and
// as "f32.texel" if texel says so of it.
func dtypeVariants(base string, params any, dtypes []tensor.DType, texel func(tensor.DType) bool) []spec.Kernel {
	var ks []spec.Kernel
	for _, d := range dtypes {
		ks = append(ks, spec.Kernel{Name: base + "." + d.String(), Params: params})
		if texel != nil && texel(d) {
			ks = append(ks, spec.Kernel{Name: base + "." + d.String() + ".texel", Params: params})
		}
	}
	return ks
}
