package session

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Tensor is a tensor in the memory of a Session, or a view of one. The zero Tensor is
// not a live tensor.
type Tensor struct {
	Buffer *Buffer
	Offset int64 // bytes from the start of the buffer to the first element
	Desc   tensor.Desc
}

// NewTensor makes a zero-filled tensor.
// Errors: ErrInvalidArgument, *LimitError, ErrOutOfMemory (after a garbage collection
// that did not help).
func (s *Session) NewTensor(desc tensor.Desc) (Tensor, error) {
	if err := desc.Check(); err != nil {
		return Tensor{}, fmt.Errorf("%s: new tensor: %w", s.surface, err)
	}
	b, err := s.memory.allocate(desc.Bytes())
	if err != nil {
		return Tensor{}, fmt.Errorf("%s: new tensor %v: %w", s.surface, desc, err)
	}
	return Tensor{Buffer: b, Desc: desc}, nil
}

// Free ends the life of a tensor and of all views of it. Work that was submitted still
// finishes. Errors: ErrInvalidHandle.
func (s *Session) Free(t Tensor) error {
	if err := s.Check("free", t); err != nil {
		return err
	}
	if err := t.Buffer.free(); err != nil {
		return fmt.Errorf("%s: free: %w", s.surface, err)
	}
	return nil
}

// NotClosed returns ErrClosed if Close was called. op is the name of the call, for the error.
func (s *Session) NotClosed(op string) error {
	if s.isClosed.Load() {
		return fmt.Errorf("%s: %s: %w: the device", s.surface, op, errs.ErrClosed)
	}
	return nil
}

// Check returns ErrInvalidHandle if t is not a live tensor of this Session, and ErrClosed if the
// Session was closed.
func (s *Session) Check(op string, t Tensor) error {
	switch {
	case t.Buffer == nil:
		return fmt.Errorf("%s: %s: %w: no tensor", s.surface, op, errs.ErrInvalidHandle)
	case t.Buffer.memory == nil || t.Buffer.memory.family != s.memory.family:
		return fmt.Errorf("%s: %s: %w: %v is a tensor of another device", s.surface, op, errs.ErrInvalidHandle, t.Desc)
	case s.isClosed.Load():
		return fmt.Errorf("%s: %s: %w: the device of %v", s.surface, op, errs.ErrClosed, t.Desc)
	case t.Buffer.freed.Load():
		return fmt.Errorf("%s: %s: %w: %v was freed", s.surface, op, errs.ErrInvalidHandle, t.Desc)
	}
	s.holder.hold(t.Buffer)
	return nil
}

// Write replaces the bytes of a tensor.
// Errors: ErrInvalidArgument (length), ErrInvalidHandle, ctx.Err().
func (s *Session) Write(ctx context.Context, t Tensor, data []byte) error {
	if err := s.Check("write", t); err != nil {
		return err
	}
	if int64(len(data)) != t.Desc.Bytes() {
		return fmt.Errorf("%s: write: %w: bytes (got %d, want %d for %v)", s.surface, errs.ErrInvalidArgument, len(data), t.Desc.Bytes(), t.Desc)
	}
	defer runtime.KeepAlive(t.Buffer)
	if err := s.gpu.Write(ctx, t.Buffer.handle, t.Offset, data); err != nil {
		return fmt.Errorf("%s: write: %w", s.surface, err)
	}
	return nil
}

// Read waits for the work that writes a tensor and returns its bytes.
// Errors: ErrInvalidHandle, ctx.Err(), those of the work, and those that only the device can
// see.
func (s *Session) Read(ctx context.Context, t Tensor) ([]byte, error) {
	if err := s.Check("read", t); err != nil {
		return nil, err
	}
	data := make([]byte, t.Desc.Bytes())
	if err := s.ReadInto(ctx, "read", t, data); err != nil {
		return nil, err
	}
	return data, nil
}

// ReadInto is Read into memory of the caller. It has the length of the tensor in bytes. op
// names the call for errors.
// Errors: as Read, and ErrInvalidArgument (length). After other errors dst may be overwritten.
func (s *Session) ReadInto(ctx context.Context, op string, t Tensor, dst []byte) error {
	if err := s.Check(op, t); err != nil {
		return err
	}
	if int64(len(dst)) != t.Desc.Bytes() {
		return fmt.Errorf("%s: %s: %w: bytes (got %d, want %d for %v)", s.surface, op, errs.ErrInvalidArgument, len(dst), t.Desc.Bytes(), t.Desc)
	}
	defer runtime.KeepAlive(t.Buffer)
	if err := s.run.Read(ctx, t.Buffer.handle, t.Offset, dst); err != nil {
		return fmt.Errorf("%s: %s: %w", s.surface, op, err)
	}
	return nil
}

