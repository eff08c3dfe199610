//go:build !novk && cgo

package vk

import (
	"context"
	"errors"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// buffer is a range of a block. Size 0 has no block.
type buffer struct {
	size  int64 // the bytes that Alloc was asked for
	room  int64 // the bytes of the range, a multiple of the pool's alignment
	block *block
	off   int64

	// unset is the range, within the buffer, that nothing has written since Alloc. It
	// counts as zero, whatever the memory holds. See unset.go.
	unset  span
	doomed bool // it was freed while work that uses it is pending

	read, written uint64 // the numbers of the last batches that read it and that write it
	pinned        uint64 // the number of the last batch that pins it
	hostReads     int    // the number of copies by the host that are under way
	hostWrites    bool
	marks         marks
	views         []view

	host *imported // the memory of the caller that it stands for, or nil
}

// Bytes is the size in bytes that Alloc was asked for.
func (b *buffer) Bytes() int64 { return b.size }

// data is the memory of the buffer, if the host can map it.
func (b *buffer) data() []byte { return b.block.data[b.off : b.off+b.size : b.off+b.room] }

// newBuffer allocates a buffer from the pool. The caller holds the lock.
func (d *Device) newBuffer(size int64) (*buffer, error) {
	b := &buffer{size: size}
	if size == 0 {
		return b, nil
	}
	b.room = (size + d.pool.align - 1) &^ (d.pool.align - 1)
	b.unset = span{0, b.room}
	var err error
	b.block, b.off, err = d.pool.alloc(b.room)
	return b, err
}

// Alloc makes a zero-filled buffer of size bytes. Size 0 is legal.
// Errors: ErrInvalidArgument (negative), *gpu.LimitError (larger than
// Limits.MaxBuffer), ErrOutOfMemory (the heap the device reports is full).
func (d *Device) Alloc(size int64) (h gpu.Handle, err error) {
	if err := d.begin(); err != nil {
		return 0, err
	}
	defer d.life.End(&err)
	if err := gpu.CheckSize(&d.phys.info, size); err != nil {
		return 0, err
	}
	if d.doomed > 0 {
		d.poll()
	}
	for d.doomed > device.DoomedBytes && d.done < d.next {
		if err := d.wait(context.Background(), d.done+1); err != nil {
			return 0, err
		}
	}
	b, err := d.newBuffer(size)
	for try := 0; err != nil && errors.Is(err, gpu.ErrOutOfMemory) && try < 2; try++ {
		if try == 0 { // work that ends may give memory back
			if err := d.wait(context.Background(), d.next); err != nil {
				return 0, err
			}
		} else {
			d.staging.trim(d)
		}
		d.pool.trim(0)
		b, err = d.newBuffer(size)
	}
	if err != nil {
		return 0, err
	}
	if h, err = d.table.Add(b); err != nil {
		d.release(b)
		return 0, err
	}
	return h, nil
}

// Free ends the life of a buffer. Work already submitted still finishes.
// Errors: ErrInvalidHandle.
func (d *Device) Free(h gpu.Handle) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	b, err := d.table.Get(h)
	if err != nil {
		return err
	}
	if b.pinned > d.done {
		b.doomed = true
		d.doomed += b.room
		if d.rec != nil && d.rec.seq == b.pinned && d.doomed > device.DoomedBytes/4 {
			defer d.flush()
		}
	}
	return d.table.Free(h)
}

// release releases the memory of a freed buffer that nothing uses any more. The table
// calls it, always from a call that is made with the lock held.
func (d *Device) release(b *buffer) {
	if b.doomed {
		d.doomed -= b.room
	}
	d.dropViews(b)
	switch {
	case b.host != nil:
		d.freeImported(b.host)
	case b.block != nil:
		d.pool.free(b.block, span{b.off, b.room})
	}
}
