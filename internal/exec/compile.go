package exec

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// Place describes where an operand is. Runner.PlaceOf returns its Misalignment.
type Place = spec.Place

// Compiled is a call that is planned for operands at certain places. It holds no buffer
// and never changes. Many goroutines may bind it, many times.
type Compiled struct {
	// Scratch lists the sizes in bytes of the temporary buffers that Bind needs. Their
	// contents do not matter.
	Scratch []int64
	// Checks are the checks that the device makes of the inputs. Bind needs four status
	// words for each, which are zero.
	Checks []spec.DeviceCheck

	// name is the name of the operation.
	name string
	// writesAll is that of the operation.
	writesAll bool
	in, out   []Place
	steps     []boundStep
	// bindings is the number of bindings of all steps.
	bindings int
	// align is that of the Runner.
	align int64
}

// boundStep is a step without its buffers.
type boundStep struct {
	module *spv.Module
	params []byte
	groups [3]uint32
	bind   []bindRange
	copies copied
}

// copied says which input a step copies to which output. Both count from 1, and 0 is none.
type copied struct{ in, out int }

// within reports whether the operands are one, so that the step is left out.
func (c copied) within(in, out []Operand) bool {
	if c.in == 0 {
		return false
	}
	i, o := &in[c.in-1], &out[c.out-1]
	return i.Buffer == o.Buffer && i.Offset == o.Offset
}

// copiedBy returns what a step of a plan copies.
func copiedBy(s spec.Step) copied {
	if s.Copies.Kind != spec.RefIn {
		return copied{}
	}
	for _, b := range s.Bind {
		if b.Buf.Kind == spec.RefOut {
			return copied{s.Copies.Index + 1, b.Buf.Index + 1}
		}
	}
	return copied{}
}

// bindRange is a range of an operand that a step binds, without its buffer.
type bindRange struct {
	ref          spec.Ref
	offset, size int64
}

// Compile plans a call for operands at these places, and prepares all that does not
// depend on buffers. It measures nothing. It uses the strategy of the tuning database if
// there is one, and otherwise the plan's own.
// Errors: ErrInvalidArgument (attributes, shapes, dtypes, strides of an output),
// ErrUnsupported, *LimitError, ErrABIMismatch.
func (r *Runner) Compile(call spec.Call, in, out []Place) (*Compiled, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	call, err := spec.Resolve(call)
	if err != nil {
		return nil, err
	}
	return r.compile(call, in, out, r.remembered)
}

// compile is Compile for a resolved call. choose returns the strategy.
func (r *Runner) compile(call spec.Call, in, out []Place, choose chooser) (*Compiled, error) {
	if err := verify(call.Spec()); err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	if err := r.checkPlaces(call, in, out); err != nil {
		return nil, err
	}
	plan, err := r.plan(call, in, out, choose)
	if err != nil {
		return nil, fmt.Errorf("exec: %w", err)
	}
	c, err := r.lower(call.Spec(), plan, in, out)
	if err != nil {
		return nil, fmt.Errorf("exec: %s: %w", call.Spec().Name, err)
	}
	return c, nil
}

// checkPlaces returns an error unless the outputs are those that the operation makes, and
// each place is possible on the device.
func (r *Runner) checkPlaces(call spec.Call, in, out []Place) error {
	op := call.Spec()
	want, err := op.Shape(call, descs(in))
	if err != nil {
		return err
	}
	if len(out) != len(want) {
		return fmt.Errorf("exec: %s: %w: outputs (got %d, want %d)", op.Name, errs.ErrInvalidArgument, len(out), len(want))
	}
	for i, o := range out {
		if err := o.Desc.Check(); err != nil {
			return fmt.Errorf("exec: %s: output %s: %w", op.Name, outputName(op, i), err)
		}
		if o.Desc.DType != want[i].DType || !slices.Equal(o.Desc.Shape, want[i].Shape) {
			return fmt.Errorf("exec: %s: %w: output %s (got %v, want %v)", op.Name, errs.ErrInvalidArgument, outputName(op, i), o.Desc, want[i])
		}
	}
	for i, o := range out {
		if overlapsItself(o.Desc) {
			return fmt.Errorf("exec: %s: %w: output %s: strides %v give several elements of %v the same address", op.Name, errs.ErrInvalidArgument, outputName(op, i), o.Desc.Strides, o.Desc)
		}
	}
	for _, places := range [][]Place{out, in} {
		for _, p := range places {
			if size := max(int64(p.Desc.DType.Size()), 1); p.Misalignment < 0 || p.Misalignment >= r.align || p.Misalignment%size != 0 {
				return fmt.Errorf("exec: %s: %w: misalignment (got %d, want a multiple of %d below %d)", op.Name, errs.ErrInvalidArgument, p.Misalignment, size, r.align)
			}
		}
	}
	return nil
}

