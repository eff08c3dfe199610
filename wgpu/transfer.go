//go:build !nowgpu && cgo

package wgpu

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

const (
	// queuedBytes is how many bytes may be written before they are submitted. The
	// library holds a copy of them until then.
	queuedBytes = 32 << 20
	// stagingBytes is the most bytes that a read copies at once. stagingKept is how many
	// bytes of unused staging buffers are kept for later reads.
	stagingBytes = 32 << 20
	stagingKept  = 64 << 20
)

// Write copies data into the buffer from offset on. The caller may change data as soon
// as Write returns. The write takes effect after the work submitted so far.
// Errors: ErrInvalidHandle, ErrInvalidArgument (range), ErrOutOfMemory,
// ctx.Err(). After an error nothing is written.
func (d *Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	b, err := d.table.PinRange(ctx, "write", h, offset, len(data))
	if err != nil {
		return err
	}
	defer d.table.Unpin(h)
	if len(data) == 0 {
		return nil
	}
	if offset%4 != 0 || (offset+int64(len(data)))%4 != 0 && offset+int64(len(data)) < b.size {
		if err := d.life.Unlocked(d.preparePatch); err != nil {
			return err
		}
	}
	if d.queued+int64(len(data)) >= queuedBytes {
		// It submits, which may block behind earlier work, also behind what is recorded now. So it
		// waits for that here, where the context ends the wait.
		if err := d.makeRoom(ctx); err != nil {
			return err
		}
		if len(d.rec.cmds) > 0 {
			d.flush() // its error belongs to earlier work
			if err := d.makeRoom(ctx); err != nil {
				return err
			}
		}
	}
	// A queued write runs before recorded commands, and a Read in several parts must not
	// see half of it.
	for b.used == d.rec.seq || b.reads > 0 {
		if b.reads > 0 {
			if err := d.life.Wait(ctx); err != nil {
				return err
			}
			continue
		}
		if err := d.makeRoom(ctx); err != nil {
			return err
		}
		if b.used == d.rec.seq {
			d.flush() // its error belongs to earlier work
		}
	}
	last := offset+int64(len(data)) == b.size // then zeros fill the rest of the last word
	if n := int(min(int64(len(data)), -offset&3)); n > 0 {
		first := data[:n:n]
		if offset, data = offset+int64(n), data[n:]; last && len(data) == 0 {
			first = append(first, make([]byte, -offset&3)...)
			offset += -offset & 3
		}
		d.patchBytes(h, b, offset-int64(len(first)), first)
	}
	n := len(data) % 4
	whole := len(data) - n
	if from := offset + int64(whole); last {
		var rest [gpu.Unit + 4]byte
		copy(rest[:], data[whole:])
		if n := gpu.RoundUp(b.size) - from; n > 0 {
			if err := d.queue(b, from, rest[:n]); err != nil {
				return err
			}
		}
	} else if n > 0 {
		d.patchBytes(h, b, from, data[whole:])
	}
	data = data[:whole]
	for len(data) > 0 {
		n := min(len(data), queuedBytes)
		if err := d.queue(b, offset, data[:n]); err != nil {
			return err
		}
		offset, data = offset+int64(n), data[n:]
		if d.queued >= queuedBytes {
			d.flush()
		}
	}
	return nil
}

// queue gives whole words to the library.
func (d *Device) queue(b *buffer, offset int64, data []byte) error {
	C.lwg_write(d.c, b.handle, C.uint64_t(offset), unsafe.Pointer(unsafe.SliceData(data)), C.size_t(len(data)))
	d.queued += int64(len(data))
	b.wrote = d.rec.seq
	return d.libraryError("write")
}

// staging is a buffer that the host can map and read.
type staging struct {
	handle unsafe.Pointer
	size   int64  // bytes
	used   uint64 // number of the last batch that copies into it
	busy   bool   // whether a read uses it now
}

func (s *staging) destroy() {
	C.lwg_buffer_release(s.handle)
	objects.buffers.Add(-1)
}

