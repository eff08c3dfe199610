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
)

// Prepare compiles what Apply and ApplyTo of these calls need for pictures of a size, with
// and without alpha, so that the first picture does not wait for it. Programs with a window
// or a server call it when they start, on another goroutine if they like. It reads no
// pictures, and needs memory on the device for two of them while it runs. Kernels are compiled
// in parallel. Pictures of other sizes need the same kernels in most cases. What has been
// compiled before costs little.
//
// Prepare waits for other work of the device too, and returns its errors.
// Errors: as Apply.
func (d *Device) Prepare(ctx context.Context, size image.Point, calls ...spec.Call) error {
	if err := d.ready("prepare"); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("lathe: prepare: %w", err)
	}
	const most = 1 << 28 // pixels in x or y, far beyond any picture in memory
	if size.X < 0 || size.Y < 0 || size.X > most || size.Y > most {
		return fmt.Errorf("lathe: prepare: %w: size (got %v, want 0 to %d pixels)", errs.ErrInvalidArgument, size, most)
	}
	calls = slices.Clone(calls)
	for i, c := range calls {
		var err error
		if calls[i], err = checkImageCall(c); err != nil {
			return err
		}
	}
	if size.X == 0 || size.Y == 0 {
		return nil
	}
	var variants []*imageJob
	var bytes int64
	for _, opaque := range []bool{true, false} {
		j := &imageJob{dev: d, w: size.X, h: size.Y, calls: imageops.Fuse(calls)}
		for _, c := range j.calls {
			j.halo += imageops.Halo(c)
		}
		if opaque {
			if j.halo == 0 {
				continue // the calls are the same as with alpha
			}
			j.calls = imageops.ForOpaque(j.calls)
		}
		j.setPitch()
		bytes = max(bytes, 4*int64(j.pitch)*int64(slices.Max(j.heights())))
		variants = append(variants, j)
	}
	bufs, release, err := d.session.Borrow(2, bytes)
	if err != nil {
		return fmt.Errorf("lathe: prepare: %w", err)
	}
	defer release()
	var jobs []exec.Job
	for _, j := range variants {
		for _, h := range j.heights() {
			jobs = append(jobs, j.jobs(h, bufs)...)
		}
	}
	if err := d.session.Warm(ctx, jobs); err != nil {
		return fmt.Errorf("lathe: prepare: %w", err)
	}
	return nil
}

// heights are the heights of the strips, with their halos, that go through the device.
func (j *imageJob) heights() []int {
	strip := j.stripRows()
	var list []int
	for top := 0; top < j.h; top += strip {
		h := min(min(top+strip, j.h)+j.halo, j.h) - max(top-j.halo, 0)
		if strip >= j.h {
			h = j.h
		}
		if !slices.Contains(list, h) {
			list = append(list, h)
		}
	}
	return list
}

// jobs are the calls on h rows, from buffer to buffer as chain has them.
func (j *imageJob) jobs(h int, bufs []gpu.Handle) []exec.Job {
	var list []exec.Job
	desc, cur := j.desc(h), 0
	for _, c := range j.calls {
		next := cur
		if !c.Spec().MayOverwrite(0, 0) {
			next = 1 - cur
		}
		list = append(list, exec.Job{Call: c, In: []exec.Operand{{Buffer: bufs[cur], Desc: desc}}, Out: []exec.Operand{{Buffer: bufs[next], Desc: desc}}})
		cur = next
	}
	return list
}
