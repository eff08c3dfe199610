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

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec/tune"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// These limits bound a measurement. A call that exceeds one of them is left to its plan.
const (
	tuneMemory = 1 << 30                // bytes of operands and scratch
	tuneSingle = 500 * time.Millisecond // time of one run with the plan's own strategy
	tuneTime   = 300 * time.Millisecond // time of all samples; the first tuneLeast rounds do not count
	tuneRounds = 15                     // largest number of rounds
	tuneLeast  = 4                      // least number of rounds

	// A sample takes at least tuneSample. If a run is shorter, a sample consists of up to
	// tuneRuns runs.
	tuneSample = 3 * time.Millisecond
	tuneRuns   = 256

	// A strategy is not sampled any more if it takes tuneSlow times as long as the best
	// one after tuneLeast rounds, or tuneHopeless times as long after the first round.
	tuneSlow     = 1.5
	tuneHopeless = 4
	// Another strategy is chosen only if the plan's own takes tuneMargin times as long.
	tuneMargin = 1.05
)

// WithTuning makes plans follow the choices in a database, which belongs to the device of
// the Runner. In the mode tune.Full, Run measures calls for which the database has no
// choice.
func WithTuning(db *tune.Database) Option { return func(r *Runner) { r.tuner.db = db } }

// tuner measures which strategy of a plan is best.
type tuner struct {
	db *tune.Database

	// mu allows one measurement at a time.
	mu sync.Mutex
	// left are the calls that are left to their plans.
	left map[string]bool

	// sample runs a list of launches a number of times, and waits for the last launch that
	// writes the buffer wrote. Tests replace it.
	sample func(ctx context.Context, list []gpu.Dispatch, runs int, wrote gpu.Handle) (time.Duration, error)
}

// Tuned is the result of a measurement.
type Tuned struct {
	// Call is the operation and the class of the call.
	Call string
	// Strategy is the best strategy. It is the plan's own unless another is clearly faster.
	Strategy string
	// Timings are the times of all strategies, the plan's own first.
	Timings []Timing
}

// Timing is the time of one strategy for a call. It is the least of its measurements.
type Timing struct {
	Strategy string
	Time     time.Duration
}

// Gain returns the time of the plan's own strategy, divided by that of the best one.
func (t *Tuned) Gain() float64 {
	if t == nil {
		return 1
	}
	for _, w := range t.Timings {
		if w.Strategy == t.Strategy {
			return float64(t.Timings[0].Time) / float64(w.Time)
		}
	}
	return 1
}

// chooser returns the strategy for a call, or "" for the plan's own.
type chooser func(call spec.Call, in, out []tensor.Desc) (string, error)

// remembered is a chooser that measures nothing.
func (r *Runner) remembered(call spec.Call, in, _ []tensor.Desc) (string, error) {
	if r.tuner.db.Idle() || call.Spec().Strategies == nil || r.target.Strategy != "" {
		return "", nil
	}
	var room [128]byte
	return r.tuner.db.Find(callKey(room[:0], call, in)), nil
}

// chooserFor returns the chooser for a call that is about to run. It may measure.
func (r *Runner) chooserFor(ctx context.Context) chooser {
	if r.tuner.db.Mode() != tune.Full {
		return r.remembered
	}
	return func(call spec.Call, in, out []tensor.Desc) (string, error) {
		if strategy, _ := r.remembered(call, in, out); strategy != "" || call.Spec().Strategies == nil || r.target.Strategy != "" {
			return strategy, nil
		}
		t, err := r.measure(ctx, call, in, out, false)
		if t == nil {
			return "", err
		}
		return t.Strategy, err
	}
}

// at returns a chooser that sets version to the version of the database that the choice
// follows. If the choice itself changes the database, it is made again.
func (c chooser) at(db *tune.Database, version *uint64) chooser {
	return func(call spec.Call, in, out []tensor.Desc) (string, error) {
		for {
			*version = db.Version()
			strategy, err := c(call, in, out)
			if err != nil || *version == db.Version() {
				return strategy, err
			}
		}
	}
}

// callKey appends the operation and the class of a call to b. The name of an operation
// that a program declares follows the path of its package. So it shares no choice with an
// operation of Lathe, or of another program, that has the same name.
func callKey(b []byte, call spec.Call, in []tensor.Desc) []byte {
	op := call.Spec()
	if len(op.Kernels) == 0 {
		t := reflect.TypeOf(call)
		if t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		b = append(append(b, t.PkgPath()...), '.')
	}
	b = append(append(b, op.Name...), ' ')
	return spec.AppendClass(b, call, in)
}

