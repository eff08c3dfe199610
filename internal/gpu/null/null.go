// Package null is a gpu.Device without hardware, for tests and for inspecting plans.
// Its buffers hold bytes, and it makes every check of a real device.
//
// A device made by New runs Go functions in place of shaders, by module name. It
// refuses a module for which it has no function, so it never reports success for work
// that it did not do. A device made by NewRecorder only records what it is asked to
// run. Its buffers hold what was written to them, and nothing is computed.
package null

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/handles"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
)

// Kernel does in Go what a shader would do. bufs[i] has the bytes of binding i of d, or
// is nil if nothing is bound. Two of them may share memory. A Kernel is called once for
// all workgroups. It must not call the device and must not keep its arguments. The next
// Read or Sync returns its error.
type Kernel func(d gpu.Dispatch, bufs [][]byte) error

// Device is a gpu.Device without hardware. Make one with New or NewRecorder.
type Device struct {
	// Kernels are the functions that the device can run. The keys are the gpu.Label of the
	// module. That is the name of the module, or a part of its hash for foreign SPIR-V.
	// Set Kernels before the first Submit.
	Kernels map[string]Kernel

	info      gpu.Info
	recording bool

	// mu is held during every call, so that calls take effect in order.
	mu     sync.Mutex
	table  *handles.Table[*buffer]
	used   int64
	closed bool
	// failed is the error of work that has run, for the next Read or Sync.
	failed   error
	recorded []gpu.Dispatch
	now      func() time.Duration
	// sink is the sink of StartTrace. It is nil if nothing is traced.
	sink func(gpu.Span)
	// batches is the number of submissions that were traced.
	batches uint64
}

// buffer is a buffer. It has no data until something is written to it, so that a test can
// inspect plans over very large buffers.
type buffer struct {
	size int64
	data []byte
}

// bytes returns the memory of the buffer with its padding. It allocates the memory if
// there is none.
func (b *buffer) bytes() []byte {
	if b.data == nil {
		b.data = make([]byte, b.size, gpu.RoundUp(b.size))
	}
	return b.data
}

// New returns a device that runs Kernels. info describes it. If info is nil, DefaultInfo
// does.
func New(info *gpu.Info) *Device {
	d := &Device{table: handles.New[*buffer](nil), info: DefaultInfo()}
	if info != nil {
		d.info = *info
	}
	return d
}

// NewRecorder returns a device that records what is submitted. It runs the modules for
// which it has Kernels, and computes nothing for all others.
func NewRecorder(info *gpu.Info) *Device {
	d := New(info)
	d.recording = true
	return d
}

// DefaultInfo describes a discrete GPU of medium size that has every feature.
func DefaultInfo() gpu.Info {
	return gpu.Info{
		Backend: "null", Name: "Null device", Driver: "none", Kind: gpu.Other, Memory: 8 << 30,
		Limits: gpu.Limits{
			MaxBuffer: 4 << 30, MaxBinding: 1 << 30, MaxTexels: 1 << 27, OffsetAlign: 16, TexelAlign: 16,
			MaxGroups: [3]uint32{65535, 65535, 65535}, MaxLocalSize: [3]uint32{1024, 1024, 64}, MaxInvocations: 1024,
			MaxSharedBytes: 32 << 10, MaxParamBytes: 128, MaxBindings: 16, MaxTexelBuffers: 16, MaxUniform: 64 << 10,
		},
		Features: gpu.Features{
			F16: true, F64: true, I8: true, I16: true, I64: true, Storage8: true, Storage16: true,
			Subgroups: true, SubgroupSize: 32, FullSubgroups: true, Matrix: [3]uint32{16, 16, 16}, Atomics64: true, Timestamps: true, VulkanMemoryModel: true,
			Abilities: ^spv.Ability(0),
		},
	}
}

// Module returns a module that a Kernel can replace. It has the name, the bindings in
// ascending order of slot, a local size of 64 and SPIR-V without instructions. Only a
// null device can run it.
func Module(name string, paramBytes uint32, bindings ...spv.Binding) *spv.Module {
	code := make([]byte, 0, 20)
	for _, w := range []uint32{0x07230203, 0x00010000, 0, 1, 0} {
		code = binary.LittleEndian.AppendUint32(code, w)
	}
	return &spv.Module{
		Name: name, Code: code, Hash: sha256.Sum256([]byte(name)),
		Bindings: bindings, ParamSize: paramBytes, LocalSize: [3]uint32{64, 1, 1},
	}
}

// Info describes the device.
func (d *Device) Info() *gpu.Info { return &d.info }

// checkOpen returns ErrClosed after Close. The caller holds mu.
func (d *Device) checkOpen(op string) error {
	if d.closed {
		return fmt.Errorf("null: %s: %w", op, gpu.ErrClosed)
	}
	return nil
}

// Alloc makes a zero-filled buffer. The buffer needs no memory until it is written to.
func (d *Device) Alloc(size int64) (gpu.Handle, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.checkOpen("alloc"); err != nil {
		return 0, err
	}
	if err := gpu.CheckSize(&d.info, size); err != nil {
		return 0, err
	}
	if size > d.info.Memory-d.used {
		return 0, fmt.Errorf("null: alloc: %w: %d bytes asked, %d of %d free", gpu.ErrOutOfMemory, size, d.info.Memory-d.used, d.info.Memory)
	}
	h, err := d.table.Add(&buffer{size: size})
	if err == nil {
		d.used += size
	}
	return h, err
}

// Free ends the life of a buffer.
func (d *Device) Free(h gpu.Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, err := d.find("free", h)
	if err != nil {
		return err
	}
	d.used -= b.size
	return d.table.Free(h)
}

