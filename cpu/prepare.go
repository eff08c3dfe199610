package cpu

import (
	"context"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// prepared is a gpu.Prepared: the kernels and buffers of a list. A submission only queues them.
type prepared struct {
	d *Device
	device.Kept[*kernel, use]
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

// Submit queues the list.
func (p *prepared) Submit() (err error) {
	d := p.d
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	for {
		if err := p.Usable(); err != nil {
			return err
		}
		if len(d.queue.commands) >= queueMost {
			if err := d.wait(context.Background(), d.seq); err != nil {
				return err
			}
			continue
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
		if !d.copying(&p.Scratch) {
			break // the lock is held from here to the end, so that nobody frees a buffer
		}
		d.life.Changed.Wait()
	}
	d.record(&p.Scratch, p.List)
	d.startIfWorth()
	return nil
}
