package lathe

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/number"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Tensor is a tensor in the memory of one Device, or a view of one. Device.Free gives its
// memory back, and so does the garbage collector when nothing refers to the tensor or a
// view of it. Device.Close gives back the memory of all tensors.
type Tensor struct {
	memory session.Tensor
	dev    *Device
	view   bool           // It is a view, so that to free it would free another tensor too.
	scalar *number.Number // what a Scalar is, or nil
	failed error          // why an operation of a Scope did not make it, or nil
}

// Device is the device that the tensor lies on. It is nil for a Tensor that no Device made.
func (t *Tensor) Device() *Device {
	if t == nil {
		return nil
	}
	return t.dev
}

// Desc describes the tensor: dtype, shape and, of views, strides.
func (t *Tensor) Desc() tensor.Desc {
	if t == nil {
		return tensor.Desc{}
	}
	return t.memory.Desc
}

// Shape is the tensor's shape; empty for a scalar. It must not be changed.
func (t *Tensor) Shape() []int { return t.Desc().Shape }

// DType is the type of the elements.
func (t *Tensor) DType() tensor.DType { return t.Desc().DType }

// String describes the tensor as "f32[2,3]".
func (t *Tensor) String() string {
	switch {
	case t == nil, t.failed != nil:
		return "no tensor"
	case t.scalar != nil:
		return "scalar " + t.scalar.String()
	}
	return t.memory.Desc.String()
}

// Handle is the buffer that the tensor lies in, for use with Device.GPU. A view begins
// Offset bytes into it. Like os.File.Fd, the handle does not keep the tensor alive: call
// runtime.KeepAlive(t) after the last use of the handle, or the buffer may be given back
// before.
func (t *Tensor) Handle() gpu.Handle {
	if t == nil || t.memory.Buffer == nil {
		return 0 // a Tensor that no Device made
	}
	return t.memory.Buffer.Handle()
}

// Offset is where the tensor begins in its buffer, in bytes; 0 unless it is a view.
func (t *Tensor) Offset() int64 {
	if t == nil {
		return 0
	}
	return t.memory.Offset
}

// NewTensor makes a zero-filled tensor. Any dimension may be 0.
// Errors: ErrInvalidArgument, *LimitError, ErrOutOfMemory (after a garbage
// collection that did not help).
func (d *Device) NewTensor(desc tensor.Desc) (*Tensor, error) {
	if err := d.open("new tensor"); err != nil {
		return nil, err
	}
	t, err := d.session.NewTensor(desc)
	if err != nil {
		return nil, err
	}
	return &Tensor{memory: t, dev: d}, nil
}

// inSession is the tensor as the session knows it. It is the zero Tensor if t is nil.
func (t *Tensor) inSession() session.Tensor {
	if t == nil {
		return session.Tensor{}
	}
	return t.memory
}

// few is how many operands most calls have at most. More of them cost an allocation.
const few = 8

// appendMemory appends tensors as the session knows them to list. A caller with room for
// few tensors on its stack allocates nothing.
func appendMemory(list []session.Tensor, ts []*Tensor) []session.Tensor {
	for _, t := range ts {
		list = append(list, t.inSession())
	}
	return list
}

// Free ends the life of a tensor and of all views of it at once, without
// waiting for the garbage collector. Work already given to the device still
// finishes. Errors: ErrInvalidHandle.
func (d *Device) Free(t *Tensor) error {
	if err := d.open("free"); err != nil {
		return err
	}
	return d.session.Free(t.inSession())
}

// Write replaces the contents of a tensor by its bytes: little-endian elements,
// laid out as its Desc says, gaps included.
// Errors: ErrInvalidArgument (length), ErrInvalidHandle, ctx.Err().
func (d *Device) Write(ctx context.Context, t *Tensor, data []byte) error {
	if err := d.open("write"); err != nil {
		return err
	}
	return d.session.Write(ctx, t.inSession(), data)
}

// Read waits for the work that writes the tensor and returns its bytes, gaps
// included.
// Errors: ErrInvalidHandle, ctx.Err(), any error of the work waited for, and
// what only the device could see, see Sync.
func (d *Device) Read(ctx context.Context, t *Tensor) ([]byte, error) {
	if err := d.open("read"); err != nil {
		return nil, err
	}
	return d.session.Read(ctx, t.inSession())
}

// Run computes out from in on the device. It does not wait for the result. An output may
// be the same tensor as an input if the operation works in place. Any other overlap is an
// error.
// Errors: ErrInvalidArgument, ErrInvalidHandle, ErrUnsupported, *LimitError,
// ErrOutOfMemory, ctx.Err(). After an error nothing has been run. What only the device can
// see is an error of the next Read or Sync.
func (d *Device) Run(ctx context.Context, c spec.Call, in, out []*Tensor) error {
	if err := d.open("run"); err != nil {
		return err
	}
	var fewIn, fewOut [few]session.Tensor
	i, err := d.operands(ctx, fewIn[:0], c, in)
	if err != nil {
		return err
	}
	return d.session.Run(ctx, c, i, appendMemory(fewOut[:0], out))
}

// Call makes the outputs of an operation and computes them from in, without
// waiting for the result. The methods named after operations are short for it, with a context
// that never ends.
// Errors: as Run.
func (d *Device) Call(ctx context.Context, c spec.Call, in ...*Tensor) ([]*Tensor, error) {
	if err := d.open("call"); err != nil {
		return nil, err
	}
	var fewIn [few]session.Tensor
	i, err := d.operands(ctx, fewIn[:0], c, in)
	if err != nil {
		return nil, err
	}
	res, err := d.session.Call(ctx, c, i)
	if err != nil {
		return nil, err
	}
	if len(res) == 1 { // as nearly always: one allocation instead of two
		one := &struct {
			result Tensor
			list   [1]*Tensor
		}{result: Tensor{memory: res[0], dev: d}}
		one.list[0] = &one.result
		return one.list[:], nil
	}
	out := make([]*Tensor, len(res))
	for i, t := range res {
		out[i] = &Tensor{memory: t, dev: d}
	}
	return out, nil
}

// DispatchCompute runs a compute shader of your own: any SPIR-V with an entry point
// "main", or with a single one of any name. gpu.ModuleEntry chooses among several. bindings[i]
// is the tensor at binding i. The binding numbers of a descriptor set continue
// after the highest number of the set before. There are no tensors beyond the last binding
// that the shader uses, and one for each number before it. push has the push constants, of which there are as many bytes as in the shader's block,
// rounded up to 4. groups is the number of workgroups. The shader is checked before the driver sees it, and compiled once.
//
// The shader sees the bytes of each tensor as they lie, from its first element to its
// last. data.length() is 5 for five floats. It is 2 for five bytes that are read as
// words, and the last word has zeros in it. On WebGPU it is at least 1. A view can be
// bound if it begins at a multiple of Limits.OffsetAlign bytes. If a view ends before its
// buffer does, the shader sees only whole elements of it.
//
// Errors: ErrInvalidShader, ErrInvalidArgument, ErrInvalidHandle,
// ErrUnsupported (a capability), *LimitError, ctx.Err().
func (d *Device) DispatchCompute(ctx context.Context, spirv []byte, bindings []*Tensor, push []byte, groups [3]uint32) error {
	if err := d.open("dispatch"); err != nil {
		return err
	}
	var fewBound [few]session.Tensor
	return d.session.Dispatch(ctx, spirv, appendMemory(fewBound[:0], bindings), push, groups)
}
