// Package handles is a generational handle table: small opaque numbers that
// name values and can be checked. A handle that was freed, or that belongs to
// another table, is an error and never another value.
//
// A Handle is a slot index (low 24 bits) and a generation (high 40 bits).
// Generations come from one counter for the whole process, so no handle is
// ever issued twice, whichever table issues it, and a handle of one table is
// unknown to every other one.
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

// generation is process-wide so that handles are unique across tables.
// 40 bits at ten million handles a second last thirty hours of doing nothing else.
var generation atomic.Uint64

type entry[T any] struct {
	handle Handle // zero when the slot is vacant
	pins   int
	dead   bool // freed while pinned; released at the last Unpin
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

// New returns an empty table. release, if not nil, is called once for every
// value after it was freed and its last pin was removed; it is called without
// the table's lock held.
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

// made reports ErrNotInitialized where there is no table.
func (t *Table[T]) made() error {
	if t == nil {
		return fmt.Errorf("handles: %w: a nil table", errs.ErrNotInitialized)
	}
	return nil
}

// Add stores v and returns its handle. It fails with ErrOutOfMemory when 2²⁴
// values are live.
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

// find returns the live entry of h; the caller holds the lock.
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

// Pin returns the value of h and keeps it from being released until a matching
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

// Unpin undoes one Pin, and releases the value if it was freed meanwhile and
// this was its last pin. Unpin of a handle that is not pinned is ErrInvalidHandle.
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

// Free ends the life of h: every later use of it is ErrInvalidHandle. The
// value is released now, or when its last pin is removed.
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

// finish unlocks the table and releases e if it is dead and unpinned.
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

// Len is the number of live (added and not freed) values.
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
