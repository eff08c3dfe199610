// Package record is a gpu.Device that can record what is submitted to it, in place of running
// it, and run it again later. Everything else goes to the device that it wraps.
package record

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Device is a gpu.Device with graphs: lists that were recorded, by key. While it records, Submit
// appends to the list, and Read, Sync and Write are ErrCapture. A buffer that was allocated while
// a list was recorded lives as long as the list, also if it is freed before.
type Device struct {
	inner gpu.Device
	limit int
	align int64 // of offsets that the device can bind

	mu     sync.Mutex
	rec    *recording // what is being recorded, or nil
	made   map[gpu.Handle]*block
	graphs []*graph // the one that was used longest ago comes first
	at     []Range  // memory for a replay
	closed bool
}

// block is a buffer that was allocated through the Device.
type block struct {
	owner *recording // what was recorded when it was allocated, or nil
	freed bool       // Free was called, and owner still needs it
	size  int64      // bytes
}

// recording is a list, and the buffers that it owns.
type recording struct {
	list   []gpu.Dispatch
	used   map[gpu.Handle]bool
	blocks []gpu.Handle
	extra  Extra
	ended  bool // it is a graph, or was dropped

	declared  []Range
	patchable bool     // some dispatch is
	movable   *movable // nil if nothing was declared, and nothing is patchable
}

// Extra is what belongs to a recording besides.
type Extra interface {
	// Replayed is called before each submission of the recording.
	Replayed()
	// Close is called when the recording is forgotten.
	Close() error
}

// graph is a recording that can run.
type graph struct {
	key      uint64
	rec      *recording
	variants []*variant // the one that was used last comes first
}

// New wraps a device. At most limit graphs are kept. align is the alignment in bytes of offsets of tensors that begin at a binding.
func New(inner gpu.Device, limit int, align int64) *Device {
	return &Device{inner: inner, limit: limit, align: max(align, 1), made: map[gpu.Handle]*block{}}
}

// Info describes the inner device.
func (d *Device) Info() *gpu.Info { return d.inner.Info() }

// Alloc allocates a buffer, which belongs to what is being recorded.
func (d *Device) Alloc(size int64) (gpu.Handle, error) {
	h, err := d.inner.Alloc(size)
	if err != nil {
		return 0, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.made[h] = (&block{owner: d.rec, size: size}); d.rec != nil {
		d.rec.blocks = append(d.rec.blocks, h)
	}
	return h, nil
}

// Free frees a buffer, or leaves that to the recording that owns it.
func (d *Device) Free(h gpu.Handle) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	b := d.made[h]
	if b != nil && b.owner != nil {
		if b.freed {
			return fmt.Errorf("record: free: %w: %v was freed", errs.ErrInvalidHandle, h)
		}
		b.freed = true
		return nil
	}
	err := d.inner.Free(h)
	if err == nil {
		delete(d.made, h)
	}
	return err
}

// forget gives up the buffers of a recording, and frees those that nobody else needs. The caller
// holds mu.
func (d *Device) forget(r *recording) error {
	var all []error
	for _, h := range r.blocks {
		b := d.made[h]
		if b.owner = nil; b.freed {
			delete(d.made, h)
			all = append(all, d.inner.Free(h))
		}
	}
	r.blocks = nil
	return errors.Join(all...)
}

// refuse returns ErrCapture while something is recorded.
func (d *Device) refuse(op string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rec != nil {
		return fmt.Errorf("record: %s: %w: this cannot be recorded; end or abort the capture first", op, errs.ErrCapture)
	}
	return nil
}

// Write copies data into a buffer. While something is recorded, only a buffer that was allocated
// meanwhile, and that no recorded launch uses, can be written: with a constant of the recording.
func (d *Device) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	d.mu.Lock()
	fresh := d.rec != nil && d.made[h] != nil && d.made[h].owner == d.rec && !d.rec.used[h]
	d.mu.Unlock()
	if !fresh {
		if err := d.refuse("write"); err != nil {
			return err
		}
	}
	return d.inner.Write(ctx, h, offset, data)
}

// Read copies from a buffer.
func (d *Device) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	if err := d.refuse("read"); err != nil {
		return err
	}
	return d.inner.Read(ctx, h, offset, dst)
}

// Beside is the Device for memory that belongs to a recording, and that the host reads and writes while something is recorded, too: Read, Write
// and Sync are those of the inner device.
func (d *Device) Beside() gpu.Device { return beside{d} }

