package exec

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/exec/tune"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// What a measurement may take. A call past these bounds is left to its plan.
const (
	tuneMemory   = 1 << 30                // bytes of operands and scratch
	tuneSingle   = 500 * time.Millisecond // of one run the plan's own way
	tuneSample   = 3 * time.Millisecond   // least length of a sample: shorter ones are made of several runs
	tuneRuns     = 256                    // most runs of a sample
	tuneTime     = 300 * time.Millisecond // of all samples, but for the first tuneLeast rounds
	tuneRounds   = 15
	tuneLeast    = 4
	tuneSlow     = 1.5  // times the best: no more samples of such a way after tuneLeast rounds,
	tuneHopeless = 4    // or after the first one
	tuneMargin   = 1.05 // by which another way must be faster than the plan's own
)

// WithTuning lets plans follow the choices in book, which is for the device of
// the Runner. In the mode tune.Full, Run measures what it has no choice for.
func WithTuning(book *tune.Book) Option { return func(r *Runner) { r.tuner.book = book } }

// tuner measures which way of a plan is best.
type tuner struct {
	book *tune.Book

	mu   sync.Mutex      // one measurement at a time
	left map[string]bool // calls that are left to their plans

	// sample runs a list a number of times and waits for the last one, which
	// writes the buffer; tests put their own here.
	sample func(ctx context.Context, list []gpu.Dispatch, runs int, wrote gpu.Handle) (time.Duration, error)
}

// Tuned is what came out of a measurement.
type Tuned struct {
	Call     string // operation and class
	Strategy string // the best, or the plan's own
	Ways     []Timing
}

// Timing is the time of one way to carry out a call, the best seen. It is 0 where
// the launches are those of a way before it.
type Timing struct {
	Strategy string
	Time     time.Duration
}

// Gain is the time of the plan's own way over that of the best.
func (t *Tuned) Gain() float64 {
	if t == nil {
		return 1
	}
	for _, w := range t.Ways {
		if w.Strategy == t.Strategy {
			return float64(t.Ways[0].Time) / float64(w.Time)
		}
	}
	return 1
}

// chooser finds the way to carry out a call, "" for the plan's own.
type chooser func(call spec.Call, in, out []tensor.Desc) (string, error)

// recall is the chooser that measures nothing.
func (r *Runner) recall(call spec.Call, in, _ []tensor.Desc) (string, error) {
	if r.tuner.book.Idle() || call.Spec().Strategies == nil || r.target.Strategy != "" {
		return "", nil
	}
	var room [128]byte
	return r.tuner.book.Find(callKey(room[:0], call, in)), nil
}

// choose returns the chooser for a call that is about to run.
func (r *Runner) choose(ctx context.Context) chooser {
	if r.tuner.book.Mode() != tune.Full {
		return r.recall
	}
	return func(call spec.Call, in, out []tensor.Desc) (string, error) {
		if way, _ := r.recall(call, in, out); way != "" || call.Spec().Strategies == nil || r.target.Strategy != "" {
			return way, nil
		}
		t, err := r.measure(ctx, call, in, out, false)
		if t == nil {
			return "", err
		}
		return t.Strategy, err
	}
}

// callKey appends the operation and the class of a call.
func callKey(b []byte, call spec.Call, in []tensor.Desc) []byte {
	b = append(append(b, call.Spec().Name...), ' ')
	return spec.AppendClass(b, call, in)
}

// planned is the plan of a call by the way that is best; where that way does not
// suit the very call, by the plan's own.
func (r *Runner) planned(call spec.Call, in, out []tensor.Desc, choose chooser) (*spec.Plan, error) {
	op := call.Spec()
	way, err := choose(call, in, out)
	if err != nil {
		return nil, fmt.Errorf("tuning: %w", err)
	}
	if way != "" {
		t := r.target
		if slices.Contains(op.Strategies(call, &t, in, out), way) {
			t.Strategy = way
			if plan, err := op.Plan(call, &t, in, out); err == nil {
				return plan, nil
			}
		}
	}
	plan, err := op.Plan(call, &r.target, in, out)
	if err != nil && r.target.Strategy != "" { // it is advice there too
		t := r.target
		t.Strategy = ""
		return op.Plan(call, &t, in, out)
	}
	return plan, err
}

