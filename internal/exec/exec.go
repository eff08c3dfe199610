// Package exec runs operations on devices. It compiles a call for the device, binds the
// steps to buffers and to scratch memory, and submits them. It is the only package that
// knows both operations (spec) and devices (gpu).
package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Operand is a tensor in a device buffer.
type Operand struct {
	// Buffer is the buffer.
	Buffer gpu.Handle
	// Offset is the distance in bytes from the start of the buffer to the tensor. It is a
	// multiple of the element size. If it is not a multiple of the device's
	// Limits.OffsetAlign and TexelAlign, most operations work on a copy.
	Offset int64
	// Desc is the type, shape and strides of the tensor.
	Desc tensor.Desc
	// Alone says that nobody needs what else the buffer holds. A tensor that is the whole buffer is alone.
	Alone bool
}

// Runner runs operations on one device. Many goroutines may use it at the same time.
type Runner struct {
	dev    gpu.Device
	target spec.Target
	// align is the alignment in bytes of all offsets that the device can bind.
	align int64
	// work is what calls borrow now. A capture has its own.
	work atomic.Pointer[Workspace]
	// captured has the checks of captures, and of other Runners of the device.
	captured *captured
	tuner    tuner
	cache    cache
	// spare holds *launch values that no call uses.
	spare sync.Pool
	// trace is the function of WithTrace. It is nil without that option.
	trace func(name string, args map[string]string) (uint64, func(error))
}

// Option changes how a Runner plans.
type Option func(*Runner)

// WithTarget lets f change the target that operations are planned for, for instance to
// try the GPU kernels on a CPU driver.
func WithTarget(f func(*spec.Target)) Option {
	return func(r *Runner) {
		if f != nil {
			f(&r.target)
		}
	}
}

// New returns a Runner for a device. The caller must close the Runner, which frees its
// scratch memory, and then the device.
// Errors: ErrInvalidArgument without a device; ErrABIMismatch if the embedded shaders are
// damaged.
func New(dev gpu.Device, opts ...Option) (*Runner, error) {
	if errs.Nil(dev) {
		return nil, fmt.Errorf("exec: new: %w: no device", errs.ErrInvalidArgument)
	}
	if err := Verify(); err != nil {
		return nil, err
	}
	info := dev.Info()
	r := &Runner{dev: dev, target: TargetOf(info), align: max(info.Limits.OffsetAlign, info.Limits.TexelAlign, 16)}
	own := newWorkspace(dev, r.align, statusSlots)
	r.work.Store(own)
	r.captured = &captured{runners: []*Workspace{own}}
	r.spare.New = func() any { return new(launch) }
	for _, o := range opts {
		if o != nil {
			o(r)
		}
	}
	return r, nil
}

// ready returns ErrNotInitialized if the Runner was not made by New.
func (r *Runner) ready() error {
	if r == nil || r.dev == nil {
		return fmt.Errorf("exec: %w: the Runner was not made by New", errs.ErrNotInitialized)
	}
	return nil
}

// Verify returns ErrABIMismatch if the embedded shaders are damaged. It computes the fingerprint
// of their ABI text once. New calls it. A caller that loads a driver at the same time may call
// Verify earlier, on another goroutine.
func Verify() error { return spirv.Verify() }

// verified has the result of spec.VerifyABI for each operation that was compiled.
var verified sync.Map // of *spec.Op to error, which may be nil

// verify returns ErrABIMismatch if an operation was declared for other shaders than the embedded
// ones. It compares them when the operation is first compiled.
func verify(op *spec.Op) error {
	known, ok := verified.Load(op)
	if !ok {
		known, _ = verified.LoadOrStore(op, spec.VerifyABI(op, spirv.Operation(op.Name), spirv.Declared))
	}
	err, _ := known.(error)
	return err
}