// outputName returns the name of an output for error texts.
func outputName(op *spec.Op, i int) string {
	if i < len(op.Out) {
		return op.Out[i].Name
	}
	return fmt.Sprint(i)
}

// lower prepares a plan for binding. It turns parameters into bytes. Scratch buffers that
// are not needed at the same time share memory.
func (r *Runner) lower(op *spec.Op, plan *spec.Plan, in, out []Place) (*Compiled, error) {
	c := &Compiled{name: op.Name, writesAll: op.WritesAll, Checks: plan.Checks, in: clonePlaces(in), out: clonePlaces(out), align: r.align}
	share, sizes := shareScratch(plan)
	c.Scratch = sizes
	checked := map[kernelParams]bool{}
	for i, s := range plan.Steps {
		if err := checkKernel(s, checked); err != nil {
			return nil, err
		}
		m := s.Module
		params, err := spec.Encode(s.Params)
		if err != nil {
			return nil, fmt.Errorf("step %d, %s: %w", i, m.Name, err)
		}
		step := boundStep{module: m, params: params, groups: s.Groups, bind: make([]bindRange, len(s.Bind)), copies: copiedBy(s)}
		if step.copies.in > len(in) {
			return nil, fmt.Errorf("step %d, %s: %w: it copies input %d of %d", i, m.Name, errs.ErrInvalidArgument, step.copies.in-1, len(in))
		}
		for j, b := range s.Bind {
			have, err := c.bytes(plan, b.Buf)
			if err != nil {
				return nil, fmt.Errorf("step %d, %s: binding %d: %w", i, m.Name, j, err)
			}
			end, size := gpu.RoundUp(have), b.Size
			if size == 0 {
				size = end - b.Offset
			}
			if b.Offset < 0 || size <= 0 || b.Offset > end-size {
				return nil, fmt.Errorf("step %d, %s: binding %d: %w: range %d+%d of %d bytes", i, m.Name, j, errs.ErrInvalidArgument, b.Offset, size, have)
			}
			ref := b.Buf
			if ref.Kind == spec.RefScratch {
				ref.Index = share[ref.Index]
			}
			step.bind[j] = bindRange{ref, b.Offset, size}
		}
		c.steps, c.bindings = append(c.steps, step), c.bindings+len(s.Bind)
	}
	return c, nil
}

// bytes returns the size in bytes of what ref refers to, with its misalignment.
func (c *Compiled) bytes(plan *spec.Plan, ref spec.Ref) (int64, error) {
	n := ref.Index
	switch {
	case n < 0:
	case ref.Kind == spec.RefIn && n < len(c.in):
		return c.in[n].Misalignment + c.in[n].Desc.Bytes(), nil
	case ref.Kind == spec.RefOut && n < len(c.out):
		return c.out[n].Misalignment + c.out[n].Desc.Bytes(), nil
	case ref.Kind == spec.RefScratch && n < len(plan.Scratch):
		return plan.Scratch[n], nil
	case ref.Kind == spec.RefStatus && n < len(plan.Checks):
		return StatusBytes, nil
	}
	return 0, fmt.Errorf("%w: the plan has no such operand (%+v)", errs.ErrInvalidArgument, ref)
}

