package backend

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/value"
)

// The methods of this file are of another form than the generated ones.

type list = []TensorHandle

// PointwiseAdd computes out = a + b, for tensors of one shape.
func (d *Device) PointwiseAdd(a, b, out TensorHandle) error {
	x, errA := d.TensorMeta(a)
	y, errB := d.TensorMeta(b)
	if errA == nil && errB == nil && !slices.Equal(x.Shape, y.Shape) {
		return fmt.Errorf("backend: pointwise add: %w: shapes (got %v and %v, want equal ones)", errs.ErrInvalidArgument, x.Shape, y.Shape)
	}
	return d.compute(ops.Add{}, list{a, b}, list{out})
}

// ReduceSum adds up the elements along dimension *dim, or all elements if dim is nil.
// The dimension counts from the end if it is negative. It is missing in out, or has
// size 1 there.
//
//genapi:op reduce_sum
func (d *Device) ReduceSum(in, out TensorHandle, dim *int) error {
	c := ops.ReduceSum{}
	if dim != nil {
		c.Dims = []int{*dim}
	}
	x, errX := d.TensorMeta(in)
	y, errY := d.TensorMeta(out)
	c.KeepDims = errX == nil && errY == nil && len(x.Shape) == len(y.Shape)
	return d.compute(c, list{in}, list{out})
}

// LayerNorm normalises the last dimension of in, multiplies by gamma and adds beta. Both are needed: the handle 0
// is refused here, and means a tensor that is left out in CallInto.
//
//genapi:op layer_norm
func (d *Device) LayerNorm(in, gamma, beta, out TensorHandle, eps float64) error {
	for _, x := range []struct {
		name string
		h    TensorHandle
	}{{"gamma", gamma}, {"beta", beta}} {
		if _, err := d.tensor("layer_norm: "+x.name, x.h); err != nil {
			return err
		}
	}
	return d.compute(ops.LayerNorm{Eps: eps}, list{in, gamma, beta}, list{out})
}

// RMSNorm divides in by the root mean square of all elements from dimension dim on, and
// multiplies by gamma.
//
//genapi:op rms_norm
func (d *Device) RMSNorm(in, gamma, out TensorHandle, dim int, eps float64) error {
	return d.compute(ops.RMSNorm{Dim: dim, Eps: eps}, list{in, gamma}, list{out})
}

// Brightness multiplies colours by factor and clamps them to 0..1. imageops.Brightness also has an
// offset.
//
//genapi:op brightness
func (d *Device) Brightness(in, out TensorHandle, factor value.Value) error {
	x, err := number("brightness", "factor", factor)
	if err != nil {
		return err
	}
	return d.compute(imageops.Brightness{Factor: spec.Given(x)}, list{in}, list{out})
}

// SobelMagnitude computes the gradient that SobelEdges compares with its threshold.
func (d *Device) SobelMagnitude(in, out TensorHandle) error {
	return d.compute(imageops.SobelEdges{Magnitude: true}, list{in}, list{out})
}

// number is the value of an attribute that is a number.
func number(op, attr string, v value.Value) (float64, error) {
	x, err := v.AsFloat()
	if err != nil {
		return 0, fmt.Errorf("backend: %s: %s: %w", op, attr, err)
	}
	return x, nil
}

// given appends the optional inputs up to the last one that is there.
func given(in list, optional ...*TensorHandle) list {
	for len(optional) > 0 && optional[len(optional)-1] == nil {
		optional = optional[:len(optional)-1]
	}
	for _, h := range optional {
		if h == nil {
			in = append(in, 0) // refused, unless the operation lets calls leave out inputs before others
			continue
		}
		in = append(in, *h)
	}
	return in
}

// compute runs an operation whose outputs are none of its inputs.
func (d *Device) compute(c spec.Call, in, out list) error {
	for _, h := range out {
		if h != 0 && slices.Contains(in, h) {
			if _, err := d.tensor(c.Spec().Name, h); err != nil {
				return err
			}
			return fmt.Errorf("backend: %s: %w: %v is an input and an output", c.Spec().Name, errs.ErrInvalidArgument, h)
		}
	}
	return d.update(c, in, out)
}
