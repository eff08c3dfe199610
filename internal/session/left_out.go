package session

import (
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// empty are tensors of shape [0], which stand for inputs that a call leaves out. They are kept,
// because such calls come again and again.
type empty struct {
	mu   sync.Mutex
	kept map[tensor.DType]Tensor
}

// fill returns the inputs of a call with a tensor for each zero Tensor that the operation lets a call leave
// out before other inputs. Other zero Tensors stay, for Check to refuse.
// Errors: those of NewTensor.
func (s *Session) fill(op *spec.Op, in []Tensor) ([]Tensor, error) {
	filled := in
	for i := range in {
		if in[i].Buffer != nil {
			continue
		}
		d, ok := op.LeftOut(i, in[0].Desc.DType)
		if !ok {
			continue
		}
		t, err := s.emptyOf(d)
		if err != nil {
			return nil, err
		}
		if &filled[0] == &in[0] { // The list is the caller's.
			filled = slices.Clone(in)
		}
		filled[i] = t
	}
	return filled, nil
}

// emptyOf returns the tensor that is kept for a description, or makes it.
func (s *Session) emptyOf(d tensor.Desc) (Tensor, error) {
	s.empty.mu.Lock()
	t, ok := s.empty.kept[d.DType]
	s.empty.mu.Unlock()
	if ok {
		return t, nil
	}
	// The lock is free while the device is asked, which may wait. If two goroutines make such a
	// tensor, one of them is kept.
	t, err := s.NewTensor(d)
	if err != nil {
		return t, err
	}
	s.empty.mu.Lock()
	defer s.empty.mu.Unlock()
	if s.empty.kept == nil {
		s.empty.kept = make(map[tensor.DType]Tensor)
	}
	s.empty.kept[d.DType] = t
	return t, nil
}
