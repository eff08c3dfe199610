//go:build !novk && cgo

package vk

/*
#include <stdlib.h>
#include "batch.h"
*/
import "C"

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
)

const (
	batchCount = 8 // the number of batches: recorded, running and waiting to run

	// A batch that has this much in it goes to the device in any case, because systems
	// reset a GPU that works on one submission for seconds.
	batchFull       = 1024 // dispatches
	fullInvocations = 1 << 28

	// A batch that has this much in it is worth the cost of a submission. It goes to the
	// device at the end of the Submit, while fewer than eager batches run.
	worthDispatches  = 64
	worthInvocations = 1 << 16
	worthBytes       = 1 << 20 // of bindings: an invocation of a matrix product does much work, and reads much
	eager            = 2

	// spinTime is how long a wait asks a GPU again and again before it sleeps. Short work is done
	// by then. To sleep and be woken by the driver took 30 µs longer on an H100, which is more
	// than most launches take.
	spinTime = 200 * time.Microsecond
)

// batch is a command buffer with the commands that are recorded into it. They are plain
// arrays, which go to C in one call.
type batch struct {
	c      *C.lvk_batch
	cmds   []C.lvk_cmd
	sets   []C.lvk_set
	binds  []C.lvk_bind
	params []byte
	need   [C.LVK_TYPES]C.uint32_t // the number of descriptors of each type
	work   uint64                  // the number of invocations
	bytes  uint64                  // of the bindings of all commands together
	pins   []gpu.Handle            // the buffers that are pinned until the batch is done
	log    logbook
	views  map[ownView]C.lvk_handle // the views of a recording, or nil
	unset  []unsetRange             // what the batch writes of buffers for the first time, until it is sent

	seq     uint64
	failed  bool // the batch could not be submitted
	retired bool // the batch is done, and becomes a spare when waiters is 0
	waiters int  // the number of goroutines that wait for its fence
}

func (d *Device) newBatch() (*batch, error) {
	b := &batch{c: (*C.lvk_batch)(C.calloc(1, C.sizeof_lvk_batch))}
	if b.c == nil {
		return nil, check("open", outOfHostMemory)
	}
	err := call("vkCreateCommandPool", func() C.int32_t { return C.lvk_batch_init(d.fn, b.c, C.uint32_t(d.phys.family)) })
	if err != nil {
		C.free(unsafe.Pointer(b.c))
		return nil, err
	}
	objects.batches.Add(1)
	return b, nil
}

func (d *Device) destroyBatch(b *batch) {
	if b.c.queryPool != 0 {
		objects.queries.Add(-1)
	}
	C.lvk_batch_destroy(d.fn, b.c)
	C.free(unsafe.Pointer(b.c))
	objects.batches.Add(-1)
}

// recording makes sure that there is a batch to record into. waited reports that it
// released the lock in between.
func (d *Device) recording() (waited bool, err error) {
	if d.rec != nil {
		return false, nil
	}
	if len(d.spare) == 0 {
		d.poll()
	}
	for len(d.spare) == 0 {
		waited = true
		if len(d.inflight) == 0 { // finished, but another goroutine still uses its fence
			d.life.Changed.Wait()
		} else if err := d.wait(context.Background(), d.inflight[0].seq); err != nil {
			return true, err
		}
		if d.rec != nil {
			return true, nil
		}
	}
	b := d.spare[len(d.spare)-1]
	d.spare = d.spare[:len(d.spare)-1]
	d.next++
	*b = batch{c: b.c, cmds: b.cmds[:0], sets: b.sets[:0], binds: b.binds[:0], params: b.params[:0], pins: b.pins[:0], unset: b.unset[:0], seq: d.next}
	b.log = logbook{trace: d.trace, spans: b.log.spans[:0], ticks: b.log.ticks}
	d.rec = b
	return waited, nil
}

// WaitForRoom waits until there is a batch to record into, and until freed memory that pending
// work uses is within its bound.
// Errors: ctx.Err(), ErrClosed, ErrDeviceLost.
func (d *Device) WaitForRoom(ctx context.Context) (err error) {
	if ctx == nil {
		return errs.Context(ctx)
	}
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	if d.doomed > 0 || d.rec == nil && len(d.spare) == 0 {
		d.poll()
	}
	for d.rec == nil && len(d.spare) == 0 {
		if len(d.inflight) == 0 { // finished, but another goroutine still uses its fence
			err = d.life.Wait(ctx)
		} else {
			err = d.wait(ctx, d.inflight[0].seq)
		}
		if err != nil {
			return err
		}
	}
	for d.doomed > device.DoomedBytes && d.done < d.next {
		if err := d.wait(ctx, d.done+1); err != nil {
			return err
		}
	}
	return d.life.Lost()
}

// flush submits the recorded batch to the device. If that fails, the error is one of the
// work, and a later Sync or Read returns it.
func (d *Device) flush() {
	b := d.rec
	if b == nil {
		return
	}
	d.rec = nil
	d.epoch++ // a batch ends with a barrier
	err := d.launch(b)
	if errors.Is(err, gpu.ErrOutOfMemory) {
		d.makeMemory()
		err = d.launch(b)
	}
	if err != nil {
		b.failed = true
		d.life.Note(err)
		b.restore()
	}
	clear(b.unset)
	d.inflight = append(d.inflight, b)
}

