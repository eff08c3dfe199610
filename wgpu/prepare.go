//go:build !nowgpu && cgo

package wgpu

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// prepared is a gpu.Prepared. A command buffer of WebGPU can be submitted once only. So a
// submission encodes the list again, from pipelines and buffers that were found before.
type prepared struct {
	d *Device
	device.Kept[*pipeline, use]
}

// Prepare compiles the modules of a list and finds its buffers, for many submissions.
// Errors: those of Submit.
func (d *Device) Prepare(list []gpu.Dispatch) (_ gpu.Prepared, err error) {
	if err := d.begin(); err != nil {
		return nil, err
	}
	defer d.life.End(&err)
	p := &prepared{d, d.lists.Keep(list)}
	if err := p.Look(); err != nil {
		return nil, err
	}
	return p, nil
}

// Submit appends the list to the batch.
func (p *prepared) Submit() (err error) {
	d := p.d
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	d.life.Unlock() // order comes before the lock
	d.order.Lock()
	d.life.Lock()
	defer d.order.Unlock()
	if len(d.rec.cmds) >= d.flushAt {
		if err := d.makeRoom(context.Background()); err != nil {
			return err
		}
		d.flush() // its error does not belong to this list
	}
	for {
		if err := p.Usable(); err != nil {
			return err
		}
		if p.Stale {
			if err := p.Look(); err != nil {
				return err
			}
			continue
		}
		for _, h := range p.Handles {
			if _, err := d.table.Get(h); err != nil {
				return err
			}
		}
		if !d.beingRead(&p.Scratch) {
			break // the lock is held from here to the end, so that nobody frees a buffer
		}
		d.life.Changed.Wait()
	}
	d.recordAll(&p.Scratch, p.List)
	return nil
}
