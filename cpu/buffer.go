package cpu

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// clearNow is the number of bytes up to which a new buffer is cleared at once. A larger
// one is cleared when it is used, since the first use may overwrite it.
const clearNow = 4 << 10

// buffer is a buffer. The lock of the device guards it.
type buffer struct {
	size       int64
	span       *span  // nil for size 0
	unset      bool   // its memory is not cleared yet
	used       uint64 // number of the last list that uses it
	wrote      uint64 // number of the last list that may write it
	hostReads  int    // how many Reads copy from it
	hostWrites bool   // whether a Write copies to it
}

// Bytes is the size that the caller of Alloc asked for.
func (b *buffer) Bytes() int64 { return b.size }

// address is where the buffer begins in the memory.
func (b *buffer) address() int64 {
	if b.span == nil {
		return emptyAt
	}
	return b.span.off
}

// clear sets bytes of a buffer with memory to zero.
func (d *Device) clear(b *buffer, from, to int64) {
	d.mem.clear(b.span.off+from, to-from)
}

// set clears the memory of a buffer if that has not been done. The caller holds the lock.
func (d *Device) set(b *buffer) {
	if b.unset {
		d.clear(b, 0, gpu.RoundUp(b.size))
		b.unset = false
	}
}

// Alloc makes a zero-filled buffer of size bytes. Size 0 is legal.
// Errors: ErrInvalidArgument (negative), *gpu.LimitError (larger than
// Limits.MaxBuffer), ErrOutOfMemory.
func (d *Device) Alloc(size int64) (h gpu.Handle, err error) {
	if err := d.begin(); err != nil {
		return 0, err
	}
	defer d.life.End(&err)
	if err := gpu.CheckSize(&d.info, size); err != nil {
		return 0, err
	}
	if d.doomed > device.DoomedBytes {
		if err := d.wait(context.Background(), d.seq); err != nil {
			return 0, err
		}
		d.sweep()
	}
	b := &buffer{size: size}
	if size > 0 {
		var zero bool
		if b.span, zero, err = d.allocate(gpu.RoundUp(size)); err != nil {
			return 0, err
		}
		if b.unset = !zero; b.unset && size <= clearNow {
			d.set(b)
		}
	}
	if h, err = d.table.Add(b); err != nil {
		d.release(b)
	}
	return h, err
}

// allocate returns a span of size bytes. zero says that all of them are 0. The caller holds
// the lock, which may be released in between.
// Errors: ErrOutOfMemory.
func (d *Device) allocate(size int64) (s *span, zero bool, err error) {
	if err := fault.Result("allocate"); err != nil {
		return nil, false, err
	}
	if s, zero = d.heap.allocate(size); s == nil && len(d.doomedBuffers) > 0 { // freed memory may be free only after pending work
		if err := d.wait(context.Background(), d.seq); err != nil {
			return nil, false, err
		}
		d.sweep()
		s, zero = d.heap.allocate(size)
	}
	if s == nil {
		return nil, false, fmt.Errorf("cpu: alloc: %w: %d bytes, %d of %d are in use", gpu.ErrOutOfMemory, size, d.heap.used, d.mem.most)
	}
	return s, zero, nil
}

// Free ends the life of a buffer. Work already submitted still finishes.
// Errors: ErrInvalidHandle.
func (d *Device) Free(h gpu.Handle) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	return d.table.Free(h)
}

// release gives the memory of a buffer back, at once or after the work that uses it. The
// caller holds the lock.
func (d *Device) release(b *buffer) {
	switch {
	case b.span == nil:
	case b.used > d.finished.Load():
		d.doomedBuffers = append(d.doomedBuffers, b)
		d.doomed += b.span.size
	default:
		d.heap.release(b.span)
		b.span = nil
	}
}

// sweep gives the memory of freed buffers back that no work uses any more. The caller holds
// the lock.
func (d *Device) sweep() {
	done, kept := d.finished.Load(), d.doomedBuffers[:0]
	for _, b := range d.doomedBuffers {
		if b.used > done {
			kept = append(kept, b)
			continue
		}
		d.doomed -= b.span.size
		d.heap.release(b.span)
		b.span = nil
	}
	clear(d.doomedBuffers[len(kept):])
	d.doomedBuffers = kept
}