// launch records and submits b.
func (d *Device) launch(b *batch) error {
	if len(b.cmds) == 0 {
		b.failed = true // nothing to wait for
		return nil
	}
	timed, err := d.reserveTimes(b)
	if err != nil {
		return err
	}
	if err := d.encode(b, timed, C.LVK_ONCE); err != nil {
		return err
	}
	if b.log.trace != nil {
		b.log.submitted = b.log.trace.Now()
	}
	r := fault.Result("vkQueueSubmit")
	if r == success {
		r = result(C.lvk_batch_submit(d.fn, b.c))
	}
	return check("vkQueueSubmit", r)
}

// encode writes the command buffer of b. usage says how often it is submitted.
func (d *Device) encode(b *batch, timed, usage C.int) error {
	r := fault.Result("vkCreateDescriptorPool")
	if r == success {
		r = result(C.lvk_batch_reserve(d.fn, b.c, C.uint32_t(len(b.sets)), &b.need[0], C.uint32_t(len(b.binds))))
	}
	if r < 0 {
		return check("vkCreateDescriptorPool", r)
	}
	if r = fault.Result("vkEndCommandBuffer"); r == success {
		r = result(C.lvk_batch_record(d.fn, b.c, unsafe.SliceData(b.cmds), C.uint32_t(len(b.cmds)),
			unsafe.SliceData(b.sets), C.uint32_t(len(b.sets)), unsafe.SliceData(b.binds), (*C.uint8_t)(unsafe.SliceData(b.params)), timed, usage))
	}
	return check("vkEndCommandBuffer", r)
}

// poll retires the batches that are done. It does not wait.
func (d *Device) poll() {
	for len(d.inflight) > 0 {
		b := d.inflight[0]
		if !b.failed {
			r := fault.Result("vkGetFenceStatus")
			if r == success {
				r = result(C.lvk_batch_wait(d.fn, b.c, 0))
			}
			if r == timeout {
				return
			}
			if r < 0 && !d.fenceFailed(r) {
				return
			}
		}
		d.retire()
	}
}

// fenceFailed handles the failure r of a wait for a fence. It reports whether the batch
// counts as done. That is so on a lost device, where nothing will signal the fence.
func (d *Device) fenceFailed(r result) (done bool) {
	err := check("vkWaitForFences", r)
	if !errors.Is(err, gpu.ErrDeviceLost) {
		return false
	}
	d.life.Note(err)
	return true
}

// retire removes the oldest batch from inflight. The batch is done.
func (d *Device) retire() {
	b := d.inflight[0]
	d.inflight = append(d.inflight[:0], d.inflight[1:]...)
	d.done = b.seq
	b.retired = true
	if d.life.Lost() == nil {
		d.unpin(b.pins)
	} else {
		d.orphans = append(d.orphans, b.pins...)
	}
	b.pins = b.pins[:0]
	d.report(b)
	if len(d.dying) > 0 {
		d.bury()
	}
	d.makeSpare(b)
}

func (d *Device) unpin(hs []gpu.Handle) {
	for _, h := range hs {
		_ = d.table.Unpin(h) // pinned by us
	}
}

// makeSpare makes a retired batch available again, unless a goroutine waits for its fence.
func (d *Device) makeSpare(b *batch) {
	if b.waiters == 0 && b.retired {
		b.retired = false
		d.spare = append(d.spare, b)
		d.life.Changed.Broadcast()
	}
}

// poke asks whether the batch is done until it is, or until the time has passed. Then the result is
// timeout. It asks once at least.
func (d *Device) poke(b *batch, during time.Duration) result {
	for start := time.Now(); ; {
		r := result(C.lvk_batch_wait(d.fn, b.c, 0))
		if r != timeout || time.Since(start) >= during {
			return r
		}
	}
}

// wait returns when batch seq and all before it are done. It flushes the batch that is
// being recorded if need be. The caller holds the lock, which wait releases in between.
func (d *Device) wait(ctx context.Context, seq uint64) error {
	slice := uint64(time.Second)
	if ctx.Done() != nil {
		slice = uint64(2 * time.Millisecond) // a cancellation is noticed at most this late
	}
	spin := d.spin
	if d.done < seq && d.rec != nil && d.rec.seq <= seq {
		d.flush()
	}
	for d.done < seq {
		b := d.inflight[0]
		if b.failed {
			d.retire()
			continue
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		r := fault.Result("vkWaitForFences")
		if r == success {
			b.waiters++
			d.life.Unlock()
			if r = d.poke(b, spin); r == timeout {
				spin = 0 // the work is long
				r = result(C.lvk_batch_wait(d.fn, b.c, C.uint64_t(slice)))
			}
			d.life.Lock()
			b.waiters--
		}
		current := len(d.inflight) > 0 && d.inflight[0] == b && !b.retired
		switch {
		case r == timeout:
		case r >= 0 && current:
			d.retire()
		case r < 0 && d.fenceFailed(r):
			if current {
				d.retire()
			}
		case r < 0:
			d.makeSpare(b)
			return check("vkWaitForFences", r)
		}
		if b.retired {
			d.makeSpare(b)
		}
	}
	return nil
}
