// Package faulty wraps a gpu.Device and makes chosen calls fail, so that tests can check
// how errors are handled.
package faulty

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
)

// Call is a method of gpu.Device that can fail.
type Call int

// These are the calls in the order in which gpu.Device declares them, and those of gpu.Preparer. Any stands for all
// of them together.
const (
	Any Call = iota
	Alloc
	Free
	Write
	Read
	Submit
	Sync
	Close
	Prepare // gpu.Preparer
	Replay  // Submit of a gpu.Prepared
	calls   // the number of calls
)

var names = [calls]string{"any", "alloc", "free", "write", "read", "submit", "sync", "close", "prepare", "replay"}

// String returns the method's name in lower case.
func (c Call) String() string {
	if c < 0 || c >= calls {
		return fmt.Sprintf("call(%d)", int(c))
	}
	return names[c]
}

// Device is a gpu.Device of which some calls fail.
type Device struct {
	inner gpu.Device

	mu     sync.Mutex
	count  [calls]int
	faults []fault
	lost   bool
}

// fault is a call that has to fail.
type fault struct {
	call Call
	// at is the value of count[call] at which the call fails.
	at  int
	err error
}

// New wraps inner. Until Fail is called it only counts. Close closes inner.
func New(inner gpu.Device) *Device { return &Device{inner: inner} }

// Fail makes the n-th call c from now on return err. n = 1 is the next call. The inner
// device does not get the call that fails, but a Close that fails still closes it. If err
// matches gpu.ErrDeviceLost, every later call except Close returns ErrDeviceLost too.
func (d *Device) Fail(c Call, n int, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.faults = append(d.faults, fault{c, d.count[c] + n, err})
}

// Calls returns the number of calls of a method, including failed ones.
func (d *Device) Calls(c Call) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.count[c]
}

// Pending returns the number of planned failures that have not happened yet. If it is not
// 0 at the end of a test, the test has not tested all that it planned.
func (d *Device) Pending() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.faults)
}

// countCall counts a call. It returns the error with which the call must fail, or nil.
func (d *Device) countCall(c Call) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.count[Any]++
	d.count[c]++
	var err error
	for i := 0; i < len(d.faults); {
		f := d.faults[i]
		if f.call != Any && f.call != c || f.at != d.count[f.call] {
			i++
			continue
		}
		d.faults = append(d.faults[:i], d.faults[i+1:]...)
		if err == nil {
			err = fmt.Errorf("faulty: %v %d: %w", c, d.count[c], f.err)
		}
	}
	if d.lost && c != Close {
		return fmt.Errorf("faulty: %v: %w", c, gpu.ErrDeviceLost)
	}
	d.lost = d.lost || errors.Is(err, gpu.ErrDeviceLost)
	return err
}

// Info returns that of the inner device. It never fails and is not counted.
func (d *Device) Info() *gpu.Info { return d.inner.Info() }

// Alloc calls Alloc of the inner device, unless the call has to fail.
func (d *Device) Alloc(size int64) (gpu.Handle, error) {
	if err := d.countCall(Alloc); err != nil {
		return 0, err
	}
	return d.inner.Alloc(size)
}

// Free calls Free of the inner device, unless the call has to fail.
func (d *Device) Free(h gpu.Handle) error {
	if err := d.countCall(Free); err != nil {
		return err
	}
	return d.inner.Free(h)
}

// Write calls Write of the inner device, unless the call has to fail.
func (d *Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	if err := d.countCall(Write); err != nil {
		return err
	}
	return d.inner.Write(ctx, h, offset, data)
}

// Read calls Read of the inner device, unless the call has to fail.
func (d *Device) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	if err := d.countCall(Read); err != nil {
		return err
	}
	return d.inner.Read(ctx, h, offset, dst)
}

// Submit calls Submit of the inner device, unless the call has to fail.
func (d *Device) Submit(list []gpu.Dispatch) error {
	if err := d.countCall(Submit); err != nil {
		return err
	}
	return d.inner.Submit(list)
}

// Sync calls Sync of the inner device, unless the call has to fail.
func (d *Device) Sync(ctx context.Context) error {
	if err := d.countCall(Sync); err != nil {
		return err
	}
	return d.inner.Sync(ctx)
}

// StartTrace calls StartTrace of the inner device. It is not counted, and Fail does not
// affect it.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) error {
	return gpu.StartTrace(d.inner, now, sink)
}

// Close closes the inner device, even if the call has to fail.
func (d *Device) Close() error {
	return errors.Join(d.countCall(Close), d.inner.Close())
}
