package exec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// plan returns the plan of a call. Some operands cannot be used where they are, because
// of their strides or because the device cannot bind that offset. The plan then has
// copies of them in scratch memory.
func (r *Runner) plan(call spec.Call, in, out []Place, choose chooser) (*spec.Plan, error) {
	op := call.Spec()
	p := packing{r: r, all: slices.Concat(in, out), inputs: len(in)}
	p.pack = make([]bool, len(p.all))
	for i, o := range p.all {
		takes := op.TakesInput(i, o.Desc)
		if i >= len(in) {
			takes = op.TakesOutput(i-len(in), o.Desc)
		}
		misaligned := o.Misalignment != 0 && op.PlanAt == nil
		p.pack[i] = (misaligned || !takes) && o.Desc.Elems() > 0
	}
	plan, err := p.plan(call, choose)
	// A view may extend further than a binding, although its elements would fit.
	for _, more := range []func(Place) bool{
		func(o Place) bool { return o.Misalignment != 0 },
		func(o Place) bool { return !o.Desc.IsContiguous() },
	} {
		if (errors.Is(err, spec.ErrStrides) || errors.Is(err, errs.ErrLimit)) && p.packMore(more) {
			plan, err = p.plan(call, choose)
		}
	}
	return plan, err
}

// packing is a call of which some operands are packed. A packed input is copied to
// contiguous scratch memory before the operation. A packed output is copied from there
// after it.
type packing struct {
	r *Runner
	// all are the inputs, followed by the outputs.
	all []Place
	// inputs is the number of inputs.
	inputs int
	// pack says which of all are packed.
	pack []bool
}

// packMore also packs the operands for which more is true. It reports whether that changes anything.
func (p *packing) packMore(more func(Place) bool) bool {
	changed := false
	for i, o := range p.all {
		if !p.pack[i] && o.Desc.Elems() > 0 && more(o) {
			p.pack[i], changed = true, true
		}
	}
	return changed
}

// plan returns the plan of the call with the copies.
func (p *packing) plan(call spec.Call, choose chooser) (*spec.Plan, error) {
	places := slices.Clone(p.all)
	for i, o := range p.all {
		if p.pack[i] {
			places[i] = Place{Desc: tensor.Contiguous(o.Desc.DType, o.Desc.Shape...)}
		}
	}
	inner, err := p.r.planned(call, places[:p.inputs], places[p.inputs:], choose)
	if err != nil || !slices.Contains(p.pack, true) {
		return inner, err
	}
	spirv.LinkMove() // The declaration of the operation knows nothing of the copies.
	whole := &spec.Plan{Scratch: slices.Clone(inner.Scratch), Checks: inner.Checks}
	packed := map[spec.Ref]spec.Ref{} // packed maps operands of the call to scratch buffers.
	after := &spec.Plan{}
	for i, o := range p.all {
		if !p.pack[i] {
			continue
		}
		ref := spec.In(i)
		if i >= p.inputs {
			ref = spec.Out(i - p.inputs)
		}
		there := planner.OperandOf(ref, o.Desc)
		there.Base = int(o.Misalignment) / max(o.Desc.DType.Size(), 1)
		here := planner.OperandOf(planner.AddScratch(whole, places[i].Desc.Bytes()), places[i].Desc)
		packed[ref] = here.Ref
		// Elements of an output stay unwritten if the operation does not promise to write
		// all of them, and if a check finds an error. The copy back must then copy the old
		// elements.
		if i < p.inputs || len(inner.Checks) > 0 || !call.Spec().WritesAll {
			err = cmp.Or(err, movement.AddCopy(whole, &p.r.target, o.Desc.DType, o.Desc.Shape, there, here))
		}
		if i >= p.inputs {
			err = cmp.Or(err, movement.AddCopy(after, &p.r.target, o.Desc.DType, o.Desc.Shape, here, there))
		}
		if err != nil {
			return nil, fmt.Errorf("%s: strides %v: %w", call.Spec().Name, o.Desc.Strides, err)
		}
	}
	if len(after.Scratch) > 0 {
		return nil, fmt.Errorf("%s: %w: a copy that needs scratch memory", call.Spec().Name, errs.ErrUnsupported)
	}
	for _, s := range inner.Steps {
		s.Bind = slices.Clone(s.Bind)
		for j, b := range s.Bind {
			if ref, ok := packed[b.Buf]; ok {
				s.Bind[j].Buf = ref
				s.Copies = spec.Ref{} // One of both is elsewhere.
			}
		}
		whole.Steps = append(whole.Steps, s)
	}
	whole.Steps = append(whole.Steps, after.Steps...)
	return whole, nil
}
