package lathe

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/ops"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Find calls an operation whose elements decide how large the result is, such as ops.NonZero and
// ops.Compress. It waits for the count, four bytes that it reads back, and returns a tensor of
// the elements that count. Device.Call makes the largest result that there may be instead, and the
// count as a tensor, and does not wait.
// Errors: ErrInvalidArgument if the operation is no such one, and as Call and Read.
func (d *Device) Find(ctx context.Context, c spec.Call, in ...*Tensor) (*Tensor, error) {
	if err := d.open("find"); err != nil {
		return nil, err
	}
	c, err := spec.Resolve(c)
	if err != nil {
		return nil, err
	}
	op := c.Spec()
	if op.Counts == nil || len(op.Out) < 2 {
		return nil, fmt.Errorf("lathe: find: %s: %w: the size of its result follows from those of its inputs; use Call", op.Name, errs.ErrInvalidArgument)
	}
	out, err := d.Call(ctx, c, in...)
	if err != nil {
		return nil, err
	}
	all := out[0]
	kept := false
	defer func() {
		for i, t := range out {
			if i > 0 || !kept {
				_ = d.Free(t) // an error would say that the device is closed, and then it is free
			}
		}
	}()
	counts, err := toSlice[int32](ctx, out[len(out)-1], "find")
	if err != nil {
		return nil, err
	}
	descs := make([]tensor.Desc, len(in))
	for i, t := range in {
		descs[i] = t.Desc()
	}
	dim := op.Counts(c, descs)
	if len(counts) != 1 || dim < 0 || dim >= len(all.Shape()) || counts[0] < 0 || int(counts[0]) > all.Shape()[dim] {
		return nil, fmt.Errorf("lathe: find: %s: %w: it counts %v in dimension %d of %v", op.Name, errs.ErrInvalidArgument, counts, dim, all)
	}
	if int(counts[0]) == all.Shape()[dim] {
		kept = true
		return all, nil
	}
	part, err := all.Narrow(dim, 0, int(counts[0]))
	if err != nil {
		return nil, err
	}
	found, err := d.Call(ctx, ops.Copy{}, part)
	if err != nil {
		return nil, err
	}
	return found[0], nil
}