// coreOf returns the call whose strategy a call is planned with: the call, or the one in whose launches others are computed. Their results
// are then those of that call by itself.
func coreOf(call spec.Call, in, out []tensor.Desc) (core spec.Call, coreIn, coreOut []tensor.Desc) {
	for range 8 { // A call may be wrapped twice.
		w, ok := call.(interface {
			Core(in []tensor.Desc) (spec.Call, []tensor.Desc)
		})
		if !ok {
			break
		}
		inner, innerIn := w.Core(in)
		if inner == nil || inner.Spec() == nil {
			break
		}
		innerOut, err := inner.Spec().Shape(inner, innerIn)
		if err != nil {
			break
		}
		call, in, out = inner, innerIn, innerOut
	}
	return call, in, out
}

// planned returns the plan of a call with the strategy that choose returns. If that
// strategy does not suit this call, the plan chooses.
func (r *Runner) planned(call spec.Call, in, out []Place, choose chooser) (*spec.Plan, error) {
	op := call.Spec()
	plan := func(t *spec.Target) (*spec.Plan, error) {
		if op.PlanAt != nil {
			return op.PlanAt(call, t, in, out)
		}
		return op.Plan(call, t, descs(in), descs(out))
	}
	if own, in, out := coreOf(call, descs(in), descs(out)); own.Spec().Strategies != nil {
		strategy, err := choose(own, in, out)
		if err != nil {
			return nil, fmt.Errorf("tuning: %w", err)
		}
		if t := r.target; strategy != "" && slices.Contains(own.Spec().Strategies(own, &t, in, out), strategy) {
			t.Strategy = strategy
			if p, err := plan(&t); err == nil {
				return p, nil
			}
		}
	}
	p, err := plan(&r.target)
	if err != nil && r.target.Strategy != "" { // The strategy of a target need not suit the call either.
		t := r.target
		t.Strategy = ""
		return plan(&t)
	}
	return p, err
}