// shareScratch lets scratch buffers that no step needs at the same time share one buffer.
// share says for each scratch buffer which of sizes it uses. A scratch buffer uses the
// free one whose size is nearest.
func shareScratch(plan *spec.Plan) (share []int, sizes []int64) {
	share = make([]int, len(plan.Scratch))
	var free []int // free is the last step that needs each of sizes.
	for i, l := range plan.Lifetimes() {
		if l.Last < 0 {
			continue // No step binds this buffer.
		}
		best := -1
		for k := range sizes {
			if free[k] < l.First && (best < 0 || distance(sizes[k], plan.Scratch[i]) < distance(sizes[best], plan.Scratch[i])) {
				best = k
			}
		}
		if best < 0 {
			best = len(sizes)
			sizes, free = append(sizes, 0), append(free, -1)
		}
		sizes[best], free[best], share[i] = max(sizes[best], plan.Scratch[i]), l.Last, best
	}
	return share, sizes
}

func distance(a, b int64) int64 { return max(a-b, b-a) }

// overlapsItself reports whether two elements of a tensor may lie at the same address, as
// in a broadcast. They do not if each stride is larger than the distance that the smaller
// strides reach together. In all other cases it reports true.
func overlapsItself(d tensor.Desc) bool {
	if d.IsContiguous() || d.Elems() == 0 {
		return false
	}
	return !nested(d.Shape, d.ElementStrides())
}

func clonePlaces(places []Place) []Place {
	out := make([]Place, len(places))
	for i, p := range places {
		p.Desc.Shape, p.Desc.Strides = slices.Clone(p.Desc.Shape), slices.Clone(p.Desc.Strides)
		out[i] = p
	}
	return out
}

func descs(places []Place) []tensor.Desc {
	d := make([]tensor.Desc, len(places))
	for i, p := range places {
		d[i] = p.Desc
	}
	return d
}

// kernelParams is a kernel, and the type of the params struct that a step has for it.
type kernelParams struct {
	module *spv.Module
	params reflect.Type
}

// checkKernel returns an error if a step has no kernel, or if its params struct does not
// match the kernel. Pairs in checked have been compared before.
func checkKernel(s spec.Step, checked map[kernelParams]bool) error {
	if s.Module == nil || len(s.Module.Code) == 0 {
		if err := spirv.Usable(s.Name()); errors.Is(err, errs.ErrABIMismatch) {
			return err
		}
		return fmt.Errorf("%w: no kernel %q", errs.ErrInvalidShader, s.Name())
	}
	pair := kernelParams{s.Module, reflect.TypeOf(s.Params)}
	if checked[pair] {
		return nil
	}
	checked[pair] = true
	return spec.CheckParams(s.Module, s.Params)
}

// Modules lists the shaders that the call launches. Each is listed once.
func (c *Compiled) Modules() []*spv.Module {
	if c == nil {
		return nil
	}
	seen := map[*spv.Module]bool{}
	var list []*spv.Module
	for _, s := range c.steps {
		if !seen[s.module] {
			seen[s.module] = true
			list = append(list, s.module)
		}
	}
	return list
}

// Bind returns the launches of the call on operands. These must be at the places that the
// call was compiled for. scratch has a buffer of each size in Scratch, and status has
// StatusBytes of zeros for each of Checks. The caller owns all of them, and must not use
// them for anything else until the device has run the launches.
// Errors: ErrInvalidArgument for operands at other places, or for another number of
// buffers.
func (c *Compiled) Bind(in, out []Operand, scratch []gpu.Handle, status []gpu.Binding) ([]gpu.Dispatch, error) {
	if c == nil {
		return nil, fmt.Errorf("exec: bind: %w: the Compiled was not made by Compile", errs.ErrNotInitialized)
	}
	for k, list := range [][]Operand{in, out} {
		places := [][]Place{c.in, c.out}[k]
		if len(list) != len(places) {
			return nil, fmt.Errorf("exec: bind: %s: %w: %d operands (want %d)", c.name, errs.ErrInvalidArgument, len(list), len(places))
		}
		for i, o := range list {
			if p := placeOf(o, c.align); !samePlace(p, places[i]) {
				return nil, fmt.Errorf("exec: bind: %s: %w: operand %d is %v, %d bytes off (compiled for %v, %d)", c.name, errs.ErrInvalidArgument, i, p.Desc, p.Misalignment, places[i].Desc, places[i].Misalignment)
			}
		}
	}
	if len(scratch) != len(c.Scratch) || len(status) != len(c.Checks) {
		return nil, fmt.Errorf("exec: bind: %s: %w: %d scratch buffers and %d status words (want %d and %d)", c.name, errs.ErrInvalidArgument, len(scratch), len(status), len(c.Scratch), len(c.Checks))
	}
	return c.bind(&launch{}, in, out, scratch, status, 0), nil
}

