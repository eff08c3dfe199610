package device

import (
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
)

// Lists is what prepared lists need of their device.
type Lists[P, U any] struct {
	Life      *Life
	Info      *gpu.Info
	Size      func(gpu.Handle) (int64, error)
	Scratches *Scratches[P, U]
	// Compile appends the pipelines of a list to s.Pipes. It may release the lock in between. Gather then appends to
	// s.Uses.
	Compile, Gather func(s *Scratch[P, U], list []gpu.Dispatch) error
}

// Kept is what a gpu.Prepared of a device keeps: the list, and what a Submit of it would have to
// look up. The lock of the device guards it.
type Kept[P, U any] struct {
	of *Lists[P, U]
	// List is the list. It never changes: Set makes another one.
	List []gpu.Dispatch
	// Scratch has the pipelines and the uses of List.
	Scratch[P, U]
	// Handles are the buffers of the list, each once.
	Handles []gpu.Handle
	// Stale says that List has changed since the rest was looked up.
	Stale bool
	// Freed says that Free was called.
	Freed bool
}

// Keep returns a Kept of a copy of the list. Nothing was looked up yet. The caller does not hold the lock.
func (l *Lists[P, U]) Keep(list []gpu.Dispatch) Kept[P, U] {
	return Kept[P, U]{of: l, List: gpu.CloneList(list)}
}

// Look compiles the modules of the list, checks it and finds its buffers. The caller holds the
// lock, which is released in between.
// Errors: those of gpu.Device.Submit; ErrClosed, if Free was called meanwhile.
func (k *Kept[P, U]) Look() error {
	for {
		list, s := k.List, k.of.Scratches.Borrow()
		changed, err := k.lookUp(s, list)
		if err == nil && !changed {
			k.Store(s)
		}
		k.of.Scratches.Return(s)
		if err != nil || !changed {
			return err
		}
	}
}

// lookUp fills s. changed says that Set has replaced the list meanwhile.
func (k *Kept[P, U]) lookUp(s *Scratch[P, U], list []gpu.Dispatch) (changed bool, err error) {
	if err := k.of.Compile(s, list); err != nil {
		return false, err
	}
	for i := range list {
		if err := list[i].CheckLaunch(k.of.Info, k.of.Size); err != nil {
			return false, err
		}
	}
	if err := k.of.Gather(s, list); err != nil {
		return false, err
	}
	return k.Changed(list)
}

// Usable returns ErrClosed after Free.
func (k *Kept[P, U]) Usable() error {
	if k.Freed {
		return fmt.Errorf("%s: prepared list: %w: it was freed", k.of.Info.Backend, gpu.ErrClosed)
	}
	return nil
}

// Changed says whether Set has replaced list since the caller read it. It is for a caller that
// released the lock meanwhile: Free may have been called too.
// Errors: ErrClosed after Free.
func (k *Kept[P, U]) Changed(list []gpu.Dispatch) (bool, error) {
	if err := k.Usable(); err != nil {
		return false, err
	}
	return len(list) > 0 && &list[0] != &k.List[0], nil // Set keeps the length
}

// Set replaces dispatch i of the list, as gpu.Prepared says. The caller does not hold the lock.
func (k *Kept[P, U]) Set(i int, x gpu.Dispatch) (err error) {
	l := k.of
	if err := l.Life.Begin(); err != nil {
		return err
	}
	defer l.Life.End(&err)
	if err := k.Usable(); err != nil {
		return err
	}
	list, err := gpu.Replaced(k.List, i, x)
	if err != nil {
		return err
	}
	if err := x.Check(l.Info, l.Size); err != nil {
		return err
	}
	k.List, k.Stale = list, true
	return nil
}

// Free forgets the list, as gpu.Prepared says. The caller does not hold the lock.
func (k *Kept[P, U]) Free() (err error) {
	if err := k.of.Life.Begin(); err != nil {
		return err
	}
	defer k.of.Life.End(&err)
	k.Forget()
	return nil
}

// Forget is Free for a caller that holds the lock. It leaves k.of, which others read without the lock.
func (k *Kept[P, U]) Forget() {
	k.List, k.Scratch, k.Handles, k.Stale, k.Freed = nil, Scratch[P, U]{}, nil, false, true
}

// Store keeps what was looked up of the list.
func (k *Kept[P, U]) Store(s *Scratch[P, U]) {
	k.Pipes, k.Uses = append(k.Pipes[:0], s.Pipes...), append(k.Uses[:0], s.Uses...)
	k.Stale = false
	k.Handles = k.Handles[:0]
	seen := map[gpu.Handle]bool{0: true}
	for i := range k.List {
		m := k.List[i].Module
		for j := range m.Bindings { // buffers that the shader does not declare do not matter
			if h := k.List[i].Bindings[m.Bindings[j].Slot].Buffer; !seen[h] {
				seen[h] = true
				k.Handles = append(k.Handles, h)
			}
		}
	}
}
