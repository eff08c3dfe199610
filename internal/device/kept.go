package device

import (
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
)

// Kept is what a gpu.Prepared of a device keeps: the list, and what a Submit of it would have to
// look up. The lock of the device guards it.
type Kept[P, U any] struct {
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

// Usable returns ErrClosed after Free.
func (k *Kept[P, U]) Usable(backend string) error {
	if k.Freed {
		return fmt.Errorf("%s: prepared list: %w: it was freed", backend, gpu.ErrClosed)
	}
	return nil
}

// Changed says whether Set has replaced list since the caller read it. It is for a caller that
// released the lock meanwhile: Free may have been called too.
// Errors: ErrClosed after Free.
func (k *Kept[P, U]) Changed(backend string, list []gpu.Dispatch) (bool, error) {
	if err := k.Usable(backend); err != nil {
		return false, err
	}
	return len(list) > 0 && &list[0] != &k.List[0], nil // Set keeps the length
}

// Set replaces dispatch i of the list.
// Errors: those of gpu.Prepared.
func (k *Kept[P, U]) Set(info *gpu.Info, size func(gpu.Handle) (int64, error), i int, x gpu.Dispatch) error {
	if err := k.Usable(info.Backend); err != nil {
		return err
	}
	list, err := gpu.Replaced(k.List, i, x)
	if err != nil {
		return err
	}
	if err := x.Check(info, size); err != nil {
		return err
	}
	k.List, k.Stale = list, true
	return nil
}

// Keep keeps what was looked up of a list.
func (k *Kept[P, U]) Keep(s *Scratch[P, U]) {
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
