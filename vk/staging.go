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
	chunkSize  = 8 << 20 // bytes of host memory a copy goes through
	chunkCount = 6       // such pieces there are at most
)

// stagingRing is host memory through which copies go to and from buffers the
// host cannot reach, or not at full speed. It is guarded by the device's lock.
type stagingRing struct {
	kind   memoryKind
	chunks []*chunk
}

// chunk is a piece of staging memory, filled from the front and empty again
// when the device and the host are both done with all of it.
type chunk struct {
	block *block
	used  int64
	seq   uint64 // last batch that copies from or to it
	users int    // host copies under way
}

func (c *chunk) idle(done uint64) bool { return c.users == 0 && c.seq <= done }

func (r *stagingRing) destroy(dev vulkan.Device) {
	for _, c := range r.chunks {
		c.block.destroy(dev)
	}
	r.chunks = nil
}

// trim gives idle chunks back to the driver.
func (r *stagingRing) trim(d *Device) {
	r.chunks = slices.DeleteFunc(r.chunks, func(c *chunk) bool {
		if !c.idle(d.done) {
			return false
		}
		c.block.destroy(d.dev)
		return true
	})
}

// stage finds room for up to n bytes of staging memory and returns where it is
// and how much. It may release the lock, and waits for the device when all is
// in use; with try it returns no chunk instead. The chunk has a user more, which
// the caller takes away. A caller that already has one must try, or callers
// with one chunk each would wait for each other's.
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
					break // rather fill one up than begin another
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
		default: // only host copies are under way
			err = d.life.Wait(ctx)
		}
		if err != nil {
			return nil, 0, 0, err
		}
	}
}

// drop takes a user off a chunk.
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

// upload is Write by way of staging memory. Once it has begun it is not
// cancelled, so that a cancelled Write has written nothing.
//
// Where the data reaches the end of the buffer, zeros follow it into the padding.
func (d *Device) upload(ctx context.Context, h gpu.Handle, b *buffer, offset int64, data []byte) error {
	rest := int64(len(data))
	if offset+rest == b.size {
		rest = min(gpu.RoundUp(b.size), b.room) - offset
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

// piece is a part of a download that the device is copying.
type piece struct {
	chunk *chunk
	off   int64
	dst   []byte
}

// download is Read by way of staging memory: the device copies one piece while
// the host copies the one before.
func (d *Device) download(ctx context.Context, h gpu.Handle, b *buffer, offset int64, dst []byte) (err error) {
	var queue [2]piece
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
			queue[n] = piece{c, off, dst[:size]}
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
