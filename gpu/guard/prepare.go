package guard

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
)

// prepared is a list that the inner device has prepared, with ranges behind the first zones.
type prepared struct {
	d      *Device
	inner  gpu.Prepared
	labels []string
}

// Prepare checks the dispatches as Submit does, and prepares them on the inner device.
func (d *Device) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) {
	if err := d.ready(); err != nil {
		return nil, err
	}
	d.mu.RLock()
	defer d.mu.RUnlock()
	moved, err := d.moved(list)
	if err != nil {
		return nil, err
	}
	p := &prepared{d: d}
	for i := range list {
		p.labels = append(p.labels, gpu.Label(list[i].Module))
	}
	if p.inner, err = gpu.Prepare(d.inner, moved); err != nil {
		return nil, err
	}
	return p, nil
}

// Submit submits the list of the inner device.
func (p *prepared) Submit() error {
	p.d.mu.RLock()
	defer p.d.mu.RUnlock()
	if err := p.inner.Submit(); err != nil {
		return err
	}
	p.d.note(p.labels)
	return nil
}

// Set replaces a dispatch, whose ranges move too.
func (p *prepared) Set(i int, x gpu.Dispatch) error {
	p.d.mu.Lock() // and no Submit reads the labels
	defer p.d.mu.Unlock()
	moved, err := p.d.moved([]gpu.Dispatch{x})
	if err != nil {
		return err
	}
	if err := p.inner.Set(i, moved[0]); err != nil {
		return err
	}
	p.labels = slices.Clone(p.labels)
	p.labels[i] = gpu.Label(x.Module)
	return nil
}

// Free frees the list of the inner device.
func (p *prepared) Free() error { return p.inner.Free() }

// moved checks dispatches, and returns them with their ranges in the inner buffers. The caller
// holds mu.
func (d *Device) moved(list []gpu.Dispatch) ([]gpu.Dispatch, error) {
	for i := range list {
		if err := list[i].Check(&d.info, d.size); err != nil {
			if closed := d.inner.Submit(nil); closed != nil {
				return nil, closed // It is more important that the device is closed or lost.
			}
			return nil, fmt.Errorf("guard: submit: dispatch %d: %w", i, err)
		}
	}
	moved := make([]gpu.Dispatch, len(list))
	for i := range list {
		moved[i] = list[i]
		moved[i].Bindings = slices.Clone(list[i].Bindings)
		for j := range moved[i].Bindings {
			if m := &moved[i].Bindings[j]; m.Buffer != 0 {
				d.moveRange(m, list[i].Module, uint32(j))
			}
		}
	}
	return moved, nil
}

// note remembers the labels of dispatches, for the text of an error.
func (d *Device) note(labels []string) {
	d.labels.Lock()
	defer d.labels.Unlock()
	for _, label := range labels {
		switch {
		case slices.Contains(d.labels.since, label):
		case len(d.labels.since) == maxLabels:
			d.labels.more++
		default:
			d.labels.since = append(d.labels.since, label)
		}
	}
}