// Tune measures the strategies for a call on contiguous inputs, in memory that it
// allocates. It replaces an earlier choice for the call's class. It returns nil if there
// is nothing to choose, because there is only one strategy, or because the call needs too
// much memory or time.
// Errors: ErrInvalidArgument without WithTuning, and those of Run.
func (r *Runner) Tune(ctx context.Context, call spec.Call, in []tensor.Desc) (*Tuned, error) {
	if err := cmp.Or(r.ready(), errs.Context(ctx)); err != nil {
		return nil, err
	}
	if r.tuner.db == nil {
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

// candidate is a strategy for a call that is being measured.
type candidate struct {
	Timing
	call *Compiled
	list []gpu.Dispatch
	// runs is the number of runs in a sample.
	runs int
	// out says that the candidate is too slow to be sampled again.
	out bool
}

// measure times the strategies of a call in turns, and remembers the best one. If a
// choice is already known and again is false, it measures nothing. It also returns errors
// of earlier work of the device, because nobody else would see them.
func (r *Runner) measure(ctx context.Context, call spec.Call, in, out []tensor.Desc, again bool) (*Tuned, error) {
	t := &r.tuner
	t.mu.Lock()
	defer t.mu.Unlock()
	key := string(callKey(nil, call, in))
	if !again {
		if strategy := t.db.Find([]byte(key)); strategy != "" { // Another goroutine has measured it.
			return &Tuned{Call: key, Strategy: strategy}, nil
		}
		if t.left[key] {
			return nil, nil
		}
	}
	list := r.candidates(call, in, out)
	if list == nil {
		return nil, nil // The error comes from the plan later.
	}
	res, err := r.benchmark(ctx, key, list, in, out)
	if err != nil || res == nil {
		if t.left == nil {
			t.left = map[string]bool{}
		}
		t.left[key] = ctx.Err() == nil
		return nil, err
	}
	t.db.Remember(key, res.Strategy, res.Gain())
	return res, nil
}

// candidates returns the strategies whose plans differ, the plan's own first. It returns
// nil if the call cannot be planned.
func (r *Runner) candidates(call spec.Call, in, out []tensor.Desc) []*candidate {
	var list []*candidate
	var plans []*spec.Plan
	op := call.Spec()
	ins, outs := spec.PlacesOf(in), spec.PlacesOf(out)
	for i, strategy := range op.Strategies(call, &r.target, in, out) {
		t := r.target
		t.Strategy = strategy
		plan, err := op.Plan(call, &t, in, out)
		if err != nil && i == 0 || err == nil && len(plan.Steps) == 0 {
			return nil
		}
		same := func(o *spec.Plan) bool {
			return reflect.DeepEqual(o.Steps, plan.Steps) && slices.Equal(o.Scratch, plan.Scratch)
		}
		if err != nil || slices.ContainsFunc(plans, same) {
			continue
		}
		c, err := r.lower(op, plan, ins, outs)
		if err != nil {
			return nil // A run of the call returns the error.
		}
		plans, list = append(plans, plan), append(list, &candidate{Timing: Timing{Strategy: strategy}, call: c})
	}
	return list
}

// benchmark runs the candidates on buffers that it allocates and that are full of zeros.
// It returns nil if there are fewer than two, or if they would take too much memory or
// time.
func (r *Runner) benchmark(ctx context.Context, key string, list []*candidate, in, out []tensor.Desc) (res *Tuned, err error) {
	need := int64(0)
	for _, d := range append(slices.Clone(in), out...) {
		need += d.Bytes()
	}
	most := int64(0)
	for _, c := range list {
		own := int64(0)
		for _, n := range c.call.Scratch {
			own += n
		}
		most = max(most, own)
	}
	limit := int64(tuneMemory)
	if all := r.dev.Info().Memory; all > 0 {
		limit = min(limit, all/4)
	}
	if len(list) < 2 || need+most > limit {
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
	inputs, err := alloc(in)
	outputs, errOut := alloc(out)
	words, errWords := alloc([]tensor.Desc{tensor.Contiguous(tensor.U8, StatusBytes)})
	if err = errors.Join(err, errOut, errWords); err != nil {
		return nil, ignoreShortage(err)
	}
	status := gpu.Binding{Buffer: words[0].Buffer, Size: StatusBytes}
	for _, c := range list {
		work := &r.work.Load().scratch
		scratch, err := work.borrow(nil, c.call.Scratch)
		if err != nil {
			return nil, ignoreShortage(err)
		}
		defer work.release(scratch)
		if c.list, err = c.call.Bind(inputs, outputs, scratch, slices.Repeat([]gpu.Binding{status}, len(c.call.Checks))); err != nil {
			return nil, err
		}
	}
	ok, err := r.sampleInTurns(ctx, list, outputs[0].Buffer)
	if err != nil || !ok {
		return nil, ignoreShortage(err)
	}
	res = &Tuned{Call: key, Strategy: list[0].Strategy}
	best := float64(list[0].Time) / tuneMargin
	for _, t := range list {
		res.Timings = append(res.Timings, t.Timing)
		if v := float64(t.Time); v < best {
			best, res.Strategy = v, t.Strategy
		}
	}
	return res, nil
}

// ignoreShortage drops errors which say that there is not enough memory for a
// measurement.
func ignoreShortage(err error) error {
	if errors.Is(err, gpu.ErrOutOfMemory) || errors.Is(err, gpu.ErrLimit) {
		return nil
	}
	return err
}

// sampleInTurns measures the time of each candidate. It samples them in turns. The least
// sample of each counts, because other work of the machine can only make a sample longer.
// It reports false if the first candidate, which is the plan's own strategy, takes too
// long.
func (r *Runner) sampleInTurns(ctx context.Context, list []*candidate, wrote gpu.Handle) (bool, error) {
	sample := r.tuner.sample
	if sample == nil {
		sample = r.sample
	}
	var best time.Duration
	note := func(t *candidate, v time.Duration) {
		v = max(v, 1)
		if t.Time == 0 || v < t.Time {
			t.Time = v
		}
		if best == 0 || v < best {
			best = v
		}
	}
	for i, t := range list { // The first run compiles and warms up.
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
	for _, t := range list { // The time of a single run is mostly the way to the device and back.
		t.runs = int(min(max(tuneSample/t.Time, 1), tuneRuns))
	}
	spent, turns := time.Duration(0), slices.Clone(list)
	for round := 1; round <= tuneRounds && (round <= tuneLeast || spent < tuneTime); round++ {
		slices.Reverse(turns) // The order of the candidates should not matter.
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
		// One sample may be slow by chance. The plan's own strategy stays, because all
		// others are compared with it.
		for i, t := range list {
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
