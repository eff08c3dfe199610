//go:build !nowgpu && cgo

package wgpu

/*
#include "bridge.h"
*/
import "C"

import (
	"context"
	"fmt"
	"slices"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// These bounds say when a batch goes to the device.
const (
	// flushCount is a number of commands. A batch with as many is submitted before the
	// next list is recorded.
	flushCount = 256
	// flushWork is a number of invocations. A batch with as many is submitted if the
	// device has nothing else to do.
	flushWork = 1 << 18
	// maxInflight is how many submissions may be unfinished. On CPU drivers it is not
	// used: there a submission waits for the one before it.
	maxInflight = 4
)

// batch is the work that is recorded and not yet submitted.
type batch struct {
	seq    uint64       // number of the batch, counted from 1
	cmds   []C.lwg_cmd  // commands, in order
	sets   []C.lwg_set  // bind groups of the commands
	binds  []C.lwg_bind // bindings of the bind groups
	params []byte       // parameters of the commands, each aligned
	pins   []gpu.Handle // buffers that must not be released before the submission
	work   uint64       // number of invocations of all commands
	doomed int64        // bytes of freed buffers that are released with the batch
}

// flight is a submission that may not be finished.
type flight struct {
	c      *C.lwg_flight
	seq    uint64 // number of its batch
	doomed int64  // bytes of freed buffers that are released with the batch
}

func (f *flight) destroy() {
	C.lwg_flight_free(f.c)
	objects.flights.Add(-1)
}

// scratch is the memory of the host that one Submit needs.
type scratch = device.Scratch[*pipeline, use]

// use is a binding of a dispatch.
type use struct {
	buf          *buffer
	offset, size int64
	write        bool
}

// Submit runs the dispatches one after the other.
// Errors: those of gpu.Device, none of them run then; ErrUnsupported also for
// shaders that WebGPU cannot express.
func (d *Device) Submit(list []gpu.Dispatch) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	s := d.scratch.Borrow()
	defer d.scratch.Return(s)
	err = d.life.Unlocked(func() error {
		err := d.compileAll(s, list)
		d.order.Lock()
		return err
	})
	defer d.order.Unlock()
	if err != nil {
		return err
	}
	if len(d.rec.cmds) >= d.flushAt {
		if err := d.makeRoom(context.Background()); err != nil {
			return err
		}
		d.flush() // its error does not belong to this list
	}
	for {
		for i := range list {
			if err := list[i].CheckLaunch(&d.info, d.size); err != nil {
				return err
			}
		}
		if err := d.gather(s, list); err != nil {
			return err
		}
		if !d.beingRead(s) {
			break // the lock is held from here to the end, so that nobody frees a buffer
		}
		d.life.Changed.Wait()
		s.Uses = s.Uses[:0]
	}
	d.recordAll(s, list)
	return nil
}

// recordAll appends dispatches to the batch, and submits it if it has much work. The caller
// holds the lock, and order.
func (d *Device) recordAll(s *scratch, list []gpu.Dispatch) {
	uses := s.Uses
	for i := range list {
		x, p := &list[i], s.Pipes[i]
		n := len(p.slots)
		if x.Count() > 0 {
			d.record(x, p, uses[:n])
		}
		uses = uses[n:]
		if len(d.rec.cmds) >= 8*d.flushAt {
			d.flush()
		}
	}
	if d.rec.work >= flushWork && len(d.inflight) == 0 {
		d.flush()
	}
}

// compileAll finds the pipelines of the list. The caller does not hold the lock.
func (d *Device) compileAll(s *scratch, list []gpu.Dispatch) error {
	for i := range list {
		p, err := d.pipeline(list[i].Module, false)
		if err != nil {
			return err
		}
		if p.aliases(list[i].Bindings) {
			if p, err = d.pipeline(list[i].Module, true); err != nil {
				return err
			}
		}
		s.Pipes = append(s.Pipes, p)
	}
	return nil
}

// aliases reports whether a buffer has a binding that may write it and another one that
// only reads it.
func (p *pipeline) aliases(binds []gpu.Binding) bool {
	for i, w := range p.slots {
		if !w.write || int(w.number) >= len(binds) {
			continue
		}
		for j, r := range p.slots {
			if i != j && !r.write && int(r.number) < len(binds) && binds[r.number].Buffer == binds[w.number].Buffer {
				return true
			}
		}
	}
	return false
}

