package session

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/record"
)

// Capture is a Session over the device of another one, whose work can be recorded and run again.
// Both take the tensors of the other. Any goroutine may call its methods.
type Capture struct {
	*Session
	rec *record.Device

	mu     sync.Mutex
	own    *exec.Workspace // of the capture that has begun, or nil
	before *exec.Workspace
}

// holder keeps the buffers of what is recorded, so that the garbage collector does not free them.
type holder struct {
	mu      sync.Mutex
	held    map[*Buffer]struct{} // nil while nothing is recorded
	foreign int                  // counts launches of shaders of the program
}

// hold keeps a buffer if something is being recorded.
func (h *holder) hold(b *Buffer) {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.held != nil {
		h.held[b] = struct{}{}
	}
}

// NotRecorded returns ErrCapture if calls of the Session are being recorded. op is the name of a call that reads, which cannot be recorded.
func (s *Session) NotRecorded(op string) error {
	if s.holder.recording() {
		return fmt.Errorf("%s: %s: %w: this cannot be recorded; end or abort the capture first", s.surface, op, errs.ErrCapture)
	}
	return nil
}

// recording reports whether something is being recorded.
func (h *holder) recording() bool {
	if h == nil {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.held != nil
}

// swap returns what is held, and holds further buffers in next.
func (h *holder) swap(next map[*Buffer]struct{}) map[*Buffer]struct{} {
	h.mu.Lock()
	defer h.mu.Unlock()
	held := h.held
	h.held = next
	return held
}

// captured is what belongs to a graph besides its launches.
type captured struct {
	*exec.Workspace
	run  *exec.Runner
	held map[*Buffer]struct{}
}

// Replayed is called before and after each submission.
func (c captured) Replayed() {
	c.Workspace.Replayed()
	c.run.Replayed()
}

func (c captured) Close() error {
	return c.run.Detach(c.Workspace)
}

// NewCapture returns a Capture that keeps at most limit graphs. The caller closes it before s.
// Errors: ErrInvalidArgument (limit), ErrClosed.
func (s *Session) NewCapture(limit int) (*Capture, error) {
	if limit < 1 {
		return nil, fmt.Errorf("%s: capture: %w: at most %d graphs (want 1 or more)", s.surface, errs.ErrInvalidArgument, limit)
	}
	if err := s.NotClosed("capture"); err != nil {
		return nil, err
	}
	c := &Capture{rec: record.New(s.gpu, limit, s.Align())}
	c.Session = &Session{surface: s.surface, gpu: c.rec, tuning: s.tuning, holder: &holder{}}
	opts := []exec.Option{exec.WithTuning(s.tuning), exec.WithChecksOf(s.run, c.rec.Beside())}
	if s.trace != nil {
		opts = append(opts, exec.WithTrace(s.trace.Begin))
	}
	run, err := exec.New(c.rec, opts...)
	if err != nil {
		return nil, fmt.Errorf("%s: capture: %w", s.surface, err)
	}
	c.run = run
	c.memory.gpu, c.memory.trim, c.memory.family = c.rec, run.Trim, s.memory.family
	return c, nil
}

// Begin begins to record. Nothing that is called on the Session runs until End or Abort.
// Errors: ErrCapture (it records already), ErrClosed, ErrDeviceLost, ctx.Err().
func (c *Capture) Begin(ctx context.Context) error {
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("%s: begin: %w", c.surface, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.rec.Begin(); err != nil {
		return fmt.Errorf("%s: %w", c.surface, err)
	}
	c.own, c.before = c.run.Capture(c.rec.Beside())
	c.holder.swap(map[*Buffer]struct{}{})
	return nil
}

// End ends recording, and keeps what was recorded under a key.
// Errors: ErrCapture (no Begin came before), those of gpu.Prepare, ctx.Err(). Nothing is recorded after an error
// either, and nothing of the capture is kept.
func (c *Capture) End(ctx context.Context, key uint64) error {
	return c.end(func(own record.Extra) error {
		if err := errs.Context(ctx); err != nil {
			return errors.Join(err, c.rec.Abort(own))
		}
		return c.rec.End(key, own)
	}, func() error { return c.rec.End(key, nil) })
}

// Abort ends recording, and keeps nothing.
// Errors: ErrCapture (no Begin came before).
func (c *Capture) Abort() error {
	return c.end(c.rec.Abort, func() error { return c.rec.Abort(nil) })
}

// Close aborts a capture that has begun, forgets all graphs, and closes the Session.
func (c *Capture) Close() error {
	c.mu.Lock()
	begun := c.own != nil
	c.mu.Unlock()
	var err error
	if begun {
		err = c.Abort()
	}
	return errors.Join(err, c.Session.Close())
}

// end gives the Runner its Workspace back, and ends the recording by f, or by none if there is none.
func (c *Capture) end(f func(record.Extra) error, none func() error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.own == nil {
		return c.wrap(none())
	}
	c.run.Restore(c.before)
	c.run.Attach(c.own)
	own := captured{c.own, c.run, c.holder.swap(nil)}
	c.own, c.before = nil, nil
	return c.wrap(f(own))
}

func (c *Capture) wrap(err error) error {
	if err != nil {
		return fmt.Errorf("%s: %w", c.surface, err)
	}
	return nil
}

// Replay submits the graph of a key with other memory in place of some bindable tensors, and does not wait for it. It reports false if there is no graph.
// Errors: ErrCapture, ErrInvalidArgument (moves), ErrOutOfMemory, ErrDeviceLost, ErrClosed, ctx.Err().
func (c *Capture) Replay(ctx context.Context, key uint64, moves []Move) (bool, error) {
	if err := c.WaitForRoom(ctx); err != nil {
		return false, fmt.Errorf("%s: replay: %w", c.surface, err)
	}
	ok, err := c.rec.Replay(key, moves)
	return ok, c.wrap(err)
}

// Recording reports whether Begin was called, and neither End nor Abort since.
func (c *Capture) Recording() bool { return c.rec.Recording() }

// Reset forgets the graph of a key.
func (c *Capture) Reset(key uint64) error { return c.wrap(c.rec.Reset(key)) }

// ResetAll forgets all graphs.
func (c *Capture) ResetAll() error { return c.wrap(c.rec.ResetAll()) }

// Keys are the keys of the graphs, in ascending order.
func (c *Capture) Keys() []uint64 { return c.rec.Keys() }

// Bytes is the size of the memory that was allocated by calls of the Session, such as scratch memory of its graphs.
func (c *Capture) Bytes() int64 { return c.rec.Bytes() }
