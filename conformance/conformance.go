// Package conformance checks every operation on a device against its float64
// reference. There is one loop: devices × operations × cases; an operation
// joins by being registered, a device by being passed to Run.
//
// The harness distrusts everything. Operands lie in buffers with guard zones
// before and after them, outputs are poisoned before they are written, inputs
// must come back unchanged, and NaN and infinities must be where the reference
// has them before any error is averaged. Sizes are awkward by construction
// (0, 1, primes, around every tile), and everything runs again under forced
// tiny limits and with the plans meant for another kind of device; and what larger
// alignments than the device's change of a plan is run with them.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// DefaultSeed is the seed of the random inputs when Options gives none.
const DefaultSeed = 20260101

// Options says what Run should try. The zero value tries everything.
type Options struct {
	// Ops are the operations to run; nil means every registered one.
	Ops []*spec.Op
	// Quick tries few sizes and only the device's own plans: seconds, not
	// minutes, for a check of one machine.
	Quick bool
	// Pairs chooses among the cases, so that any two choices occur together in some
	// case: call, element type, Variant, how operands lie, strategy, sizes. Without it
	// each is tried with all others. With Quick it chooses fewer and smaller ones, and
	// yet in all Variants.
	Pairs bool
	// Seed makes the random inputs and choices; 0 means DefaultSeed.
	Seed uint64
	// Once runs each case once in each Variant, for its result only: operands are
	// placed in one way, plans are the device's own choice, and no call is wrong.
	Once bool
	// Variants are the ways to plan; nil means Variants of the device (only
	// the first of them when Quick and not Pairs).
	Variants []Variant
	// Sample, if above 1, is of how many cases of an operation and element type one
	// runs in each of the variants that are Distinct.
	Sample int
	// Parts, if above 1, cuts the run into so many of equal length, of which this is
	// number Part, from 0 on: every operation has cases in each.
	Part, Parts int
	// Expect lists known troubles; may be nil.
	Expect *Expectations
	// Progress, if not nil, is called after each group of cases.
	Progress func(done, total int, op string)
	// Trace, if not nil, is told of every call: the operation's name, and as args "call",
	// "in" and "out" the call and its operands. Run calls end when the work is submitted, with
	// nil or the error. The launches of the call carry the tag. Several goroutines may call
	// Trace at once.
	Trace func(name string, args map[string]string) (tag uint64, end func(error))

	// noCopies says that the device cannot copy operands with strides, as one
	// whose kernels are Go functions.
	noCopies bool
}

// Run checks the operations on the device and reports every case. The error is
// for what stops the run itself (a cancelled context, a lost device); failed
// cases are in the report.
func Run(ctx context.Context, dev gpu.Device, opts Options) (*Report, error) {
	if opts.Seed == 0 {
		opts.Seed = DefaultSeed
	}
	if opts.Ops == nil {
		opts.Ops = spec.All()
	}
	if opts.Parts > 1 && (opts.Part < 0 || opts.Part >= opts.Parts) {
		return nil, fmt.Errorf("conformance: %w: part %d of %d (want 0 to %d)", errs.ErrInvalidArgument, opts.Part, opts.Parts, opts.Parts-1)
	}
	variants := opts.Variants
	if variants == nil {
		variants = Variants(dev.Info())
		if opts.Quick && !opts.Pairs {
			variants = variants[:1]
		}
	}
	s := &suite{ctx: ctx, opts: opts, report: newReport(dev.Info(), opts)}
	for _, v := range variants {
		on := dev
		if v.Device != nil {
			on = v.Device
		}
		l, err := newLane(on, v, opts)
		if err != nil {
			return nil, fmt.Errorf("conformance: %s: %w", v.Name, err)
		}
		s.lanes = append(s.lanes, l)
	}
	err := s.run()
	for _, l := range s.lanes {
		err = errors.Join(err, l.close())
	}
	s.report.finish(opts.Expect)
	return s.report, err
}

// lane is a device seen through one Variant.
type lane struct {
	Variant
	dev        gpu.Device
	x          *exec.Runner
	traced     []exec.Option           // of Options.Trace
	strategies map[string]*exec.Runner // runners that plan with a strategy of spec.Op.Strategies, by its name
	align      int64                   // satisfies storage and texel bindings
	small      bool                    // its bindings are shorter than what cut bytes take
	rows       []Row                   // of the job at work
	first      [][]byte                // outputs of the first mode of that job that passed
	met        sampled                 // of a Distinct variant
	lost       error
}

