//go:build !nowgpu && cgo

package wgpu

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"errors"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// buffer is a buffer of WebGPU. A buffer of size 0 has no memory and no handle.
type buffer struct {
	size   int64          // bytes that the caller of Alloc asked for
	room   int64          // bytes that the library has allocated: whole units, and spare
	handle unsafe.Pointer // the library's object, nil for size 0
	used   uint64         // number of the last batch that uses the buffer
	wrote  uint64         // number of the batch that runs after the last queued write
	reads  int            // how many Reads of several parts are reading the buffer
}

// Bytes is the size that the caller of Alloc asked for.
func (b *buffer) Bytes() int64 { return b.size }

// spare is the number of bytes that a buffer has after its last unit. WebGPU requires
// that a binding has room for one element of the shader's array, and an element may be
// a struct that is larger than a unit.
const spare = 48

// newBuffer makes a buffer. WebGPU fills new buffers with zeros. The caller holds the
// lock.
func (d *Device) newBuffer(size int64) (*buffer, error) {
	b := &buffer{size: size, room: gpu.RoundUp(size) + spare}
	if size == 0 {
		return b, nil
	}
	h := C.lwg_buffer(d.c, C.uint64_t(b.room), C.LWG_USAGE_STORAGE|C.LWG_USAGE_UNIFORM|C.LWG_USAGE_COPY_SRC|C.LWG_USAGE_COPY_DST)
	objects.buffers.Add(1)
	b.handle = h
	if err := d.libraryError("alloc"); err != nil {
		d.release(b)
		return nil, err
	}
	return b, nil
}

// release drops a buffer. The library keeps its memory until pending work is done. The
// caller holds the lock.
func (d *Device) release(b *buffer) {
	if b.handle == nil {
		return
	}
	C.lwg_buffer_release(b.handle)
	objects.buffers.Add(-1)
	b.handle = nil
	switch last, n := max(b.used, b.wrote), len(d.inflight); {
	case last >= d.rec.seq:
		d.rec.doomed += b.room
	case last > d.done && n > 0:
		d.inflight[n-1].doomed += b.room
	default:
		return
	}
	d.doomed += b.room
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
	for d.doomed > device.DoomedBytes && d.life.Lost() == nil {
		if len(d.inflight) == 0 {
			if d.rec.doomed == 0 {
				break
			}
			d.flush()
			continue
		}
		if err := d.wait(context.Background(), d.inflight[0].seq); err != nil {
			return 0, err
		}
	}
	b, err := d.newBuffer(size)
	if errors.Is(err, gpu.ErrOutOfMemory) { // freed memory may be free only after pending work
		seq, _ := d.flush()
		if err := d.wait(context.Background(), seq); err != nil {
			return 0, err
		}
		b, err = d.newBuffer(size)
	}
	if err != nil {
		return 0, err
	}
	if h, err = d.table.Add(b); err != nil {
		d.release(b)
	}
	return h, err
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
