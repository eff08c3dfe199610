// Package conformance checks every operation on a device against its float64
// reference. There is one loop: devices × operations × cases; an operation
// joins by being registered, a device by being passed to Run.
//
// The harness distrusts everything. Operands lie in buffers with guard zones
// before and after them, outputs are poisoned before they are written, inputs
// must come back unchanged, and NaN and infinities must be where the reference
// has them before any error is averaged. Sizes are awkward by construction
// (0, 1, primes, around every tile), and everything runs again under forced
// tiny limits and with the plans meant for another kind of device.
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

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/guard"
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
	// Seed makes the random inputs; 0 means DefaultSeed.
	Seed uint64
	// Once runs each case once in each Variant, for its result only: operands are
	// placed in one way, plans are the device's own choice, and no call is wrong.
	Once bool
	// Variants are the ways to plan; nil means Variants of the device (only
	// the first of them when Quick).
	Variants []Variant
	// Expect lists known troubles; may be nil.
	Expect *Expectations
	// Progress, if not nil, is called after each group of cases.
	Progress func(done, total int, op string)
	// Trace, if not nil, is told of every call, as exec.WithTrace has it.
	Trace func(name string, args map[string]string) (tag uint64, end func(error))

	// noCopies says that the device cannot copy operands with strides, as one
	// whose kernels are Go functions.
	noCopies bool
}

// Variant is one way to plan for a device.
type Variant struct {
	Name string
	// Guard puts zones around every buffer, the scratch of plans included.
	Guard bool
	// Limits, if not nil, lowers the limits the device shows and enforces.
	Limits func(*gpu.Limits)
	// Target, if not nil, changes what plans are made for.
	Target func(*spec.Target)
	// Device, if not nil, is another device to run on than that of the run. Its
	// results must also agree with those of the first variant, within the
	// tolerance of the operation.
	Device gpu.Device
}

// TinyLimits forces limits at or below the least that Vulkan allows, so that
// plans must split what fits any real device.
func TinyLimits(l *gpu.Limits) {
	l.MaxBinding = min(l.MaxBinding, 1<<20)
	l.MaxTexels = min(l.MaxTexels, 1<<16)
	for i := range l.MaxGroups {
		l.MaxGroups[i] = min(l.MaxGroups[i], 256)
		l.MaxLocalSize[i] = min(l.MaxLocalSize[i], 64)
	}
	l.MaxInvocations = min(l.MaxInvocations, 64)
	l.MaxSharedBytes = min(l.MaxSharedBytes, 16<<10)
	l.MaxParamBytes = min(l.MaxParamBytes, 128)
	l.MaxBindings = min(l.MaxBindings, 4)
	l.MaxTexelBuffers = min(l.MaxTexelBuffers, 4)
	l.OffsetAlign = max(l.OffsetAlign, 256)
	l.TexelAlign = max(l.TexelAlign, 256)
}

// WebGPULimits forces the limits that every WebGPU device has, which are all that
// a program gets unless it asks for more.
func WebGPULimits(l *gpu.Limits) {
	l.MaxBuffer = min(l.MaxBuffer, 256<<20)
	l.MaxBinding = min(l.MaxBinding, 128<<20)
	for i, n := range []uint32{256, 256, 64} {
		l.MaxGroups[i] = min(l.MaxGroups[i], 65535)
		l.MaxLocalSize[i] = min(l.MaxLocalSize[i], n)
	}
	l.MaxInvocations = min(l.MaxInvocations, 256)
	l.MaxSharedBytes = min(l.MaxSharedBytes, 16<<10)
	l.MaxParamBytes = min(l.MaxParamBytes, 128)
	l.MaxBindings = min(l.MaxBindings, 8)
	l.MaxUniform = min(l.MaxUniform, 64<<10)
	l.OffsetAlign = max(l.OffsetAlign, 256)
}

// Variants returns the ways to plan that are worth trying on a device: its own
// first, without and with zones around every buffer (the latter with no more than
// WebGPU's least limits, where that is what the device is reached by), then tiny
// limits, the plans of the other device profile, and tiny limits without texel
// buffers.
func Variants(info *gpu.Info) []Variant {
	vs := []Variant{{Name: "plain"}, {Name: "guarded", Guard: true}, {Name: "tiny", Guard: true, Limits: TinyLimits}}
	if info.Kind == gpu.CPU {
		vs = append(vs, Variant{Name: "gpu-profile", Target: func(t *spec.Target) { t.CPU = false }})
	} else {
		vs = append(vs, Variant{Name: "cpu-profile", Target: func(t *spec.Target) { t.CPU = true }})
	}
	if info.Backend == "wgpu" {
		vs[1] = Variant{Name: "webgpu-limits", Guard: true, Limits: WebGPULimits}
	}
	if info.Limits.MaxTexelBuffers > 0 {
		vs = append(vs, Variant{Name: "tiny-no-texels", Limits: TinyLimits, Target: func(t *spec.Target) { t.TexelBuffers = false }})
	}
	return vs
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
	variants := opts.Variants
	if variants == nil {
		variants = Variants(dev.Info())
		if opts.Quick {
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
	dev    gpu.Device
	x      *exec.Runner
	traced []exec.Option           // of Options.Trace
	ways   map[string]*exec.Runner // that take one of the ways of spec.Op.Variants
	align  int64                   // satisfies storage and texel bindings
	rows   []Row                   // of the job at work
	first  [][]byte                // outputs of the first mode of that job that passed
	lost   error
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
	return &lane{Variant: v, dev: dev, x: x, traced: traced, ways: map[string]*exec.Runner{}, align: max(lim.OffsetAlign, lim.TexelAlign, 16)}, nil
}

// by is the lane with plans that take one of the ways of spec.Op.Variants.
func (l *lane) by(way string) (*lane, error) {
	own := *l
	if own.x = l.ways[way]; own.x != nil {
		return &own, nil
	}
	target := l.x.Target()
	target.Variant = way
	x, err := exec.New(l.dev, append([]exec.Option{exec.WithTarget(func(t *spec.Target) { *t = target })}, l.traced...)...)
	l.ways[way], own.x = x, x
	return &own, err
}

func (l *lane) close() error {
	err := l.x.Close()
	for _, x := range l.ways {
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
	last  bool // of its operation and dtype: the refusals follow
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
		first := len(js)
		tried := make([]bool, len(op.Cases.Calls))
		for di, d := range op.Cases.DTypes {
			for ci, c := range op.Cases.Calls {
				for _, k := range combine(op, c, d, level(s.opts.Quick, ci, di)) {
					if s.opts.Once {
						k.modes = k.modes[:1]
					}
					some := every || (len(js)-first)%8 == 0
					js = append(js, job{op: op, dtype: d, call: c, dims: k.dims, shape: k.shape, image: k.image, modes: k.modes, own: k.own, some: some})
					tried[ci] = true
				}
			}
			if len(js) > 0 && js[len(js)-1].op == op && js[len(js)-1].dtype == d {
				js[len(js)-1].last = true
			}
		}
		for ci, ok := range tried {
			if !ok {
				js = append(js, job{op: op, dtype: op.Cases.DTypes[0], call: op.Cases.Calls[ci], image: "none"})
			}
		}
	}
	return js
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
			s.all(p)
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

// all runs a job in every lane, and reports the cases lane by lane.
func (s *suite) all(p *prepared) {
	lanes := s.lanes
	if p.own {
		lanes = lanes[:1]
	}
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
