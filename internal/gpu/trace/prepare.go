package trace

import (
	"strings"

	"github.com/lathe-gpu/lathe/gpu"
)

// prepared is a list of the inner device.
type prepared struct {
	d     *Device
	inner gpu.Prepared
	name  int
}

// Prepare writes "p1 = prepare" and the dispatches, as Submit does.
func (d *Device) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) {
	inner, err := gpu.Prepare(d.inner, list)
	d.mu.Lock()
	defer d.mu.Unlock()
	var b strings.Builder
	d.dispatches(&b, "\n      ", list)
	if err != nil {
		d.writeLine(err, "prepare%s", b.String())
		return nil, err
	}
	d.lists++
	d.writeLine(nil, "p%d = prepare%s", d.lists, b.String())
	return &prepared{d, inner, d.lists}, nil
}

// Submit writes "submit p1".
func (p *prepared) Submit() error {
	err := p.inner.Submit()
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.d.writeLine(err, "submit p%d", p.name)
	return err
}

// Set writes "set p1 0" and the dispatch.
func (p *prepared) Set(i int, x gpu.Dispatch) error {
	err := p.inner.Set(i, x)
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	var b strings.Builder
	p.d.dispatch(&b, &x)
	p.d.writeLine(err, "set p%d %d %s", p.name, i, b.String())
	return err
}

// Free writes "free p1".
func (p *prepared) Free() error {
	err := p.inner.Free()
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	p.d.writeLine(err, "free p%d", p.name)
	return err
}

// dispatches writes a list, each dispatch on a line of its own. The caller holds mu.
func (d *Device) dispatches(b *strings.Builder, between string, list []gpu.Dispatch) {
	for i := range list {
		if i > 0 {
			b.WriteString(between)
		}
		b.WriteByte(' ')
		d.dispatch(b, &list[i])
	}
}
