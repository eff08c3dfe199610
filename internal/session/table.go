package session

import (
	"github.com/lathe-gpu/lathe/handles"
)

// Table names tensors of a Session by handles, for surfaces that keep no Go pointers. A
// tensor lives until Free. ErrInvalidHandle is the error for a handle that is stale, zero or
// from another table. NewTable makes a Table.
type Table struct {
	session *Session
	tensors *handles.Table[Tensor]
}

// NewTable returns an empty table for the tensors of a Session.
func NewTable(s *Session) *Table {
	return &Table{session: s, tensors: handles.New[Tensor](nil)}
}

// Add gives a tensor a handle. Errors: ErrOutOfMemory if 2²⁴ tensors are live. The
// tensor is then freed.
func (t *Table) Add(x Tensor) (handles.Handle, error) {
	h, err := t.tensors.Add(x)
	if err != nil {
		_ = t.session.Free(x) // no caller has seen it
	}
	return h, err
}

// Get returns the tensor of a handle. Errors: ErrInvalidHandle.
func (t *Table) Get(h handles.Handle) (Tensor, error) { return t.tensors.Get(h) }

// Free ends the life of a handle and of its tensor. Work that was submitted still
// finishes. If several goroutines call Free for the same handle, one call succeeds.
// Errors: ErrInvalidHandle.
func (t *Table) Free(h handles.Handle) error {
	x, err := t.tensors.Get(h)
	if err != nil {
		return err
	}
	if err := t.tensors.Free(h); err != nil {
		return err
	}
	return t.session.Free(x)
}
