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

// Built reports whether this program was built with WebGPU.
const Built = true

// Device is a gpu.Device over WebGPU. Make one with Open. Methods of any other Device return
// ErrNotInitialized.
type Device struct {
	info       gpu.Info
	align      int64         // the offset of a uniform binding is a multiple of this many bytes
	c          *C.lwg_device // in C memory, because C keeps pointers in it
	table      device.Buffers[*buffer]
	size       func(gpu.Handle) (int64, error)      // returns the bytes of a live buffer, for Dispatch.CheckLaunch
	pipes      device.Compiled[aliasing, *pipeline] // the pipelines, by the code of their modules
	patch      pipeline                             // the shader of patch.go, once it is compiled
	patchOnce  sync.Mutex
	paramAlign int64 // parameters begin at a multiple of this many bytes

	// order is held by a Submit that needs several batches, so that no other Submit
	// comes between them.
	order sync.Mutex

	// life's lock guards all fields below, every buffer, and the calls that make objects.
	// Those calls need it because the library does not say which call an error belongs
	// to. life.Changed is signalled when a submission or an operation ends.
	life device.Life

	rec      batch             // the batch that is being recorded
	inflight []*flight         // submissions that are not finished, oldest first
	spare    []*flight         // finished submissions, to be used again
	done     uint64            // number of the last batch that is finished
	polling  bool              // a goroutine waits for the oldest flight
	flushAt  int               // commands of a full batch: flushCount, or less in tests
	queued   int64             // bytes written since the last submission
	room     int               // bytes of parameters that the library has memory for
	doomed   int64             // bytes of freed buffers that pending work still uses
	dummy    [useKinds]*buffer // buffers that are bound in place of empty ranges, by use
	staging  []*staging        // buffers that reads go through

	scratch device.Scratches[*pipeline, use]
	lists   device.Lists[*pipeline, use]
}

// objects counts what lives in the native library, for tests.
var objects struct{ devices, buffers, pipelines, flights atomic.Int64 }

// fault makes calls of the library fail, for tests. It takes the name of a call and
// returns the error that the call shall have.
var fault device.Faults[error]

// Open opens the adapter that opts select. It looks at ctx only before it starts,
// because the library's own calls cannot be interrupted.
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
	d.lists = device.Lists[*pipeline, use]{
		Life: &d.life, Info: &d.info, Size: d.size, Scratches: &d.scratch, Gather: d.gather,
		Compile: func(s *scratch, list []gpu.Dispatch) error {
			return d.life.Unlocked(func() error { return d.compileAll(s, list) })
		},
	}
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

// ready returns ErrNotInitialized for a Device that Open did not make.
func (d *Device) ready() error {
	if d == nil || d.size == nil {
		return device.NotOpened("wgpu")
	}
	return nil
}

// begin is Begin of life for any Device.
func (d *Device) begin() error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.life.Begin()
}

// Info describes the device. It never changes and costs nothing. The Info of a Device that
// Open did not make is empty.
func (d *Device) Info() *gpu.Info {
	if d == nil {
		return &gpu.Info{}
	}
	return &d.info
}

// libraryError returns the error that the library has reported since the last call, or
// nil. The error names the call what. The caller holds the lock.
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
	// If the driver refuses memory, the library reports a validation error. Only the
	// text of that error says that it is about memory.
	if kind == C.LWG_ERROR_OUT_OF_MEMORY || strings.Contains(why, "Not enough memory left") {
		is = gpu.ErrOutOfMemory
	}
	return fmt.Errorf("wgpu: %s: %w: %s", what, is, why)
}

// checkLost asks the library whether the device is lost, and records it. The caller
// holds the lock.
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

// takeError returns the first error of the work submitted so far, or else an error that
// the library has reported. It returns each error once. The caller holds the lock.
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
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	// Wait first for the work that was submitted before. A submission now might block
	// behind it, and no context can end that.
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

// isDummy reports whether b is one of the buffers that stand in for empty ranges.
func (d *Device) isDummy(b *buffer) bool { return slices.Contains(d.dummy[:], b) }

// Close waits for submitted work and releases everything. It waits no longer than
// Options.CloseTimeout. After that it returns an error that wraps
// context.DeadlineExceeded and says what is left; the rest is released when the work
// ends. Close also returns an error of the work that no Sync or Read has returned.
// Closing twice is harmless.
func (d *Device) Close() error {
	if err := d.ready(); err != nil {
		return err
	}
	return d.life.Close(d.shut, func() string {
		buffers, bytes := d.table.Total()
		return fmt.Sprintf("%d submissions, %d buffers of %d bytes", len(d.inflight), buffers, bytes)
	})
}

// shut does what Close does, without a time limit.
func (d *Device) shut() error {
	d.life.Lock()
	defer d.life.Unlock()
	d.life.StopOperations()
	seq, _ := d.flush() // the errors of the work are in Failed
	_ = d.wait(context.Background(), seq)
	for d.polling {
		d.life.Changed.Wait()
	}
	err := d.life.Failed()
	d.destroy()
	leave()
	return err
}

// destroy releases all objects of the device. The caller holds the lock.
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

// upset makes the library report an error that belongs to no call. It is for tests.
func (d *Device) upset() {
	C.lwg_buffer_release(C.lwg_buffer(d.c, 16, C.LWG_USAGE_MAP_READ|C.LWG_USAGE_STORAGE))
}

// lose loses the device, for tests.
func (d *Device) lose() { C.lwg_lose(d.c) }