// Run computes out from in without waiting for the result. If the operation works in
// place, an output may be the tensor of an input. It may not overlap inputs in any other way.
// Errors: those of exec.Runner.Run, and ErrInvalidHandle.
func (s *Session) Run(ctx context.Context, c spec.Call, in, out []Tensor) error {
	var fewIn, fewOut [8]exec.Operand // Most operations have no more. So this allocates nothing.
	if slices.ContainsFunc(in, func(t Tensor) bool { return t.Buffer == nil }) {
		call, err := spec.Resolve(c)
		if err != nil {
			return err
		}
		if in, err = s.fill(call.Spec(), in); err != nil {
			return err
		}
	}
	i, err := s.operands(fewIn[:0], in)
	if err != nil {
		return err
	}
	o, err := s.operands(fewOut[:0], out)
	if err != nil {
		return err
	}
	err = s.RunOn(ctx, c, i, o)
	runtime.KeepAlive(in)
	runtime.KeepAlive(out)
	return err
}

// operands appends the operands of tensors to list.
func (s *Session) operands(list []exec.Operand, ts []Tensor) ([]exec.Operand, error) {
	for i := range ts {
		t := &ts[i]
		if err := s.Check("run", *t); err != nil {
			return nil, err
		}
		alone := t.Offset == 0 && t.Desc.Bytes() == t.Buffer.size
		list = append(list, exec.Operand{Buffer: t.Buffer.handle, Offset: t.Offset, Desc: t.Desc, Alone: alone})
	}
	return list, nil
}

// RunOn is Run on buffers of the device that belong to no Tensor, such as those of Borrow.
func (s *Session) RunOn(ctx context.Context, c spec.Call, in, out []exec.Operand) error {
	if err := s.WaitForRoom(ctx); err != nil {
		return fmt.Errorf("%s: run: %w", s.surface, err)
	}
	seen := s.memory.collections.Load()
	err := s.run.Run(ctx, c, in, out)
	if errors.Is(err, errs.ErrOutOfMemory) {
		// There was no room for scratch memory, and nothing has been run.
		s.memory.collect(seen)
		err = s.run.Run(ctx, c, in, out)
	}
	return err
}

// WaitForRoom waits until the device takes more work and gives memory without a wait, if the
// device can tell. A context without an end needs no such wait: later calls wait all the same.
// Errors: ctx.Err(), and those of the device.
func (s *Session) WaitForRoom(ctx context.Context) error {
	if ctx == nil || ctx.Done() == nil {
		return errs.Context(ctx)
	}
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if dev, ok := s.gpu.(gpu.Throttle); ok {
		return dev.WaitForRoom(ctx)
	}
	return nil
}

// Warm compiles what the first runs of the jobs need, as exec.Runner.Warm does. The operands
// are buffers of Borrow.
func (s *Session) Warm(ctx context.Context, jobs []exec.Job) error { return s.run.Warm(ctx, jobs) }

// PrepareCall compiles what Call needs for such inputs, or Run if the operation works in place. It
// borrows memory for the operands while it runs.
// Errors: those of Call, and those of the work that it waits for.
func (s *Session) PrepareCall(ctx context.Context, c spec.Call, in []tensor.Desc) error {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	c, err := spec.Resolve(c)
	if err != nil {
		return err
	}
	for _, d := range in {
		if err := d.Check(); err != nil {
			return err
		}
	}
	op := c.Spec()
	want, err := op.Shape(c, in)
	if err != nil {
		return err
	}
	job := exec.Job{Call: c}
	lend := func(d tensor.Desc) (exec.Operand, func(), error) {
		bufs, release, err := s.Borrow(1, d.Bytes())
		if err != nil {
			return exec.Operand{}, nil, fmt.Errorf("%v: %w", d, err)
		}
		return exec.Operand{Buffer: bufs[0], Desc: d, Alone: true}, release, nil
	}
	for _, d := range in {
		o, release, err := lend(d)
		if err != nil {
			return err
		}
		defer release()
		job.In = append(job.In, o)
	}
	for i, d := range want {
		if at := op.Updates(i); at >= 0 && at < len(job.In) {
			job.Out = append(job.Out, job.In[at])
			continue
		}
		o, release, err := lend(d)
		if err != nil {
			return err
		}
		defer release()
		job.Out = append(job.Out, o)
	}
	return s.run.Warm(ctx, []exec.Job{job})
}

