package null

import (
	"fmt"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
)

// prepared is a copy of a list.
type prepared struct {
	d    *Device
	mu   sync.Mutex
	list []gpu.Dispatch // never changed: Set makes another one
	free bool
}

// Prepare checks a list as Submit does, and keeps a copy.
func (d *Device) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(list); err != nil {
		return nil, err
	}
	return &prepared{d: d, list: gpu.CloneList(list)}, nil
}

func (p *prepared) current() ([]gpu.Dispatch, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.free {
		return nil, errFreed()
	}
	return p.list, nil
}

func errFreed() error { return fmt.Errorf("null: prepared list: %w: it was freed", gpu.ErrClosed) }

// Submit submits the list.
func (p *prepared) Submit() error {
	list, err := p.current()
	if err != nil {
		return err
	}
	return p.d.Submit(list)
}

// Set replaces dispatch i.
func (p *prepared) Set(i int, x gpu.Dispatch) error {
	p.mu.Lock() // over all of it, or one of two calls at a time would be lost
	defer p.mu.Unlock()
	if p.free {
		return errFreed()
	}
	list, err := gpu.Replaced(p.list, i, x)
	if err != nil {
		return err
	}
	p.d.mu.Lock()
	defer p.d.mu.Unlock()
	if err := p.d.check([]gpu.Dispatch{x}); err != nil {
		return err
	}
	p.list = list
	return nil
}

// Free forgets the list.
func (p *prepared) Free() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list, p.free = nil, true
	return nil
}
