// Package conformance checks every operation on a device against its reference in
// float64. There is one loop over devices, operations and cases. An operation is checked
// if it is registered, and a device if it is passed to Run.
//
// The words of this package: a job is one set of inputs for one call. A pattern says how
// the inputs of a job are filled, such as "random" or "checker". A mode says how the
// operands are placed in memory. A Variant says how a device is used. A case is a job in
// one mode and one Variant.
//
// The harness trusts nothing. Operands are in buffers with guard zones before and after
// them. Outputs are filled with poison before they are written. Inputs must be unchanged
// afterwards. NaN and infinities must be at the same indices as in the reference, before
// any error is averaged. Sizes are awkward: 0, 1, primes, and sizes around every tile.
// Everything runs again under tiny limits and with the plans for another kind of device.
// Plans that change under larger alignments than the device's run with these alignments
// too.
package conformance

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
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

// DefaultSeed is the seed of the random inputs if Options has none.
const DefaultSeed = 20260101

// Options says what Run should try. The zero value tries everything.
type Options struct {
	// Ops are the operations to check. Nil means every registered one that declares cases.
	Ops []*spec.Op
	// Quick tries few sizes, and only the device's own plans. That takes seconds instead
	// of minutes, and checks one machine.
	Quick bool
	// Pairs chooses among the cases such that any two choices occur together in some case.
	// The choices are call, element type, Variant, mode, strategy and sizes. Without
	// Pairs, each choice is tried with all others. With Quick, it chooses fewer and
	// smaller cases, but still in all Variants.
	Pairs bool
	// Seed determines the random inputs and choices. 0 means DefaultSeed.
	Seed uint64
	// Once runs each case once in each Variant, and checks the result only. There is only
	// the plain mode, plans choose their strategies, and no wrong calls are made.
	Once bool
	// Variants are the variants to try. Nil means those that the function Variants returns
	// for the device. With Quick and without Pairs, nil means the first of them only.
	Variants []Variant
	// Sample, if above 1, runs only one of Sample cases of each operation and element type
	// in the variants that are Distinct.
	Sample int
	// Kernels, if above 1, runs one of Kernels kernels. Seed draws them. In addition, each
	// operation has the kernels of one of its cases in its first element type, and in one of
	// four other ones, which Seed draws too. Cases that need other kernels are left out. CPU drivers take most of their time to compile kernels.
	Kernels int
	// Parts, if above 1, divides the run into that many parts of equal length, and runs
	// part Part, counted from 0. Every operation has cases in each part.
	Part, Parts int
	// Expect lists known bugs of drivers. It may be nil.
	Expect *Expectations
	// Progress, if not nil, is called after each group of cases. done and total count
	// jobs, and op is the operation.
	Progress func(done, total int, op string)
	// Trace, if not nil, is called at the start of every call. name is the operation's
	// name. args are "call", "in" and "out", which describe the call and its operands. Run
	// calls end when the work is submitted, with the error or nil. The launches of the
	// call carry the tag. Several goroutines may call Trace at the same time.
	Trace func(name string, args map[string]string) (tag uint64, end func(error))

	// noCopies says that the device cannot copy operands with strides. That is so if its
	// kernels are Go functions.
	noCopies bool
}

// Run checks the operations on the device and reports every case. It returns an error
// only if the run itself cannot go on: ErrInvalidArgument (no context, no device, an
// operation or a Variant that is none), ctx.Err(), and the error of a device that is closed or
// lost. Failed cases are in the report.
func Run(ctx context.Context, dev gpu.Device, opts Options) (*Report, error) {
	if opts.Seed == 0 {
		opts.Seed = DefaultSeed
	}
	if opts.Ops == nil {
		opts.Ops = withCases()
	}
	if err := checkRun(ctx, dev, opts.Ops, true); err != nil {
		return nil, fmt.Errorf("conformance: %w", err)
	}
	if opts.Variants != nil && len(opts.Variants) == 0 {
		return nil, fmt.Errorf("conformance: %w: no Variant (want nil for those of the device)", errs.ErrInvalidArgument)
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
		l, err := newVariantDevice(on, v, opts)
		if err != nil {
			return nil, fmt.Errorf("conformance: %s: %w", v.Name, err)
		}
		s.devices = append(s.devices, l)
	}
	err := s.runJobs()
	for _, l := range s.devices {
		err = errors.Join(err, l.close())
	}
	s.report.finish(opts.Expect)
	return s.report, err
}

