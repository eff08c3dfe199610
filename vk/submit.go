//go:build !novk && cgo

package vk

/*
#include "batch.h"
*/
import "C"

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// scratch is what one Submit works in.
type scratch = device.Scratch[*pipeline, use]

// use is one binding of one dispatch, with its buffer.
type use struct {
	handle gpu.Handle
	buf    *buffer
	span   span // the range in the buffer
	write  bool
	// discard says that the old contents of the span do not matter: gpu.Binding.Discard.
	discard bool
}

// Submit runs the dispatches one after the other, as gpu.Device promises. It compiles
// modules that are new to it. A list of more than 1024 dispatches goes to the device in
// parts. If memory runs out in between, the earlier parts have run.
// Errors: ErrInvalidHandle, ErrInvalidArgument, ErrInvalidShader,
// *gpu.LimitError, ErrUnsupported (a capability), ErrOutOfMemory.
func (d *Device) Submit(list []gpu.Dispatch) (err error) {
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	return d.submit(list)
}

// submit is Submit for a caller that holds the lock, which is released in between.
func (d *Device) submit(list []gpu.Dispatch) error {
	s := d.scratch.Borrow()
	defer d.scratch.Return(s)
	if err := d.life.Unlocked(func() error { return d.check(s, list) }); err != nil {
		return err
	}
	if len(list) <= batchFull {
		return d.append(s, s.Pipes, list)
	}
	return d.appendLong(s, list)
}

// check checks every dispatch and puts its pipeline into s. It calls the driver only to
// compile.
func (d *Device) check(s *scratch, list []gpu.Dispatch) error {
	for i := range list {
		p, err := d.pipeline(list[i].Module)
		if err == nil {
			err = list[i].CheckLaunch(&d.phys.info, d.size)
		}
		if err != nil {
			if len(list) > 1 {
				err = fmt.Errorf("dispatch %d of %d: %w", i, len(list), err)
			}
			return err
		}
		for j := range p.slots {
			if t := &p.slots[j]; t.typ == C.LVK_UNIFORM {
				if err := device.CheckUniform(&d.phys.info, list[i].Module, t.number, list[i].Bindings[t.number].Offset, d.phys.uniformAlign); err != nil {
					return err
				}
			}
		}
		s.Pipes = append(s.Pipes, p)
	}
	return nil
}

// appendLong records a list that is too long for one batch, a part at a time. Meanwhile
// it keeps other Submits out and pins the buffers, so that the list takes effect as one.
func (d *Device) appendLong(s *scratch, list []gpu.Dispatch) error {
	d.life.Unlock()
	d.order.Lock()
	d.life.Lock()
	defer d.order.Unlock()
	if err := d.resolve(s, s.Pipes, list); err != nil {
		return err
	}
	for i := range s.Uses { // the list may end half-way, and then not all is written
		s.Uses[i].discard = false
	}
	held := make([]gpu.Handle, 0, len(s.Uses))
	for i := range s.Uses {
		if h := s.Uses[i].handle; h != 0 {
			if _, err := d.table.Pin(h); err == nil { // it is live, because resolve found it
				held = append(held, h)
			}
		}
	}
	// The last batch unpins them when it is done.
	defer func() {
		switch n := len(d.inflight); {
		case d.rec != nil:
			d.rec.pins = append(d.rec.pins, held...)
		case n > 0:
			d.inflight[n-1].pins = append(d.inflight[n-1].pins, held...)
		default:
			d.unpin(held)
		}
	}()
	uses, pipes := s.Uses, s.Pipes
	for len(list) > 0 {
		n, count := min(len(list), batchFull), 0
		for i := range list[:n] {
			if list[i].Count() > 0 {
				count += len(pipes[i].slots)
			}
		}
		for again := true; again; {
			var err error
			if again, err = d.prepare(uses[:count]); err != nil {
				return err
			}
		}
		if err := d.commit(pipes[:n], list[:n], uses[:count]); err != nil {
			return err
		}
		list, pipes, uses = list[n:], pipes[n:], uses[count:]
	}
	return nil
}

