//go:build !novk && cgo

package vk

/*
#include <stdlib.h>
#include "loader.h"
#include "query.h"
#include "batch.h"
*/
import "C"

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"unsafe"

	vulkan "github.com/vulkan-go/vulkan"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Built reports whether this build has Vulkan in it.
const Built = true

// Device is a gpu.Device over Vulkan. Make one with Open.
type Device struct {
	inst *instance
	phys physical
	dev  vulkan.Device
	fn   *C.lvk_device // in C memory, as all that C keeps pointers in
	warn func(string)

	table device.Buffers[*buffer]
	size  func(gpu.Handle) (int64, error) // bytes of a live buffer, for Dispatch.CheckLaunch

	pipes device.Compiled[plain, *pipeline] // by the code of their modules
	cache diskCache                         // what the driver compiled in earlier runs

	// order makes a Submit that spans batches one step for other Submits.
	order sync.Mutex

	// life's lock guards all below, every buffer, and the queue. life.Changed is
	// signalled when a host copy ends, an operation ends, or a batch becomes free.
	life device.Life

	pool    pool
	staging stagingRing
	dummy   *buffer // bound in place of empty ranges

	rec      *batch       // being recorded, nil if none
	inflight []*batch     // submitted, oldest first
	spare    []*batch     // ready for recording
	batches  []*batch     // all
	next     uint64       // number of the last batch begun
	done     uint64       // number of the last batch finished
	epoch    uint64       // see hazard.go
	orphans  []gpu.Handle // pins of work that a lost device may or may not have done
	doomed   int64        // bytes of buffers freed while work that uses them is pending
	trace    *tracing     // not nil while a sink wants to know; see trace.go

	scratch device.Scratches[*pipeline, use]
}

// Open opens the device that opts select. ctx bounds nothing but the start:
// the driver's own calls cannot be interrupted.
//
// Errors: ErrNoDevice, saying what was looked for and how to get a device;
// ErrUnsupported where validation is asked for and the layer is missing;
// ErrOutOfMemory; ctx.Err().
func Open(ctx context.Context, opts Options) (*Device, error) {
	e, err := Enumerate(ctx, opts)
	if err != nil {
		return nil, err
	}
	defer e.Close()
	i, err := device.Choose(e.infos, opts.Device, e.opts.Warn)
	if err != nil {
		return nil, err
	}
	return e.Open(ctx, i)
}

// open makes a device of a physical one. The device gives the instance back when it
// is closed, and open does not if it fails.
func open(inst *instance, phys physical, opts Options) (*Device, error) {
	d := &Device{inst: inst, phys: phys, warn: opts.Warn, cache: openCache(opts)}
	d.life.Init(&d.phys.info, gpu.CloseTimeout(opts.CloseTimeout))
	d.table = device.NewBuffers(d.release)
	d.size = d.table.Size
	if err := d.create(); err != nil {
		d.destroy()
		return nil, err
	}
	return d, nil
}

// create makes the logical device and all that Open provides.
func (d *Device) create() error {
	p := &d.phys
	info := C.lvk_device_create_info(&p.query, C.uint32_t(p.version), C.uint32_t(p.family))
	if info == nil {
		return check("vkCreateDevice", outOfHostMemory)
	}
	defer C.lvk_free_device_create_info(info)
	var dev vulkan.Device
	err := call("vkCreateDevice", func() vulkan.Result {
		return vulkan.CreateDevice(p.handle, vulkan.NewDeviceCreateInfoRef(info), nil, &dev)
	})
	if err != nil {
		return err
	}
	d.dev = dev
	objects.devices.Add(1)
	if d.fn = (*C.lvk_device)(C.calloc(1, C.sizeof_lvk_device)); d.fn == nil {
		return check("open", outOfHostMemory)
	}
	var queue vulkan.Queue
	vulkan.GetDeviceQueue(d.dev, p.family, 0, &queue)
	name := C.CString("vkGetDeviceProcAddr")
	defer C.free(unsafe.Pointer(name))
	get := C.lvk_instance_proc(d.inst.gipa, d.inst.pointer(), name)
	if missing := C.lvk_device_init(d.fn, unsafe.Pointer(d.dev), unsafe.Pointer(queue), get); missing != nil {
		return fmt.Errorf("vk: open: %w: the driver has no %s", gpu.ErrUnsupported, C.GoString(missing))
	}
	buffers, staging, err := p.memoryKinds(d.dev, os.Getenv("LATHE_VK_STAGING") == "1")
	if err != nil {
		return err
	}
	d.pool = pool{dev: d.dev, kind: buffers, align: p.minAlign}
	d.staging = stagingRing{kind: staging}
	d.epoch = 1
	for range batchCount {
		b, err := d.newBatch()
		if err != nil {
			return err
		}
		d.batches = append(d.batches, b)
		d.spare = append(d.spare, b)
	}
	d.life.Lock()
	defer d.life.Unlock()
	d.dummy, err = d.newBuffer(p.minAlign)
	return err
}

// Info describes the device. It never changes and costs nothing.
func (d *Device) Info() *gpu.Info { return &d.phys.info }

// takeError returns, once, what went wrong in the work submitted so far, and what the
// validation layer has said since.
func (d *Device) takeError() error {
	err := d.life.TakeError()
	if said := d.inst.messages.take(); said != nil {
		err = errors.Join(err, said)
	}
	return err
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
	if err := d.wait(ctx, d.next); err != nil {
		return err
	}
	return d.takeError()
}

// Close waits for submitted work and gives back everything, as far as that ends
// within Options.CloseTimeout: else it returns an error that wraps
// context.DeadlineExceeded and says what is left behind. That is given back if
// the work ends after all. Closing twice is harmless. Close returns an error of
// the work that no Sync or Read has returned, and with validation whatever the
// layer has to say, objects left included.
func (d *Device) Close() error {
	return d.life.Close(d.shut, func() string {
		buffers, bytes := d.table.Total()
		return fmt.Sprintf("%d batches of work, %d buffers of %d bytes", len(d.inflight), buffers, bytes)
	})
}

// shut is Close without a bound.
func (d *Device) shut() error {
	d.life.Lock()
	d.life.StopOperations()
	_ = d.wait(context.Background(), d.next) // Failed has the errors of the work
	err := d.life.Failed()
	d.life.Unlock()

	d.destroy()
	d.inst.release()
	return errors.Join(err, d.inst.messages.take())
}

// destroy gives back all that create made, as far as it came.
func (d *Device) destroy() {
	if d.dev == nil {
		return
	}
	d.life.Lock()
	defer d.life.Unlock()
	vulkan.DeviceWaitIdle(d.dev) // a lost device, or one that could not be waited for, may still be at work
	for len(d.inflight) > 0 {
		d.retire()
	}
	d.unpin(d.orphans)
	d.pipes.Drain(func(p *pipeline) { p.destroy(d.fn) })
	d.table.FreeAll()
	if d.dummy != nil {
		d.release(d.dummy)
	}
	for _, b := range d.batches {
		d.destroyBatch(b)
	}
	d.staging.destroy(d.dev)
	d.pool.destroy()
	vulkan.DestroyDevice(d.dev, nil)
	objects.devices.Add(-1)
	C.free(unsafe.Pointer(d.fn))
	d.dev, d.fn = nil, nil
}
