package lathe

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Tensor is a tensor in the memory of one Device. It is freed with the device,
// or before by Device.Free.
type Tensor struct {
	handle gpu.Handle
	desc   tensor.Desc
}

// Desc describes the tensor.
func (t *Tensor) Desc() tensor.Desc { return t.desc }

// Handle is the tensor's buffer on its device.
func (t *Tensor) Handle() gpu.Handle { return t.handle }

// NewTensor makes a zero-filled tensor. Any dimension may be 0.
// Errors: ErrInvalidArgument, *LimitError, ErrOutOfMemory.
func (d *Device) NewTensor(desc tensor.Desc) (*Tensor, error) {
	if err := desc.Check(); err != nil {
		return nil, fmt.Errorf("lathe: new tensor: %w", err)
	}
	h, err := d.gpu.Alloc(desc.Bytes())
	if err != nil {
		return nil, fmt.Errorf("lathe: new tensor %v: %w", desc, err)
	}
	return &Tensor{handle: h, desc: desc}, nil
}

// Free ends the life of a tensor; work already given to the device still
// finishes. Errors: ErrInvalidHandle.
func (d *Device) Free(t *Tensor) error {
	if err := known(t); err != nil {
		return err
	}
	return d.gpu.Free(t.handle)
}

// Write replaces the contents of a tensor by its bytes: little-endian elements,
// laid out as its Desc says, gaps included.
// Errors: ErrInvalidArgument (length), ErrInvalidHandle, ctx.Err().
func (d *Device) Write(ctx context.Context, t *Tensor, data []byte) error {
	if err := known(t); err != nil {
		return err
	}
	if int64(len(data)) != t.desc.Bytes() {
		return fmt.Errorf("lathe: write: %w: bytes (got %d, want %d for %v)", errs.ErrInvalidArgument, len(data), t.desc.Bytes(), t.desc)
	}
	return d.gpu.Write(ctx, t.handle, 0, data)
}

// Read waits for the work that writes the tensor and returns its bytes.
// Errors: ErrInvalidHandle, ctx.Err(), and any error of the work waited for.
func (d *Device) Read(ctx context.Context, t *Tensor) ([]byte, error) {
	if err := known(t); err != nil {
		return nil, err
	}
	data := make([]byte, t.desc.Bytes())
	return data, d.gpu.Read(ctx, t.handle, 0, data)
}

// Run computes out from in on the device, without waiting for the result. An
// output may be the same tensor as the first input where the operation works
// in place, and overlaps nothing otherwise.
// Errors: ErrInvalidArgument, ErrInvalidHandle, ErrUnsupported, *LimitError,
// ErrOutOfMemory, ctx.Err(). After an error nothing has been run.
func (d *Device) Run(ctx context.Context, c spec.Call, out, in []*Tensor) error {
	o, err := operands(out)
	if err != nil {
		return err
	}
	i, err := operands(in)
	if err != nil {
		return err
	}
	return d.run.Run(ctx, c, o, i)
}

// DispatchCompute runs a compute shader of your own: any SPIR-V with an entry
// point "main". bindings[i] is binding i of set 0 as a whole storage buffer,
// push the push constants, groups the workgroups. The shader is checked before
// the driver sees it, and compiled once.
// Errors: ErrInvalidShader, ErrInvalidArgument, ErrInvalidHandle,
// ErrUnsupported (a capability), *LimitError, ctx.Err().
func (d *Device) DispatchCompute(ctx context.Context, spirv []byte, bindings []*Tensor, push []byte, groups [3]uint32) error {
	var few [8]gpu.Handle // most shaders have no more
	hs := few[:0]
	for i, t := range bindings {
		if err := known(t); err != nil {
			return fmt.Errorf("lathe: dispatch: binding %d: %w", i, err)
		}
		hs = append(hs, t.handle)
	}
	return gpu.DispatchCompute(ctx, d.gpu, spirv, hs, push, groups)
}

func known(t *Tensor) error {
	if t == nil || t.handle == 0 {
		return fmt.Errorf("lathe: %w: no tensor", errs.ErrInvalidHandle)
	}
	return nil
}

func operands(ts []*Tensor) ([]exec.Operand, error) {
	ops := make([]exec.Operand, len(ts))
	for i, t := range ts {
		if err := known(t); err != nil {
			return nil, err
		}
		ops[i] = exec.Operand{Buffer: t.handle, Desc: t.desc}
	}
	return ops, nil
}