// gather finds the buffers of the list, and checks what only WebGPU requires.
func (d *Device) gather(s *scratch, list []gpu.Dispatch) error {
	for i := range list {
		p := s.Pipes[i]
		for _, t := range p.slots {
			bind := &list[i].Bindings[t.number]
			b, err := d.table.Get(bind.Buffer)
			if err != nil {
				return fmt.Errorf("wgpu: %s: binding %d: %w", gpu.Label(list[i].Module), t.number, err)
			}
			if t.uniform {
				if err := device.CheckUniform(&d.info, list[i].Module, t.number, bind.Offset, d.align); err != nil {
					return err
				}
			}
			u := use{buf: b, offset: bind.Offset, size: (bind.Span(t.decl, b.size) + 3) &^ 3}
			if b.size == 0 || u.size <= 0 {
				u = use{buf: d.dummy[t.use()], size: 4}
				if t.uniform {
					u.size = gpu.Unit
				}
			}
			u.write = t.write
			need := int64(t.least)
			if u.size < need {
				u.size = min((need+3)&^3, u.buf.room-u.offset)
			}
			if u.size < need {
				return fmt.Errorf("wgpu: %s: binding %d: %w: %d bytes (want at least %d, which the shader's block has)", gpu.Label(list[i].Module), t.number, gpu.ErrInvalidArgument, u.size, need)
			}
			s.Uses = append(s.Uses, u)
		}
		if err := p.conflict(list[i].Module, s.Uses[len(s.Uses)-len(p.slots):]); err != nil {
			return err
		}
	}
	return nil
}

// conflict returns an error if a dispatch binds a buffer as a uniform buffer and also as
// a buffer that its pipeline may write.
func (p *pipeline) conflict(m *spv.Module, uses []use) error {
	for i, u := range p.slots {
		for j, w := range p.slots {
			if u.uniform && !w.uniform && (w.write || p.aliased) && uses[i].buf == uses[j].buf {
				return fmt.Errorf("wgpu: %s: %w: one buffer at the uniform binding %d and the written binding %d; make the first a readonly storage buffer",
					gpu.Label(m), gpu.ErrUnsupported, u.number, w.number)
			}
		}
	}
	return nil
}

// beingRead reports whether the list would write a buffer while a Read copies it in
// several parts.
func (d *Device) beingRead(s *scratch) bool {
	for i := range s.Uses {
		if s.Uses[i].write && s.Uses[i].buf.reads > 0 {
			return true
		}
	}
	return false
}

// record appends one dispatch to the batch.
func (d *Device) record(x *gpu.Dispatch, p *pipeline, uses []use) {
	b := &d.rec
	for i := range uses {
		if u := uses[i].buf; u.used != b.seq && !d.isDummy(u) {
			u.used = b.seq
			h := x.Bindings[p.slots[i].number].Buffer
			if _, err := d.table.Pin(h); err == nil { // gather has found the buffer alive
				b.pins = append(b.pins, h)
			}
		}
	}
	cmd := C.lwg_cmd{kind: C.LWG_DISPATCH, params: p.params, a: p.c.pipeline,
		groups: [3]C.uint32_t{C.uint32_t(x.Groups[0]), C.uint32_t(x.Groups[1]), C.uint32_t(x.Groups[2])}}
	if p.params != 0 {
		cmd.paramOffset = d.param(x.Params)
	}
	if len(p.slots) > 0 {
		cmd.hasSet, cmd.set = 1, d.set(p, uses)
	}
	b.cmds = append(b.cmds, cmd)
	b.work += min(x.Count(), 1<<32) * p.lanes
}

// param appends parameters and returns the byte at which they begin.
func (d *Device) param(params []byte) C.uint32_t {
	b := &d.rec
	at := (int64(len(b.params)) + d.paramAlign - 1) &^ (d.paramAlign - 1)
	for int64(len(b.params)) < at {
		b.params = append(b.params, 0)
	}
	b.params = append(b.params, params...)
	return C.uint32_t(at)
}

// set returns the index of a bind group for the uses. It takes the last one if that has
// the same bindings, and else makes a new one.
func (d *Device) set(p *pipeline, uses []use) C.uint32_t {
	b := &d.rec
	first := len(b.binds)
	for i := range uses {
		b.binds = append(b.binds, C.lwg_bind{buffer: uses[i].buf.handle, offset: C.uint64_t(uses[i].offset), size: C.uint64_t(uses[i].size), slot: C.uint32_t(p.slots[i].number)})
	}
	if n := len(b.sets); n > 0 {
		last := &b.sets[n-1]
		if last.layout == p.c.sets && slices.Equal(b.binds[last.first:last.first+last.count], b.binds[first:]) {
			b.binds = b.binds[:first]
			return C.uint32_t(n - 1)
		}
	}
	b.sets = append(b.sets, C.lwg_set{layout: p.c.sets, first: C.uint32_t(first), count: C.uint32_t(len(uses))})
	return C.uint32_t(len(b.sets) - 1)
}

// flush submits the recorded commands and the queued writes. It returns the number of
// the last batch and the error of its submission. The next Sync or Read returns that
// error too. The caller holds the lock.
func (d *Device) flush() (uint64, error) {
	b := &d.rec
	if len(b.cmds) == 0 && d.queued == 0 {
		return b.seq - 1, nil
	}
	err := d.send(b)
	if err != nil {
		d.doomed -= b.doomed
		d.life.Note(err)
	}
	seq := b.seq
	pins := b.pins
	*b = batch{seq: seq + 1, cmds: b.cmds[:0], sets: b.sets[:0], binds: b.binds[:0], params: b.params[:0]}
	for _, h := range pins {
		_ = d.table.Unpin(h) // pinned by record
	}
	b.pins = pins[:0]
	return seq, err
}

