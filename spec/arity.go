package spec

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/tensor"
)

// CheckInputs reports ErrInvalidArgument unless the operation takes n inputs.
func (op *Op) CheckInputs(n int) error {
	if op == nil {
		return noCall("no operation")
	}
	least, most := 0, len(op.In)
	want := ""
	for _, a := range op.In {
		if !a.Optional {
			least++
		}
		if want != "" {
			want += ", "
		}
		switch want += a.Name; {
		case a.Variadic:
			want += "..."
			most = int(^uint(0) >> 1)
		case a.Optional:
			want += "?"
		}
	}
	if n < least || n > most {
		return fmt.Errorf("%s: %w: inputs (got %d, want %s)", op.Name, errs.ErrInvalidArgument, n, want)
	}
	return nil
}

// MayOverwrite reports whether output out may be the very tensor of input in.
func (op *Op) MayOverwrite(out, in int) bool {
	return op != nil && out >= 0 && out < len(op.InPlace) && op.InPlace[out] == in
}

// Typical returns inputs of everyday size, for what is said of an operation in
// general: 64 in each free dimension.
func (c *Cases) Typical(d tensor.DType) []tensor.Desc {
	if c == nil || c.Inputs == nil {
		return nil
	}
	dims := make([]int, len(c.Dims))
	for i, dim := range c.Dims {
		if dims[i] = 64; len(dim.Only) > 0 {
			dims[i] = dim.Only[0]
		}
	}
	return c.Inputs(d, dims)
}

// InputsFor is Inputs or InputsOf, whichever the call wants.
func (c *Cases) InputsFor(call Call, d tensor.DType, dims []int) []tensor.Desc {
	if c == nil || c.InputsOf == nil && c.Inputs == nil {
		return nil
	}
	if c.InputsOf != nil {
		return c.InputsOf(call, d, dims)
	}
	return c.Inputs(d, dims)
}
