package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// CheckInputs returns an error unless the operation can have n inputs.
// Errors: ErrInvalidArgument.
func (op *Op) CheckInputs(n int) error {
	if op == nil {
		return noCall("no operation")
	}
	if err := op.countInputs(n); err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	return nil
}

// countInputs is CheckInputs without the name of the operation in the error.
func (op *Op) countInputs(n int) error {
	least, most := 0, len(op.In)
	for i := range op.In {
		if !op.In[i].Optional {
			least++
		}
		if op.In[i].Variadic {
			most = int(^uint(0) >> 1)
		}
	}
	if n < least || n > most {
		return fmt.Errorf("%w: inputs (got %d, want %s)", errs.ErrInvalidArgument, n, op.inputNames())
	}
	return nil
}

// inputNames lists the inputs for an error. Optional ones have a question mark.
func (op *Op) inputNames() string {
	names := make([]string, len(op.In))
	for i, a := range op.In {
		switch names[i] = a.Name; {
		case a.Variadic:
			names[i] += "..."
		case a.Optional:
			names[i] += "?"
		}
	}
	return strings.Join(names, ", ")
}

// LeftOut describes the tensor that stands for input i, from 0 on, in a call that leaves it out and has
// later ones: no elements of first, the dtype of the first input, or of another dtype if the
// input cannot have that. It reports false if the input cannot be left out so.
func (op *Op) LeftOut(i int, first tensor.DType) (tensor.Desc, bool) {
	if op == nil || i < 0 || i >= len(op.In) || !op.In[i].Skippable {
		return tensor.Desc{}, false
	}
	if types := op.In[i].DTypes; len(types) > 0 && !slices.Contains(types, first) {
		first = types[0]
	}
	return tensor.Contiguous(first, 0), true
}

// Updates returns the input that output out updates in place, because both have one name. It is -1
// if there is none.
func (op *Op) Updates(out int) int {
	if op == nil || out < 0 || out >= len(op.Out) {
		return -1
	}
	return slices.IndexFunc(op.In, func(a Arg) bool { return a.Name == op.Out[out].Name })
}

// MayOverwrite reports whether output out may be the same tensor as input in. Both count
// from 0.
func (op *Op) MayOverwrite(out, in int) bool {
	if op == nil || out < 0 {
		return false
	}
	return out < len(op.Out) && slices.Contains(op.Out[out].InPlace, in)
}

// TypicalInputs returns inputs of the default call with 64 in each free dimension. Pages
// that describe an operation in general use them.
func (op *Op) TypicalInputs(d tensor.DType) []tensor.Desc {
	if op == nil {
		return nil
	}
	dims := make([]int, len(op.Cases.Dims))
	for i, dim := range op.Cases.Dims {
		if dims[i] = 64; len(dim.Only) > 0 {
			dims[i] = dim.Only[0]
		}
	}
	return op.Cases.InputsFor(op.Defaults, d, dims)
}

// InputsFor returns Inputs for a call, or nil if there is no Inputs function.
func (c *CasesOf[A]) InputsFor(call A, d tensor.DType, dims []int) []tensor.Desc {
	if c == nil || c.Inputs == nil {
		return nil
	}
	return c.Inputs(call, d, dims)
}

// TakesInput reports whether the operation's plans can work with the strides of d as
// input i.
func (op *Op) TakesInput(i int, d tensor.Desc) bool {
	return op == nil || op.input(i).Strides.Takes(d)
}

// TakesOutput reports whether the operation's plans can work with the strides of d as
// output i.
func (op *Op) TakesOutput(i int, d tensor.Desc) bool {
	return op == nil || i < 0 || i >= len(op.Out) || op.Out[i].Strides.Takes(d)
}

// Overwritable lists the inputs that output out may overwrite.
func (op *Op) Overwritable(out int) []int {
	var list []int
	if op == nil {
		return nil
	}
	for i := range op.In {
		if op.MayOverwrite(out, i) {
			list = append(list, i)
		}
	}
	return list
}
