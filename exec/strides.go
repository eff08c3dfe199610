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

// plan asks the operation for its plan. Where it cannot work with the strides
// of the operands, it is planned for contiguous ones in scratch memory, with
// copies before and after.
func (r *Runner) plan(call spec.Call, in, out []tensor.Desc) (*spec.Plan, error) {
	op := call.Spec()
	plan, err := op.Plan(call, &r.target, in, out)
	if err == nil || !errors.Is(err, errs.ErrUnsupported) || op.Name == copyName || contiguous(in) && contiguous(out) {
		return plan, err
	}
	copier := spec.Lookup(copyName)
	if copier == nil {
		return nil, err
	}
	inner, innerErr := op.Plan(call, &r.target, packed(in), packed(out))
	if innerErr != nil {
		return nil, innerErr
	}
	whole := &spec.Plan{Scratch: append([]int64(nil), inner.Scratch...), Fault: inner.Fault}
	moved := map[spec.Ref]spec.Ref{} // operands of the call to scratch
	var after []spec.Step
	for i, d := range append(append([]tensor.Desc(nil), in...), out...) {
		if d.IsContiguous() {
			continue
		}
		plain := tensor.Contiguous(d.DType, d.Shape...)
		ref, from, to := spec.In(i), d, plain
		if i >= len(in) {
			ref, from, to = spec.Out(i-len(in)), plain, d
		}
		p, err := copier.Plan(copier.Defaults, &r.target, []tensor.Desc{from}, []tensor.Desc{to})
		if err != nil {
			return nil, fmt.Errorf("strides %v: %w", d.Strides, err)
		}
		room := spec.Scratch(len(whole.Scratch))
		whole.Scratch = append(whole.Scratch, plain.Bytes())
		first := len(whole.Scratch)
		whole.Scratch = append(whole.Scratch, p.Scratch...)
		moved[ref] = room
		if i < len(in) {
			whole.Steps = append(whole.Steps, rebind(p.Steps, first, map[spec.Ref]spec.Ref{spec.In(0): ref, spec.Out(0): room})...)
		} else {
			after = append(after, rebind(p.Steps, first, map[spec.Ref]spec.Ref{spec.In(0): room, spec.Out(0): ref})...)
		}
	}
	// An operation may leave its output as it was, for instance after a fault:
	// the copies in and out must not spoil it then.
	if inner.Fault != nil {
		for ref, room := range moved {
			if class, i := ref.Split(); class == 1 {
				p, err := copier.Plan(copier.Defaults, &r.target, []tensor.Desc{out[i]}, []tensor.Desc{packed(out)[i]})
				if err != nil {
					return nil, err
				}
				first := len(whole.Scratch)
				whole.Scratch = append(whole.Scratch, p.Scratch...)
				whole.Steps = append(whole.Steps, rebind(p.Steps, first, map[spec.Ref]spec.Ref{spec.In(0): ref, spec.Out(0): room})...)
			}
		}
	}
	whole.Steps = append(whole.Steps, rebind(inner.Steps, 0, moved)...)
	whole.Steps = append(whole.Steps, after...)
	return whole, nil
}

// rebind returns the steps with their operands replaced and their scratch
// buffers counted from first on.
func rebind(steps []spec.Step, first int, to map[spec.Ref]spec.Ref) []spec.Step {
	out := make([]spec.Step, len(steps))
	for i, s := range steps {
		out[i] = s
		out[i].Bind = make([]spec.Bind, len(s.Bind))
		for j, b := range s.Bind {
			if class, n := b.Buf.Split(); class == 2 {
				b.Buf = spec.Scratch(first + n)
			} else if ref, ok := to[b.Buf]; ok {
				b.Buf = ref
			}
			out[i].Bind[j] = b
		}
	}
	return out
}

func contiguous(ds []tensor.Desc) bool {
	for _, d := range ds {
		if !d.IsContiguous() {
			return false
		}
	}
	return true
}

// packed is the descs without their strides.
func packed(ds []tensor.Desc) []tensor.Desc {
	out := make([]tensor.Desc, len(ds))
	for i, d := range ds {
		out[i] = tensor.Contiguous(d.DType, d.Shape...)
	}
	return out
}