type beside struct{ *Device }

func (b beside) Write(ctx context.Context, h gpu.Handle, offset int64, data []byte) error {
	return b.inner.Write(ctx, h, offset, data)
}

func (b beside) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	return b.inner.Read(ctx, h, offset, dst)
}

func (b beside) Sync(ctx context.Context) error { return b.inner.Sync(ctx) }

// Sync waits for all work.
func (d *Device) Sync(ctx context.Context) error {
	if err := d.refuse("sync"); err != nil {
		return err
	}
	return d.inner.Sync(ctx)
}

// Submit runs the list, or records it.
func (d *Device) Submit(list []gpu.Dispatch) error {
	d.mu.Lock()
	if d.rec == nil {
		d.mu.Unlock()
		return d.inner.Submit(list)
	}
	defer d.mu.Unlock()
	if err := d.inner.Submit(nil); err != nil { // it is closed or lost
		return err
	}
	for i := range list {
		if err := gpu.CheckModule(d.inner.Info(), list[i].Module); err != nil {
			return err
		}
	}
	list = gpu.CloneList(list)
	for i := range list {
		for j := range list[i].Bindings {
			b := &list[i].Bindings[j]
			b.Discard = false // it was a promise for a shorter list
			d.rec.used[b.Buffer] = true
		}
	}
	d.rec.list = append(d.rec.list, list...)
	return nil
}

// CompileModule compiles a module on the inner device, if that can compile ahead.
func (d *Device) CompileModule(m *gpu.Module) error {
	if c, ok := d.inner.(gpu.Compiler); ok {
		return c.CompileModule(m)
	}
	return gpu.CheckModule(d.inner.Info(), m)
}

// WaitForRoom waits for room on the inner device.
func (d *Device) WaitForRoom(ctx context.Context) error {
	if t, ok := d.inner.(gpu.Throttle); ok {
		return t.WaitForRoom(ctx)
	}
	return errs.Context(ctx)
}

// StartTrace calls StartTrace of the inner device.
func (d *Device) StartTrace(now func() time.Duration, sink func(gpu.Span)) error {
	return gpu.StartTrace(d.inner, now, sink)
}

// Close forgets all graphs. It does not close the inner device.
func (d *Device) Close() error {
	d.mu.Lock()
	if d.closed {
		d.mu.Unlock()
		return nil
	}
	d.closed = true
	rec := d.rec
	d.rec = nil
	d.mu.Unlock()
	var err error
	if rec != nil {
		err = d.drop(rec)
	}
	return errors.Join(err, d.ResetAll())
}

// Begin begins to record.
// Errors: ErrCapture (it records already), ErrClosed, ErrDeviceLost.
func (d *Device) Begin() error {
	if err := d.inner.Submit(nil); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return fmt.Errorf("record: begin: %w", errs.ErrClosed)
	case d.rec != nil:
		return fmt.Errorf("record: begin: %w: a capture has begun already", errs.ErrCapture)
	}
	d.rec = &recording{used: map[gpu.Handle]bool{}}
	return nil
}

// stop ends recording and returns what was recorded.
func (d *Device) stop(op string) (*recording, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.rec == nil {
		return nil, fmt.Errorf("record: %s: %w: no capture has begun", op, errs.ErrCapture)
	}
	r := d.rec
	d.rec = nil
	return r, nil
}

// drop forgets a recording that is no graph.
func (d *Device) drop(r *recording) error {
	var err error
	if r.extra != nil {
		err = r.extra.Close()
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r.ended = true
	return errors.Join(err, d.forget(r))
}

// Recording reports whether something is being recorded.
func (d *Device) Recording() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.rec != nil
}

// End ends recording, and keeps what was recorded under a key. It replaces a graph of the same
// key. Beyond the limit the graph that was used longest ago is forgotten. After an error nothing
// of the recording is kept, and what the key had before stays.
// Errors: ErrCapture (no Begin came before), those of gpu.Prepare.
func (d *Device) End(key uint64, extra Extra) error {
	r, err := d.stop("end")
	if err != nil {
		return err
	}
	r.extra = extra
	list, err := gpu.Prepare(d.inner, r.list)
	if err == nil {
		if err = r.settle(); err != nil {
			_ = list.Free() // it fails on a device that is closed or lost, which every later call says
		}
	}
	if err != nil {
		return errors.Join(err, d.drop(r))
	}
	d.mu.Lock()
	r.list, r.used, r.ended = nil, nil, true
	old := d.remove(func(g *graph) bool { return g.key == key })
	d.graphs = append(d.graphs, &graph{key, r, []*variant{{at: r.declared, list: list}}})
	if len(d.graphs) > d.limit {
		old = append(old, d.graphs[0])
		d.graphs = slices.Delete(d.graphs, 0, 1)
	}
	d.mu.Unlock()
	_ = d.release(old) // it fails on a device that is closed or lost, which every later call says
	return nil
}

