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
	"time"
	"unsafe"

	vulkan "github.com/vulkan-go/vulkan"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Built reports whether this build has Vulkan in it.
const Built = true

// Device is a gpu.Device over Vulkan. Make one with Open. Methods of any other Device return
// ErrNotInitialized.
type Device struct {
	inst *instance
	phys physical
	dev  vulkan.Device
	fn   *C.lvk_device // the driver's functions; in C memory, because C keeps pointers in it
	warn func(string)

	table device.Buffers[*buffer]
	size  func(gpu.Handle) (int64, error) // the bytes of a live buffer, for Dispatch.CheckLaunch

	pipes device.Compiled[plain, *pipeline] // by the code of their modules
	cache diskCache                         // what the driver compiled in earlier runs

	// order keeps other Submits out while one Submit fills several batches.
	order sync.Mutex

	// life's lock guards all below, every buffer, and the queue. life.Changed is
	// signalled when a host copy ends, an operation ends, or a batch becomes free.
	life device.Life

	pool    pool
	staging stagingRing
	dummy   *buffer // the buffer that is bound in place of empty ranges

	rec      *batch                 // the batch that is being recorded, or nil
	inflight []*batch               // the batches that are submitted, oldest first
	spare    []*batch               // the batches that are ready for recording
	batches  []*batch               // all batches
	next     uint64                 // the number of the last batch begun
	done     uint64                 // the number of the last batch finished
	epoch    uint64                 // the time between two barriers; see hazard.go
	orphans  []gpu.Handle           // the pins of batches that were under way when the device was lost
	doomed   int64                  // the bytes of buffers that were freed while pending work uses them
	lists    map[*prepared]struct{} // the lists of Prepare that were not freed
	dying    []recording            // what was freed of them while it runs
	trace    *tracing               // what is traced, or nil; see trace.go

	spin time.Duration // how long a wait polls before it sleeps

	scratch device.Scratches[*pipeline, use]
	keeps   device.Lists[*pipeline, use] // for lists, without Compile and Gather: look of prepared does more
}

// Open opens the device that opts select. Open checks ctx at its start only, because
// calls of the driver cannot be interrupted.
//
// Errors: ErrNoDevice, saying what was looked for and how to get a device;
// ErrUnsupported if Options.Validation is set and the layer is missing;
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
	if phys.info.Kind != gpu.CPU { // the work of a CPU driver needs the processor
		d.spin = spinTime
	}
	d.table = device.NewBuffers(d.release)
	d.size = d.table.Size
	d.keeps = device.Lists[*pipeline, use]{Life: &d.life, Info: &d.phys.info, Size: d.size, Scratches: &d.scratch}
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
	d.lists = map[*prepared]struct{}{}
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

// ready returns ErrNotInitialized for a Device that Open did not make.
func (d *Device) ready() error {
	if d == nil || d.size == nil {
		return device.NotOpened("vk")
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
	return &d.phys.info
}

// takeError returns the first error of the work submitted so far, and what the
// validation layer has reported. It returns each of them once.
func (d *Device) takeError() error {
	err := d.life.TakeError()
	if said := d.inst.messages.drain(); said != nil {
		err = errors.Join(err, said)
	}
	return err
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
	if err := d.wait(ctx, d.next); err != nil {
		return err
	}
	return d.takeError()
}

// Close waits for submitted work and releases everything. If the work does not end within
// Options.CloseTimeout, Close returns an error that wraps context.DeadlineExceeded and
// says what is left behind. The rest is released when the work ends. Closing twice is
// harmless. Close returns an error of the work that no Sync or Read has returned. With
// validation it also returns what the layer reports, such as objects that are left.
func (d *Device) Close() error {
	if err := d.ready(); err != nil {
		return err
	}
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
	messages := d.inst.messages // After release, another user of the instance may be destroying it.
	d.inst.release()
	return errors.Join(err, messages.drain())
}

// destroy releases all that create has made, also if create failed half-way.
func (d *Device) destroy() {
	if d.dev == nil {
		return
	}
	d.life.Lock()
	defer d.life.Unlock()
	vulkan.DeviceWaitIdle(d.dev) // work may still run, if the device was lost or a wait failed
	for len(d.inflight) > 0 {
		d.retire()
	}
	d.unpin(d.orphans)
	for p := range d.lists {
		p.drop()
	}
	for i := range d.dying { // after a loss some may count as running
		d.destroyRecording(&d.dying[i])
	}
	d.dying = nil
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
