package exec

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Job is a call on operands.
type Job struct {
	Call    spec.Call
	In, Out []Operand
}

// Warm does once what the first runs of the jobs would do, so that they need not: it plans
// the calls, compiles their kernels in parallel, and launches one workgroup of each, because
// some drivers compile a kernel when it runs for the first time. The operands are
// overwritten, and their contents afterwards mean nothing. Warm returns when all is compiled.
// Errors: those of Run.
func (r *Runner) Warm(ctx context.Context, jobs []Job) error {
	if err := cmp.Or(r.ready(), errs.Context(ctx)); err != nil {
		return err
	}
	var lent []gpu.Handle
	work := &r.work.Load().scratch
	defer func() { work.release(lent) }()
	var list []gpu.Dispatch
	seen := map[string]bool{}
	for _, j := range jobs {
		l := &launch{}
		c, err := r.compiled(ctx, l, j.Call, j.In, j.Out)
		if err != nil {
			return err
		}
		if err := checkOverlap(j.Call, j.In, j.Out); err != nil {
			return err
		}
		// Checks report to words that nobody reads.
		sizes := append(append([]int64(nil), c.Scratch...), StatusBytes)
		scratch, err := work.borrow(nil, sizes)
		if err != nil {
			return fmt.Errorf("exec: %s: scratch memory: %w", c.name, err)
		}
		lent = append(lent, scratch...)
		status := make([]gpu.Binding, len(c.Checks))
		for i := range status {
			status[i] = gpu.Binding{Buffer: scratch[len(c.Scratch)], Size: StatusBytes}
		}
		for _, d := range c.bind(l, j.In, j.Out, scratch, status, 0) {
			if key := keyOf(&d); d.Count() > 0 && !seen[key] {
				seen[key] = true
				d.Groups = [3]uint32{1, 1, 1}
				for i := range d.Bindings {
					d.Bindings[i].Discard = false // one workgroup does not write all
				}
				list = append(list, d)
			}
		}
	}
	if err := r.compileModules(ctx, list); err != nil {
		return err
	}
	if err := r.dev.Submit(list); err != nil {
		return fmt.Errorf("exec: %w", err)
	}
	return r.dev.Sync(ctx)
}

// keyOf says what a driver may compile a dispatch for: its module, the sizes of its bindings
// (lavapipe compiles anew for some), and whether it binds a buffer twice (on WebGPU).
func keyOf(d *gpu.Dispatch) string {
	b := fmt.Appendf(nil, "%p", d.Module)
	for i := range d.Bindings {
		same := slices.IndexFunc(d.Bindings, func(o gpu.Binding) bool { return o.Buffer == d.Bindings[i].Buffer })
		b = fmt.Appendf(b, " %d:%d", same, d.Bindings[i].Size)
	}
	return string(b)
}

// compileModules compiles the modules of the dispatches, as many at a time as there are
// processors, until one fails. A device that is no gpu.Compiler compiles them when they are submitted.
func (r *Runner) compileModules(ctx context.Context, list []gpu.Dispatch) error {
	dev, ok := r.dev.(gpu.Compiler)
	if !ok {
		return nil
	}
	// The first failure ends the context, and so the work of the other goroutines.
	inner, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var next atomic.Int64
	var all sync.WaitGroup
	for range min(len(list), runtime.GOMAXPROCS(0)) {
		all.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(list) && inner.Err() == nil; i = int(next.Add(1)) - 1 {
				if err := dev.CompileModule(list[i].Module); err != nil {
					fail(err)
				}
			}
		})
	}
	all.Wait()
	if err := errs.Context(ctx); err != nil {
		return err
	}
	return context.Cause(inner)
}
