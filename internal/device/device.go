// Package device is what every gpu.Device over a driver does in the same way,
// whatever the driver: its lifecycle and errors (Life), its buffers by handle
// (Buffers), modules that are compiled once (Compiled), the memory of a Submit that
// the next one uses again (Scratch), large copies, and the choice among adapters.
// It calls no driver: packages vk and wgpu do.
package device

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// DoomedBytes is how much freed memory may wait for pending work, in bytes. Alloc
// waits for that work when there is more. Without the bound a program that allocates,
// submits and frees in a loop would run ahead of the device until memory is full.
const DoomedBytes = 256 << 20

// Life is the lifecycle of a device and the lock that guards the device. Every method
// of a gpu.Device is an operation: it begins with Begin and ends with End. Init makes
// a Life ready for use. All methods but Begin, Init and Close want the lock held.
type Life struct {
	sync.Mutex

	// Changed is signalled when an operation ends while the device is closing, and
	// when the device is lost. The device signals it for its own conditions too.
	Changed sync.Cond

	// LookForLoss asks the driver whether the device is lost, and calls Note if so.
	// It is nil where the driver's calls say so themselves. Begin calls it.
	LookForLoss func()

	info    *gpu.Info
	failed  error // the first error of submitted work, until TakeError returns it
	lost    error // the error that lost the device, or nil
	active  int   // the number of operations under way
	closing bool  // Close has begun

	closer       closer
	closeTimeout time.Duration // negative: no bound
}

// Init prepares l for the device that info describes. Close waits for closeTimeout
// at most, or without a bound if that is negative.
func (l *Life) Init(info *gpu.Info, closeTimeout time.Duration) {
	l.info, l.closeTimeout = info, closeTimeout
	l.Changed.L = &l.Mutex
}

// Begin locks the device for an operation. End must follow. The operation may release
// the lock in between, by Unlocked or by a wait.
// Errors: ErrClosed; the error that lost the device.
func (l *Life) Begin() error {
	l.Lock()
	if l.LookForLoss != nil && !l.closing && l.lost == nil {
		l.LookForLoss()
	}
	err := l.lost
	if l.closing {
		err = fmt.Errorf("%s: %w", l.info.Backend, gpu.ErrClosed)
	}
	if err != nil {
		l.Unlock()
		return err
	}
	l.active++
	return nil
}

// End ends an operation that returns *err, and releases the lock. An error that says
// that the device is lost is noted.
func (l *Life) End(err *error) {
	if l.lost == nil && errors.Is(*err, gpu.ErrDeviceLost) {
		l.Note(*err)
	}
	l.active--
	if l.closing {
		l.Changed.Broadcast()
	}
	l.Unlock()
}

// Unlocked calls f without the lock. It takes the lock again however f ends, also in
// a panic, because the deferred calls of the operation rely on it.
func (l *Life) Unlocked(f func() error) error {
	l.Unlock()
	defer l.Lock()
	return f()
}

// Note keeps err for TakeError if it is the first error of submitted work. An error
// that wraps ErrDeviceLost loses the device.
func (l *Life) Note(err error) {
	if l.lost == nil && errors.Is(err, gpu.ErrDeviceLost) {
		l.lost = err
		l.Changed.Broadcast()
	}
	if l.failed == nil {
		l.failed = err
	}
}

// Withdraw forgets err if Note keeps it. The operation that caused err returns it
// itself.
func (l *Life) Withdraw(err error) {
	if l.failed == err {
		l.failed = nil
	}
}

// Lost is the error that lost the device, or nil.
func (l *Life) Lost() error { return l.lost }

// Failed is the first error of submitted work that TakeError has not returned yet, or
// nil.
func (l *Life) Failed() error { return l.failed }

// TakeError returns the first error of the work submitted so far, once. On a lost
// device it always returns an error.
func (l *Life) TakeError() error {
	err := l.failed
	l.failed = nil
	if err == nil {
		err = l.lost
	}
	return err
}

// Wait waits until Changed is signalled or ctx ends. It releases the lock during the
// wait.
// Errors: ctx.Err().
func (l *Life) Wait(ctx context.Context) error { return wait(ctx, &l.Changed) }

// Await waits until ready reports true or ctx ends. It calls ready with the lock
// held, each time Changed is signalled.
// Errors: ctx.Err().
func (l *Life) Await(ctx context.Context, ready func() bool) error {
	for !ready() {
		if err := l.Wait(ctx); err != nil {
			return err
		}
	}
	return nil
}

// StopOperations lets no new operation begin, and waits for the running ones.
func (l *Life) StopOperations() {
	l.closing = true
	for l.active > 0 {
		l.Changed.Wait()
	}
}

// Close runs shut on a goroutine of its own and waits for it, but no longer than the
// timeout given to Init. shut must call StopOperations first. A later Close does not
// run shut again: it waits for it once more.
//
// pending describes the work and the memory that are still there, such as "2 batches
// of work, 3 buffers of 48 bytes". It is called with the lock held, when the time is
// over and the lock is free.
//
// Errors: the error of shut, once; an error that wraps context.DeadlineExceeded and
// says what stays behind, when the time is over.
func (l *Life) Close(shut func() error, pending func() string) error {
	return l.closer.close(l.closeTimeout, shut, func() error {
		what := ""
		if l.TryLock() { // an operation that waits for the driver may hold the lock for good
			what = fmt.Sprintf(" %s, %d operations under way,", pending(), l.active)
			l.Unlock()
		}
		return fmt.Errorf("%s: close: work has not ended within %v: %w; left behind until it does:%s the driver's objects and threads for %s",
			l.info.Backend, l.closeTimeout, context.DeadlineExceeded, what, l.info.Name)
	})
}