// flushOwn is flush for a caller that returns the error itself.
func (d *Device) flushOwn() (uint64, error) {
	seq, err := d.flush()
	if err != nil {
		d.life.Withdraw(err)
	}
	return seq, err
}

// makeRoom waits until a submission will not block. On drivers that run on the CPU a
// submission blocks until the one before it is done, and everyone who needs the lock
// would wait too.
func (d *Device) makeRoom(ctx context.Context) error {
	most := maxInflight
	if d.info.Kind == gpu.CPU {
		most = 0
	}
	for len(d.inflight) > most && d.life.Lost() == nil {
		if err := d.wait(ctx, d.inflight[0].seq); err != nil {
			return err
		}
	}
	return nil
}

// WaitForRoom waits until a batch can be submitted, if the one that is recorded is full, and until
// freed memory that pending work uses is within its bound.
// Errors: ctx.Err(), ErrClosed, ErrDeviceLost.
func (d *Device) WaitForRoom(ctx context.Context) (err error) {
	if ctx == nil {
		return errs.Context(ctx)
	}
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	if len(d.rec.cmds) >= d.flushAt {
		if err := d.makeRoom(ctx); err != nil {
			return err
		}
	}
	for d.doomed > device.DoomedBytes && len(d.inflight) > 0 && d.life.Lost() == nil {
		if err := d.wait(ctx, d.inflight[0].seq); err != nil {
			return err
		}
	}
	return d.life.Lost()
}

// send encodes and submits a batch.
func (d *Device) send(b *batch) error {
	if d.life.Lost() != nil {
		return d.life.Lost()
	}
	if n := len(b.params); n > 0 && n > d.room {
		d.room = max(1<<16, 2*n)
		C.lwg_params(d.c, C.uint64_t(d.room))
		if err := d.libraryError("parameters"); err != nil {
			d.room = 0
			return err
		}
	}
	for len(b.params)%4 != 0 {
		b.params = append(b.params, 0)
	}
	f := d.takeFlight()
	f.seq = b.seq
	if err := fault.Result("wgpuQueueSubmit"); err != nil {
		d.spare = append(d.spare, f)
		return err
	}
	r := C.lwg_submit(d.c, unsafe.SliceData(b.cmds), C.uint32_t(len(b.cmds)), unsafe.SliceData(b.sets), C.uint32_t(len(b.sets)),
		unsafe.SliceData(b.binds), C.uint32_t(len(b.binds)), unsafe.Pointer(unsafe.SliceData(b.params)), C.size_t(len(b.params)), f.c)
	if r != 0 {
		d.spare = append(d.spare, f)
		if err := d.libraryError("submit"); err != nil {
			return err
		}
		return fmt.Errorf("wgpu: submit: %w: no reason given", gpu.ErrUnsupported)
	}
	d.queued = 0
	f.doomed = b.doomed
	d.inflight = append(d.inflight, f)
	return nil
}

func (d *Device) takeFlight() *flight {
	if n := len(d.spare); n > 0 {
		f := d.spare[n-1]
		d.spare = d.spare[:n-1]
		f.doomed = 0
		return f
	}
	objects.flights.Add(1)
	return &flight{c: C.lwg_flight_new()}
}

// retire removes the flights that are done from the list. The caller holds the lock.
func (d *Device) retire() {
	n := 0
	for n < len(d.inflight) && C.lwg_wait(d.c, d.inflight[n].c, 0) != 0 {
		f := d.inflight[n]
		d.done = f.seq
		d.doomed -= f.doomed
		d.spare = append(d.spare, f)
		n++
	}
	d.inflight = slices.Delete(d.inflight, 0, n)
	d.trimStaging()
	d.life.Changed.Broadcast()
}

// wait waits until batch seq is done, the device is lost, or ctx ends. The caller holds
// the lock. wait releases it while it waits, and holds it again when it returns.
func (d *Device) wait(ctx context.Context, seq uint64) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if len(d.inflight) == 0 || d.inflight[0].seq > seq {
			return nil
		}
		if d.checkLost() != nil {
			return nil // the error is kept as the failure of the work
		}
		if !d.polling {
			d.polling = true
			if ctx.Done() == nil {
				d.poll()
			} else { // a goroutine waits, because the library's wait cannot be interrupted
				go func() {
					d.life.Lock()
					defer d.life.Unlock()
					d.poll()
				}()
			}
			continue
		}
		if err := d.life.Wait(ctx); err != nil {
			return err
		}
	}
}

// poll waits for the oldest flight. The caller holds the lock and has set polling.
func (d *Device) poll() {
	f := d.inflight[0]
	d.life.Unlock()
	C.lwg_wait(d.c, f.c, 1)
	d.life.Lock()
	d.polling = false
	if d.checkLost() == nil {
		d.retire()
	}
	d.life.Changed.Broadcast()
}