// variantDevice is a device as one Variant uses it.
type variantDevice struct {
	Variant
	dev gpu.Device
	x   *exec.Runner
	// traced holds the option for Options.Trace.
	traced []exec.Option
	// strategies are runners that plan with one of spec.Op.Strategies, by its name.
	strategies map[string]*exec.Runner
	// align is an offset alignment in bytes for storage and texel bindings.
	align int64
	// small says that bindings are shorter than cutBytes.
	small bool
	// rows are the cases of the current job.
	rows []Row
	// first are the outputs of the first mode of the current job that has passed.
	first [][]byte
	// met counts the cases that a Distinct variant has changed.
	met  sampled
	lost error
}

// newVariantDevice returns dev as v uses it.
func newVariantDevice(dev gpu.Device, v Variant, o Options) (*variantDevice, error) {
	if errs.Nil(dev) {
		return nil, fmt.Errorf("%w: no device", errs.ErrInvalidArgument)
	}
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
	return &variantDevice{Variant: v, dev: dev, x: x, traced: traced, strategies: map[string]*exec.Runner{}, align: max(lim.OffsetAlign, lim.TexelAlign, 16), small: lim.MaxBinding < cutBytes && !v.Distinct}, nil
}

// withStrategy returns a copy whose plans use the named strategy, which is one of
// spec.Op.Strategies. It returns l itself for "", the plan's own choice.
func (l *variantDevice) withStrategy(strategy string) (*variantDevice, error) {
	if strategy == "" {
		return l, nil
	}
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

// close closes the runners.
func (l *variantDevice) close() error {
	err := l.x.Close()
	for _, x := range l.strategies {
		err = errors.Join(err, x.Close())
	}
	return err
}

// suite is a run of the conformance suite.
type suite struct {
	ctx     context.Context
	opts    Options
	report  *Report
	devices []*variantDevice
	// kept are the names of the kernels that run although they are not drawn, see
	// Options.Kernels.
	kept map[string]bool
}

// job is one set of inputs for one call. It does not say in which memory the operands
// are, nor how the call is planned.
type job struct {
	op    *spec.Op
	dtype tensor.DType
	call  spec.Call
	// dims are the sizes of the free dimensions.
	dims []int
	// shape, if not nil, is the shape of all inputs, instead of the one that dims give.
	shape []int
	// pattern says which values the inputs have.
	pattern string
	// modes are the modes to run the job in.
	modes []mode
	// own says that the job only runs on the first device.
	own bool
	// some says that the job is one of a few of its operation that stand for all.
	some bool
	// strategy is one of spec.Op.Strategies, or "" for the plan's own choice.
	strategy string
	// devices are the indices of the devices that run the job. Nil means all that it suits.
	devices []int
	// last says that this is the last job of its operation and dtype. The refusals follow
	// it.
	last bool
}

// inputs returns the descriptions of the job's inputs.
func (j *job) inputs() []tensor.Desc {
	in := j.op.Cases.InputsFor(j.call, j.dtype, j.dims)
	if j.shape != nil {
		in = reshaped(in, j.shape)
	}
	return in
}

// heavy reports whether no other job should run at the same time, because this one needs
// much memory.
func (j *job) heavy() bool {
	if j.pattern == "none" {
		return false
	}
	elems := 0
	for _, d := range j.inputs() {
		elems += d.Elems()
	}
	return elems > heavy
}

// name returns the call, the sizes and the pattern, which is enough to find the job
// again.
func (j *job) name() string {
	var b strings.Builder
	b.WriteString(callName(j.call))
	if j.shape != nil {
		return fmt.Sprintf("%s/shape=%v/%s", b.String(), j.shape, j.pattern)
	}
	for i, d := range j.dims {
		sep := " "
		if i == 0 {
			sep = "/"
		}
		fmt.Fprintf(&b, "%s%s=%d", sep, j.op.Cases.Dims[i].Name, d)
	}
	return b.String() + "/" + j.pattern
}

// callName returns the call as the command line writes it.
func callName(c spec.Call) string {
	if c == nil || c.Spec() == nil {
		return fmt.Sprintf("%T", c)
	}
	s := spec.FormatCall(c)
	if s == c.Spec().Name { // The attributes cannot be written as text.
		if v := fmt.Sprintf("%#v", c); !strings.HasSuffix(v, "{}") { // A struct without fields says nothing.
			s = plainer.Replace(v)
		}
	}
	return s
}

// plainer removes names of packages and types from a Go literal.
var plainer = strings.NewReplacer("imageops.", "", "ops.", "", "[]spec.Call", "")

// jobs lists the jobs in the order in which they run.
func (s *suite) jobs() []job {
	var js []job
	// WebGPU runs translations of the kernels that are checked on Vulkan with all cases. A
	// few cases show that each translation works.
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
					js = append(js, job{op: op, dtype: d, call: c, dims: k.dims, shape: k.shape, pattern: k.pattern, modes: k.modes, own: k.own, some: some})
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

// withoutCases appends a job for each call of the operation that no job tries. The job
// reports this as a failure.
func withoutCases(op *spec.Op, js []job) []job {
	tried := map[string]bool{}
	for i := range js {
		tried[callName(js[i].call)] = true
	}
	for _, c := range op.Cases.Calls {
		if !tried[callName(c)] {
			js = append(js, job{op: op, dtype: op.Cases.DTypes[0], call: c, pattern: "none"})
		}
	}
	return js
}

// partOf returns every parts-th job from job part on, so that each part has jobs of every
// operation.
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

// runJobs prepares inputs and references ahead on the other processors. It runs the jobs
// in order, on all devices at the same time.
func (s *suite) runJobs() error {
	jobs := s.jobs()
	s.keepFirst(jobs)
	jobs = s.withoutUndrawn(jobs)
	heavy := func(i int) bool { return jobs[i].heavy() }
	err := inOrder(s.ctx, len(jobs), heavy, func(i int) *prepared { return s.prepare(&jobs[i]) }, func(i int, p *prepared) error {
		s.runJob(p)
		if err := s.ctx.Err(); err != nil {
			return err
		}
		if s.report.lost != nil {
			return fmt.Errorf("%s: %w", jobs[i].op.Name, s.report.lost)
		}
		if s.opts.Progress != nil {
			s.opts.Progress(i+1, len(jobs), jobs[i].op.Name)
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("conformance: %w", err)
	}
	return nil
}

// runJob runs a job on every device, and reports the cases device by device.
func (s *suite) runJob(p *prepared) {
	devices := s.devicesFor(p.job)
	start := time.Now()
	var wg sync.WaitGroup
	for _, l := range devices {
		do := func() {
			defer func() {
				if v := recover(); v != nil {
					s.addRow(l, p.job, "refuse", failf("panicked: %v", v))
				}
			}()
			s.runModes(l, p)
			if p.last && p.err == nil && !s.opts.Once {
				s.runRefusals(l, p.job)
				s.runFaults(l, p.job)
			}
		}
		if p.heavy() {
			do()
		} else {
			wg.Go(do)
		}
	}
	wg.Wait()
	for _, l := range devices {
		if l.Device != nil && l.first != nil && devices[0].first != nil {
			s.compareDevices(devices[0], l, p)
		}
	}
	s.report.spent[p.op.Name] += time.Since(start)
	for _, l := range devices {
		for _, r := range l.rows {
			s.report.add(r)
		}
		if l.lost != nil {
			s.report.lost = l.lost
		}
		l.rows, l.first = l.rows[:0], nil
	}
}

// seed derives the random sequence of a job from the seed of the run and the job's name.
// So a case has the same inputs, whichever other cases run.
func (s *suite) seed(j *job) (uint64, uint64) {
	h := fnv.New64a()
	fmt.Fprint(h, j.op.Name, j.dtype, j.name())
	return s.opts.Seed, h.Sum64()
}

// addRow records the outcome of a case.
func (s *suite) addRow(l *variantDevice, j *job, mode string, o outcome) {
	l.rows = append(l.rows, Row{
		Op: j.op.Name, DType: j.dtype.String(), Case: l.Name + "/" + mode + "/" + j.name(),
		Status: o.status, AbsErr: finite(o.abs), RelErr: finite(o.rel), Used: finite(o.used), Worst: o.worst, Message: o.message,
		flips: o.flips, elems: o.elems,
	})
	if errors.Is(o.err, gpu.ErrDeviceLost) {
		l.lost = o.err
	}
}
