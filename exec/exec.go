// Package exec runs operations on devices: it plans a call for the device, binds
// the plan's steps to buffers, lends them scratch memory and submits them. It is
// the only package that knows both operations (spec) and devices (gpu).
package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Operand is a tensor in a device buffer: it begins Offset bytes into the
// buffer, a multiple of its element size. Where that is no multiple of the
// device's Limits.OffsetAlign and TexelAlign, operations work on a copy.
type Operand struct {
	Buffer gpu.Handle
	Offset int64
	Desc   tensor.Desc
}

// Runner runs operations on one device. It may be used by many goroutines.
type Runner struct {
	dev     gpu.Device
	target  spec.Target
	align   int64
	scratch pool
	faults  faults
	tuner   tuner
	trace   func(name string, args map[string]string) (uint64, func(error)) // nil without WithTrace
}

// Option changes how a Runner plans.
type Option func(*Runner)

// WithTarget lets f change what operations are planned for, for instance to
// try the GPU kernels on a CPU driver.
func WithTarget(f func(*spec.Target)) Option {
	return func(r *Runner) {
		if f != nil {
			f(&r.target)
		}
	}
}

// New returns a Runner for a device. The caller closes the device; Close of the
// Runner gives back its scratch memory before.
// Errors: ErrABIMismatch if the embedded shaders are not those the operations
// were declared for.
func New(dev gpu.Device, opts ...Option) (*Runner, error) {
	if errs.Nil(dev) {
		return nil, fmt.Errorf("exec: new: %w: no device", errs.ErrInvalidArgument)
	}
	if err := Verify(); err != nil {
		return nil, err
	}
	info := dev.Info()
	r := &Runner{dev: dev, target: TargetOf(info), align: max(info.Limits.OffsetAlign, info.Limits.TexelAlign, 16)}
	r.scratch.dev = dev
	r.faults.dev, r.faults.stride = dev, r.align
	for _, o := range opts {
		if o != nil {
			o(r)
		}
	}
	return r, nil
}

// ready reports ErrNotInitialized for a Runner that New did not make.
func (r *Runner) ready() error {
	if r == nil || r.dev == nil {
		return fmt.Errorf("exec: %w: a Runner that New did not make", errs.ErrNotInitialized)
	}
	return nil
}

// Verify reports ErrABIMismatch if the embedded shaders are not those the
// operations were declared for. It compares the fingerprints once, for neither
// side changes while a program runs; New calls it. Who has a driver to load
// meanwhile may call it before, on another goroutine.
func Verify() error { return verify() }

var verify = sync.OnceValue(func() error {
	return spec.VerifyABI(spirv.Names(), spirv.Declared, spirv.Fingerprint())
})

// TargetOf is what plans are made for on a device.
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
		TexelBuffers:   l.MaxTexelBuffers > 0,
		F16:            f.F16 && f.Storage16,
		F64:            f.F64,
		I64:            f.I64,
		SubgroupSize:   subgroup,
		Matrix:         matrix,
	}
}

// Target is what this Runner plans for.
func (r *Runner) Target() spec.Target {
	if r == nil {
		return spec.Target{}
	}
	return r.target
}

// Close gives the scratch memory back. The Runner must not be used afterwards.
func (r *Runner) Close() error {
	if err := r.ready(); err != nil {
		return err
	}
	return errors.Join(r.faults.close(), r.scratch.drop(0))
}

// Sync waits until all work is done and returns its first error, be it the
// device's or one that a call could only find there, such as an index out of
// range. Each such error is returned once, by the next Sync or Read.
func (r *Runner) Sync(ctx context.Context) error {
	if err := r.ready(); err != nil {
		return err
	}
	if err := r.dev.Sync(ctx); err != nil {
		return err
	}
	return r.faults.collect(ctx)
}

// Read is the device's Read, and fails as Sync does if a call was wrong.
func (r *Runner) Read(ctx context.Context, h gpu.Handle, offset int64, dst []byte) error {
	if err := cmp.Or(r.ready(), errs.Context(ctx)); err != nil {
		return err
	}
	if err := r.faults.collect(ctx); err != nil {
		return err
	}
	return r.dev.Read(ctx, h, offset, dst)
}

// Run computes out from in. It returns once the work is submitted; reading an
// output waits for it. An output may overlap an input only if the operation
// works in place and both are the same tensor. Operands may have any strides,
// but no two elements of an output the same place: where an operation cannot
// work with them, they are copied.
// Errors: ErrInvalidArgument (attributes, shapes, dtypes, overlap, alignment),
// ErrInvalidHandle, ErrUnsupported, *LimitError, ErrOutOfMemory, ctx.Err().
// After an error nothing has been run. What only the device can see is an error
// of the next Sync or Read, and leaves the outputs as they were.
func (r *Runner) Run(ctx context.Context, call spec.Call, out, in []Operand) error {
	if err := r.ready(); err != nil {
		return err
	}
	if r.trace != nil {
		return r.traced(ctx, call, out, in)
	}
	return r.launch(ctx, call, out, in, 0)
}

