package lathe

import (
	"context"
	"errors"
	"fmt"
	"runtime"

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Tensor is a tensor in the memory of one Device, or a view of one. Its memory
// is given back when nothing refers to the tensor or a view of it any more, by
// Device.Free, or with the device.
type Tensor struct {
	buf    *buffer
	offset int64 // bytes
	desc   tensor.Desc
}

// Desc describes the tensor: dtype, shape and, of views, strides.
func (t *Tensor) Desc() tensor.Desc {
	if t == nil {
		return tensor.Desc{}
	}
	return t.desc
}

// Shape is the tensor's shape; empty for a scalar. It must not be changed.
func (t *Tensor) Shape() []int { return t.Desc().Shape }

// DType is the type of the elements.
func (t *Tensor) DType() tensor.DType { return t.Desc().DType }

// String describes the tensor as "f32[2,3]".
func (t *Tensor) String() string {
	if t == nil {
		return "no tensor"
	}
	return t.desc.String()
}

// Handle is the buffer that the tensor lies in, for use with Device.GPU; a view
// begins Offset bytes into it. As with os.File.Fd, the handle does not keep the
// tensor: call runtime.KeepAlive(t) after the last use of it, or the buffer may
// be given back before.
func (t *Tensor) Handle() gpu.Handle {
	if t == nil || t.buf == nil {
		return 0 // a Tensor that no Device made
	}
	return t.buf.handle
}

// Offset is where the tensor begins in its buffer, in bytes; 0 unless it is a view.
func (t *Tensor) Offset() int64 {
	if t == nil {
		return 0
	}
	return t.offset
}

// NewTensor makes a zero-filled tensor. Any dimension may be 0.
// Errors: ErrInvalidArgument, *LimitError, ErrOutOfMemory (after a garbage
// collection that did not help).
func (d *Device) NewTensor(desc tensor.Desc) (*Tensor, error) {
	if err := d.ready("new tensor"); err != nil {
		return nil, err
	}
	if err := desc.Check(); err != nil {
		return nil, fmt.Errorf("lathe: new tensor: %w", err)
	}
	buf, err := d.mem.alloc(desc.Bytes())
	if err != nil {
		return nil, fmt.Errorf("lathe: new tensor %v: %w", desc, err)
	}
	return &Tensor{buf: buf, desc: desc}, nil
}

// Free ends the life of a tensor and of all views of it at once, without
// waiting for the garbage collector. Work already given to the device still
// finishes. Errors: ErrInvalidHandle.
func (d *Device) Free(t *Tensor) error {
	if err := d.known("free", t); err != nil {
		return err
	}
	t.buf.cleanup.Stop()
	return t.buf.free()
}

// Write replaces the contents of a tensor by its bytes: little-endian elements,
// laid out as its Desc says, gaps included.
// Errors: ErrInvalidArgument (length), ErrInvalidHandle, ctx.Err().
func (d *Device) Write(ctx context.Context, t *Tensor, data []byte) error {
	if err := d.known("write", t); err != nil {
		return err
	}
	if int64(len(data)) != t.desc.Bytes() {
		return fmt.Errorf("lathe: write: %w: bytes (got %d, want %d for %v)", errs.ErrInvalidArgument, len(data), t.desc.Bytes(), t.desc)
	}
	defer runtime.KeepAlive(t)
	return d.gpu.Write(ctx, t.buf.handle, t.offset, data)
}

// Read waits for the work that writes the tensor and returns its bytes, gaps
// included.
// Errors: ErrInvalidHandle, ctx.Err(), any error of the work waited for, and
// what only the device could see, see Sync.
func (d *Device) Read(ctx context.Context, t *Tensor) ([]byte, error) {
	if err := d.known("read", t); err != nil {
		return nil, err
	}
	defer runtime.KeepAlive(t)
	data := make([]byte, t.desc.Bytes())
	if err := d.run.Read(ctx, t.buf.handle, t.offset, data); err != nil {
		return nil, err
	}
	return data, nil
}

// Run computes out from in on the device, without waiting for the result. An
// output may be the same tensor as the first input where the operation works
// in place, and overlaps nothing otherwise.
// Errors: ErrInvalidArgument, ErrInvalidHandle, ErrUnsupported, *LimitError,
// ErrOutOfMemory, ctx.Err(). After an error nothing has been run. What only the
// device can see is an error of the next Read or Sync.
func (d *Device) Run(ctx context.Context, c spec.Call, out, in []*Tensor) error {
	if err := d.ready("run"); err != nil {
		return err
	}
	o, err := d.operands(out)
	if err != nil {
		return err
	}
	for k, t := range out {
		if t.repeats() {
			return fmt.Errorf("lathe: run: output %d: %w: %v, whose elements share memory", k, errs.ErrInvalidArgument, t)
		}
	}
	i, err := d.operands(in)
	if err != nil {
		return err
	}
	round := d.mem.round.Load()
	if err = d.run.Run(ctx, c, o, i); errors.Is(err, errs.ErrOutOfMemory) {
		// There was no room for scratch memory, and nothing has been run.
		d.mem.collect(round)
		err = d.run.Run(ctx, c, o, i)
	}
	runtime.KeepAlive(out)
	runtime.KeepAlive(in)
	return err
}

// Call makes the outputs of an operation and computes them from in, without
// waiting for the result. The methods named after operations are short for it.
// Errors: as Run.
func (d *Device) Call(c spec.Call, in ...*Tensor) ([]*Tensor, error) {
	if err := d.ready("call"); err != nil {
		return nil, err
	}
	c, err := spec.Resolve(c)
	if err != nil {
		return nil, err
	}
	descs := make([]tensor.Desc, len(in))
	for i, t := range in {
		if err := d.known(c.Spec().Name, t); err != nil {
			return nil, fmt.Errorf("%w (input %d)", err, i)
		}
		descs[i] = t.desc
	}
	want, err := c.Spec().Shape(c, descs)
	if err != nil {
		return nil, err
	}
	out := make([]*Tensor, len(want))
	for i, desc := range want {
		if out[i], err = d.NewTensor(desc); err != nil {
			return nil, err
		}
	}
	if err := d.Run(context.Background(), c, out, in); err != nil {
		for _, t := range out {
			_ = d.Free(t) // nobody has seen it
		}
		return nil, err
	}
	return out, nil
}

// DispatchCompute runs a compute shader of your own: any SPIR-V with an entry
// point "main", or with one of any name (gpu.ModuleEntry chooses among several).
// bindings[i] is the buffer at binding i, those of a further descriptor set counted on
// after the highest of the set before; push is the push constants, groups the
// workgroups. The shader is checked before the driver sees it, and compiled once.
//
// The shader sees the bytes of each tensor as they lie, from its first element to its
// last: data.length() is 5 for five floats, and 2 for five bytes that it reads as
// words, the last of which has zeros in it. On WebGPU it is at least 1. A view can be
// bound where it begins at a multiple of Limits.OffsetAlign bytes; of one that ends
// before its buffer does the shader sees whole elements only.
//
// Errors: ErrInvalidShader, ErrInvalidArgument, ErrInvalidHandle,
// ErrUnsupported (a capability), *LimitError, ctx.Err().
func (d *Device) DispatchCompute(ctx context.Context, spirv []byte, bindings []*Tensor, push []byte, groups [3]uint32) error {
	if err := d.ready("dispatch"); err != nil {
		return err
	}
	var few [8]gpu.Binding // most shaders have no more
	ranges := few[:0]
	for i, t := range bindings {
		if err := d.known("dispatch", t); err != nil {
			return fmt.Errorf("%w (binding %d)", err, i)
		}
		if align := max(d.Info().Limits.OffsetAlign, 1); t.offset%align != 0 {
			return fmt.Errorf("lathe: dispatch: binding %d: %w: a view that begins %d bytes into its buffer (want a multiple of %d); use Device.Copy of it", i, errs.ErrInvalidArgument, t.offset, align)
		}
		b := gpu.Binding{Buffer: t.buf.handle, Offset: t.offset}
		if n := t.desc.Bytes(); n < t.buf.size-t.offset {
			if b.Size = n; n == 0 { // a Size of 0 means all the rest
				return fmt.Errorf("lathe: dispatch: binding %d: %w: an empty view; use Device.Copy of it", i, errs.ErrInvalidArgument)
			}
		}
		ranges = append(ranges, b)
	}
	err := gpu.DispatchRanges(ctx, d.gpu, spirv, ranges, push, groups)
	runtime.KeepAlive(bindings)
	return err
}

// known reports ErrInvalidHandle for what is not a live tensor of this device.
func (d *Device) known(op string, t *Tensor) error {
	if err := d.ready(op); err != nil {
		return err
	}
	switch {
	case t == nil || t.buf == nil:
		return fmt.Errorf("lathe: %s: %w: no tensor", op, errs.ErrInvalidHandle)
	case t.buf.dev != d.mem:
		return fmt.Errorf("lathe: %s: %w: %v is a tensor of another device", op, errs.ErrInvalidHandle, t)
	case t.buf.gone.Load():
		return fmt.Errorf("lathe: %s: %w: %v was freed", op, errs.ErrInvalidHandle, t)
	}
	return nil
}

// repeats reports whether several elements of the tensor lie in one place, as
// Expand makes them.
func (t *Tensor) repeats() bool {
	for i, step := range t.desc.Strides {
		if step == 0 && t.desc.Shape[i] > 1 {
			return true
		}
	}
	return false
}

func (d *Device) operands(ts []*Tensor) ([]exec.Operand, error) {
	ops := make([]exec.Operand, len(ts))
	for i, t := range ts {
		if err := d.known("run", t); err != nil {
			return nil, err
		}
		ops[i] = exec.Operand{Buffer: t.buf.handle, Offset: t.offset, Desc: t.desc}
	}
	return ops, nil
}
