//go:build !novk && cgo

package vk

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// Write copies data into the buffer from offset on. The caller may change data as soon as
// Write has returned. If the host can map the buffer, Write waits for submitted work that
// uses it. Otherwise the copy is queued behind that work.
// Errors: ErrInvalidHandle, ErrInvalidArgument (range), ErrOutOfMemory, ctx.Err(). After
// an error nothing is written.
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
	if t := d.trace; t != nil {
		defer t.Report(gpu.Write, "", int64(len(data)), t.Now())
	}
	if err := d.life.Await(ctx, func() bool { return !b.hostWrites && b.hostReads == 0 }); err != nil {
		return err
	}
	b.hostWrites = true
	defer func() {
		b.hostWrites = false
		d.life.Changed.Broadcast()
	}()
	if !d.pool.kind.mapped {
		return d.upload(ctx, h, b, offset, data)
	}
	if err := d.wait(ctx, max(b.read, b.written)); err != nil {
		return err
	}
	if d.life.Lost() != nil {
		return d.life.Lost()
	}
	d.life.Unlock()
	for _, s := range b.unset.without(span{offset, int64(len(data))}) {
		b.clear(s)
	}
	device.Copy(b.data()[offset:], data)
	if end := offset + int64(len(data)); end == b.size {
		device.Clear(b.block.data[b.off+end : b.off+min(gpu.RoundUp(end), b.room)]) // the padding
	}
	d.life.Lock()
	b.unset = span{}
	return nil
}

// Read waits for the work submitted so far that writes the buffer, then copies
// len(dst) bytes from offset on into dst.
// Errors: ErrInvalidHandle, ErrInvalidArgument (range), ctx.Err(), and the
// first error of submitted work that no Sync or Read has returned yet.
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
	if t := d.trace; t != nil {
		defer t.Report(gpu.Read, "", int64(len(dst)), t.Now())
	}
	if err := d.life.Await(ctx, func() bool { return !b.hostWrites }); err != nil {
		return err
	}
	b.hostReads++
	defer func() {
		b.hostReads--
		d.life.Changed.Broadcast()
	}()
	if err := d.wait(ctx, b.written); err != nil {
		return err
	}
	if err := d.takeError(); err != nil {
		return err
	}
	unset := b.unset.common(span{offset, int64(len(dst))})
	rest := span{offset, int64(len(dst))}.without(unset)
	if !d.pool.kind.cached {
		for _, s := range rest {
			if err := d.download(ctx, h, b, s.off, dst[s.off-offset:s.end()-offset]); err != nil {
				return err
			}
		}
		rest = nil
	}
	d.life.Unlock()
	if unset.size > 0 {
		device.Clear(dst[unset.off-offset : unset.end()-offset])
	}
	for _, s := range rest {
		device.Copy(dst[s.off-offset:s.end()-offset], b.data()[s.off:])
	}
	d.life.Lock()
	return nil
}
