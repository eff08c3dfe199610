package lathe

import (
	"context"

	"github.com/lathe-gpu/lathe/spec"
)

// callSingle is Call of an operation with one output.
func (d *Device) callSingle(c spec.Call, in ...*Tensor) (*Tensor, error) {
	out, err := d.Call(context.Background(), c, in...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// given returns the inputs up to the last one that is not nil. So optional inputs at the end
// may be left out.
func given(in ...*Tensor) []*Tensor {
	for len(in) > 0 && in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	return in
}