// append records dispatches into the current batch. Everything that may fail or release
// the lock comes before the first one is recorded.
func (d *Device) append(s *scratch, pipes []*pipeline, list []gpu.Dispatch) error {
	for again := true; again; {
		err := d.resolve(s, pipes, list)
		if err == nil {
			again, err = d.prepare(s.Uses)
		}
		if err != nil {
			return err
		}
	}
	return d.commit(pipes, list, s.Uses)
}

// prepare makes sure that the uses can be recorded now. again reports that it released
// the lock, so that the caller must check everything again.
func (d *Device) prepare(uses []use) (again bool, err error) {
	if d.life.Lost() != nil {
		return false, d.life.Lost()
	}
	if d.settle(uses) {
		return true, nil
	}
	return d.recording()
}

// commit records prepared dispatches. It flushes the batch if that is full or worth a
// submission.
func (d *Device) commit(pipes []*pipeline, list []gpu.Dispatch, uses []use) error {
	if err := d.makeViews(pipes, list, uses); err != nil {
		return err
	}
	for i := range list {
		if n := len(pipes[i].slots); list[i].Count() > 0 {
			for j := range uses[:n] {
				d.fill(&uses[j], discarded(uses[j:]), list[i].Tag)
			}
			d.record(&list[i], pipes[i], uses[:n])
			uses = uses[n:]
		}
	}
	b := d.rec
	switch {
	case len(b.cmds) >= batchFull || b.work >= fullInvocations:
		d.flush()
	case len(b.cmds) >= worthDispatches || b.work >= worthInvocations || b.bytes >= worthBytes:
		if len(d.inflight) >= eager {
			d.poll()
		}
		if len(d.inflight) < eager {
			d.flush()
		}
	}
	return nil
}

// resolve finds the buffers and ranges of all bindings that shaders declare.
func (d *Device) resolve(s *scratch, pipes []*pipeline, list []gpu.Dispatch) error {
	s.Uses = s.Uses[:0]
	for i := range list {
		if list[i].Count() == 0 {
			continue
		}
		for j := range pipes[i].slots {
			t := &pipes[i].slots[j]
			bind := &list[i].Bindings[t.number]
			b, err := d.table.Get(bind.Buffer)
			if err != nil {
				return fmt.Errorf("vk: %s: binding %d: %w", gpu.Label(list[i].Module), t.number, err)
			}
			u := use{handle: bind.Buffer, buf: b, span: span{bind.Offset, bind.Span(t.decl, b.size)}, write: t.write, discard: bind.Discard && t.write}
			if t.texel() { // whole texels only
				u.span.size &^= gpu.Unit - 1
			}
			if u.span.size == 0 {
				u.buf, u.handle, u.span = d.dummy, 0, span{0, gpu.Unit}
				if t.typ == C.LVK_STORAGE {
					// Vulkan wants a range of at least one byte. No element fits into it, so the
					// shader sees an empty array.
					u.span.size = 1
				}
			}
			s.Uses = append(s.Uses, u)
		}
	}
	return nil
}

// settle waits for a host copy that conflicts with the uses, or clears the unwritten parts of
// a buffer. It reports whether it did so, which means that it released the lock.
func (d *Device) settle(uses []use) bool {
	for i := range uses {
		u := &uses[i]
		if u.buf.hostWrites || u.write && u.buf.hostReads > 0 {
			d.life.Changed.Wait()
			return true
		}
		if u.buf.unset.size > 0 && d.pool.kind.mapped && d.clearFor(uses[i:]) {
			return true
		}
	}
	return false
}

// makeViews makes the texel views that the list needs, so that recording it
// cannot fail half-way.
func (d *Device) makeViews(pipes []*pipeline, list []gpu.Dispatch, uses []use) error {
	for i := range list {
		if list[i].Count() == 0 {
			continue
		}
		for j := range pipes[i].slots {
			if t := &pipes[i].slots[j]; t.texel() {
				if _, err := d.viewOf(uses[j].buf, uses[j].span, t.format, d.rec.seq); err != nil {
					return err
				}
			}
		}
		uses = uses[len(pipes[i].slots):]
	}
	return nil
}