// launch holds memory that a call needs until it is submitted. Later calls use it again.
type launch struct {
	key      []byte
	list     []gpu.Dispatch
	bindings []gpu.Binding
	scratch  []gpu.Handle
	status   []gpu.Binding
	slots    []int
}

// bind fills l with the launches. They carry the tag.
func (c *Compiled) bind(l *launch, in, out []Operand, scratch []gpu.Handle, status []gpu.Binding, tag uint64) []gpu.Dispatch {
	if cap(l.bindings) < c.bindings {
		l.bindings = make([]gpu.Binding, 0, c.bindings)
	}
	if cap(l.list) < len(c.steps) {
		l.list = make([]gpu.Dispatch, 0, len(c.steps))
	}
	list, all := l.list[:0], l.bindings[:0]
	for i := range c.steps {
		s := &c.steps[i]
		if s.copies.within(in, out) {
			continue
		}
		first := len(all)
		for _, b := range s.bind {
			var to gpu.Binding
			discard := false
			switch n := b.ref.Index; b.ref.Kind {
			case spec.RefIn:
				to.Buffer, to.Offset = in[n].Buffer, in[n].Offset-in[n].Offset%c.align
			case spec.RefOut:
				to.Buffer, to.Offset = out[n].Buffer, out[n].Offset-out[n].Offset%c.align
				discard = c.overwrites(n, in, out)
			case spec.RefScratch:
				to.Buffer, discard = scratch[n], true
			default:
				to = status[n]
			}
			all = append(all, gpu.Binding{Buffer: to.Buffer, Offset: to.Offset + b.offset, Size: b.size, Discard: discard})
		}
		list = append(list, gpu.Dispatch{Module: s.module, Bindings: all[first:len(all):len(all)], Params: s.params, Groups: s.groups, Tag: tag})
	}
	l.list, l.bindings = list, all
	return list
}

// overwrites reports whether the call writes all of output n and does not read its old
// contents. That is so if the operation promises to write all elements, the elements of
// the output lie without gaps, and no other operand lies in its buffer. It is not so if
// the device checks inputs, because then the steps that write may do nothing. Steps bind whole
// units of memory, so the output must not share its first or its last unit with other data.
func (c *Compiled) overwrites(n int, in, out []Operand) bool {
	o := &out[n]
	if !c.writesAll || len(c.Checks) > 0 || !o.Desc.IsContiguous() {
		return false
	}
	if !o.Alone && (o.Offset%c.align != 0 || (o.Offset+o.Desc.Bytes())%gpu.Unit != 0) {
		return false
	}
	for i := range in {
		if in[i].Buffer == out[n].Buffer {
			return false
		}
	}
	for i := range out {
		if i != n && out[i].Buffer == out[n].Buffer {
			return false
		}
	}
	return true
}

// placeOf returns the place of an operand on a device whose offsets are multiples of
// align.
func placeOf(o Operand, align int64) Place {
	return Place{Desc: o.Desc, Misalignment: o.Offset % align}
}

// samePlace reports whether plans for a and b are the same.
func samePlace(a, b Place) bool {
	return a.Misalignment == b.Misalignment && a.Desc.DType == b.Desc.DType && slices.Equal(a.Desc.Shape, b.Desc.Shape) && sameStrides(a.Desc, b.Desc)
}

// sameStrides compares the strides of tensors of one shape. It allocates nothing if both
// are contiguous.
func sameStrides(a, b tensor.Desc) bool {
	if a.Strides == nil && b.Strides == nil {
		return true
	}
	return slices.Equal(a.ElementStrides(), b.ElementStrides())
}

// nested reports whether each stride is larger than the distance that the smaller strides
// reach together.
func nested(shape, strides []int) bool {
	order := make([]int, 0, len(shape))
	for i, n := range shape {
		if n > 1 {
			order = append(order, i)
		}
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(strides[a], strides[b]) })
	reach := 0
	for _, i := range order {
		if strides[i] <= reach {
			return false
		}
		reach += (shape[i] - 1) * strides[i]
	}
	return true
}
