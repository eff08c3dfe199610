//go:build !nowgpu && cgo

package wgpu

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/internal/cond"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Built reports whether this build has WebGPU in it.
const Built = true

// Device is a gpu.Device over WebGPU. Make one with Open.
type Device struct {
	info       gpu.Info
	align      int64         // of a uniform binding's offset
	c          *C.lwg_device // in C memory, as all that C keeps pointers in
	table      *handles.Table[*buffer]
	size       func(gpu.Handle) (int64, error) // bytes of a live buffer, for Dispatch.CheckLaunch
	pipes      pipelines
	patch      pipeline // see patch.go
	patchOnce  sync.Mutex
	paramAlign int64 // of parameters

	// order makes a Submit that spans batches one step for other Submits.
	order sync.Mutex

	// mu guards all below, every buffer, and the calls that make objects: the
	// library's errors come without a word of which call they belong to. changed
	// is signalled when a submission or an operation ends.
	mu      sync.Mutex
	changed sync.Cond

	rec      batch     // being recorded
	inflight []*flight // submitted, oldest first
	spare    []*flight
	done     uint64            // number of the last batch finished
	polling  bool              // a goroutine waits for the oldest flight
	flushAt  int               // flushCount, but for tests
	queued   int64             // bytes written since the last submission
	room     int               // bytes of parameters the library has memory for
	doomed   int64             // bytes of freed buffers that pending work still uses
	dummy    [useKinds]*buffer // bound in place of empty ranges, by use
	staging  []*staging

	failed  error // first error of submitted work, until a Sync or Read takes it
	lost    error // not nil once the device is lost
	active  int   // operations under way
	closing bool
	scratch []*scratch

	closer       cond.Closer
	closeTimeout time.Duration // negative: none
}

// objects counts what lives in the native library, for tests.
var objects struct{ devices, buffers, pipelines, flights atomic.Int64 }

// fault makes calls of the library fail, for tests: given a call's name, it
// returns the error the call is to have.
var fault atomic.Pointer[func(name string) error]

func injected(name string) error {
	if f := fault.Load(); f != nil {
		return (*f)(name)
	}
	return nil
}

// Open opens the adapter that opts select. ctx bounds nothing but the start:
// the library's own calls cannot be interrupted.
//
// Errors: ErrNoDevice, saying what was looked for and how to get a device;
// ErrOutOfMemory; ErrInvalidArgument (LATHE_WGPU_API); ctx.Err().
func Open(ctx context.Context, opts Options) (*Device, error) {
	e, err := Enumerate(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	infos := e.Infos()
	selector, _ := gpu.Selector(opts.Device)
	i, err := gpu.Choose(infos, opts.Device)
	if err != nil {
		return nil, err
	}
	if infos[i].Kind == gpu.CPU && selector == "" {
		warn := opts.Warn
		if warn == nil {
			warn = func(s string) { fmt.Fprintln(os.Stderr, s) }
		}
		warn(gpu.OnlyCPU(&infos[i]))
	}
	return e.Open(ctx, i)
}

// open makes a device of an adapter.
func open(a *adapter, opts Options) (*Device, error) {
	d := &Device{info: a.info, align: a.align, paramAlign: max(a.align, a.info.Limits.OffsetAlign), closeTimeout: gpu.CloseTimeout(opts.CloseTimeout)}
	d.changed.L = &d.mu
	d.rec.seq, d.flushAt = 1, flushCount
	d.table = handles.New(d.release)
	d.size = func(h gpu.Handle) (int64, error) {
		b, err := d.table.Get(h)
		if err != nil {
			return 0, err
		}
		return b.size, nil
	}
	if err := injected("wgpuAdapterRequestDevice"); err != nil {
		return nil, err
	}
	const size = 1024
	why := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(why))
	if d.c = C.lwg_open(a.handle, &a.limits, why, size); d.c == nil {
		return nil, fmt.Errorf("wgpu: open %s: %w: %s", a.info.Name, gpu.ErrNoDevice, C.GoString(why))
	}
	objects.devices.Add(1)
	d.mu.Lock()
	defer d.mu.Unlock()
	err := d.take("open")
	for i := range d.dummy {
		if err == nil {
			d.dummy[i], err = d.newBuffer(gpu.Unit)
		}
	}
	if err != nil {
		d.destroy()
		return nil, err
	}
	return d, nil
}

// Info describes the device. It never changes and costs nothing.
func (d *Device) Info() *gpu.Info { return &d.info }

