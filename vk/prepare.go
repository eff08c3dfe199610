//go:build !novk && cgo

package vk

/*
#include "batch.h"
*/
import "C"

import (
	"errors"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// prepared is a gpu.Prepared: command buffers with their descriptor sets and barriers. A
// submission of them may begin while earlier ones run.
type prepared struct {
	d *Device
	device.Kept[*pipeline, use]
	recording
	buffers []use // the buffers of the list, each once; write if one of the uses writes
}

// recording is what Vulkan keeps of a prepared list. It is destroyed when no submission of it
// is under way.
type recording struct {
	batches []*batch // only their command buffers and descriptor sets are used
	cmds    []unsafe.Pointer
	views   map[ownView]C.lvk_handle
	last    uint64 // the number of the last batch that runs it
}

// ownView names a texel view of a recording. Those of viewOf may be replaced meanwhile.
type ownView struct {
	buf    *buffer
	span   span
	format uint32
}

// Prepare records a list into command buffers, for many submissions.
// Errors: those of Submit.
func (d *Device) Prepare(list []gpu.Dispatch) (_ gpu.Prepared, err error) {
	if err := d.begin(); err != nil {
		return nil, err
	}
	defer d.life.End(&err)
	p := &prepared{d: d, Kept: d.keeps.Keep(list)}
	if err := p.look(); err != nil {
		return nil, err
	}
	d.lists[p] = struct{}{}
	return p, nil
}

// look finds the pipelines and the buffers of the list, and records it. The caller holds the
// lock, which is released in between.
func (p *prepared) look() error {
	d := p.d
	s := d.scratch.Borrow()
	defer d.scratch.Return(s)
	list := p.List
	if err := d.life.Unlocked(func() error { return d.check(s, list) }); err != nil {
		return err
	}
	if changed, err := p.Changed(list); err != nil || changed {
		return err // the caller sees whether the list is still stale
	}
	if err := d.resolve(s, s.Pipes, list); err != nil {
		return err
	}
	r, err := d.recordList(s, list)
	if err != nil {
		d.destroyRecording(&r)
		return err
	}
	d.dispose(p.recording)
	p.recording = r
	p.Store(s)
	p.buffers = p.buffers[:0]
	at := map[*buffer]int{}
	for _, u := range s.Uses {
		if i, ok := at[u.buf]; ok {
			p.buffers[i].write = p.buffers[i].write || u.write
		} else if u.buf != d.dummy {
			at[u.buf] = len(p.buffers)
			p.buffers = append(p.buffers, use{handle: u.handle, buf: u.buf, write: u.write})
		}
	}
	return nil
}

// recordList records a list. Each command buffer has as much work as a batch, because systems
// reset a GPU that works on one for seconds. The caller destroys the recording after an error.
func (d *Device) recordList(s *scratch, list []gpu.Dispatch) (r recording, err error) {
	d.flush() // the marks of its commands end here
	d.epoch++
	defer func() { d.epoch++ }()
	r.views = map[ownView]C.lvk_handle{}
	var b *batch
	uses := s.Uses
	for i := range list {
		x, p := &list[i], s.Pipes[i]
		if x.Count() == 0 {
			continue
		}
		if b == nil || len(b.cmds) >= batchFull || b.work >= fullInvocations {
			if b, err = d.newBatch(); err != nil {
				return r, err
			}
			b.views = r.views
			r.batches = append(r.batches, b)
			d.epoch++ // a command buffer ends with a barrier
		}
		own := uses[:len(p.slots)]
		uses = uses[len(p.slots):]
		barrier := false
		for j := range own {
			u := &own[j]
			if t := &p.slots[j]; t.texel() {
				if err := d.ownView(r.views, u, t.format); err != nil {
					return r, err
				}
			}
			barrier = barrier || u.buf != d.dummy && u.buf.marks.conflicts(d.epoch, u.span, u.write)
		}
		d.command(b, x, p, own, barrier)
	}
	for _, b := range r.batches {
		if err := d.encode(b, 0, C.LVK_AGAIN); err != nil {
			return r, err
		}
		r.cmds = append(r.cmds, b.c.cmd)
	}
	return r, nil
}

// ownView makes a texel view for a recording, unless it has it.
func (d *Device) ownView(views map[ownView]C.lvk_handle, u *use, format uint32) error {
	key := ownView{u.buf, u.span, format}
	if views[key] != 0 {
		return nil
	}
	h, err := d.makeView(u.buf, u.span, format)
	if err == nil {
		views[key] = h
	}
	return err
}

// dispose destroys a recording when its last submission is done.
func (d *Device) dispose(r recording) {
	if r.last > d.done {
		d.dying = append(d.dying, r)
		return
	}
	d.destroyRecording(&r)
}

// bury destroys the recordings whose last submission is done.
func (d *Device) bury() {
	kept := d.dying[:0]
	for i := range d.dying {
		if d.dying[i].last > d.done {
			kept = append(kept, d.dying[i])
		} else {
			d.destroyRecording(&d.dying[i])
		}
	}
	clear(d.dying[len(kept):])
	d.dying = kept
}

func (d *Device) destroyRecording(r *recording) {
	for _, b := range r.batches {
		d.destroyBatch(b)
	}
	for _, v := range r.views {
		d.destroyView(v)
	}
	*r = recording{}
}

// Submit gives the command buffers to the device.
func (p *prepared) Submit() (err error) {
	d := p.d
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	for {
		plain, wait, err := p.ready()
		switch {
		case err != nil:
			return err
		case plain:
			return d.submit(p.List)
		case wait:
			continue
		case len(p.cmds) == 0:
			return nil
		}
		d.flush()
		if waited, err := d.recording(); err != nil {
			return err
		} else if !waited {
			break // the lock is held from here to the end
		}
	}
	return p.send()
}

// ready says what must come before a submission. plain says that the list must be recorded once
// more: new memory must be zeroed, or each command is timed. wait says that the lock was
// released in between.
func (p *prepared) ready() (plain, wait bool, err error) {
	d := p.d
	if d.life.Lost() != nil {
		return false, false, d.life.Lost()
	}
	if err := p.Usable(); err != nil {
		return false, false, err
	}
	if p.Stale {
		return false, true, p.look()
	}
	for _, h := range p.Handles {
		if _, err := d.table.Get(h); err != nil {
			return false, false, err
		}
	}
	if d.trace != nil {
		return true, false, nil
	}
	for i := range p.buffers {
		u := &p.buffers[i]
		if u.buf.unset.size > 0 {
			return true, false, nil
		}
		if u.buf.hostWrites || u.write && u.buf.hostReads > 0 {
			d.life.Changed.Wait()
			return false, true, nil
		}
	}
	return false, false, nil
}

// send submits the command buffers as the batch that is being recorded, which is empty.
func (p *prepared) send() error {
	d, b := p.d, p.d.rec
	for i := range p.buffers {
		u := &p.buffers[i]
		d.hold(u)
	}
	d.rec = nil
	d.epoch++ // a command buffer ends with a barrier
	err := d.launchPrepared(b, p.cmds)
	if errors.Is(err, gpu.ErrOutOfMemory) {
		d.makeMemory()
		err = d.launchPrepared(b, p.cmds)
	}
	if b.failed = err != nil; !b.failed {
		p.last = b.seq
	}
	d.inflight = append(d.inflight, b)
	return err
}

// launchPrepared submits command buffers with the fence of a batch.
func (d *Device) launchPrepared(b *batch, cmds []unsafe.Pointer) error {
	r := fault.Result("vkQueueSubmit")
	if r == success {
		r = result(C.lvk_submit_again(d.fn, b.c, &cmds[0], C.uint32_t(len(cmds))))
	}
	return check("vkQueueSubmit", r)
}

// Free destroys the command buffers when no submission of them is under way.
func (p *prepared) Free() (err error) {
	d := p.d
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	if d.rec != nil || len(d.inflight) > 0 {
		d.poll()
	}
	p.drop()
	return nil
}

// drop is Free for a caller that holds the lock.
func (p *prepared) drop() {
	p.d.dispose(p.recording)
	delete(p.d.lists, p)
	p.recording, p.buffers = recording{}, nil
	p.Forget()
}

// makeMemory waits for the work that runs, and gives idle memory back to the driver.
func (d *Device) makeMemory() {
	for _, f := range d.inflight {
		if !f.failed {
			C.lvk_batch_wait(d.fn, f.c, 1<<63)
		}
	}
	d.poll()
	d.pool.trim(0)
}
