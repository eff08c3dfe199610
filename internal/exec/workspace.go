package exec

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Workspace is what calls borrow: scratch memory, and the words of device checks. A Runner has
// one. A capture has another one, because its launches run again later, when the Runner may have
// lent the same memory to other calls.
type Workspace struct {
	scratch scratch
	status  statusWords
	lanes   lanes
	// replayed says that launches of a capture have run since its words were read.
	replayed atomic.Bool
	words    bool // A captured call has device checks, so that there are words to read. Attach sets it.
	detached bool // nobody replays it any more, and it is closed when its words were read
}

// capturedSlots is how many device checks a capture may have, besides those of Sequences.
const capturedSlots = 4096

func newWorkspace(dev gpu.Device, align int64, slots int) *Workspace {
	w := &Workspace{}
	w.scratch.dev = dev
	w.status.dev, w.status.stride, w.status.slots = dev, align, slots
	for i := range w.lanes.lane {
		l := &w.lanes.lane[i].statusWords
		l.dev, l.stride, l.slots = dev, align, slots
	}
	return w
}

// Close frees the memory of the Workspace. Work that was submitted still finishes.
func (w *Workspace) Close() error {
	if w == nil || w.status.dev == nil {
		return nil
	}
	return errors.Join(w.status.close(), w.lanes.close(), w.scratch.trim(0))
}

// pending reports whether there are checks that nobody has read.
func (w *Workspace) pending() bool {
	any := w.status.pending()
	for i := range w.lanes.lane {
		any = any || w.lanes.lane[i].pending()
	}
	return any
}

// Replayed says that the launches that were recorded with the Workspace are being submitted. The
// next Sync or Read reads the words of their checks. A check that has found an error leaves its
// outputs as they are until then.
func (w *Workspace) Replayed() {
	if w != nil && w.words {
		w.replayed.Store(true)
	}
}

// Capture gives all calls from now on a Workspace of their own, until Restore. dev is where it allocates, and reads the words of checks. Both are nil for a Runner
// that New did not make.
func (r *Runner) Capture(dev gpu.Device) (own, before *Workspace) {
	if r.ready() != nil {
		return nil, nil
	}
	own = newWorkspace(dev, r.align, capturedSlots)
	own.status.replayed = &own.replayed
	for i := range own.lanes.lane {
		own.lanes.lane[i].replayed = &own.replayed
	}
	return own, r.work.Swap(own)
}

// Restore gives calls the Workspace back that they had before Capture.
func (r *Runner) Restore(before *Workspace) {
	if r.ready() == nil && before != nil && before.status.dev != nil {
		r.work.Store(before)
	}
}

// Replayed says that a capture is being submitted, which may write any buffer: what a later Read reads may depend on all device checks before.
func (r *Runner) Replayed() {
	if r.ready() == nil {
		r.captured.replays.Add(1)
	}
}

// Attach lets Sync and Read find the errors of the checks of a captured Workspace, until Detach.
func (r *Runner) Attach(w *Workspace) {
	if r.ready() == nil && w != nil {
		w.words = w.status.used()
		for i := range w.lanes.lane {
			w.words = w.words || w.lanes.lane[i].used()
		}
		r.captured.add(w)
	}
}

// Detach undoes Attach, and closes the Workspace: at once, or when the errors of its last replays were read.
func (r *Runner) Detach(w *Workspace) error {
	if err := r.ready(); err != nil {
		return errors.Join(err, w.Close())
	}
	if r.captured.remove(w) {
		return nil
	}
	return w.Close()
}

// WithChecksOf shares the device checks of another Runner of the same device, and the captured Workspaces: Sync and Read of both find the errors of all of them.
// beside is where the Runner allocates what calls borrow, and reads the words of checks. It is the device of the other one, also while a capture is recorded.
func WithChecksOf(of *Runner, beside gpu.Device) Option {
	return func(r *Runner) {
		if of.ready() == nil && !errs.Nil(beside) {
			w := newWorkspace(beside, r.align, statusSlots)
			r.work.Store(w)
			r.captured = of.captured
			r.captured.share(w)
		}
	}
}

// captured are the Workspaces of captures, and those of the Runners that share them.
type captured struct {
	replays atomic.Uint64 // counts Replayed of the Runners that share them
	mu      sync.Mutex
	list    []*Workspace
	runners []*Workspace // of calls that are not recorded
}

// share adds the Workspace of a Runner, until unshare.
func (c *captured) share(w *Workspace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.runners = append(c.runners, w)
}

// unshare takes a Workspace out again. If others are left that can return the errors of its checks, it stays until they were read, and later reports true.
func (c *captured) unshare(w *Workspace) (later bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.Index(c.runners, w)
	if i < 0 { // it was closed before
		return false
	}
	c.runners = slices.Delete(c.runners, i, i+1)
	if len(c.runners) == 0 || !w.pending() {
		return false
	}
	w.detached = true
	w.replayed.Store(true)
	c.list = append(c.list, w)
	return true
}

func (c *captured) add(w *Workspace) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.list = append(c.list, w)
}

// remove takes a Workspace out of the list, unless its words are still to be read: then it stays, and later reports true.
func (c *captured) remove(w *Workspace) (later bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if w != nil && w.replayed.Load() && slices.Contains(c.list, w) {
		w.detached = true
		return true
	}
	c.list = slices.DeleteFunc(c.list, func(x *Workspace) bool { return x == w })
	return false
}

// collect returns the errors that the checks of replays have found, and those of all Runners but the one that own belongs to, each once. What another Runner has written
// has no marks in own, so all its checks are waited for.
func (c *captured) collect(ctx context.Context, own *Workspace) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var found []error
	for _, w := range c.runners {
		if w == own {
			continue
		}
		if err := errors.Join(w.status.collect(ctx, nil), w.lanes.collect(ctx, 0, 0)); err != nil {
			found = append(found, err)
		}
	}
	defer func() {
		c.list = slices.DeleteFunc(c.list, func(w *Workspace) bool {
			if !w.detached || w.replayed.Load() {
				return false
			}
			_ = w.Close() // it fails on a device that is closed or lost, which every later call says
			return true
		})
	}()
	for _, w := range c.list {
		if !w.replayed.Swap(false) {
			continue
		}
		err := w.status.collect(ctx, nil)
		for i := range w.lanes.lane {
			err = errors.Join(err, w.lanes.lane[i].collect(ctx, nil))
		}
		if err != nil {
			w.replayed.Store(true) // perhaps not all were read
			found = append(found, err)
		}
	}
	return errors.Join(found...)
}