// Abort ends recording and keeps nothing.
// Errors: ErrCapture (no Begin came before).
func (d *Device) Abort(extra Extra) error {
	r, err := d.stop("abort")
	if err != nil {
		return err
	}
	r.extra = extra
	return d.drop(r)
}

// Replay submits the graph of a key, with other memory in place of some ranges that were declared. It reports false if there is no graph, or if
// a buffer of it was freed. Such a graph is forgotten.
// Errors: ErrCapture (something is being recorded), ErrInvalidArgument (moves), those of gpu.Prepare and of gpu.Prepared.Submit.
func (d *Device) Replay(key uint64, moves []Move) (bool, error) {
	d.mu.Lock()
	if d.rec != nil {
		d.mu.Unlock()
		return false, fmt.Errorf("record: replay: %w: a capture has begun; end or abort it first", errs.ErrCapture)
	}
	at := slices.IndexFunc(d.graphs, func(g *graph) bool { return g.key == key })
	if at < 0 {
		closed := d.closed
		d.mu.Unlock()
		if closed {
			return false, fmt.Errorf("record: replay: %w", errs.ErrClosed)
		}
		return false, d.inner.Submit(nil)
	}
	g := d.graphs[at]
	copy(d.graphs[at:], d.graphs[at+1:])
	d.graphs[len(d.graphs)-1] = g
	err := d.submit(g, moves) // The lock is held, so that nobody frees the graph meanwhile.
	if !errors.Is(err, errs.ErrInvalidHandle) {
		d.mu.Unlock()
		return err == nil, err
	}
	d.graphs = d.graphs[:len(d.graphs)-1]
	d.mu.Unlock()
	return false, d.release([]*graph{g})
}

// submit submits a graph. The caller holds mu.
func (d *Device) submit(g *graph, moves []Move) (err error) {
	if d.at, err = g.rec.movable.place(d.at[:0], moves, d.align); err != nil {
		return err
	}
	v, err := g.variant(d.inner, d.at)
	if err != nil {
		return err
	}
	if g.rec.extra != nil {
		g.rec.extra.Replayed()
		defer g.rec.extra.Replayed() // again, because a Sync may have come before the launches
	}
	return v.list.Submit()
}

// remove takes graphs out of the list. The caller holds mu.
func (d *Device) remove(which func(*graph) bool) (old []*graph) {
	d.graphs = slices.DeleteFunc(d.graphs, func(g *graph) bool {
		if which(g) {
			old = append(old, g)
			return true
		}
		return false
	})
	return old
}

// release frees graphs that are out of the list.
func (d *Device) release(old []*graph) error {
	var all []error
	for _, g := range old {
		all = append(all, g.free(), d.drop(g.rec))
	}
	return errors.Join(all...)
}

// Reset forgets the graph of a key, if there is one. Work already submitted still finishes.
func (d *Device) Reset(key uint64) error {
	d.mu.Lock()
	old := d.remove(func(g *graph) bool { return g.key == key })
	d.mu.Unlock()
	return d.release(old)
}

// ResetAll forgets all graphs.
func (d *Device) ResetAll() error {
	d.mu.Lock()
	old := d.remove(func(*graph) bool { return true })
	d.mu.Unlock()
	return d.release(old)
}

// Bytes is the size of the buffers that were allocated through the Device and live.
func (d *Device) Bytes() (n int64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, b := range d.made {
		n += b.size
	}
	return n
}

// Keys are the keys of the graphs, in ascending order.
func (d *Device) Keys() []uint64 {
	d.mu.Lock()
	defer d.mu.Unlock()
	keys := make([]uint64, len(d.graphs))
	for i, g := range d.graphs {
		keys[i] = g.key
	}
	slices.Sort(keys)
	return keys
}