// find returns the buffer of h on an open device. The caller holds mu.
func (d *Device) find(op string, h gpu.Handle) (*buffer, error) {
	if err := d.checkOpen(op); err != nil {
		return nil, err
	}
	b, err := d.table.Get(h)
	if err != nil {
		return nil, fmt.Errorf("null: %s: %w", op, err)
	}
	return b, nil
}

// Write copies data into the buffer from offset on.
func (d *Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, err := d.find("write", h)
	if err != nil {
		return err
	}
	if err := gpu.CheckRange("write", b.size, offset, len(data)); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return err
	}
	done := d.beginSpan()
	all := b.bytes()
	copy(all[offset:], data)
	if len(data) > 0 && offset+int64(len(data)) == b.size {
		clear(all[b.size:cap(all)]) // This clears the padding.
	}
	done(gpu.Span{Kind: gpu.Write, Bytes: int64(len(data))})
	return nil
}

// Read copies len(dst) bytes of the buffer from offset on.
func (d *Device) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	b, err := d.find("read", h)
	if err != nil {
		return err
	}
	if err := gpu.CheckRange("read", b.size, offset, len(dst)); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if err := d.failure(); err != nil {
		return err
	}
	done := d.beginSpan()
	if b.data == nil {
		clear(dst)
	} else {
		copy(dst, b.data[offset:])
	}
	done(gpu.Span{Kind: gpu.Read, Bytes: int64(len(dst))})
	return nil
}

// Submit checks and records the dispatches, and runs their Kernels before it returns.
// Unless the device is a recorder, a module without a Kernel is ErrUnsupported.
func (d *Device) Submit(list []gpu.Dispatch) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.check(list); err != nil {
		return err
	}
	if d.sink != nil && len(list) > 0 {
		d.batches++
		done := d.beginSpan()
		defer func() { done(gpu.Span{Kind: gpu.Submission, Batch: d.batches}) }()
	}
	for i := range list {
		own := list[i]
		own.Bindings, own.Params = slices.Clone(own.Bindings), slices.Clone(own.Params)
		d.recorded = append(d.recorded, own)
		if d.failed == nil {
			done := d.beginSpan()
			d.failed = d.run(own)
			if own.Count() > 0 {
				done(gpu.Span{Kind: gpu.Launch, Name: gpu.Label(own.Module), Groups: own.Groups, Tag: own.Tag, Batch: d.batches})
			}
		}
	}
	return nil
}

// check returns an error unless Submit may run the list. The caller holds mu.
func (d *Device) check(list []gpu.Dispatch) error {
	if err := d.checkOpen("submit"); err != nil {
		return err
	}
	for i := range list {
		if err := list[i].Check(&d.info, d.size); err != nil {
			return fmt.Errorf("null: submit: dispatch %d: %w", i, err)
		}
		if !d.recording && d.Kernels[gpu.Label(list[i].Module)] == nil {
			return fmt.Errorf("null: submit: dispatch %d: %w: no kernel for %q (have %q)",
				i, gpu.ErrUnsupported, gpu.Label(list[i].Module), slices.Sorted(maps.Keys(d.Kernels)))
		}
	}
	return nil
}

// StartTrace reports what the device does from now on, as gpu.Timer promises. Every
// submitted list is a submission. The device reads the clock at the beginning and at the
// end of each Span and at no other time. So a clock that counts its readings gives the
// same Spans each time.
// Errors: ErrClosed.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.checkOpen("trace"); err != nil {
		return err
	}
	d.now, d.sink = now, sink
	return nil
}

// beginSpan begins a span. The function that it returns reports the span. The caller
// holds mu.
func (d *Device) beginSpan() func(gpu.Span) {
	if d.sink == nil {
		return func(gpu.Span) {}
	}
	begin := d.now()
	return func(s gpu.Span) {
		s.Begin, s.End = begin, d.now()
		d.sink(s)
	}
}

// run calls the kernel of a checked dispatch.
func (d *Device) run(x gpu.Dispatch) error {
	kernel := d.Kernels[gpu.Label(x.Module)]
	if kernel == nil || x.Count() == 0 {
		return nil
	}
	bufs := make([][]byte, len(x.Bindings))
	for i := range x.Module.Bindings {
		decl := &x.Module.Bindings[i]
		b := &x.Bindings[decl.Slot]
		buf, err := d.table.Get(b.Buffer)
		if err != nil {
			return err
		}
		end := b.Offset + b.Span(decl, buf.size)
		bufs[decl.Slot] = buf.bytes()[b.Offset:end:end]
	}
	if err := kernel(x, bufs); err != nil {
		return fmt.Errorf("null: %s: %w", gpu.Label(x.Module), err)
	}
	return nil
}

// size returns the size of a live buffer.
func (d *Device) size(h gpu.Handle) (int64, error) {
	b, err := d.table.Get(h)
	if err != nil {
		return 0, err
	}
	return b.size, nil
}

// failure returns the error of finished work. It returns each error once.
func (d *Device) failure() error {
	err := d.failed
	d.failed = nil
	return err
}

// Sync returns the error of the work submitted so far, or nil.
func (d *Device) Sync(ctx context.Context) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.checkOpen("sync"); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return err
	}
	return d.failure()
}

// Close frees all memory.
func (d *Device) Close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.closed {
		return nil
	}
	d.closed = true
	for _, h := range d.table.Live() {
		if err := d.table.Free(h); err != nil {
			return err
		}
	}
	d.used = 0
	return nil
}

// Recorded returns all dispatches that were accepted so far, in order.
func (d *Device) Recorded() []gpu.Dispatch {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.recorded)
}

// Forget drops the recorded dispatches.
func (d *Device) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.recorded = nil
}

// Allocated returns the total size of the live buffers in bytes.
func (d *Device) Allocated() int64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.used
}
