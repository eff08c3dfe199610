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
	DTypes []tensor.DType // the element types to measure; nil means the most usual one of each operation, and F16 too where the device multiplies cooperative matrices
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

	as *gpu.Kind // for tests: measure the rows, but not the ceilings, of a device of this kind
}

// each is the least time that one measurement should take.
func (o *Options) each() time.Duration {
	if o.Quick {
		return 8 * time.Millisecond
	}
	return 20 * time.Millisecond
}

// budget is the time for all measurements of a ceiling, or of a row in turns with its
// ceilings.
func (o *Options) budget() time.Duration {
	if o.Quick {
		return 200 * time.Millisecond
	}
	return 1500 * time.Millisecond
}

// bench is a run.
type bench struct {
	ctx    context.Context
	dev    gpu.Device
	run    *exec.Runner
	opts   Options
	beside *bench
	report *Report
	info   *gpu.Info // of dev

	patterns map[patternKey][]byte
	copied   map[int64]Sample // copies on the device, by bytes: see apart
}

// apart reports whether the device has a memory and processors of its own, so that other work
// on the machine does not slow it. Its ceilings are then measured once, and not in turns with
// every row.
func (b *bench) apart() bool {
	k := b.info.Kind
	return k == gpu.Discrete || k == gpu.Virtual
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
	info := dev.Info()
	if o.as != nil {
		as := *info
		as.Kind = *o.as
		info = &as
	}
	b := &bench{ctx: ctx, dev: dev, run: run, opts: o, info: info, report: newReport(info, o.Quick)}
	if o.Beside != nil {
		run, err := exec.New(o.Beside)
		if err != nil {
			return nil, err
		}
		b.beside = &bench{ctx: ctx, dev: o.Beside, run: run, opts: o, info: o.Beside.Info()}
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

func (b *bench) measureAll() error {
	jobs := b.opts.jobs(b.info)
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