// launch is Run; the dispatches get the tag.
func (r *Runner) launch(ctx context.Context, call spec.Call, out, in []Operand, tag uint64) error {
	if err := errs.Context(ctx); err != nil {
		return err
	}
	call, err := spec.Resolve(call)
	if err != nil {
		return err
	}
	plan, err := r.checked(call, out, in, r.choose(ctx))
	if err != nil {
		return err
	}
	scratch, err := r.scratch.take(plan.Scratch)
	if err != nil {
		return fmt.Errorf("exec: %s: scratch memory: %w", call.Spec().Name, err)
	}
	// The device runs later work on these buffers after this.
	defer r.scratch.give(scratch)
	words, slots, err := r.faults.takeAll(ctx, len(plan.Checks))
	if err != nil {
		return fmt.Errorf("exec: %s: %w", call.Spec().Name, err)
	}
	list, err := r.bind(plan, out, in, scratch, words)
	if err == nil {
		for i := range list {
			list[i].Tag = tag
		}
		err = r.dev.Submit(list)
	}
	for i, slot := range slots {
		r.faults.submitted(slot, plan.Checks[i].Error, err == nil)
	}
	if err != nil {
		return fmt.Errorf("exec: %s: %w", call.Spec().Name, err)
	}
	return nil
}

// Plan checks a call and returns its launches, without running them.
func (r *Runner) Plan(call spec.Call, out, in []Operand) (*spec.Plan, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	call, err := spec.Resolve(call)
	if err != nil {
		return nil, err
	}
	return r.checked(call, out, in, r.recall)
}

// checked is Plan for a resolved call, by the way that choose finds.
func (r *Runner) checked(call spec.Call, out, in []Operand, choose chooser) (*spec.Plan, error) {
	op := call.Spec()
	want, err := op.Shape(call, descs(in))
	if err != nil {
		return nil, err
	}
	if len(out) != len(want) {
		return nil, fmt.Errorf("exec: %s: %w: outputs (got %d, want %d)", op.Name, errs.ErrInvalidArgument, len(out), len(want))
	}
	for i, o := range out {
		if err := o.Desc.Check(); err != nil {
			return nil, fmt.Errorf("exec: %s: output %s: %w", op.Name, outputName(op, i), err)
		}
		if o.Desc.DType != want[i].DType || !sameShape(o.Desc.Shape, want[i].Shape) {
			return nil, fmt.Errorf("exec: %s: %w: output %s (got %v, want %v)", op.Name, errs.ErrInvalidArgument, outputName(op, i), o.Desc, want[i])
		}
	}
	for i, o := range out {
		if onItself(o.Desc) {
			return nil, fmt.Errorf("exec: %s: %w: output %s: strides %v put several elements of %v in one place", op.Name, errs.ErrInvalidArgument, outputName(op, i), o.Desc.Strides, o.Desc)
		}
	}
	if err := r.checkPlaces(op, out, in); err != nil {
		return nil, err
	}
	plan, err := r.plan(call, in, out, choose)
	if err != nil {
		return nil, fmt.Errorf("exec: %s: %w", op.Name, err)
	}
	return plan, nil
}

// outputName is what errors call an output.
func outputName(op *spec.Op, i int) string {
	if i < len(op.Out) {
		return op.Out[i].Name
	}
	return fmt.Sprint(i)
}

// checkPlaces reports operands that are misaligned or overlap.
func (r *Runner) checkPlaces(op *spec.Op, out, in []Operand) error {
	for _, o := range append(append([]Operand(nil), out...), in...) {
		if size := max(int64(o.Desc.DType.Size()), 1); o.Offset < 0 || o.Offset%size != 0 {
			return fmt.Errorf("exec: %s: %w: tensor offset (got %d, want a multiple of %d)", op.Name, errs.ErrInvalidArgument, o.Offset, size)
		}
	}
	for i, o := range out {
		for j, other := range append(append([]Operand(nil), in...), out[:i]...) {
			if !overlap(o, other) {
				continue
			}
			if j < len(in) && op.MayOverwrite(i, j) && sameTensor(o, other) {
				continue
			}
			return fmt.Errorf("exec: %s: %w: output %s overlaps another operand", op.Name, errs.ErrInvalidArgument, outputName(op, i))
		}
	}
	return nil
}

