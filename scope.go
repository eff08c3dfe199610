package lathe

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
)

// Scope runs operations one after the other, with one check for errors at the end:
//
//	s := dev.Scope(ctx)
//	defer s.Close()
//	y := s.Softmax(s.MatMul(a, b), -1)
//	rows, err := lathe.ToSlice[float32](ctx, y)
//
// It has the methods of Device that are named after operations, without their errors. The first
// error stays: Err returns it, and it says which call failed and where that is in the program.
// Later calls do nothing. What they return is a tensor that was not made: any call takes it, and
// reading it returns the first error too.
//
// Close frees the tensors that the operations of the Scope have made, but for those that were
// given to Keep. So a loop has a Scope for each step. Inputs are the caller's: a Scope does not
// free them. All operations obey the context of the Scope.
//
// Device.Scope makes a Scope. Its methods may be called from any goroutine. Which of several
// errors is the first is then a matter of chance.
type Scope struct {
	dev *Device
	ctx context.Context

	mu     sync.Mutex
	made   map[*session.Buffer]*Tensor
	err    error // the first one
	closed bool
}

// Scope makes a Scope, whose operations end when ctx ends. An error, such as that the device
// was closed, is found by Err.
func (d *Device) Scope(ctx context.Context) *Scope {
	s := &Scope{dev: d, ctx: ctx}
	s.err = d.open("scope")
	if err := errs.Context(ctx); err != nil && s.err == nil {
		s.err = fmt.Errorf("lathe: scope: %w", err)
	}
	return s
}

// Err returns the first error, or nil. It says which operation failed, and the file and line
// of the program that called it.
func (s *Scope) Err() error {
	if s == nil {
		return fmt.Errorf("lathe: scope: %w: no Scope", errs.ErrNotInitialized)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && s.dev == nil {
		return fmt.Errorf("lathe: scope: %w: a Scope that Device.Scope did not make", errs.ErrNotInitialized)
	}
	return s.err
}

// Close frees the tensors that the Scope has made, but for those that were given to Keep. Work
// that was submitted still finishes. Close returns the error of Err. Closing twice is harmless.
// Later calls are ErrClosed.
func (s *Scope) Close() error {
	if s == nil {
		return s.Err()
	}
	s.mu.Lock()
	made := s.made
	s.made, s.closed = nil, true
	s.mu.Unlock()
	for _, t := range made {
		s.free(t)
	}
	return s.Err()
}

// free frees a tensor unless the program has freed it.
func (s *Scope) free(t *Tensor) {
	if err := t.dev.Free(t); err != nil && !errors.Is(err, errs.ErrInvalidHandle) && !errors.Is(err, errs.ErrClosed) {
		s.fail("close", err)
	}
}

// Keep takes a tensor out of the Scope, so that Close does not free it, and returns it. To keep
// a view keeps what it is a view of.
func (s *Scope) Keep(t *Tensor) *Tensor {
	if s != nil && t != nil {
		s.mu.Lock()
		delete(s.made, t.memory.Buffer)
		s.mu.Unlock()
	}
	return t
}

// Take adds what a function returns to the Scope, such as a new tensor or a view:
//
//	x := s.Take(lathe.FromSlice(ctx, dev, data, 2, 3))
//	y := s.MatMul(x, s.Take(x.Transpose()))
//
// The error is an error of the Scope. Close frees the tensor as one that the Scope has made.
// A view is freed with the tensor that it is a view of, and not before.
func (s *Scope) Take(t *Tensor, err error) *Tensor {
	if err == nil && (t == nil || t.failed == nil && t.scalar == nil) {
		err = t.made("take")
	}
	if err != nil {
		s.fail("take", err)
		return s.none()
	}
	if t.failed != nil || t.scalar != nil || t.view {
		return t
	}
	if !s.add(t) {
		s.fail("take", s.isClosed())
		s.free(t)
		return s.none()
	}
	return t
}

// Call makes the outputs of an operation and computes them, as Device.Call. After an error the
// outputs are tensors that were not made, as many as the operation has.
func (s *Scope) Call(c spec.Call, in ...*Tensor) []*Tensor {
	name := nameOf(c)
	if s.usable(name) {
		out, err := s.dev.Call(s.ctx, c, in...)
		if err == nil && s.add(out...) {
			return out
		}
		if err == nil { // The Scope was closed meanwhile.
			err = s.isClosed()
			for _, t := range out {
				s.free(t)
			}
		}
		s.fail(name, err)
	}
	out := []*Tensor{s.none()}
	if name != "call" {
		for range max(len(c.Spec().Out), 1) - 1 {
			out = append(out, s.none())
		}
	}
	return out
}

// Run computes out from in, as Device.Run.
func (s *Scope) Run(c spec.Call, in, out []*Tensor) {
	if name := nameOf(c); s.usable(name) {
		if err := s.dev.Run(s.ctx, c, in, out); err != nil {
			s.fail(name, err)
		}
	}
}

// usable reports whether an operation may run: there is no error yet, and the Scope is open.
func (s *Scope) usable(op string) bool {
	if s.Err() != nil {
		return false
	}
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		s.fail(op, s.isClosed())
	}
	return !closed
}

func (s *Scope) isClosed() error { return fmt.Errorf("%w: the Scope", errs.ErrClosed) }

// add notes tensors for Close. It reports false if the Scope was closed.
func (s *Scope) add(ts ...*Tensor) bool {
	if s == nil {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		return false
	}
	if s.made == nil {
		s.made = map[*session.Buffer]*Tensor{}
	}
	for _, t := range ts {
		s.made[t.memory.Buffer] = t
	}
	return true
}

// none is a tensor that was not made.
func (s *Scope) none() *Tensor { return &Tensor{failed: s.Err()} }

// fail notes the first error, with the operation and the place of the call.
func (s *Scope) fail(op string, err error) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = fmt.Errorf("lathe: scope: %s%s: %w", op, callSite(), err)
	}
}

// callSite says where the program called this package, as " at main.go:12".
func callSite() string {
	if at := errs.CallSite("github.com/lathe-gpu/lathe.", "github.com/lathe-gpu/lathe/internal/errs."); at != "" {
		return " at " + at
	}
	return ""
}
