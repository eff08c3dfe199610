package lathe

import "github.com/lathe-gpu/lathe/spec"

// callSingle is Call of an operation with one output.
func (d *Device) callSingle(c spec.Call, in ...*Tensor) (*Tensor, error) {
	out, err := d.Call(c, in...)
	if err != nil {
		return nil, err
	}
	return out[0], nil
}

// given is the inputs up to the last one that is not nil: optional inputs are left
// out from the last one backwards.
func given(in ...*Tensor) []*Tensor {
	for len(in) > 0 && in[len(in)-1] == nil {
		in = in[:len(in)-1]
	}
	return in
}
