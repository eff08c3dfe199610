package exec

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// copyName is the operation that copies a tensor of any strides to one of any
// other strides.
const copyName = "copy"

// plan asks the operation for its plan. Operands that begin where the device
// cannot bind a buffer are planned for in scratch memory, with copies before and
// after; so are those with strides where the operation cannot work with strides.
func (r *Runner) plan(call spec.Call, in, out []Operand, choose chooser) (*spec.Plan, error) {
	mover, err := copier()
	if m, ok := call.(spec.StridedCopier); ok && len(in) == 1 && len(out) == 1 {
		return m.PlanFrom(&r.target, in[0].Desc, out[0].Desc, r.skew(in[0]), r.skew(out[0]))
	}
	all := append(append([]Operand(nil), in...), out...)
	move, strided, skewed := make([]bool, len(all)), false, false
	for i, o := range all {
		takes := call.Spec().TakesInput(i, o.Desc)
		if i >= len(in) {
			takes = call.Spec().TakesOutput(i-len(in), o.Desc)
		}
		move[i] = r.skew(o) != 0 && o.Desc.Elems() > 0 || !takes
		skewed = skewed || move[i]
		strided = strided || !move[i] && !o.Desc.IsContiguous()
	}
	if skewed && err != nil {
		return nil, err
	}
	plain := r.packed(all, move)
	inner, innerErr := r.planned(call, plain[:len(in)], plain[len(in):], choose)
	// A view may reach further than a binding spans where its elements do not.
	refused := errors.Is(innerErr, errs.ErrUnsupported) && !call.Spec().Typed() || errors.Is(innerErr, spec.ErrStrides) || errors.Is(innerErr, errs.ErrLimit)
	if refused && strided && err == nil {
		for i, o := range all {
			move[i] = move[i] || !o.Desc.IsContiguous()
		}
		skewed, plain = true, r.packed(all, move)
		inner, innerErr = r.planned(call, plain[:len(in)], plain[len(in):], choose)
	}
	if innerErr != nil || !skewed {
		return inner, innerErr
	}
	return r.around(mover, inner, all, plain, move, len(in))
}

// copier is the operation that copies from any strides to any others.
func copier() (spec.StridedCopier, error) {
	if op := spec.Lookup(copyName); op != nil {
		if m, ok := op.Defaults.(spec.StridedCopier); ok {
			return m, nil
		}
	}
	return nil, fmt.Errorf("no operation copies strides: %w", errs.ErrUnsupported)
}

// around puts copies before and after the steps of inner: the operands that move
// says are in scratch memory there, as plain describes them. The first inputs of
// all are inputs.
func (r *Runner) around(mover spec.StridedCopier, inner *spec.Plan, all []Operand, plain []tensor.Desc, move []bool, inputs int) (*spec.Plan, error) {
	whole := &spec.Plan{Scratch: append([]int64(nil), inner.Scratch...), Checks: inner.Checks}
	rooms := map[spec.Ref]spec.Ref{} // operands of the call to scratch
	var after []spec.Step
	// steps plans a copy of operand i to its room or back.
	steps := func(i int, ref, room spec.Ref, back bool) ([]spec.Step, error) {
		from, to, src, dst := all[i].Desc, plain[i], r.skew(all[i]), 0
		refs := map[spec.Ref]spec.Ref{spec.In(0): ref, spec.Out(0): room}
		if back {
			from, to, src, dst = to, from, dst, src
			refs = map[spec.Ref]spec.Ref{spec.In(0): room, spec.Out(0): ref}
		}
		p, err := mover.PlanFrom(&r.target, from, to, src, dst)
		if err != nil {
			return nil, fmt.Errorf("strides %v: %w", all[i].Desc.Strides, err)
		}
		first := len(whole.Scratch)
		whole.Scratch = append(whole.Scratch, p.Scratch...)
		return rebind(p.Steps, first, refs), nil
	}
	for i := range all {
		if !move[i] {
			continue
		}
		ref := spec.In(i)
		if i >= inputs {
			ref = spec.Out(i - inputs)
		}
		room := spec.Scratch(len(whole.Scratch))
		whole.Scratch = append(whole.Scratch, plain[i].Bytes())
		rooms[ref] = room
		// An operation that finds a fault leaves its outputs as they were, and
		// then the copy back must find that there.
		if i < inputs || len(inner.Checks) > 0 {
			list, err := steps(i, ref, room, false)
			if err != nil {
				return nil, err
			}
			whole.Steps = append(whole.Steps, list...)
		}
		if i >= inputs {
			list, err := steps(i, ref, room, true)
			if err != nil {
				return nil, err
			}
			after = append(after, list...)
		}
	}
	whole.Steps = append(whole.Steps, rebind(inner.Steps, 0, rooms)...)
	whole.Steps = append(whole.Steps, after...)
	return whole, nil
}

// skew is how many elements an operand begins after the last place before it
// where a buffer can be bound.
func (r *Runner) skew(o Operand) int {
	return int(o.Offset % r.align / int64(max(o.Desc.DType.Size(), 1)))
}

// rebind returns the steps with their operands replaced and their scratch
// buffers counted from first on.
func rebind(steps []spec.Step, first int, to map[spec.Ref]spec.Ref) []spec.Step {
	out := make([]spec.Step, len(steps))
	for i, s := range steps {
		out[i] = s
		out[i].Bind = make([]spec.Bind, len(s.Bind))
		for j, b := range s.Bind {
			if b.Buf.Kind == spec.RefScratch {
				b.Buf = spec.Scratch(first + b.Buf.Index)
			} else if ref, ok := to[b.Buf]; ok {
				b.Buf = ref
			}
			out[i].Bind[j] = b
		}
	}
	return out
}

// packed is the descs of the operands, of those to be moved without strides.
func (r *Runner) packed(all []Operand, move []bool) []tensor.Desc {
	out := descs(all)
	for i, d := range out {
		if move[i] {
			out[i] = tensor.Contiguous(d.DType, d.Shape...)
		}
	}
	return out
}