// takeStaging returns a staging buffer of at least n bytes. The caller holds the lock.
func (d *Device) takeStaging(n int64) (*staging, error) {
	for _, s := range d.staging {
		if !s.busy && s.size >= n && s.size <= 4*n+1<<16 && s.used <= d.done {
			s.busy = true
			return s, nil
		}
	}
	s := &staging{size: max(1<<16, (n+1<<16-1)&^(1<<16-1)), busy: true}
	s.handle = C.lwg_buffer(d.c, C.uint64_t(s.size), C.LWG_USAGE_MAP_READ|C.LWG_USAGE_COPY_DST)
	objects.buffers.Add(1)
	if err := d.libraryError("read"); err != nil {
		s.destroy()
		return nil, err
	}
	d.staging = append(d.staging, s)
	return s, nil
}

func (d *Device) putStaging(s *staging) {
	s.busy = false
	d.trimStaging()
}

// trimStaging releases the oldest unused staging buffers beyond stagingKept bytes.
func (d *Device) trimStaging() {
	idle := int64(0)
	for i := len(d.staging) - 1; i >= 0; i-- {
		x := d.staging[i]
		if x.busy || x.used > d.done {
			continue
		}
		if idle += x.size; idle > stagingKept {
			x.destroy()
			d.staging = append(d.staging[:i], d.staging[i+1:]...)
		}
	}
}

// Read waits for the work submitted so far that writes the buffer, then copies
// len(dst) bytes from offset on into dst.
// Errors: ErrInvalidHandle, ErrInvalidArgument (range), ErrOutOfMemory,
// ctx.Err(), and the first error of submitted work that no Sync or Read has
// returned yet.
func (d *Device) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	b, err := d.table.PinRange(ctx, "read", h, offset, len(dst))
	if err != nil {
		return err
	}
	defer d.table.Unpin(h)
	if len(dst) > stagingBytes-4 {
		b.reads++
		defer func() {
			b.reads--
			d.life.Changed.Broadcast()
		}()
	}
	for len(dst) > 0 {
		n := min(len(dst), stagingBytes-4)
		if err := d.readPart(ctx, b, offset, dst[:n]); err != nil {
			return err
		}
		offset, dst = offset+int64(n), dst[n:]
	}
	return d.takeError()
}

// readPart reads a part that fits into one staging buffer.
func (d *Device) readPart(ctx context.Context, b *buffer, offset int64, dst []byte) error {
	// Wait first for the work that was submitted before. A submission now might block
	// behind it, and a copy that nobody waits for would be wasted.
	if err := d.wait(ctx, d.rec.seq); err != nil {
		return err
	}
	from := offset &^ 3
	n := (offset + int64(len(dst)) + 3 - from) &^ 3
	s, err := d.takeStaging(n)
	if err != nil {
		return err
	}
	defer d.putStaging(s)
	s.used = d.rec.seq
	b.used = d.rec.seq // a later write must not take effect before this copy
	d.rec.cmds = append(d.rec.cmds, C.lwg_cmd{kind: C.LWG_COPY, a: b.handle, b: s.handle, src: C.uint64_t(from), size: C.uint64_t(n)})
	seq, err := d.flushOwn()
	if err != nil {
		return err
	}
	if err := d.wait(ctx, seq); err != nil {
		return err
	}
	if err := d.takeError(); err != nil {
		return err
	}
	d.life.Unlock()
	p := C.lwg_map(d.c, s.handle, C.size_t(n))
	if p != nil {
		device.Copy(dst, unsafe.Slice((*byte)(p), n)[offset-from:])
		C.lwg_unmap(s.handle)
	}
	d.life.Lock()
	if p != nil {
		return nil
	}
	if err := d.takeError(); err != nil {
		return err
	}
	return fmt.Errorf("wgpu: read: %w: the copy could not be mapped", gpu.ErrOutOfMemory)
}
