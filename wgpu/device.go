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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Built reports whether this build has WebGPU in it.
const Built = true

// Device is a gpu.Device over WebGPU. Make one with Open.
type Device struct {
	info       gpu.Info
	align      int64         // of a uniform binding's offset
	c          *C.lwg_device // in C memory, as all that C keeps pointers in
	table      device.Buffers[*buffer]
	size       func(gpu.Handle) (int64, error)      // bytes of a live buffer, for Dispatch.CheckLaunch
	pipes      device.Compiled[aliasing, *pipeline] // by the code of their modules
	patch      pipeline                             // see patch.go
	patchOnce  sync.Mutex
	paramAlign int64 // of parameters

	// order makes a Submit that spans batches one step for other Submits.
	order sync.Mutex

	// life's lock guards all below, every buffer, and the calls that make objects: the
	// library's errors come without a word of which call they belong to. life.Changed is
	// signalled when a submission or an operation ends.
	life device.Life

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

	scratch device.Scratches[*pipeline, use]
}

// objects counts what lives in the native library, for tests.
var objects struct{ devices, buffers, pipelines, flights atomic.Int64 }

// fault makes calls of the library fail, for tests: given a call's name, it
// returns the error the call is to have.
var fault device.Faults[error]

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
	i, err := device.Choose(e.Infos(), opts.Device, device.Warner(opts.Warn))
	if err != nil {
		return nil, err
	}
	return e.Open(ctx, i)
}

// open makes a device of an adapter.
func open(a *adapter, opts Options) (*Device, error) {
	d := &Device{info: a.info, align: a.align, paramAlign: max(a.align, a.info.Limits.OffsetAlign)}
	d.life.Init(&d.info, gpu.CloseTimeout(opts.CloseTimeout))
	d.life.LookForLoss = func() { _ = d.checkLost() }
	d.rec.seq, d.flushAt = 1, flushCount
	d.table = device.NewBuffers(d.release)
	d.size = d.table.Size
	if err := fault.Result("wgpuAdapterRequestDevice"); err != nil {
		return nil, err
	}
	const size = 1024
	why := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(why))
	if d.c = C.lwg_open(a.handle, &a.limits, why, size); d.c == nil {
		return nil, fmt.Errorf("wgpu: open %s: %w: %s", a.info.Name, gpu.ErrNoDevice, C.GoString(why))
	}
	objects.devices.Add(1)
	d.life.Lock()
	defer d.life.Unlock()
	err := d.libraryError("open")
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

// libraryError returns the error the library reported since the last call, if any, as
// that of the call what. The caller holds the lock.
func (d *Device) libraryError(what string) error {
	if err := fault.Result(what); err != nil {
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

// checkLost asks the library whether the device is lost, and takes note if so. The
// caller holds the lock.
func (d *Device) checkLost() error {
	if err := d.life.Lost(); err != nil {
		return err
	}
	const size = 1024
	if C.lwg_lost(d.c, nil, 0) == 0 {
		return nil
	}
	text := (*C.char)(C.calloc(1, size))
	defer C.free(unsafe.Pointer(text))
	C.lwg_lost(d.c, text, size)
	d.life.Note(fmt.Errorf("wgpu: %w: %s", gpu.ErrDeviceLost, explain(C.GoString(text))))
	return d.life.Lost()
}

// takeError returns, once, what went wrong in the work submitted so far, or what the
// library has reported besides. The caller holds the lock.
func (d *Device) takeError() error {
	if err := d.life.TakeError(); err != nil {
		return err
	}
	return d.libraryError("earlier work")
}

// Sync waits until all submitted work is done and returns its first error.
func (d *Device) Sync(ctx context.Context) (err error) {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if err := d.life.Begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
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
	return d.life.Close(d.shut, func() string {
		buffers, bytes := d.table.Total()
		return fmt.Sprintf("%d submissions, %d buffers of %d bytes", len(d.inflight), buffers, bytes)
	})
}

// shut is Close without a bound.
func (d *Device) shut() error {
	d.life.Lock()
	defer d.life.Unlock()
	d.life.StopOperations()
	seq, _ := d.flush() // Failed has the errors of the work
	_ = d.wait(context.Background(), seq)
	for d.polling {
		d.life.Changed.Wait()
	}
	err := d.life.Failed()
	d.destroy()
	leave()
	return err
}

// destroy gives back all that open and use have made. The caller holds the lock.
func (d *Device) destroy() {
	d.pipes.Drain((*pipeline).destroy)
	d.patch.destroy()
	d.table.FreeAll()
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
