package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// SlotOperand is an operand of a call of a Sequence.
type SlotOperand struct {
	// Slot is the number of the buffer that it lies in. An operand without elements may have the slot -1.
	Slot int
	// Offset is where it begins in the buffer, in bytes.
	Offset int64
	// Desc describes it.
	Desc tensor.Desc
}

// SlotCall is a call of a Sequence.
type SlotCall struct {
	// Label is what a trace says of the call besides. It may be empty.
	Label string
	// Call is the call, and Compiled what Runner.Compile has made of it for operands at these places.
	Call     spec.Call
	Compiled *Compiled
	// In and Out are the operands. Scratch has an operand for each of Compiled.Scratch, of which only Slot and Offset
	// count. The offset is a multiple of the alignment of the device.
	In, Out, Scratch []SlotOperand
}

// Sequence is a list of calls that is submitted many times, each time as one list of launches. The calls lie in buffers
// that are numbered, the slots. Set says which buffer a slot is. One goroutine at a time may use a Sequence.
type Sequence struct {
	r     *Runner
	calls []SlotCall
	// list are the launches of all calls, and ends where those of each call and its checks end.
	list []gpu.Dispatch
	ends []part
	// parts are what is submitted at once: all, unless there are more checks than words for them.
	parts []part
	slots []slot
	// checks are the device checks of all calls, and status the bindings of their words.
	checks []spec.DeviceCheck
	status [][]*gpu.Binding
	words  []gpu.Binding
	taken  []int
	// written are the slots that have outputs.
	written []int
	repeats repeats
}

// slot is a buffer, and the bindings of the list that are ranges of it.
type slot struct {
	h      gpu.Handle
	offset int64
	binds  []*gpu.Binding
	bases  []int64 // where each of binds begins, from the start of the slot
}

// part is the launches and the checks of a Sequence up to these numbers.
type part struct{ launches, checks int }

// mostChecks is how many device checks of a Sequence are submitted at once.
const mostChecks = statusSlots / 2

// mostSlots bounds the buffers of a Sequence.
const mostSlots = 1 << 20