// TargetOf returns the target that operations are planned for on a device.
func TargetOf(info *gpu.Info) spec.Target {
	if info == nil {
		return spec.Target{}
	}
	l, f := info.Limits, info.Features
	subgroup := f.SubgroupSize
	if !f.FullSubgroups || !f.Subgroups || subgroup < 4 || subgroup&(subgroup-1) != 0 {
		subgroup = 0
	}
	matrix := f.Matrix
	if subgroup == 0 || !f.F16 || !f.VulkanMemoryModel {
		matrix = [3]uint32{}
	}
	return spec.Target{
		CPU:            info.Kind == gpu.CPU,
		MaxBinding:     l.MaxBinding,
		MaxTexels:      l.MaxTexels,
		OffsetAlign:    l.OffsetAlign,
		TexelAlign:     l.TexelAlign,
		MaxGroups:      l.MaxGroups,
		MaxInvocations: l.MaxInvocations,
		MaxSharedBytes: l.MaxSharedBytes,
		MaxParamBytes:  l.MaxParamBytes,
		MaxBindings:    l.MaxBindings,
		MaxIterations:  l.MaxIterations,
		TexelBuffers:   l.MaxTexelBuffers > 0 && !f.HostVectors, // which loads storage buffers as fast
		HostVectors:    f.HostVectors,
		F16:            f.F16 && f.Storage16,
		F64:            f.F64,
		I64:            f.I64,
		SubgroupSize:   subgroup,
		Matrix:         matrix,
	}
}

// Target returns the target that this Runner plans for.
func (r *Runner) Target() spec.Target {
	if r == nil {
		return spec.Target{}
	}
	return r.target
}

// Close frees the scratch memory. The Runner must not be used afterwards.
func (r *Runner) Close() error {
	if err := r.ready(); err != nil {
		return err
	}
	w := r.work.Load()
	if r.captured.unshare(w) {
		return w.scratch.trim(0)
	}
	return w.Close()
}

// Sync waits until all work is done and returns the errors of that work. They come from
// the device, or from a device check, such as an index out of range. Each error of a
// check is returned once, by the next Sync or Read.
func (r *Runner) Sync(ctx context.Context) error {
	if err := r.ready(); err != nil {
		return err
	}
	if err := r.dev.Sync(ctx); err != nil {
		return err
	}
	w := r.work.Load()
	return errors.Join(w.status.collect(ctx, nil), w.lanes.collect(ctx, 0, 0), r.captured.collect(ctx, w))
}

// Read waits for the work that writes the buffer and copies len(dst) bytes from offset.
// It returns the errors of device checks as Sync does, but for those of Sequences that were submitted after the last one that wrote the buffer, if no capture was replayed since then.
func (r *Runner) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	if err := cmp.Or(r.ready(), errs.Context(ctx)); err != nil {
		return err
	}
	w := r.work.Load()
	if err := errors.Join(w.status.collect(ctx, nil), w.lanes.collect(ctx, h, r.captured.replays.Load()), r.captured.collect(ctx, w)); err != nil {
		return err
	}
	return r.dev.Read(ctx, h, offset, dst)
}

// Run computes out from in. It returns when the work is submitted. Reading an output
// waits for the work. An output may overlap an input only if both are the same tensor and
// the operation allows it (spec.Arg.InPlace). Operands may have any strides, but no two
// elements of an output may have the same address. If an operation cannot work with the
// strides of an operand, it works on a copy.
//
// The same call for operands at the same places is planned once, see Compile.
// Errors: ErrInvalidArgument (attributes, shapes, dtypes, overlap, alignment),
// ErrInvalidHandle, ErrUnsupported, *LimitError, ErrOutOfMemory, ctx.Err().
// After an error, nothing has been run. Errors that only the device can find are returned
// by the next Sync or Read. The outputs are then unchanged.
func (r *Runner) Run(ctx context.Context, call spec.Call, in, out []Operand) error {
	if err := r.ready(); err != nil {
		return err
	}
	if r.trace != nil {
		return r.runTraced(ctx, call, in, out)
	}
	return r.run(ctx, call, in, out, 0)
}

// run is Run. Its dispatches carry the tag.
func (r *Runner) run(ctx context.Context, call spec.Call, in, out []Operand, tag uint64) error {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	l := r.spare.Get().(*launch)
	defer r.spare.Put(l)
	c, err := r.compiled(ctx, l, call, in, out)
	if err != nil {
		return err
	}
	if err := checkOverlap(call, in, out); err != nil {
		return err
	}
	if err := r.submit(ctx, l, c, in, out, tag); err != nil {
		return fmt.Errorf("exec: %s: %w", c.name, err)
	}
	return nil
}

