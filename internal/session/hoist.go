package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
)

// hoisted are the launches that depend on weights and constants only, taken out of the runs. A run after a weight was set submits those that depend on it first.
type hoisted struct {
	seq *exec.Sequence
	// weights are the params that each call depends on.
	weights [][]int
	seen    []uint64 // by param: how often it had been set when the calls that depend on it ran
	some    []bool   // the calls of the next submission
	// recorded says that a run of the program was recorded, whose replays run them all.
	recorded bool
}

// sequences makes the launches of each run, those that are hoisted out of it, and those that run once, which it returns. Launches of a run that depend on
// constants and weights only become a part of one of the latter, with scratch memory of their own.
func (p *Program) sequences() (once *exec.Sequence, err error) {
	l, s := p.lir, p.session
	var onces, early, run []exec.SlotCall
	for _, list := range []struct {
		to    *[]exec.SlotCall
		steps []lir.Step
	}{{&onces, l.Once}, {&early, l.Prepare}, {&run, l.Steps}} {
		if *list.to, err = slotCalls(l, list.steps); err != nil {
			return nil, err
		}
	}
	var uses dependences
	for i := range l.Prepare {
		uses.add(l.Prepare[i].In, l.Prepare[i].Out)
	}
	for i := range l.Steps {
		divided, err := p.divide(&l.Steps[i], &run[i])
		if err != nil {
			return nil, err
		}
		if divided != nil {
			early = append(early, *divided)
			uses.add(fixedOnly(l, l.Steps[i].In), nil)
		}
	}
	slots := slot(l, lir.Arena, len(l.Arena)) + len(p.packed)
	h := hoisted{seen: make([]uint64, len(l.Params))}
	var kept []exec.SlotCall
	for i, weights := range uses.weights() {
		if len(weights) == 0 { // of constants only, also in a Prepare that a program has made
			onces = append(onces, early[i])
			continue
		}
		kept, h.weights = append(kept, early[i]), append(h.weights, weights)
	}
	if once, err = s.run.NewSequence(slots, onces); err != nil {
		return nil, err
	}
	if len(kept) > 0 {
		if h.seq, err = s.run.NewSequence(slots, kept); err != nil {
			return nil, err
		}
		p.hoisted = &h
	}
	p.main, err = s.subgraph(l, run, slots)
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
func (p *Program) divide(step *lir.Step, call *exec.SlotCall) (*exec.SlotCall, error) {
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
	once := *call
	once.Out = nil
	once.Compiled, call.Compiled = call.Compiled.Split(launches)
	return &once, nil
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

// prepareWeights submits what depends on weights that were set since it ran last. It waits if the device checks inputs of such calls: what was refused would be an error of one run
// only otherwise, and others would go on with what was there before. A run that is recorded has all of it, and since replays write it anew, so
// has each run after that. Earlier runs that the device has not finished come before it in
// its order, and so read what was there before. The caller holds the mutex of the State, and bind has checked the params.
func (p *Program) prepareWeights(ctx context.Context) error {
	h := p.hoisted
	if h == nil {
		return nil
	}
	recording := p.session.holder.recording()
	if h.recorded = h.recorded || recording; !h.recorded && !p.changed() {
		return nil
	}
	if err := p.setOwn(h.seq.Set); err != nil {
		return err
	}
	for i, param := range p.params {
		if err := h.seq.Set(slot(p.lir, lir.Params, i), param.tensor.Buffer.handle, param.tensor.Offset); err != nil {
			return err
		}
	}
	if h.recorded {
		return h.seq.Submit(ctx)
	}
	if err := h.seq.SubmitAndCheck(ctx, h.some); err != nil {
		return err
	}
	for i, param := range p.params {
		h.seen[i] = param.times
	}
	return nil
}

// changed finds the hoisted calls that depend on a weight that was set since they ran, and reports whether there are any. A param that a run is given was set once at least.
func (p *Program) changed() (any bool) {
	h := p.hoisted
	changed := func(i int) bool { return h.seen[i] != p.params[i].times }
	if !slices.ContainsFunc(h.weights, func(weights []int) bool { return slices.ContainsFunc(weights, changed) }) {
		return false
	}
	h.some = h.some[:0]
	for _, weights := range h.weights {
		h.some = append(h.some, slices.ContainsFunc(weights, changed))
	}
	return true
}