// Borrow lends n buffers of at least size bytes each until release is called. Their
// contents do not matter.
// Errors: *LimitError, ErrOutOfMemory (after a garbage collection that did not help).
func (s *Session) Borrow(n int, size int64) (bufs []gpu.Handle, release func(), err error) {
	seen := s.memory.collections.Load()
	bufs, release, err = s.run.Borrow(n, size)
	if errors.Is(err, errs.ErrOutOfMemory) {
		s.memory.collect(seen)
		bufs, release, err = s.run.Borrow(n, size)
	}
	return bufs, release, err
}

// Call makes the outputs of an operation and computes them from in without waiting for
// the result. Errors: as Run, and those of NewTensor.
func (s *Session) Call(ctx context.Context, c spec.Call, in []Tensor) ([]Tensor, error) {
	if err := s.WaitForRoom(ctx); err != nil {
		return nil, fmt.Errorf("%s: call: %w", s.surface, err)
	}
	c, err := spec.Resolve(c)
	if err != nil {
		return nil, err
	}
	if in, err = s.fill(c.Spec(), in); err != nil {
		return nil, err
	}
	descs := make([]tensor.Desc, len(in))
	for i, t := range in {
		if err := s.Check(c.Spec().Name, t); err != nil {
			return nil, fmt.Errorf("%w (input %d)", err, i)
		}
		descs[i] = t.Desc
	}
	want, err := c.Spec().Shape(c, descs)
	if err != nil {
		return nil, err
	}
	out := make([]Tensor, 0, len(want))
	defer func() {
		if err != nil {
			for _, t := range out {
				_ = s.Free(t) // no caller has seen it
			}
		}
	}()
	for _, desc := range want {
		var t Tensor
		if t, err = s.NewTensor(desc); err != nil {
			return nil, err
		}
		out = append(out, t)
	}
	if err = s.Run(ctx, c, in, out); err != nil {
		return nil, err
	}
	return out, nil
}

// Tune measures the strategies of an operation for such inputs, as exec.Runner.Tune does.
func (s *Session) Tune(ctx context.Context, c spec.Call, in []tensor.Desc) (*exec.Tuned, error) {
	return s.run.Tune(ctx, c, in)
}

// Dispatch runs a compute shader of any origin, as gpu.DispatchRanges does. bindings[i]
// is the tensor at binding i.
// Errors: those of gpu.DispatchRanges; ErrInvalidArgument for a view that cannot be
// bound.
func (s *Session) Dispatch(ctx context.Context, spirv []byte, bindings []Tensor, push []byte, groups [3]uint32) error {
	var few [8]gpu.Binding // most shaders have no more
	ranges := few[:0]
	for i, t := range bindings {
		b, err := s.bindingOf("dispatch", i, t)
		if err != nil {
			return err
		}
		ranges = append(ranges, b)
	}
	if err := s.WaitForRoom(ctx); err != nil {
		return fmt.Errorf("%s: dispatch: %w", s.surface, err)
	}
	err := gpu.DispatchRanges(ctx, s.gpu, spirv, ranges, push, groups)
	runtime.KeepAlive(bindings)
	if errors.Is(err, errs.ErrInvalidShader) {
		return fmt.Errorf("%w%s", err, SourceHint(spirv))
	}
	if err == nil {
		s.holder.launched()
	}
	return err
}

// bindingOf is the range of a tensor at binding i. call names the caller for errors.
func (s *Session) bindingOf(call string, i int, t Tensor) (b gpu.Binding, err error) {
	if err := s.Check(call, t); err != nil {
		return b, fmt.Errorf("%w (binding %d)", err, i)
	}
	if align := max(s.Info().Limits.OffsetAlign, 1); t.Offset%align != 0 {
		return b, fmt.Errorf("%s: %s: binding %d: %w: a view that begins %d bytes into its buffer (want a multiple of %d); use a copy of it", s.surface, call, i, errs.ErrInvalidArgument, t.Offset, align)
	}
	s.run.Forget(t.Buffer.handle) // the shader may write it
	b = gpu.Binding{Buffer: t.Buffer.handle, Offset: t.Offset}
	if n := t.Desc.Bytes(); n < t.Buffer.size-t.Offset {
		if b.Size = n; n == 0 { // a Size of 0 means all the rest
			return b, fmt.Errorf("%s: %s: binding %d: %w: an empty view; use a copy of it", s.surface, call, i, errs.ErrInvalidArgument)
		}
	}
	return b, nil
}