// compiled returns a call from the cache, or compiles it.
func (r *Runner) compiled(ctx context.Context, l *launch, call spec.Call, in, out []Operand) (*Compiled, error) {
	var ok bool
	if l.key, ok = appendKey(l.key[:0], call, in, out, r.align); ok {
		if c := r.cache.find(l.key, r.tuner.db.Version()); c != nil && atElements(in) && atElements(out) {
			return c, nil
		}
	}
	call, err := resolved(call, in, out)
	if err != nil {
		return nil, err
	}
	// Another goroutine may change the database while this one compiles. c is kept under
	// the version that it follows, so that a later call does not find an old choice.
	version := r.tuner.db.Version()
	c, err := r.compile(call, r.places(in), r.places(out), r.chooserFor(ctx).at(r.tuner.db, &version))
	if err != nil {
		return nil, err
	}
	if ok {
		r.cache.keep(l.key, version, c)
	}
	return c, nil
}

// submit binds a call to operands, and to scratch memory and status words of the Runner,
// and submits it.
func (r *Runner) submit(ctx context.Context, l *launch, c *Compiled, in, out []Operand, tag uint64) (err error) {
	w := r.work.Load()
	if l.scratch, err = w.scratch.borrow(l.scratch[:0], c.Scratch); err != nil {
		return fmt.Errorf("scratch memory: %w", err)
	}
	// The buffers can be lent again at once, because the device runs later work after
	// this.
	defer func() { w.scratch.release(l.scratch) }()
	if l.status, l.slots, err = w.status.borrow(ctx, l.status[:0], l.slots[:0], len(c.Checks)); err != nil {
		return err
	}
	for i := range out {
		w.lanes.forget(out[i].Buffer)
	}
	err = r.dev.Submit(c.bind(l, in, out, l.scratch, l.status, tag))
	for i, slot := range l.slots {
		w.status.submitted(slot, c.Checks[i].Error, err == nil)
	}
	return err
}

// places returns the places of operands.
func (r *Runner) places(operands []Operand) []Place {
	places := make([]Place, len(operands))
	for i, o := range operands {
		places[i] = placeOf(o, r.align)
	}
	return places
}

// PlaceOf returns the place of an operand on the Runner's device.
func (r *Runner) PlaceOf(o Operand) Place {
	if r.ready() != nil {
		return Place{Desc: o.Desc}
	}
	return placeOf(o, r.align)
}

// Plan checks a call on operands and returns its steps, without running them.
func (r *Runner) Plan(call spec.Call, in, out []Operand) (*spec.Plan, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	call, err := resolved(call, in, out)
	if err != nil {
		return nil, err
	}
	if err := r.checkPlaces(call, r.places(in), r.places(out)); err != nil {
		return nil, err
	}
	if err := checkOverlap(call, in, out); err != nil {
		return nil, err
	}
	plan, err := r.plan(call, r.places(in), r.places(out), r.remembered)
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	return plan, nil
}

// resolved returns the call with its defaults. It returns an error if an operand does not
// begin at an element.
func resolved(call spec.Call, in, out []Operand) (spec.Call, error) {
	call, err := spec.Resolve(call)
	if err != nil || atElements(in) && atElements(out) {
		return call, err
	}
	return nil, fmt.Errorf("exec: %s: %w: tensor offset (want a multiple of the element size, 0 or more)", call.Spec().Name, errs.ErrInvalidArgument)
}

// atElements reports whether all operands begin at an element.
func atElements(operands []Operand) bool {
	for i := range operands {
		if o := &operands[i]; o.Offset < 0 || o.Offset%int64(max(o.Desc.DType.Size(), 1)) != 0 {
			return false
		}
	}
	return true
}

// checkOverlap returns an error if an output overlaps an operand that it may not
// overwrite.
func checkOverlap(call spec.Call, in, out []Operand) error {
	for i := range out {
		o := &out[i]
		for j := range in {
			if overlap(o, &in[j]) && !(call.Spec().MayOverwrite(i, j) && sameTensor(o, &in[j])) {
				return overlapError(call, i)
			}
		}
		for j := range i {
			if overlap(o, &out[j]) {
				return overlapError(call, i)
			}
		}
	}
	return nil
}

func overlapError(call spec.Call, i int) error {
	op := call.Spec()
	return fmt.Errorf("exec: %s: %w: output %s overlaps another operand", op.Name, errs.ErrInvalidArgument, outputName(op, i))
}

func overlap(a, b *Operand) bool {
	return a.Buffer == b.Buffer && a.Offset < b.Offset+b.Desc.Bytes() && b.Offset < a.Offset+a.Desc.Bytes()
}

func sameTensor(a, b *Operand) bool {
	return a.Offset == b.Offset && slices.Equal(a.Desc.Shape, b.Desc.Shape) && sameStrides(a.Desc, b.Desc)
}
