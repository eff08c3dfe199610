package device

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Buffer is what a device keeps of a buffer.
type Buffer interface {
	// Bytes is the size of the buffer in bytes, as Alloc was asked for it.
	Bytes() int64
}

// Buffers is the table of a device's buffers by handle.
type Buffers[B Buffer] struct{ *handles.Table[B] }

// NewBuffers makes an empty table. It calls release with each buffer that is freed
// and no longer pinned.
func NewBuffers[B Buffer](release func(B)) Buffers[B] {
	return Buffers[B]{handles.New(release)}
}

// Size is the size in bytes of the buffer with handle h, for gpu.Dispatch.CheckLaunch.
// Errors: ErrInvalidHandle.
func (t Buffers[B]) Size(h gpu.Handle) (int64, error) {
	b, err := t.Get(h)
	if err != nil {
		return 0, err
	}
	return b.Bytes(), nil
}

// PinRange is the common start of Write and Read, whose name op is. It checks that ctx
// has not ended and that n bytes from offset on lie in the buffer, and pins the
// buffer. The caller unpins it.
// Errors: ErrInvalidHandle, ErrInvalidArgument, ctx.Err().
func (t Buffers[B]) PinRange(ctx context.Context, op string, h gpu.Handle, offset int64, n int) (B, error) {
	var none B
	if err := errs.Context(ctx); err != nil {
		return none, err
	}
	b, err := t.Pin(h)
	if err != nil {
		return none, err
	}
	if err := gpu.CheckRange(op, b.Bytes(), offset, n); err != nil {
		_ = t.Unpin(h) // pinned above
		return none, err
	}
	return b, nil
}

// Total counts the live buffers and their bytes.
func (t Buffers[B]) Total() (buffers int, bytes int64) {
	for _, h := range t.Live() {
		if n, err := t.Size(h); err == nil {
			buffers++
			bytes += n
		}
	}
	return buffers, bytes
}

// FreeAll frees all live buffers.
func (t Buffers[B]) FreeAll() {
	for _, h := range t.Live() {
		_ = t.Free(h) // it is live, because the device has no other user any more
	}
}
