package session

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// State is what Programs share that run one at a time: the arena, the params by name, and the outputs that become params. NewState makes one. Any goroutine may call
// its methods.
type State struct {
	session *Session
	running atomic.Bool             // a goroutine is in Program.Run
	feeds   atomic.Pointer[[]*feed] // nil before the first one; the list does not change

	mu     sync.Mutex
	freed  bool
	arena  []*Buffer
	params map[string]*param
}

// param is a param that a State has. The zero Tensor was not set.
type param struct {
	tensor Tensor
	times  uint64 // how often it was set
}

// to gives the param its tensor.
func (p *param) to(t Tensor) { p.tensor, p.times = t, p.times+1 }

// NewState returns a State without memory. Load makes its arena as large as each Program needs.
func (s *Session) NewState() *State { return &State{session: s, params: map[string]*param{}} }

// param returns the param of a name, and makes it if there is none. The caller holds mu.
func (st *State) param(name string) *param {
	p := st.params[name]
	if p == nil {
		p = &param{}
		st.params[name] = p
	}
	return p
}

// SetParam gives a param its tensor, which programs read in every later run. It is not copied. Each run compares it with the
// param of its graph.
// Errors: ErrInvalidHandle, and ErrClosed after Free.
func (st *State) SetParam(name string, t Tensor) error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if err := st.usable("set param"); err != nil {
		return err
	}
	if err := st.session.Check("set param", t); err != nil {
		return fmt.Errorf("%w (param %q)", err, name)
	}
	st.param(name).to(t)
	return nil
}

// usable returns ErrClosed after Free. The caller holds mu.
func (st *State) usable(op string) error {
	if st.freed {
		return fmt.Errorf("%s: %s: %w: the program was freed", st.session.surface, op, errs.ErrClosed)
	}
	return nil
}

// grow makes the arena at least as large as buffers of such sizes. Work that was submitted still finishes in the memory that it was
// submitted with. The caller holds mu.
func (st *State) grow(sizes []int64) error {
	for i, size := range sizes {
		if i < len(st.arena) && st.arena[i].size >= size {
			continue
		}
		b, err := st.session.memory.allocate(size)
		if err != nil {
			return err
		}
		if i == len(st.arena) {
			st.arena = append(st.arena, b)
			continue
		}
		old := st.arena[i]
		st.arena[i] = b
		if err := old.free(); err != nil {
			return err
		}
	}
	return nil
}

// Free ends the life of the State and of all its Programs, and releases the arena. Work that was submitted still finishes. Freeing
// twice is harmless.
func (st *State) Free() error {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.freed {
		return nil
	}
	return st.release()
}

// release is Free for a caller that holds mu.
func (st *State) release() error {
	st.freed, st.params = true, nil
	var err error
	for _, b := range st.arena {
		err = errors.Join(err, b.free())
	}
	st.arena = nil
	if feeds := st.feeds.Load(); feeds != nil {
		for _, f := range *feeds {
			err = errors.Join(err, f.free())
		}
	}
	return err
}
