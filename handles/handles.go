// Package handles is a generational handle table. A handle is a small opaque number
// that names a value and can be checked. A handle that was freed, or that belongs to
// another table, gives an error and never another value.
//
// A Handle is the index of a slot (the low 24 bits) and a generation (the high 40 bits).
// Generations come from one counter of the process. So no table issues a handle twice,
// and no table knows the handle of another one.
package handles

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/google/uuid"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Handle names a value in one Table. The zero Handle is never valid.
type Handle uint64

const (
	slotBits = 24
	maxSlots = 1 << slotBits
)

func (h Handle) slot() int { return int(h & (maxSlots - 1)) }

// String formats the handle as slot and generation, for error texts and traces.
func (h Handle) String() string { return fmt.Sprintf("h%d.%d", h.slot(), uint64(h)>>slotBits) }

// generation counts for the whole process, so that handles are unique across tables. At
// ten million handles a second, 40 bits last thirty hours.
var generation atomic.Uint64

type entry[T any] struct {
	handle Handle // the handle in this slot; zero if the slot is vacant
	pins   int    // the number of Pins without their Unpin
	dead   bool   // it was freed while pinned; the last Unpin releases it
	value  T
}

// Table maps handles to values of type T. All methods may be called from any
// goroutine. Make one with New.
type Table[T any] struct {
	id      uuid.UUID
	release func(T)

	mu      sync.RWMutex
	entries []entry[T]
	vacant  []int
	live    int
}

// New returns an empty table. If release is not nil, the table calls it once for every
// value, after the value was freed and its last pin was removed. It calls release
// without holding its lock.
func New[T any](release func(T)) *Table[T] {
	return &Table[T]{id: uuid.New(), release: release}
}

// ID identifies the table within and across processes.
func (t *Table[T]) ID() uuid.UUID {
	if t == nil {
		return uuid.UUID{}
	}
	return t.id
}

// made returns ErrNotInitialized if t is nil.
func (t *Table[T]) made() error {
	if t == nil {
		return fmt.Errorf("handles: %w: a nil table", errs.ErrNotInitialized)
	}
	return nil
}

// Add stores v and returns its handle.
// Errors: ErrOutOfMemory if 2²⁴ values are live; ErrNotInitialized.
func (t *Table[T]) Add(v T) (Handle, error) {
	if err := t.made(); err != nil {
		return 0, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	var slot int
	switch n := len(t.vacant); {
	case n > 0:
		slot = t.vacant[n-1]
		t.vacant = t.vacant[:n-1]
	case len(t.entries) < maxSlots:
		slot = len(t.entries)
		t.entries = append(t.entries, entry[T]{})
	default:
		return 0, fmt.Errorf("handles: add: %w: %d handles are live", errs.ErrOutOfMemory, maxSlots)
	}
	h := Handle(generation.Add(1)<<slotBits | uint64(slot))
	t.entries[slot] = entry[T]{handle: h, value: v}
	t.live++
	return h, nil
}

// find returns the live entry of h. The caller holds the lock.
func (t *Table[T]) find(h Handle) (*entry[T], error) {
	if s := h.slot(); h != 0 && s < len(t.entries) {
		if e := &t.entries[s]; e.handle == h && !e.dead {
			return e, nil
		}
	}
	return nil, fmt.Errorf("handles: %w: %v is unknown to table %v (freed, or of another device)", errs.ErrInvalidHandle, h, t.id)
}

// Get returns the value of h, or ErrInvalidHandle.
func (t *Table[T]) Get(h Handle) (T, error) {
	if err := t.made(); err != nil {
		var zero T
		return zero, err
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	e, err := t.find(h)
	if err != nil {
		var zero T
		return zero, err
	}
	return e.value, nil
}

// Pin returns the value of h. The table does not release the value until a matching
// Unpin, even if h is freed in between.
func (t *Table[T]) Pin(h Handle) (T, error) {
	if err := t.made(); err != nil {
		var zero T
		return zero, err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	e, err := t.find(h)
	if err != nil {
		var zero T
		return zero, err
	}
	e.pins++
	return e.value, nil
}

// Unpin undoes one Pin. If that was the last pin and h has been freed, the value is
// released.
// Errors: ErrInvalidHandle if h is not pinned.
func (t *Table[T]) Unpin(h Handle) error {
	if err := t.made(); err != nil {
		return err
	}
	t.mu.Lock()
	s := h.slot()
	if h == 0 || s >= len(t.entries) || t.entries[s].handle != h || t.entries[s].pins == 0 {
		t.mu.Unlock()
		return fmt.Errorf("handles: unpin: %w: %v is not pinned", errs.ErrInvalidHandle, h)
	}
	e := &t.entries[s]
	e.pins--
	t.finish(e, e.dead)
	return nil
}

// Free ends the life of h. Every later use of h is ErrInvalidHandle. The value is
// released now, or when its last pin is removed.
func (t *Table[T]) Free(h Handle) error {
	if err := t.made(); err != nil {
		return err
	}
	t.mu.Lock()
	e, err := t.find(h)
	if err != nil {
		t.mu.Unlock()
		return err
	}
	e.dead = true
	t.live--
	t.finish(e, true)
	return nil
}

// finish unlocks the table, and releases e if it is dead and has no pins.
func (t *Table[T]) finish(e *entry[T], dead bool) {
	if !dead || e.pins > 0 {
		t.mu.Unlock()
		return
	}
	v := e.value
	t.vacant = append(t.vacant, e.handle.slot())
	*e = entry[T]{}
	t.mu.Unlock()
	if t.release != nil {
		t.release(v)
	}
}

// Len is the number of live values, which were added and not freed.
func (t *Table[T]) Len() int {
	if t == nil {
		return 0
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	return t.live
}

// Live returns the handles of all live values, in no particular order.
func (t *Table[T]) Live() []Handle {
	if t == nil {
		return nil
	}
	t.mu.RLock()
	defer t.mu.RUnlock()
	hs := make([]Handle, 0, t.live)
	for i := range t.entries {
		if e := &t.entries[i]; e.handle != 0 && !e.dead {
			hs = append(hs, e.handle)
		}
	}
	return hs
}