// take returns the error the library reported since the last call, if any, as
// that of the call what. The caller holds mu.
func (d *Device) take(what string) error {
	if err := injected(what); err != nil {
		return err
	}
	const size = 4096
	var text *C.char
	if kind := C.lwg_error(d.c); kind == C.LWG_ERROR_NONE {
		return d.checkLost()
	}
	text = (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	kind := C.lwg_take(d.c, text, size)
	if err := d.checkLost(); err != nil {
		return err
	}
	why := explain(C.GoString(text))
	is := gpu.ErrUnsupported
	// Memory that the driver refuses is a validation error by its kind, and what
	// it is by its text.
	if kind == C.LWG_ERROR_OUT_OF_MEMORY || strings.Contains(why, "Not enough memory left") {
		is = gpu.ErrOutOfMemory
	}
	return fmt.Errorf("wgpu: %s: %w: %s", what, is, why)
}

// checkLost takes note if the device is lost. The caller holds mu.
func (d *Device) checkLost() error {
	if d.lost != nil {
		return d.lost
	}
	const size = 1024
	if C.lwg_lost(d.c, nil, 0) == 0 {
		return nil
	}
	text := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	C.lwg_lost(d.c, text, size)
	d.lost = fmt.Errorf("wgpu: %w: %s", gpu.ErrDeviceLost, explain(C.GoString(text)))
	if d.failed == nil {
		d.failed = d.lost
	}
	d.changed.Broadcast()
	return d.lost
}

// begin locks the device for an operation; end must follow, also after an
// unlock and lock in between. It fails once the device is closed or lost.
func (d *Device) begin() error {
	d.mu.Lock()
	err := d.lost
	if d.closing {
		err = fmt.Errorf("wgpu: %w", gpu.ErrClosed)
	} else if err == nil {
		err = d.checkLost()
	}
	if err != nil {
		d.mu.Unlock()
		return err
	}
	d.active++
	return nil
}

func (d *Device) end() {
	d.active--
	if d.closing {
		d.changed.Broadcast()
	}
	d.mu.Unlock()
}

// unlocked calls f without mu, which it takes again however f ends: also in a panic,
// for the deferred calls of those above rely on it. The caller holds mu.
func (d *Device) unlocked(f func() error) error {
	d.mu.Unlock()
	defer d.mu.Lock()
	return f()
}

// note keeps the first error of submitted work. The caller holds mu.
func (d *Device) note(err error) {
	if d.failed == nil {
		d.failed = err
	}
}

// takeError returns, once, what went wrong in the work submitted so far, or what
// the library has reported besides. The caller holds mu.
func (d *Device) takeError() error {
	err := d.failed
	d.failed = nil
	if err == nil {
		err = d.take("earlier work")
	}
	return err
}

// Sync waits until all submitted work is done and returns its first error.
func (d *Device) Sync(ctx context.Context) error {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if err := d.begin(); err != nil {
		return err
	}
	defer d.end()
	// First for what is under way: a submission behind it might block, and that
	// no context could end.
	if err := d.wait(ctx, d.rec.seq); err != nil {
		return err
	}
	seq, failed := d.flushOwn()
	if failed == nil {
		if err := d.wait(ctx, seq); err != nil {
			return err
		}
	}
	if err := d.takeError(); err != nil {
		return err
	}
	return failed
}

// isDummy reports whether b is bound in place of empty ranges.
func (d *Device) isDummy(b *buffer) bool { return slices.Contains(d.dummy[:], b) }

// Close waits for submitted work and gives back everything, as far as that ends
// within Options.CloseTimeout: else it returns an error that wraps
// context.DeadlineExceeded and says what is left behind. That is given back if
// the work ends after all. Closing twice is harmless. Close returns an error of
// the work that no Sync or Read has returned.
func (d *Device) Close() error {
	return d.closer.Close(d.closeTimeout, d.shut, d.leftBehind)
}

// leftBehind is the error of a Close that has waited long enough.
func (d *Device) leftBehind() error {
	what := ""
	if d.mu.TryLock() { // who waits for the driver with the lock held says no more
		var bytes int64
		live := d.table.Live()
		for _, h := range live {
			if b, err := d.table.Get(h); err == nil {
				bytes += b.size
			}
		}
		what = fmt.Sprintf(" %d submissions, %d operations under way, %d buffers of %d bytes,", len(d.inflight), d.active, len(live), bytes)
		d.mu.Unlock()
	}
	return fmt.Errorf("wgpu: close: work has not ended within %v: %w; left behind until it does:%s the library's objects and the driver's threads for %s",
		d.closeTimeout, context.DeadlineExceeded, what, d.info.Name)
}

// shut is Close without a bound.
func (d *Device) shut() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closing = true
	for d.active > 0 {
		d.changed.Wait()
	}
	seq, _ := d.flush() // errors of the work are in failed
	_ = d.wait(context.Background(), seq)
	for d.polling {
		d.changed.Wait()
	}
	err := d.failed
	d.destroy()
	leave()
	return err
}

// destroy gives back all that open and use have made. The caller holds mu.
func (d *Device) destroy() {
	d.pipes.destroy()
	d.patch.destroy()
	for _, h := range d.table.Live() {
		_ = d.table.Free(h) // live a moment ago, and nothing else runs
	}
	for _, s := range d.staging {
		s.destroy()
	}
	for _, b := range d.dummy {
		if b != nil {
			d.release(b)
		}
	}
	C.lwg_close(d.c)
	objects.devices.Add(-1)
	for _, f := range append(d.inflight, d.spare...) {
		f.destroy()
	}
	d.inflight, d.spare, d.staging = nil, nil, nil
}

// upset makes the library report an error that belongs to no call, for tests.
func (d *Device) upset() {
	C.lwg_buffer_release(C.lwg_buffer(d.c, 16, C.LWG_USAGE_MAP_READ|C.LWG_USAGE_STORAGE))
}

// lose loses the device, for tests.
func (d *Device) lose() { C.lwg_lose(d.c) }