// Tune measures the ways to carry out a call on contiguous inputs, in memory of
// its own, and remembers which is best, whatever was remembered before. It
// returns nil where there is nothing to choose between: there is one way only, or
// the call needs too much memory or time.
// Errors: ErrInvalidArgument without WithTuning; as Run.
func (r *Runner) Tune(ctx context.Context, call spec.Call, in []tensor.Desc) (*Tuned, error) {
	if err := cmp.Or(r.ready(), errs.Context(ctx)); err != nil {
		return nil, err
	}
	if r.tuner.book == nil {
		return nil, fmt.Errorf("exec: tune: %w: the Runner has no choices to add to", errs.ErrInvalidArgument)
	}
	call, err := spec.Resolve(call)
	if err != nil {
		return nil, err
	}
	op := call.Spec()
	out, err := op.Shape(call, in)
	if err != nil || op.Strategies == nil {
		return nil, err
	}
	t, err := r.measure(ctx, call, in, out, true)
	if err != nil {
		return nil, fmt.Errorf("exec: tune: %s: %w", op.Name, err)
	}
	return t, nil
}

// trial is a way to carry out a call, at work.
type trial struct {
	Timing
	plan *spec.Plan
	list []gpu.Dispatch
	runs int  // of a sample
	out  bool // too slow to be sampled again
}

// measure times the ways of a call in turns and remembers the best, unless it is
// known already and again is false. Errors of the device that came before are
// found here, and returned: nobody else would see them.
func (r *Runner) measure(ctx context.Context, call spec.Call, in, out []tensor.Desc, again bool) (*Tuned, error) {
	t := &r.tuner
	t.mu.Lock()
	defer t.mu.Unlock()
	key := string(callKey(nil, call, in))
	if !again {
		if way := t.book.Find([]byte(key)); way != "" { // another goroutine's
			return &Tuned{Call: key, Strategy: way}, nil
		}
		if t.left[key] {
			return nil, nil
		}
	}
	trials := r.trials(call, in, out)
	if trials == nil {
		return nil, nil // the plan itself says what is wrong, if anything
	}
	res, err := r.contest(ctx, key, trials, in, out)
	if err != nil || res == nil {
		if t.left == nil {
			t.left = map[string]bool{}
		}
		t.left[key] = ctx.Err() == nil
		return nil, err
	}
	t.book.Remember(key, res.Strategy, res.Gain())
	return res, nil
}

// trials are the plans of the ways that differ, the plan's own first; nil if it
// cannot be planned.
func (r *Runner) trials(call spec.Call, in, out []tensor.Desc) []*trial {
	var list []*trial
	op := call.Spec()
	for i, way := range op.Strategies(call, &r.target, in, out) {
		t := r.target
		t.Strategy = way
		plan, err := op.Plan(call, &t, in, out)
		if err != nil && i == 0 || err == nil && len(plan.Steps) == 0 {
			return nil
		}
		same := func(o *trial) bool {
			return reflect.DeepEqual(o.plan.Steps, plan.Steps) && slices.Equal(o.plan.Scratch, plan.Scratch)
		}
		if err == nil && !slices.ContainsFunc(list, same) {
			list = append(list, &trial{Timing: Timing{Strategy: way}, plan: plan})
		}
	}
	return list
}