// NewSequence makes a Sequence of calls over so many slots.
// Errors: ErrInvalidArgument for operands that do not fit a call, overlap where they may not, or lie in no slot.
func (r *Runner) NewSequence(slots int, calls []SlotCall) (*Sequence, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	if slots < 0 || slots > mostSlots {
		return nil, fmt.Errorf("exec: sequence: %w: %d slots (want 0 to %d)", errs.ErrInvalidArgument, slots, mostSlots)
	}
	s := &Sequence{r: r, calls: calls, slots: make([]slot, slots)}
	for i := range calls {
		if err := s.check(&calls[i]); err != nil {
			return nil, err
		}
		if err := s.add(&calls[i]); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// check returns an error unless the operands suit the call.
func (s *Sequence) check(c *SlotCall) error {
	if c.Compiled == nil || len(c.In) != len(c.Compiled.in) || len(c.Out) != len(c.Compiled.out) || len(c.Scratch) != len(c.Compiled.Scratch) {
		return fmt.Errorf("exec: sequence: %w: the operands are not those of the compiled call", errs.ErrInvalidArgument)
	}
	fake := func(list []SlotOperand, want []Place) ([]Operand, error) {
		out := make([]Operand, len(list))
		for i, o := range list {
			// Handles that no buffer has stand for the slots. Nothing overlaps an operand without elements.
			out[i] = Operand{Buffer: gpu.Handle(o.Slot + 1), Offset: o.Offset, Desc: o.Desc}
			if o.Slot < -1 || o.Slot >= len(s.slots) || o.Slot < 0 && o.Desc.Elems() > 0 {
				return nil, fmt.Errorf("exec: sequence: %s: %w: slot %d of %d", c.Compiled.name, errs.ErrInvalidArgument, o.Slot, len(s.slots))
			}
			if p := placeOf(out[i], s.r.align); o.Slot >= 0 && !samePlace(p, want[i]) {
				return nil, fmt.Errorf("exec: sequence: %s: %w: operand %d is %v, %d bytes off (compiled for %v, %d)", c.Compiled.name, errs.ErrInvalidArgument, i, p.Desc, p.Misalignment, want[i].Desc, want[i].Misalignment)
			}
		}
		return out, nil
	}
	in, err := fake(c.In, c.Compiled.in)
	if err != nil {
		return err
	}
	out, err := fake(c.Out, c.Compiled.out)
	if err != nil {
		return err
	}
	for _, o := range c.Scratch {
		if o.Slot < 0 || o.Slot >= len(s.slots) || o.Offset%s.r.align != 0 {
			return fmt.Errorf("exec: sequence: %s: %w: scratch memory at %d of slot %d of %d", c.Compiled.name, errs.ErrInvalidArgument, o.Offset, o.Slot, len(s.slots))
		}
	}
	return checkOverlap(c.Call, in, out)
}

// add appends the launches of a call.
func (s *Sequence) add(c *SlotCall) error {
	n := len(c.Compiled.Checks)
	if n > mostChecks {
		return fmt.Errorf("exec: sequence: %s: %w: %d device checks (want at most %d)", c.Compiled.name, errs.ErrUnsupported, n, mostChecks)
	}
	if last := len(s.parts) - 1; last < 0 {
		s.parts = append(s.parts, part{})
	} else if before := s.begin(last).checks; len(s.checks)-before+n > mostChecks {
		s.parts = append(s.parts, part{})
	}
	status := make([][]*gpu.Binding, len(c.Compiled.Checks))
	for i := range c.Compiled.steps {
		step := &c.Compiled.steps[i]
		if k := step.copies; k.in > 0 {
			if in, out := c.In[k.in-1], c.Out[k.out-1]; in.Slot == out.Slot && in.Offset == out.Offset {
				continue
			}
		}
		binds := make([]gpu.Binding, len(step.bind))
		for k, b := range step.bind {
			binds[k] = gpu.Binding{Offset: b.offset, Size: b.size}
			var o SlotOperand
			switch n := b.ref.Index; b.ref.Kind {
			case spec.RefIn:
				o = c.In[n]
			case spec.RefOut:
				o = c.Out[n]
			case spec.RefScratch:
				o = c.Scratch[n]
			default:
				status[n] = append(status[n], &binds[k])
				continue
			}
			if o.Slot < 0 {
				return fmt.Errorf("exec: sequence: %s: %w: a launch binds an operand without elements", c.Compiled.name, errs.ErrInvalidArgument)
			}
			at := &s.slots[o.Slot]
			at.binds = append(at.binds, &binds[k])
			at.bases = append(at.bases, o.Offset-o.Offset%s.r.align+b.offset)
		}
		s.list = append(s.list, gpu.Dispatch{Module: step.module, Bindings: binds, Params: step.params, Groups: step.groups})
	}
	for _, o := range c.Out {
		if o.Slot >= 0 && !slices.Contains(s.written, o.Slot) {
			s.written = append(s.written, o.Slot)
		}
	}
	s.checks = append(s.checks, c.Compiled.Checks...)
	s.status = append(s.status, status...)
	s.parts[len(s.parts)-1] = part{len(s.list), len(s.checks)}
	s.ends = append(s.ends, part{len(s.list), len(s.checks)})
	return nil
}

// begin is where part i begins.
func (s *Sequence) begin(i int) part {
	if i == 0 {
		return part{}
	}
	return s.parts[i-1]
}

// Launches is the number of launches of a submission.
func (s *Sequence) Launches() int {
	if s == nil {
		return 0
	}
	return len(s.list)
}

// Set says which buffer a slot is from the next Submit on, and at which offset it begins. The offset is a multiple of the
// alignment of the device. It costs nothing if nothing changes.
// Errors: ErrInvalidArgument.
func (s *Sequence) Set(number int, h gpu.Handle, offset int64) error {
	if s == nil || s.r == nil || number < 0 || number >= len(s.slots) || offset < 0 || offset%s.r.align != 0 {
		return fmt.Errorf("exec: sequence: %w: %d bytes into slot %d", errs.ErrInvalidArgument, offset, number)
	}
	at := &s.slots[number]
	if at.h == h && at.offset == offset {
		return nil
	}
	at.h, at.offset = h, offset
	for i, b := range at.binds {
		b.Buffer, b.Offset = h, offset+at.bases[i]
	}
	return nil
}

// Submit submits the calls and does not wait for them. Errors that only the device can find are returned by the next Sync
// or Read of the Runner, and the outputs of such a call are unchanged.
// Errors: those of Device.Submit, ctx.Err(). Nothing has been run then, unless there are more than 128 checks.
func (s *Sequence) Submit(ctx context.Context) (err error) {
	if s == nil || s.r == nil {
		return fmt.Errorf("exec: sequence: %w: it was not made by NewSequence", errs.ErrNotInitialized)
	}
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if s.r.trace != nil {
		end := s.tag(nil)
		defer func() { end(err) }()
	}
	w := s.r.work.Load()
	defer w.lanes.wrote(s.slots, s.written, s.r.captured.replays.Load()) // also after an error, which may come after a part
	for i, end := range s.parts {
		if err := s.submit(ctx, w, s.begin(i), end); err != nil {
			return err
		}
	}
	return nil
}

// SubmitAndCheck submits those calls for which some is true, or all if it is nil. It waits if they have device checks, and returns the errors of these.
// Errors: as Submit, and those of the checks. The outputs of a call whose check has found an error are unchanged.
func (s *Sequence) SubmitAndCheck(ctx context.Context, some []bool) (err error) {
	if s == nil || s.r == nil || some == nil && len(s.checks) == 0 {
		return s.Submit(ctx)
	}
	if err := errs.Context(ctx); err != nil {
		return err
	}
	if s.r.trace != nil {
		end := s.tag(some)
		defer func() { end(err) }()
	}
	w := s.r.work.Load()
	defer w.lanes.wrote(s.slots, s.written, s.r.captured.replays.Load())
	for _, at := range s.ranges(some) {
		if err := s.submitAndCheck(ctx, &w.status, at[0], at[1]); err != nil {
			return err
		}
	}
	return nil
}

// ranges are the beginning and the end of what is submitted at once of some calls, or of all.
func (s *Sequence) ranges(some []bool) (list [][2]part) {
	var begin part
	for i, end := range s.ends {
		if some == nil || some[i] {
			if k := len(list) - 1; k >= 0 && list[k][1] == begin && end.checks-list[k][0].checks <= mostChecks {
				list[k][1] = end
			} else {
				list = append(list, [2]part{begin, end})
			}
		}
		begin = end
	}
	return list
}

// submitAndCheck submits launches, and waits for their checks if there are some.
func (s *Sequence) submitAndCheck(ctx context.Context, status *statusWords, from, to part) error {
	checks := s.checks[from.checks:to.checks]
	if len(checks) > 0 {
		if err := s.bindChecks(ctx, status, from, checks); err != nil {
			return err
		}
	}
	err := s.r.dev.Submit(s.list[from.launches:to.launches])
	ran := err == nil
	for k := range checks {
		if ran { // all of them, so that the words are zero for those that borrow them next
			err = errors.Join(err, status.result(ctx, s.taken[k], checks[k].Error))
		} else {
			status.submitted(s.taken[k], nil, false)
		}
	}
	return err
}

// bindChecks borrows words of f for the checks that begin a part.
func (s *Sequence) bindChecks(ctx context.Context, f *statusWords, from part, checks []spec.DeviceCheck) (err error) {
	if s.words, s.taken, err = f.borrow(ctx, s.words[:0], s.taken[:0], len(checks)); err != nil {
		return err
	}
	for i, w := range s.words {
		for _, b := range s.status[from.checks+i] {
			b.Buffer, b.Offset = w.Buffer, w.Offset
		}
	}
	return nil
}

// submit submits a part.
func (s *Sequence) submit(ctx context.Context, w *Workspace, from, to part) (err error) {
	checks := s.checks[from.checks:to.checks]
	if len(checks) == 0 {
		if list := s.repeated(); list != nil {
			return list.Submit()
		}
		return s.r.dev.Submit(s.list[from.launches:to.launches])
	}
	number, lane, oldest := w.lanes.begin()
	if err := s.bindChecks(ctx, lane, from, checks); err != nil {
		return err
	}
	err = s.r.dev.Submit(s.list[from.launches:to.launches])
	for i := range checks {
		lane.submitted(s.taken[i], checks[i].Error, err == nil)
	}
	oldest.CompareAndSwap(0, number) // after submitted: a collect in between finds the checks, and one before it none
	return err
}

// tag begins a call in the trace for some calls of the sequence, or for all, and gives their launches the tag.
func (s *Sequence) tag(some []bool) (end func(error)) {
	var ends []func(error)
	from := 0
	for i := range s.calls {
		first := from
		if from = s.ends[i].launches; some != nil && !some[i] {
			continue
		}
		c := &s.calls[i]
		args := map[string]string{"call": spec.FormatCall(c.Call), "in": describeSlots(c.In), "out": describeSlots(c.Out)}
		if c.Label != "" {
			args["label"] = c.Label
		}
		tag, end := s.r.trace(c.Compiled.name, args)
		if end != nil {
			ends = append(ends, end)
		}
		for k := first; k < from; k++ {
			s.list[k].Tag = tag
		}
	}
	return func(err error) {
		for _, end := range ends {
			end(err)
		}
	}
}

func describeSlots(list []SlotOperand) string {
	ops := make([]Operand, len(list))
	for i, o := range list {
		ops[i].Desc = o.Desc
	}
	return describe(ops)
}

// Kernels names the kernel of each launch of the call, in order.
func (c *Compiled) Kernels() []string {
	if c == nil {
		return nil
	}
	names := make([]string, len(c.steps))
	for i, s := range c.steps {
		names[i] = s.module.Name
	}
	return names
}

// Align is the alignment in bytes of offsets that the device can bind.
func (r *Runner) Align() int64 {
	if r == nil {
		return 0
	}
	return r.align
}