// touch marks a use of a buffer by the current batch, and reports whether a
// barrier must come first.
func (d *Device) touch(u *use) (barrier bool) {
	if u.buf == d.dummy {
		return false
	}
	d.hold(u)
	return u.buf.marks.conflicts(d.epoch, u.span, u.write)
}

// hold keeps a buffer until the current batch is done, and notes that the batch uses it.
func (d *Device) hold(u *use) {
	b, seq := u.buf, d.rec.seq
	if b.pinned != seq {
		// It fails only for a buffer that was freed during appendLong, which pins it.
		if _, err := d.table.Pin(u.handle); err == nil {
			d.rec.pins = append(d.rec.pins, u.handle)
		}
		b.pinned = seq
	}
	if u.write {
		b.written = seq
	} else {
		b.read = seq
	}
}

// mark starts a new epoch if barrier is set, and then marks the uses. It returns barrier
// as a number for C.
func (d *Device) mark(barrier bool, uses []use) C.uint32_t {
	if barrier {
		d.epoch++
	}
	for i := range uses {
		if u := &uses[i]; u.buf != d.dummy {
			u.buf.marks.add(d.epoch, u.span, u.write)
		}
	}
	if barrier {
		return 1
	}
	return 0
}

// record appends one dispatch to the current batch.
func (d *Device) record(x *gpu.Dispatch, p *pipeline, uses []use) {
	barrier := false
	for i := range uses {
		barrier = d.touch(&uses[i]) || barrier
	}
	d.command(d.rec, x, p, uses, barrier)
}

// command appends the command of a dispatch to a batch.
func (d *Device) command(b *batch, x *gpu.Dispatch, p *pipeline, uses []use, barrier bool) {
	cmd := C.lvk_cmd{kind: C.LVK_DISPATCH, barrier: d.mark(barrier, uses), a: p.c.pipeline, b: p.c.layout,
		groups: [3]C.uint32_t{C.uint32_t(x.Groups[0]), C.uint32_t(x.Groups[1]), C.uint32_t(x.Groups[2])}}
	if n := (x.Module.ParamSize + 3) &^ 3; n > 0 { // Params has as many bytes
		cmd.param, cmd.paramSize = C.uint32_t(len(b.params)), C.uint32_t(n)
		b.params = append(b.params, x.Params[:n]...)
	}
	if len(p.slots) > 0 {
		cmd.hasSet, cmd.set = 1, d.set(b, p, uses)
	}
	b.cmds = append(b.cmds, cmd)
	if b.log.trace != nil {
		b.log.launch(x)
	}
	b.work += min(x.Count(), 1<<32) * p.lanes
	for i := range uses {
		b.bytes += uint64(uses[i].span.size)
	}
}

// set returns the index of a descriptor set for the uses. It is the last one if that has
// the same uses, or else a new one.
func (d *Device) set(b *batch, p *pipeline, uses []use) C.uint32_t {
	first := len(b.binds)
	for i := range uses {
		t, u := &p.slots[i], &uses[i]
		bind := C.lvk_bind{slot: C.uint32_t(t.number), _type: C.uint32_t(t.typ), buffer: C.lvk_handle(u.buf.block.id()),
			offset: C.uint64_t(u.buf.off + u.span.off), _range: C.uint64_t(u.span.size)}
		switch {
		case !t.texel():
		case b.views != nil:
			bind.view = b.views[ownView{u.buf, u.span, t.format}] // recordList has made it
		default:
			bind.view, _ = d.viewOf(u.buf, u.span, t.format, b.seq) // makeViews has made it
		}
		b.binds = append(b.binds, bind)
	}
	if n := len(b.sets); n > 0 {
		last := &b.sets[n-1]
		if last.layout == p.c.sets && slices.Equal(b.binds[last.first:last.first+last.count], b.binds[first:]) {
			b.binds = b.binds[:first]
			return C.uint32_t(n - 1)
		}
	}
	b.sets = append(b.sets, C.lvk_set{layout: p.c.sets, first: C.uint32_t(first), count: C.uint32_t(len(uses))})
	for i, n := range p.per {
		b.need[i] += n
	}
	return C.uint32_t(len(b.sets) - 1)
}
