package cpu

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-gpu/lathe/cpu/internal/compile"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// Device is a gpu.Device on the CPU. Make one with Open. Methods of any other Device return
// ErrNotInitialized. It is a gpu.Timer too.
type Device struct {
	info         gpu.Info
	engine       *engine
	mem          *memory
	team         team // worker 0 is whoever has set executing
	table        device.Buffers[*buffer]
	size         func(gpu.Handle) (int64, error)    // returns the bytes of a live buffer, for Dispatch.CheckLaunch
	kernels      device.Compiled[struct{}, *kernel] // by the code of their modules
	translate    func(*spv.Module) (*compile.Kernel, error)
	modules      moduleCache
	closeTimeout time.Duration // negative: no bound
	executor     func()        // is execute. A method value would be made anew each time

	// life's lock guards the fields below and every buffer. life.Changed is signalled when
	// nothing is left to execute, and when a copy of Read or Write ends.
	life device.Life

	heap          *heap
	frames        [33]*span // memory for frames, by the power of two of their size
	queue         *queue    // what is queued
	idle          *queue    // another queue, which is empty. nil while its work runs
	executing     bool      // someone runs what was queued
	seq           uint64    // number of the last list
	waiters       []waiter
	spareDone     []chan struct{}   // for the next waiters
	doomedBuffers []*buffer         // freed, but used by pending work
	doomed        int64             // their bytes
	trace         *device.HostTrace // nil if nothing is traced
	scratch       device.Scratches[*kernel, use]
	lists         device.Lists[*kernel, use]

	finished atomic.Uint64 // number of the last list that has run
	wanted   atomic.Uint64 // number of the first list that someone waits for
	stopping atomic.Bool   // the time of Close is over: nothing else runs

	memoryUse sync.Mutex // held to access the stop word
	released  bool       // the memory is gone. memoryUse guards it
}

// closeGrace is how long Close waits for kernels that it has stopped. Tests change it.
var closeGrace = time.Second

// objects counts what exists, for tests.
var objects struct{ memories, engines, kernels atomic.Int64 }

// open opens a device.
func open(o Options) (*Device, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	ctx := context.Background()
	d := &Device{translate: o.translate, closeTimeout: gpu.CloseTimeout(o.CloseTimeout), queue: new(queue), idle: new(queue)}
	version := o.version
	if d.translate == nil {
		d.translate, version = compile.Compile, compilerVersion()
	}
	dir := cacheDir(&o)
	d.modules = openModules(dir, version)
	d.executor = d.execute
	d.wanted.Store(math.MaxUint64)
	d.team.init(d, o.workers())
	d.table = device.NewBuffers(d.release)
	d.size = d.table.Size
	var err error
	if d.mem, err = newMemory(o.MaxMemory); err != nil {
		return nil, err
	}
	objects.memories.Add(1)
	d.info = describe(d.mem.most, d.team.workers)
	limit := d.closeTimeout
	if limit >= 0 {
		limit += closeGrace
	}
	d.life.Init(&d.info, limit)
	d.lists = device.Lists[*kernel, use]{Life: &d.life, Info: &d.info, Size: d.size, Scratches: &d.scratch, Compile: d.compileAll, Gather: d.gather}
	d.heap = newHeap(heapAt, d.mem.most, d.mem.grow)
	d.heap.discard = d.mem.discard
	if d.engine, err = newEngine(ctx, dir, d.stopping.Load); err == nil {
		objects.engines.Add(1)
		err = d.mem.export(ctx, d.engine)
	}
	if err != nil {
		return nil, errors.Join(err, d.destroy())
	}
	return d, nil
}

// ready returns ErrNotInitialized for a Device that Open did not make.
func (d *Device) ready() error {
	if d == nil || d.size == nil {
		return device.NotOpened("cpu")
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

// Sync waits until all submitted work is done and returns its first error.
func (d *Device) Sync(ctx context.Context) (err error) {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if err := d.begin(); err != nil {
		return err
	}
	defer d.life.End(&err)
	if err := d.wait(ctx, d.seq); err != nil {
		return err
	}
	return d.life.TakeError()
}

// Close waits for submitted work and releases everything. After Options.CloseTimeout it
// stops the work, and returns an error that wraps context.DeadlineExceeded. If a kernel
// cannot be stopped, the error says what is left, and the rest is released when the kernel
// ends. Close also returns an error of the work that no Sync or Read has returned. Closing
// twice is harmless.
func (d *Device) Close() error {
	if err := d.ready(); err != nil {
		return err
	}
	if d.closeTimeout >= 0 {
		timer := time.AfterFunc(d.closeTimeout, d.stop)
		defer timer.Stop()
	}
	return d.life.Close(d.shut, func() string {
		buffers, bytes := d.table.Total()
		return fmt.Sprintf("%d lists of work, %d buffers of %d bytes", d.seq-d.finished.Load(), buffers, bytes)
	})
}

// stop lets no other work begin, and tells kernels to end.
func (d *Device) stop() {
	d.memoryUse.Lock()
	defer d.memoryUse.Unlock()
	if d.released {
		return
	}
	d.stopping.Store(true)
	d.mem.stop()
}

// shut does what Close does, without a time limit.
func (d *Device) shut() error {
	d.life.Lock()
	defer d.life.Unlock()
	d.life.StopOperations()
	_ = d.wait(context.Background(), d.seq) // it never ends before
	for d.executing {
		d.life.Changed.Wait()
	}
	err := d.life.Failed()
	if d.stopping.Load() {
		err = errors.Join(fmt.Errorf("cpu: close: work has not ended within %v: %w; it was stopped", d.closeTimeout, context.DeadlineExceeded), err)
	}
	d.table.FreeAll()
	return errors.Join(err, d.destroy())
}

// destroy releases what open has made and what kernels need. Nothing runs any more.
func (d *Device) destroy() (err error) {
	ctx := context.Background()
	d.team.close()
	d.kernels.Drain(func(k *kernel) {
		err = errors.Join(err, k.code.close())
		objects.kernels.Add(-1)
	})
	if d.engine != nil {
		err = errors.Join(err, d.engine.close(ctx))
		objects.engines.Add(-1)
	}
	d.memoryUse.Lock()
	defer d.memoryUse.Unlock()
	d.released = true
	objects.memories.Add(-1)
	return errors.Join(err, d.mem.release())
}
