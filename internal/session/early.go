package session

import (
	"context"
	"fmt"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
)

// sequences makes the launches of each run, those that run before the first run after a weight was set, and those that run once, which it
// returns. Launches of a run that depend on constants and weights only become a part of one of the latter, with scratch memory of their own.
func (p *Program) sequences() (once *exec.Sequence, err error) {
	l, s := p.lir, p.session
	weights := false
	for _, port := range l.Params {
		weights = weights || port.Weight
	}
	var onces, early, run []exec.SlotCall
	for _, list := range []struct {
		to    *[]exec.SlotCall
		steps []lir.Step
	}{{&onces, l.Once}, {&early, l.Prepare}, {&run, l.Steps}} {
		if *list.to, err = slotCalls(l, list.steps); err != nil {
			return nil, err
		}
	}
	for i := range l.Steps {
		fixed, err := p.divide(&l.Steps[i], &run[i])
		if err != nil {
			return nil, err
		}
		if fixed != nil && weights {
			early = append(early, *fixed)
		} else if fixed != nil {
			onces = append(onces, *fixed)
		}
	}
	slots := slot(l, lir.Arena, len(l.Arena)) + len(p.packed)
	if once, err = s.run.NewSequence(slots, onces); err != nil {
		return nil, err
	}
	if len(early) > 0 {
		if p.early, err = s.run.NewSequence(slots, early); err != nil {
			return nil, err
		}
	}
	p.main, err = s.stage(l, run, slots)
	return once, err
}

// slotCalls are steps as calls of a sequence. That of an If or a While is empty.
func slotCalls(l *lir.Program, steps []lir.Step) ([]exec.SlotCall, error) {
	calls := make([]exec.SlotCall, len(steps))
	for i := range steps {
		if steps[i].Control != nil {
			continue
		}
		var err error
		if calls[i], err = slotCall(l, &steps[i]); err != nil {
			return nil, err
		}
	}
	return calls, nil
}

// slotCall is a step as a call of a sequence.
func slotCall(l *lir.Program, step *lir.Step) (exec.SlotCall, error) {
	c, ok := step.Code.(code)
	if !ok {
		return exec.SlotCall{}, fmt.Errorf("%w: a schedule of another compiler", errs.ErrInvalidArgument)
	}
	call := exec.SlotCall{Label: step.Label, Call: step.Call, Compiled: c.compiled}
	for _, o := range step.In {
		call.In = append(call.In, slotOperand(l, o))
	}
	for _, o := range step.Out {
		call.Out = append(call.Out, slotOperand(l, o))
	}
	for _, r := range step.Scratch {
		call.Scratch = append(call.Scratch, exec.SlotOperand{Slot: slot(l, lir.Arena, r.Buffer), Offset: r.Offset})
	}
	return call, nil
}

// divide takes the launches of a call that need not run each time out of it, and returns a call of them, or nil. It gives their scratch memory slots
// and buffers of its own.
func (p *Program) divide(step *lir.Step, call *exec.SlotCall) (fixed *exec.SlotCall, err error) {
	launches, scratch := p.lir.Fixed(step)
	if launches == nil {
		return nil, nil
	}
	for k, stays := range scratch {
		if !stays {
			continue
		}
		b, err := p.session.memory.allocate(step.Scratch[k].Size)
		if err != nil {
			return nil, err
		}
		call.Scratch[k] = exec.SlotOperand{Slot: slot(p.lir, lir.Arena, len(p.lir.Arena)) + len(p.packed)}
		p.packed = append(p.packed, b)
	}
	early := *call
	early.Out = nil
	early.Compiled, call.Compiled = call.Compiled.Split(launches)
	return &early, nil
}

func slotOperand(l *lir.Program, o lir.Operand) exec.SlotOperand {
	if o.Value < 0 { // left out
		return exec.SlotOperand{Slot: -1, Desc: o.Desc}
	}
	return exec.SlotOperand{Slot: slot(l, o.Memory, o.Buffer), Offset: o.Offset, Desc: o.Desc}
}

// setOwn sets the slots of the memory that the program and its State own.
func (p *Program) setOwn(set func(slot int, h gpu.Handle, offset int64) error) error {
	p.session.holder.hold(p.kept)
	if err := set(slot(p.lir, lir.Kept, 0), p.kept.handle, 0); err != nil {
		return err
	}
	first := slot(p.lir, lir.Arena, 0)
	for i := range p.lir.Arena {
		p.session.holder.hold(p.state.arena[i])
		if err := set(first+i, p.state.arena[i].handle, 0); err != nil {
			return err
		}
	}
	for i, b := range p.packed {
		p.session.holder.hold(b)
		if err := set(first+len(p.lir.Arena)+i, b.handle, 0); err != nil {
			return err
		}
	}
	return nil
}

// prepareWeights submits what depends on weights, if one was set since it ran last. A run that is recorded has it too, and since replays write it anew, so
// has each run after that. Earlier runs that the device has not finished come before it in
// its order, and so read what was there before. The caller holds the mutex of the State, and bind has checked the params.
func (p *Program) prepareWeights(ctx context.Context) error {
	if p.early == nil || !p.weightsSet() {
		return nil
	}
	if err := p.setOwn(p.early.Set); err != nil {
		return err
	}
	for i, param := range p.params {
		if err := p.early.Set(slot(p.lir, lir.Params, i), param.tensor.Buffer.handle, param.tensor.Offset); err != nil {
			return err
		}
	}
	if err := p.early.Submit(ctx); err != nil {
		return err
	}
	if p.recorded = p.recorded || p.session.holder.recording(); p.recorded {
		return nil
	}
	p.set = p.set[:0]
	for _, param := range p.params {
		p.set = append(p.set, param.times)
	}
	return nil
}

// weightsSet reports whether a weight was set since early ran.
func (p *Program) weightsSet() bool {
	if p.set == nil || p.recorded || p.session.holder.recording() {
		return true
	}
	for i, param := range p.params {
		if p.lir.Params[i].Weight && p.set[i] != param.times {
			return true
		}
	}
	return false
}
