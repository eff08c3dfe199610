//go:build !novk && cgo

package vk

import (
	"context"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/cond"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// await waits until ready reports true, or ctx ends. The caller holds mu.
func (d *Device) await(ctx context.Context, ready func() bool) error {
	for !ready() {
		if err := cond.Wait(ctx, &d.changed); err != nil {
			return err
		}
	}
	return nil
}

// pin is the common start of Write and Read.
func (d *Device) pin(ctx context.Context, op string, h gpu.Handle, offset int64, n int) (*buffer, error) {
	if err := errs.Context(ctx); err != nil {
		return nil, err
	}
	b, err := d.table.Pin(h)
	if err != nil {
		return nil, err
	}
	if err := b.checkRange(op, offset, n); err != nil {
		_ = d.table.Unpin(h) // pinned above
		return nil, err
	}
	return b, nil
}

// Write copies data into the buffer from offset on. It has taken its copy when
// it returns. It waits for submitted work that uses the buffer if the host
// shares the device's memory; otherwise the copy is queued behind that work.
// Errors: ErrInvalidHandle, ErrInvalidArgument (range), ErrOutOfMemory,
// ctx.Err(); nothing is written then.
func (d *Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.end(&err)
	b, err := d.pin(ctx, "write", h, offset, len(data))
	if err != nil {
		return err
	}
	defer d.table.Unpin(h)
	if len(data) == 0 {
		return nil
	}
	if t := d.trace; t != nil {
		defer t.host(gpu.Write, "", int64(len(data)), t.now())
	}
	if err := d.await(ctx, func() bool { return !b.hostWrites && b.hostReads == 0 }); err != nil {
		return err
	}
	b.hostWrites = true
	defer func() {
		b.hostWrites = false
		d.changed.Broadcast()
	}()
	if !d.pool.kind.mapped {
		return d.upload(ctx, h, b, offset, data)
	}
	if err := d.wait(ctx, max(b.read, b.written)); err != nil {
		return err
	}
	if d.lost != nil {
		return d.lost
	}
	d.mu.Unlock()
	if b.dirty {
		all := b.block.data[b.off : b.off+b.room]
		clearBytes(all[:offset])
		clearBytes(all[offset+int64(len(data)):])
	}
	copyBytes(b.data()[offset:], data)
	if end := offset + int64(len(data)); end == b.size {
		clearBytes(b.block.data[b.off+end : b.off+min(gpu.RoundUp(end), b.room)]) // the padding
	}
	d.mu.Lock()
	b.dirty = false
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
	defer d.end(&err)
	b, err := d.pin(ctx, "read", h, offset, len(dst))
	if err != nil {
		return err
	}
	defer d.table.Unpin(h)
	if t := d.trace; t != nil {
		defer t.host(gpu.Read, "", int64(len(dst)), t.now())
	}
	if err := d.await(ctx, func() bool { return !b.hostWrites }); err != nil {
		return err
	}
	b.hostReads++
	defer func() {
		b.hostReads--
		d.changed.Broadcast()
	}()
	if err := d.wait(ctx, b.written); err != nil {
		return err
	}
	if err := d.takeError(); err != nil {
		return err
	}
	switch {
	case len(dst) == 0:
		return nil
	case b.dirty:
		d.mu.Unlock()
		clearBytes(dst)
		d.mu.Lock()
		return nil
	case !d.pool.kind.cached:
		return d.download(ctx, h, b, offset, dst)
	}
	d.mu.Unlock()
	copyBytes(dst, b.data()[offset:])
	d.mu.Lock()
	return nil
}

// Large copies are split among goroutines: one core does not fill the memory
// bus, and more parts than cores even out what else the cores have to do.
const (
	splitSize = 2 << 20
	splitInto = 4
)

// copyBytes copies all of the shorter of the two.
func copyBytes(dst, src []byte) {
	n := min(len(dst), len(src))
	split(n, func(from, to int) { copy(dst[from:to], src[from:to]) })
}

// clearBytes zeroes b.
func clearBytes(b []byte) {
	split(len(b), func(from, to int) { clear(b[from:to]) })
}

// split calls f for parts of n bytes, at once if they are large.
func split(n int, f func(from, to int)) {
	if n < splitSize {
		f(0, n)
		return
	}
	part := (n/splitInto + 63) &^ 63
	var wg sync.WaitGroup
	for from := part; from < n; from += part {
		wg.Go(func() { f(from, min(from+part, n)) })
	}
	f(0, part)
	wg.Wait()
}