func overlap(a, b Operand) bool {
	return a.Buffer == b.Buffer && a.Offset < b.Offset+b.Desc.Bytes() && b.Offset < a.Offset+a.Desc.Bytes()
}

// onItself reports whether elements of a tensor lie in one place, as those of a
// broadcast do. Strides are in order when each is more than what the smaller
// ones reach; others are taken to overlap.
func onItself(d tensor.Desc) bool {
	if d.IsContiguous() || d.Elems() == 0 {
		return false
	}
	steps := d.ElementStrides()
	order := make([]int, 0, len(steps))
	for i, n := range d.Shape {
		if n > 1 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(steps[a], steps[b]) })
	reach := 0
	for _, i := range order {
		if steps[i] <= reach {
			return true
		}
		reach += (d.Shape[i] - 1) * steps[i]
	}
	return false
}

func sameTensor(a, b Operand) bool {
	return a.Offset == b.Offset && sameShape(a.Desc.ElementStrides(), b.Desc.ElementStrides())
}

func sameShape(a, b []int) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

func descs(ops []Operand) []tensor.Desc {
	d := make([]tensor.Desc, len(ops))
	for i, o := range ops {
		d[i] = o.Desc
	}
	return d
}

// bind turns the steps of a plan into dispatches.
func (r *Runner) bind(plan *spec.Plan, out, in []Operand, scratch []gpu.Handle, words []gpu.Binding) ([]gpu.Dispatch, error) {
	list := make([]gpu.Dispatch, len(plan.Steps))
	for i, s := range plan.Steps {
		m, err := Kernel(s)
		if err != nil {
			return nil, err
		}
		params, err := spec.Encode(s.Params)
		if err != nil {
			return nil, err
		}
		bindings := make([]gpu.Binding, len(s.Bind))
		for j, b := range s.Bind {
			var whole gpu.Binding
			switch n := b.Buf.Index; b.Buf.Kind {
			case spec.RefIn:
				whole = r.whole(in[n])
			case spec.RefOut:
				whole = r.whole(out[n])
			case spec.RefScratch:
				whole = gpu.Binding{Buffer: scratch[n], Size: plan.Scratch[n]}
			default:
				whole = words[n]
			}
			end := gpu.RoundUp(whole.Size)
			size := b.Size
			if size == 0 {
				size = end - b.Offset
			}
			if b.Offset < 0 || size <= 0 || b.Offset > end-size {
				return nil, fmt.Errorf("step %d, %s: binding %d: %w: range %d+%d of %d bytes", i, s.Name(), j, errs.ErrInvalidArgument, b.Offset, size, whole.Size)
			}
			bindings[j] = gpu.Binding{Buffer: whole.Buffer, Offset: whole.Offset + b.Offset, Size: size, Discard: b.Buf.Kind == spec.RefScratch || overwritten(plan, b.Buf, in, out)}
		}
		list[i] = gpu.Dispatch{Module: m, Bindings: bindings, Params: params, Groups: s.Groups}
	}
	return list, nil
}

// overwritten reports whether a plan writes all of an operand and reads nothing of what it
// holds. A plan does that of an output whose elements lie without gaps and that is no input
// as well, unless the device checks inputs: then the steps that write may do nothing.
func overwritten(plan *spec.Plan, ref spec.Ref, in, out []Operand) bool {
	if ref.Kind != spec.RefOut || len(plan.Checks) > 0 {
		return false
	}
	o := &out[ref.Index]
	same := func(x Operand) bool { return x.Buffer == o.Buffer }
	return o.Desc.IsContiguous() && !slices.ContainsFunc(in, same) && slices.IndexFunc(out, same) == ref.Index &&
		!slices.ContainsFunc(out[ref.Index+1:], same)
}

// whole is the range of an operand, from the last place on where a buffer can be
// bound: plans know how far it is from there.
func (r *Runner) whole(o Operand) gpu.Binding {
	before := o.Offset % r.align
	return gpu.Binding{Buffer: o.Buffer, Offset: o.Offset - before, Size: before + o.Desc.Bytes()}
}

var checked sync.Map // *spv.Module → true, once its params struct was compared

// Kernel finds the shader of a step, and compares its parameters with the Go
// struct the first time.
func Kernel(s spec.Step) (*spv.Module, error) {
	m := s.Module
	if m == nil {
		var err error
		if m, err = spirv.Module(s.Kernel); err != nil {
			return nil, err
		}
	}
	if _, ok := checked.Load(m); !ok {
		if err := spec.CheckParams(m, s.Params); err != nil {
			return nil, err
		}
		checked.Store(m, true)
	}
	return m, nil
}