func newLane(dev gpu.Device, v Variant, o Options) (*lane, error) {
	if v.Limits != nil {
		limits := dev.Info().Limits
		v.Limits(&limits)
		dev = guard.Restrict(dev, limits)
	}
	if v.Guard {
		dev = guard.New(dev)
	}
	var traced, opts []exec.Option
	if o.Trace != nil {
		traced = append(traced, exec.WithTrace(o.Trace))
	}
	if v.Target != nil {
		opts = append(opts, exec.WithTarget(v.Target))
	}
	x, err := exec.New(dev, append(opts, traced...)...)
	if err != nil {
		return nil, err
	}
	lim := dev.Info().Limits
	return &lane{Variant: v, dev: dev, x: x, traced: traced, strategies: map[string]*exec.Runner{}, align: max(lim.OffsetAlign, lim.TexelAlign, 16), small: lim.MaxBinding < cut && !v.Distinct}, nil
}

// withStrategy is the lane with plans that take the named strategy, one of spec.Op.Strategies.
func (l *lane) withStrategy(strategy string) (*lane, error) {
	own := *l
	if own.x = l.strategies[strategy]; own.x != nil {
		return &own, nil
	}
	target := l.x.Target()
	target.Strategy = strategy
	x, err := exec.New(l.dev, append([]exec.Option{exec.WithTarget(func(t *spec.Target) { *t = target })}, l.traced...)...)
	l.strategies[strategy], own.x = x, x
	return &own, err
}

func (l *lane) close() error {
	err := l.x.Close()
	for _, x := range l.strategies {
		err = errors.Join(err, x.Close())
	}
	return err
}

type suite struct {
	ctx    context.Context
	opts   Options
	report *Report
	lanes  []*lane
}

// job is one set of inputs: everything about a case but the memory it lies in
// and the way it is planned.
type job struct {
	op    *spec.Op
	dtype tensor.DType
	call  spec.Call
	dims  []int
	shape []int // of all inputs instead of what dims give, if not nil
	image string
	modes []mode
	own   bool // only in the first lane
	some  bool // one of a few of its operation that stand for all
	// strategy is one of spec.Op.Strategies to plan by, "" for the plan's own choice.
	strategy string
	lanes    []int // places of those it runs in, nil for all that it is for
	last     bool  // of its operation and dtype: the refusals follow
}

// inputs are the descs of the job's inputs.
func (j *job) inputs() []tensor.Desc {
	in := j.op.Cases.InputsFor(j.call, j.dtype, j.dims)
	if j.shape != nil {
		in = reshaped(in, j.shape)
	}
	return in
}

// heavy reports whether the job should have the machine for itself.
func (j *job) heavy() bool {
	if j.image == "none" {
		return false
	}
	elems := 0
	for _, d := range j.inputs() {
		elems += d.Elems()
	}
	return elems > heavy
}

func (j *job) name() string {
	var b strings.Builder
	b.WriteString(callName(j.call))
	if j.shape != nil {
		return fmt.Sprintf("%s/shape=%v/%s", b.String(), j.shape, j.image)
	}
	for i, d := range j.dims {
		sep := " "
		if i == 0 {
			sep = "/"
		}
		fmt.Fprintf(&b, "%s%s=%d", sep, j.op.Cases.Dims[i].Name, d)
	}
	return b.String() + "/" + j.image
}

// callName is the call as the command line writes it.
func callName(c spec.Call) string {
	if c == nil || c.Spec() == nil {
		return fmt.Sprintf("%T", c)
	}
	s := spec.FormatCall(c)
	if s == c.Spec().Name { // attributes that have no text
		if v := fmt.Sprintf("%#v", c); !strings.HasSuffix(v, "{}") { // not a struct of nothing
			s = plainer.Replace(v)
		}
	}
	return s
}

// plainer drops package and type names from a Go literal.
var plainer = strings.NewReplacer("imageops.", "", "ops.", "", "[]spec.Call", "")

// jobs lists the work in order.
func (s *suite) jobs() []job {
	var js []job
	// WebGPU runs translations of the kernels that Vulkan runs in full: a few cases
	// show that each works.
	every := s.opts.Quick && s.report.Backend != "wgpu"
	for _, op := range s.opts.Ops {
		if s.opts.Pairs {
			js = append(js, withoutCases(op, s.chosen(op))...)
			continue
		}
		first := len(js)
		for di, d := range op.Cases.DTypes {
			for ci, c := range op.Cases.Calls {
				for _, k := range combine(op, c, d, level(s.opts.Quick, ci, di)) {
					if s.opts.Once {
						k.modes = k.modes[:1]
					}
					some := every || (len(js)-first)%8 == 0
					js = append(js, job{op: op, dtype: d, call: c, dims: k.dims, shape: k.shape, image: k.image, modes: k.modes, own: k.own, some: some})
				}
			}
			if len(js) > 0 && js[len(js)-1].op == op && js[len(js)-1].dtype == d {
				js[len(js)-1].last = true
			}
		}
		js = append(js[:first:first], withoutCases(op, js[first:])...)
	}
	return partOf(js, s.opts.Part, s.opts.Parts)
}