// contest runs the trials on buffers of its own, full of zeros. It returns nil
// where there are not two, or they would take too much memory or time.
func (r *Runner) contest(ctx context.Context, key string, trials []*trial, in, out []tensor.Desc) (res *Tuned, err error) {
	need := int64(0)
	for _, d := range append(slices.Clone(in), out...) {
		need += d.Bytes()
	}
	most := int64(0)
	for _, t := range trials {
		own := int64(0)
		for _, n := range t.plan.Scratch {
			own += n
		}
		most = max(most, own)
	}
	limit := int64(tuneMemory)
	if all := r.dev.Info().Memory; all > 0 {
		limit = min(limit, all/4)
	}
	if len(trials) < 2 || need+most > limit {
		return nil, nil
	}
	var bufs []gpu.Handle
	defer func() {
		for _, h := range bufs {
			err = errors.Join(err, r.dev.Free(h))
		}
	}()
	alloc := func(ds []tensor.Desc) ([]Operand, error) {
		var list []Operand
		for _, d := range ds {
			h, err := r.dev.Alloc(max(d.Bytes(), 1))
			if err != nil {
				return nil, err
			}
			bufs = append(bufs, h)
			list = append(list, Operand{Buffer: h, Desc: d})
		}
		return list, nil
	}
	words := tensor.Contiguous(tensor.U8, faultBytes)
	inputs, err := alloc(in)
	outputs, errOut := alloc(out)
	fault, errWords := alloc([]tensor.Desc{words})
	if err = errors.Join(err, errOut, errWords); err != nil {
		return nil, shortage(err)
	}
	for _, t := range trials {
		scratch, err := r.scratch.take(t.plan.Scratch)
		if err != nil {
			return nil, shortage(err)
		}
		defer r.scratch.give(scratch)
		t.list, err = r.bind(t.plan, outputs, inputs, scratch, slices.Repeat([]gpu.Binding{{Buffer: fault[0].Buffer, Size: faultBytes}}, len(t.plan.Checks)))
		if err != nil {
			return nil, err
		}
	}
	ok, err := r.rounds(ctx, trials, outputs[0].Buffer)
	if err != nil || !ok {
		return nil, shortage(err)
	}
	res = &Tuned{Call: key, Strategy: trials[0].Strategy}
	best := float64(trials[0].Time) / tuneMargin
	for _, t := range trials {
		res.Ways = append(res.Ways, t.Timing)
		if v := float64(t.Time); v < best {
			best, res.Strategy = v, t.Strategy
		}
	}
	return res, nil
}

// shortage drops errors that say that there is no room to measure in.
func shortage(err error) error {
	if errors.Is(err, gpu.ErrOutOfMemory) || errors.Is(err, gpu.ErrLimit) {
		return nil
	}
	return err
}

// rounds finds the time of each trial, the least of samples taken in turns: what
// else the machine does only ever adds to it. It reports false if the first one,
// the plan's own way, takes too long.
func (r *Runner) rounds(ctx context.Context, trials []*trial, wrote gpu.Handle) (bool, error) {
	sample := r.tuner.sample
	if sample == nil {
		sample = r.sample
	}
	var best time.Duration
	note := func(t *trial, v time.Duration) {
		v = max(v, 1)
		if t.Time == 0 || v < t.Time {
			t.Time = v
		}
		if best == 0 || v < best {
			best = v
		}
	}
	for i, t := range trials { // the first run compiles, and warms up
		if _, err := sample(ctx, t.list, 1, wrote); err != nil {
			return false, err
		}
		v, err := sample(ctx, t.list, 1, wrote)
		if err != nil {
			return false, err
		}
		if i == 0 && v > tuneSingle {
			return false, nil
		}
		note(t, v)
	}
	for _, t := range trials { // a run by itself is mostly the way to the device and back
		t.runs = int(min(max(tuneSample/t.Time, 1), tuneRuns))
	}
	spent, turns := time.Duration(0), slices.Clone(trials)
	for round := 1; round <= tuneRounds && (round <= tuneLeast || spent < tuneTime); round++ {
		slices.Reverse(turns) // whoever comes after whom should not matter
		for _, t := range turns {
			if t.out {
				continue
			}
			v, err := sample(ctx, t.list, t.runs, wrote)
			if err != nil {
				return false, err
			}
			spent += v
			note(t, v/time.Duration(t.runs))
		}
		// One sample may be slow by chance, and without the plan's own way there
		// is nothing to compare with.
		for i, t := range trials {
			t.out = t.out || t.Time > tuneHopeless*best && i > 0 || round >= tuneLeast && float64(t.Time) > tuneSlow*float64(best)
		}
	}
	return true, nil
}

// sample is tuner.sample on the device.
func (r *Runner) sample(ctx context.Context, list []gpu.Dispatch, runs int, wrote gpu.Handle) (time.Duration, error) {
	var first [1]byte
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	start := time.Now()
	for range runs {
		if err := r.dev.Submit(list); err != nil {
			return 0, err
		}
	}
	err := r.dev.Read(ctx, wrote, 0, first[:])
	return time.Since(start), err
}
