//go:build !novk && cgo

package vk

/*
#include "batch.h"
*/
import "C"

import (
	"context"
	"errors"
	"slices"

	vulkan "github.com/vulkan-go/vulkan"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

const (
	chunkSize  = 8 << 20 // the bytes of a chunk
	chunkCount = 6       // the most chunks there are
)

// stagingRing is host memory for copies to and from buffers that the host cannot map, or
// cannot read at full speed. The lock of the device guards it.
type stagingRing struct {
	kind   memoryKind
	chunks []*chunk
}

// chunk is a part of staging memory. Copies fill it from the front. It is empty again
// when the device and the host have finished all copies.
type chunk struct {
	block *block
	used  int64
	seq   uint64 // the number of the last batch that copies from or to it
	users int    // the number of copies by the host that are under way
}

func (c *chunk) idle(done uint64) bool { return c.users == 0 && c.seq <= done }

func (r *stagingRing) destroy(dev vulkan.Device) {
	for _, c := range r.chunks {
		c.block.destroy(dev)
	}
	r.chunks = nil
}

// trim destroys idle chunks.
func (r *stagingRing) trim(d *Device) {
	r.chunks = slices.DeleteFunc(r.chunks, func(c *chunk) bool {
		if !c.idle(d.done) {
			return false
		}
		c.block.destroy(d.dev)
		return true
	})
}

// stage reserves up to n bytes of staging memory. It returns their chunk, their offset in
// it and their number. If all chunks are in use it waits for the device, and releases the
// lock meanwhile. With try it returns no chunk instead of waiting. The caller counts as a
// user of the chunk until it calls drop. A caller that already has a chunk must set try,
// or two callers would wait for each other.
func (d *Device) stage(ctx context.Context, n int64, try bool) (c *chunk, off, size int64, err error) {
	r := &d.staging
	for {
		var free *chunk
		for _, c := range r.chunks {
			if c.used > 0 && c.idle(d.done) {
				c.used = 0
			}
			if room := chunkSize - c.used; room >= min(n, chunkSize/4) {
				free = c
				if c.used > 0 {
					break // a chunk in use comes before an empty one
				}
			}
		}
		if free == nil && len(r.chunks) < chunkCount {
			b, err := newBlock(d.dev, r.kind, chunkSize)
			switch {
			case err == nil:
				free = &chunk{block: b}
				r.chunks = append(r.chunks, free)
			case len(r.chunks) == 0 || !errors.Is(err, gpu.ErrOutOfMemory):
				return nil, 0, 0, err
			}
		}
		if free != nil {
			off, size = free.used, min(n, chunkSize-free.used)
			free.used = min(chunkSize, (off+size+63)&^63)
			free.users++
			return free, off, size, nil
		}
		switch {
		case try:
			return nil, 0, 0, nil
		case d.done < d.next:
			err = d.wait(ctx, d.done+1)
		default: // only copies by the host are under way
			err = d.life.Wait(ctx)
		}
		if err != nil {
			return nil, 0, 0, err
		}
	}
}

// drop ends the use of a chunk that stage has begun.
func (d *Device) drop(c *chunk) {
	c.users--
	d.life.Changed.Broadcast()
}

// copyCommand records a copy between a chunk and a buffer as part of the
// current batch.
func (d *Device) copyCommand(h gpu.Handle, b *buffer, offset int64, c *chunk, off, size int64, up bool) error {
	if _, err := d.recording(); err != nil {
		return err
	}
	u := []use{{handle: h, buf: b, span: span{offset, size}, write: up}}
	if up {
		d.fill(&u[0], span{offset, size}, 0)
	}
	barrier := d.touch(&u[0])
	cmd := C.lvk_cmd{kind: C.LVK_COPY, barrier: d.mark(barrier, u), size: C.uint64_t(size)}
	if up {
		cmd.a, cmd.src = C.lvk_handle(c.block.id()), C.uint64_t(off)
		cmd.b, cmd.dst = C.lvk_handle(b.block.id()), C.uint64_t(b.off+offset)
	} else {
		cmd.a, cmd.src = C.lvk_handle(b.block.id()), C.uint64_t(b.off+offset)
		cmd.b, cmd.dst = C.lvk_handle(c.block.id()), C.uint64_t(off)
	}
	d.rec.cmds = append(d.rec.cmds, cmd)
	d.rec.log.move(gpu.Copy, size, 0)
	c.seq = d.rec.seq
	return nil
}

// room returns how many bytes stage can give without a wait.
func (r *stagingRing) room(done uint64) int64 {
	n := int64(chunkCount-len(r.chunks)) * chunkSize
	for _, c := range r.chunks {
		switch free := chunkSize - c.used; {
		case c.idle(done):
			n += chunkSize
		case free >= chunkSize/4:
			n += free
		}
	}
	return n
}

// upload is Write by way of staging memory. After its first copy it ignores ctx, so that
// a cancelled Write has written nothing. So if the data needs memory that earlier work holds,
// it waits for that work first. Later waits are then for copies of its own. If the data reaches the end of the buffer, upload
// also clears the padding.
func (d *Device) upload(ctx context.Context, h gpu.Handle, b *buffer, offset int64, data []byte) error {
	rest := int64(len(data))
	if offset+rest == b.size {
		rest = min(gpu.RoundUp(b.size), b.room) - offset
	}
	if rest > d.staging.room(d.done) {
		if err := d.wait(ctx, d.next); err != nil {
			return err
		}
	}
	for rest > 0 {
		c, off, size, err := d.stage(ctx, rest, false)
		if err != nil {
			return err
		}
		ctx = context.Background()
		d.life.Unlock()
		n := min(size, int64(len(data)))
		device.Copy(c.block.data[off:off+n], data)
		device.Clear(c.block.data[off+n : off+size])
		d.life.Lock()
		err = d.copyCommand(h, b, offset, c, off, size, true)
		d.drop(c)
		if err != nil {
			return err
		}
		data, offset, rest = data[n:], offset+size, rest-size
		if rest > 0 || c.used == chunkSize {
			d.flush() // the device copies while the host fills the next chunk
		}
	}
	return nil
}

// part is a part of a download that the device is copying.
type part struct {
	chunk *chunk
	off   int64
	dst   []byte
}

// download is Read by way of staging memory. The device copies one part while the host
// copies the one before.
func (d *Device) download(ctx context.Context, h gpu.Handle, b *buffer, offset int64, dst []byte) (err error) {
	var queue [2]part
	n := 0
	defer func() {
		for _, p := range queue[:n] {
			d.drop(p.chunk)
		}
	}()
	for len(dst) > 0 || n > 0 {
		for len(dst) > 0 && n < len(queue) {
			c, off, size, err := d.stage(ctx, int64(len(dst)), n > 0)
			if err != nil {
				return err
			}
			if c == nil {
				break
			}
			queue[n] = part{c, off, dst[:size]}
			n++
			if err := d.copyCommand(h, b, offset, c, off, size, false); err != nil {
				return err
			}
			d.flush()
			dst, offset = dst[size:], offset+size
		}
		p := queue[0]
		if err := d.wait(ctx, p.chunk.seq); err != nil {
			return err
		}
		if err := d.takeError(); err != nil {
			return err
		}
		d.life.Unlock()
		device.Copy(p.dst, p.chunk.block.data[p.off:])
		d.life.Lock()
		d.drop(p.chunk)
		queue[0] = queue[1]
		n--
	}
	return nil
}
