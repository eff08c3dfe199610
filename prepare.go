package lathe

import (
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Prepare compiles what Apply and ApplyTo of these calls need for pictures of a size, with
// and without alpha, so that the first picture does not wait for it. Programs with a window
// or a server call it when they start, on another goroutine if they like. It reads no
// pictures, and needs memory on the device for two of them, and for further pictures of a call, while it runs. Kernels are compiled
// in parallel. Pictures of other sizes need the same kernels in most cases. What has been
// compiled before costs little.
//
// Prepare waits for other work of the device too, and returns its errors.
// Errors: as Apply.
func (d *Device) Prepare(ctx context.Context, size image.Point, calls ...spec.Call) error {
	if err := d.open("prepare"); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("lathe: prepare: %w", err)
	}
	const most = 1 << 28 // pixels in x or y, far beyond any picture in memory
	if size.X < 0 || size.Y < 0 || size.X > most || size.Y > most {
		return fmt.Errorf("lathe: prepare: %w: size (got %v, want 0 to %d pixels)", errs.ErrInvalidArgument, size, most)
	}
	good, err := imageCalls(calls)
	if err != nil {
		return err
	}
	// A call that finds a rectangle is prepared, and what follows as for the largest rectangle.
	for i, c := range good {
		if !searches(c) {
			continue
		}
		chain, err := newImageChain(good[:i], size.X, size.Y)
		if err != nil {
			return err
		}
		at, err := imageops.Size(chain.size(), c)
		if err != nil {
			return err
		}
		if err := d.prepareChain(ctx, chain, c); err != nil {
			return err
		}
		if good[i], err = spec.Resolve(cropTo(image.Rectangle{Max: at})); err != nil {
			return err
		}
	}
	chain, err := newImageChain(good, size.X, size.Y)
	if err != nil {
		return err
	}
	return d.prepareChain(ctx, chain, nil)
}

// prepareChain compiles what a chain needs, or what it needs to search its whole result with a
// call.
func (d *Device) prepareChain(ctx context.Context, chain *imageChain, search spec.Call) error {
	last := chain.last()
	if chain.bytes(last, chain.size().Y) == 0 {
		return nil
	}
	variants := []*imageChain{chain}
	if chain.padded { // else the calls are the same for opaque pictures
		opaque := *chain
		opaque.calls = imageops.ForOpaque(chain.calls)
		variants = append([]*imageChain{&opaque}, variants...)
	}
	var strips []imageStrip
	if search == nil {
		strips = chain.strips(d.strip)
	} else {
		strips = []imageStrip{chain.stripOf(spec.RowRange{To: chain.size().Y})}
	}
	further := 0
	for _, list := range chain.further {
		further = max(further, len(list))
	}
	buffers := 2 + further
	if search != nil {
		buffers++ // for the rectangle
	}
	bufs, release, err := d.session.Borrow(buffers, max(boundsBytes, chain.largest(strips)))
	if err != nil {
		return fmt.Errorf("lathe: prepare: %w", err)
	}
	defer release()
	var jobs []exec.Job
	for _, c := range variants {
		for _, want := range different(strips) {
			s := c.stripOf(want)
			list, made := c.jobs(s, bufs)
			if jobs = append(jobs, list...); search != nil {
				jobs = append(jobs, searchJob(search, c.part(s, last), made, bufs[2+further]))
			}
		}
	}
	if err := d.session.Warm(ctx, jobs); err != nil {
		return fmt.Errorf("lathe: prepare: %w", err)
	}
	return nil
}

// PrepareCall compiles what Call of an operation needs for inputs of such dtypes, shapes and strides,
// or the method named after it if it works in place. So the first call does not wait for the
// compiler. There need be no tensors: PrepareCall takes memory for the operands while it runs, which
// later calls use again. A Scalar is a tensor of shape [], as tensor.Contiguous(dtype) describes.
// Kernels are compiled in parallel, and several goroutines may prepare several calls.
//
//	err := dev.PrepareCall(ctx, ops.MatMul{}, tensor.Contiguous(tensor.F32, 64, 784), tensor.Contiguous(tensor.F32, 784, 10))
//
// What has been compiled before costs little. Views that begin at odd places in their buffer may need more
// kernels. PrepareCall waits for other work of the device too, and returns its errors.
// Errors: as Call.
func (d *Device) PrepareCall(ctx context.Context, c spec.Call, in ...tensor.Desc) error {
	if err := d.open("prepare call"); err != nil {
		return err
	}
	if err := d.session.PrepareCall(ctx, c, in); err != nil {
		return fmt.Errorf("lathe: prepare call: %w", err)
	}
	return nil
}

// different returns the results of strips whose pictures differ in height.
func different(strips []imageStrip) []spec.RowRange {
	var list []spec.RowRange
	seen := map[string]bool{}
	for _, s := range strips {
		var heights []int
		for _, r := range slices.Concat(s.rows, slices.Concat(s.further...)) {
			heights = append(heights, r.To-r.From)
		}
		if key := fmt.Sprint(heights); !seen[key] {
			seen[key] = true
			list = append(list, s.want)
		}
	}
	return list
}

// jobs are the calls of a strip, from buffer to buffer as imageJob.chain has them. The result is in
// buffer made.
func (c *imageChain) jobs(s imageStrip, bufs []gpu.Handle) (list []exec.Job, made gpu.Handle) {
	cur := 0
	for i, call := range s.calls {
		next := cur
		if !c.overwrites(i) {
			next = 1 - cur
		}
		in, out := exec.Operand{Buffer: bufs[cur], Desc: c.part(s, i)}, exec.Operand{Buffer: bufs[next], Desc: c.part(s, i+1), Alone: true}
		job := exec.Job{Call: call, In: []exec.Operand{in}, Out: []exec.Operand{out}}
		for k := range c.further[i] {
			job.In = append(job.In, exec.Operand{Buffer: bufs[2+k], Desc: c.furtherDesc(s, i, k)})
		}
		list = append(list, job)
		cur = next
	}
	return list, bufs[cur]
}
