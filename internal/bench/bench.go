// Package bench measures how near operations come to what a device can do. It
// first measures the device's own ceilings: copies, multiply-adds, transfers and
// launches. Then it measures every operation at several sizes, in turns with its ceilings, so
// that other work on the machine slows all of them alike. The result
// is a time and a fraction of the roofline (Williams, Waterman and Patterson 2009).
package bench

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	_ "github.com/lathe-gpu/lathe/ops/all" // registers the operations
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Options say what to measure.
type Options struct {
	Ops    []*spec.Op     // the operations to measure; nil means all that are offered by name
	DTypes []tensor.DType // the element types to measure; nil means the most usual one of each operation
	// Keep, if set, says which calls to measure.
	Keep  func(spec.BenchCase) bool
	Quick bool // fewer measurements: a first look
	// Plan says how calls are planned, for instance by exec.WithTuning.
	Plan []exec.Option
	// Beside, if set, is another device, such as the same hardware by another backend.
	// It makes the same calls in turns with the first one.
	Beside gpu.Device
	Seed   uint64
	// Progress, if set, is called with the name of what is measured next.
	Progress func(done, total int, what string)
}

// budget is the time for all measurements of one row. each is the least time that one
// measurement should take.
func (o *Options) budget() time.Duration {
	if o.Quick {
		return 200 * time.Millisecond
	}
	return 1500 * time.Millisecond
}

func (o *Options) each() time.Duration {
	if o.Quick {
		return 8 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// bench is a run.
type bench struct {
	ctx    context.Context
	dev    gpu.Device
	run    *exec.Runner
	opts   Options
	beside *bench
	report *Report
}

// Run measures the ceilings of a device and the operations. A call that the
// device does not support is a Row that says so.
// Errors: those of the device; ErrInvalidArgument (nothing to measure); ctx.Err().
// The report has everything that was measured before an error.
func Run(ctx context.Context, dev gpu.Device, o Options) (*Report, error) {
	run, err := exec.New(dev, o.Plan...)
	if err != nil {
		return nil, err
	}
	b := &bench{ctx: ctx, dev: dev, run: run, opts: o, report: newReport(dev.Info(), o.Quick)}
	if o.Beside != nil {
		run, err := exec.New(o.Beside)
		if err != nil {
			return nil, err
		}
		b.beside = &bench{ctx: ctx, dev: o.Beside, run: run, opts: o}
		b.report.Beside = o.Beside.Info().Name + " by " + o.Beside.Info().Backend
	}
	start := time.Now()
	err = b.measureAll()
	b.report.Seconds = time.Since(start).Seconds()
	err = cmp.Or(err, b.report.Ceilings.close())
	if b.beside != nil {
		err = cmp.Or(err, b.beside.run.Close())
	}
	return b.report, cmp.Or(err, run.Close())
}

// job is a call with inputs of a dtype.
type job struct {
	benchCase spec.BenchCase
	dtype     tensor.DType
}

// BenchCases are the calls that a bench with these options measures.
func (o *Options) BenchCases() []spec.BenchCase {
	var ws []spec.BenchCase
	for _, j := range o.jobs() {
		ws = append(ws, j.benchCase)
	}
	return ws
}

func (o *Options) jobs() []job {
	ops := o.Ops
	if ops == nil {
		for _, op := range spec.All() {
			if op.Offered() {
				ops = append(ops, op)
			}
		}
	}
	var jobs []job
	for _, op := range ops {
		if op.Cases.Bench == nil {
			continue
		}
		dtypes := op.Cases.DTypes[:1]
		if o.DTypes != nil {
			dtypes = nil
			for _, d := range o.DTypes {
				if slices.Contains(op.Cases.DTypes, d) {
					dtypes = append(dtypes, d)
				}
			}
		}
		for _, d := range dtypes {
			for _, w := range op.Cases.Bench(d) {
				if o.Keep == nil || o.Keep(w) {
					jobs = append(jobs, job{w, d})
				}
			}
		}
	}
	return jobs
}

func (b *bench) measureAll() error {
	jobs := b.opts.jobs()
	if len(jobs) == 0 {
		return fmt.Errorf("bench: %w: no operation has a call to measure with these options", errs.ErrInvalidArgument)
	}
	tell := b.opts.Progress
	if tell == nil {
		tell = func(int, int, string) {}
	}
	tell(0, len(jobs)+1, "ceilings")
	if err := b.measureCeilings(); err != nil {
		return err
	}
	for i, j := range jobs {
		tell(i+1, len(jobs)+1, spec.FormatBrief(j.benchCase.Call))
		if err := b.ctx.Err(); err != nil {
			return err
		}
		row, err := b.measure(j)
		if err != nil {
			return fmt.Errorf("bench: %s of %v: %w", spec.FormatBrief(j.benchCase.Call), j.benchCase.In, err)
		}
		b.report.Rows = append(b.report.Rows, row)
	}
	return nil
}

// randomData makes the bytes of a tensor. Values are uniform between the bounds, except for
// the alphas of an opaque picture.
func randomData(d tensor.Desc, low, high float64, opaque bool, rng *rand.Rand) []byte {
	h := tensor.NewHost(d)
	values := make([]float64, d.Elems())
	whole := d.DType != tensor.F32 && d.DType != tensor.F64 && d.DType != tensor.F16 && d.DType != tensor.BF16
	for i := range values {
		if values[i] = low + (high-low)*rng.Float64(); whole {
			values[i] = low + float64(rng.Int64N(int64(high-low)+1))
		}
		if opaque && i%4 == 3 && d.Shape[len(d.Shape)-1] == 4 {
			values[i] = high
		}
	}
	h.SetFloats(values)
	return h.Data
}