// withoutCases appends a job to those of an operation for each call that none of them
// tries: it reports that.
func withoutCases(op *spec.Op, js []job) []job {
	tried := map[string]bool{}
	for i := range js {
		tried[callName(js[i].call)] = true
	}
	for _, c := range op.Cases.Calls {
		if !tried[callName(c)] {
			js = append(js, job{op: op, dtype: op.Cases.DTypes[0], call: c, image: "none"})
		}
	}
	return js
}

// partOf takes every parts-th job, so that a part has some of every operation.
func partOf(js []job, part, parts int) []job {
	if parts < 2 {
		return js
	}
	var list []job
	for i := part; i < len(js); i += parts {
		list = append(list, js[i])
	}
	return list
}

// run prepares inputs and references ahead on the other processors, and runs
// the cases in order, the lanes side by side.
func (s *suite) run() error {
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	jobs := s.jobs()
	queue := make(chan chan *prepared, runtime.GOMAXPROCS(0))
	room := make(chan struct{}, 1) // for the memory of one heavy job
	go func() {
		defer close(queue)
		for i := range jobs {
			f := make(chan *prepared, 1)
			select {
			case queue <- f:
			case <-ctx.Done():
				return
			}
			go func() {
				if jobs[i].heavy() {
					select {
					case room <- struct{}{}:
					case <-ctx.Done():
						return
					}
				}
				f <- s.prepare(&jobs[i])
			}()
		}
	}()
	for i := range jobs {
		f, ok := <-queue
		if !ok {
			return ctx.Err()
		}
		select {
		case p := <-f:
			s.runJob(p)
		case <-ctx.Done():
		}
		if jobs[i].heavy() && len(room) > 0 {
			<-room
		}
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("conformance: %w", err)
		}
		if s.report.lost != nil {
			return fmt.Errorf("conformance: %s: %w", jobs[i].op.Name, s.report.lost)
		}
		if s.opts.Progress != nil {
			s.opts.Progress(i+1, len(jobs), jobs[i].op.Name)
		}
	}
	return nil
}

// runJob runs a job in every lane, and reports the cases lane by lane.
func (s *suite) runJob(p *prepared) {
	lanes := s.lanesFor(p.job)
	start := time.Now()
	var wg sync.WaitGroup
	for _, l := range lanes {
		do := func() {
			defer func() {
				if v := recover(); v != nil {
					s.add(l, p.job, "refuse", failf("panicked: %v", v))
				}
			}()
			s.cases(l, p)
			if p.last && p.err == nil && !s.opts.Once {
				s.refusals(l, p.job)
				s.faults(l, p.job)
			}
		}
		if p.heavy() {
			do()
		} else {
			wg.Go(do)
		}
	}
	wg.Wait()
	for _, l := range lanes {
		if l.Device != nil && l.first != nil && lanes[0].first != nil {
			s.agree(lanes[0], l, p)
		}
	}
	s.report.spent[p.op.Name] += time.Since(start)
	for _, l := range lanes {
		for _, r := range l.rows {
			s.report.add(r)
		}
		if l.lost != nil {
			s.report.lost = l.lost
		}
		l.rows, l.first = l.rows[:0], nil
	}
}

// seed derives the random sequence of a job from the run's seed and its name,
// so that a case has the same inputs whichever others run with it.
func (s *suite) seed(j *job) (uint64, uint64) {
	h := fnv.New64a()
	fmt.Fprint(h, j.op.Name, j.dtype, j.name())
	return s.opts.Seed, h.Sum64()
}

// add records the outcome of a case.
func (s *suite) add(l *lane, j *job, mode string, o outcome) {
	l.rows = append(l.rows, Row{
		Op: j.op.Name, DType: j.dtype.String(), Case: l.Name + "/" + mode + "/" + j.name(),
		Status: o.status, AbsErr: finite(o.abs), RelErr: finite(o.rel), Used: finite(o.used), Worst: o.worst, Message: o.message,
		flips: o.flips, elems: o.elems,
	})
	if errors.Is(o.err, gpu.ErrDeviceLost) {
		l.lost = o.err
	}
}
