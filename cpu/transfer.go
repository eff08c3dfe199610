package cpu

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// lockedBytes is the number of bytes up to which a copy is made with the lock held.
const lockedBytes = 64 << 10

// Write copies data into the buffer from offset on. The caller may change data as soon as
// Write has returned. Write waits for submitted work that uses the buffer.
// Errors: ErrInvalidHandle, ErrInvalidArgument (range), ctx.Err(). After an error nothing
// is written.
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
	if b.used <= d.finished.Load() && b.size <= lockedBytes {
		d.copyIn(b, offset, data)
		return nil
	}
	b.hostWrites = true
	defer func() {
		b.hostWrites = false
		d.life.Changed.Broadcast()
	}()
	if err := d.wait(ctx, b.used); err != nil {
		return err
	}
	d.life.Unlock()
	defer d.life.Lock()
	d.copyIn(b, offset, data)
	return nil
}

// copyIn copies data into a buffer that nothing else uses now. It clears what the buffer
// has around the data if it was not cleared yet, and the padding if data reaches the end.
func (d *Device) copyIn(b *buffer, offset int64, data []byte) {
	end := offset + int64(len(data))
	if b.unset {
		d.clear(b, 0, offset)
		d.clear(b, end, gpu.RoundUp(b.size))
		b.unset = false
	}
	d.mem.write(b.span.off+offset, data)
	if end == b.size {
		d.clear(b, end, gpu.RoundUp(end))
	}
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
		if b.hostReads--; b.hostReads == 0 {
			d.life.Changed.Broadcast()
		}
	}()
	if err := d.wait(ctx, b.wrote); err != nil {
		return err
	}
	if err := d.life.TakeError(); err != nil || len(dst) == 0 {
		return err
	}
	if len(dst) > lockedBytes {
		d.life.Unlock()
		defer d.life.Lock()
	}
	if b.unset { // it has never been written
		device.Clear(dst)
	} else {
		d.mem.read(dst, b.span.off+offset)
	}
	return nil
}
