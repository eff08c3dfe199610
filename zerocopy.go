package lathe

import (
	"cmp"
	"context"

	"github.com/lathe-gpu/lathe/gpu"
)

// leastZeroCopy is the size in bytes from which on it pays to work in the memory of the
// caller.
const leastZeroCopy = 128 << 10

// zeroCopy runs the job in the memory of src and dst themselves, if the device can do
// that. On a CPU driver copies cost as much as a pointwise operation. It reports whether
// it did. If it did not and there is no error, nothing has happened, and the job can go by
// copies.
func (j *imageJob) zeroCopy(ctx context.Context, strips []imageStrip) (done bool, err error) {
	dev, ok := j.dev.GPU().(gpu.Importer)
	size := j.most(strips[0])
	if !ok || len(strips) != 1 || j.direct == nil || j.shifted || len(j.calls) == 0 || j.dst.Stride != 4*j.pitch(j.last()) || size < leastZeroCopy || size > j.dev.strip {
		return false, nil
	}
	// A chain that crops has the rows of the source that it needs, and no others.
	have, made := strips[0].rows[0], strips[0].rows[j.last()]
	if have.To <= have.From || made.From != 0 || made.To != j.pictures[j.last()].Shape[0] {
		return false, nil
	}
	o, p := j.direct.PixOffset(j.direct.Rect.Min.X, j.direct.Rect.Min.Y+have.From), j.dst.PixOffset(j.dst.Rect.Min.X, j.dst.Rect.Min.Y)
	from, to := j.direct.Pix[o:o+j.span(0, have.To-have.From)], j.dst.Pix[p:p+j.span(j.last(), made.To)]
	same := sharesMemory(from, to)
	if same && !j.inPlace() {
		return false, nil
	}
	src, err := dev.Import(from)
	if err != nil {
		return false, nil // copying always works
	}
	dst := src
	defer func() { err = cmp.Or(err, j.finish(src, dst)) }() // One mistake is one error.
	if !same {
		if h, err := dev.Import(to); err == nil {
			dst = h
		} else {
			return false, nil
		}
	}
	if err := ctx.Err(); err != nil {
		return true, err
	}
	spare := []gpu.Handle{src}
	if !same {
		// The source is only read, so every picture but the last needs memory.
		n := min(len(j.calls)-1, 2)
		bufs, release, err := j.borrow(n, size)
		if err != nil {
			return true, err
		}
		defer release()
		spare = bufs
	}
	_, err = j.chain(ctx, strips[0], src, dst, spare)
	return true, err
}

// span is the number of bytes from the first pixel of rows of picture i to the last.
func (j *imageJob) span(i, rows int) int { return 4 * (j.pitch(i)*(rows-1) + j.pictures[i].Shape[1]) }

// finish waits for the work on the memory of the caller, also after an error, and releases
// that memory. It takes no context: the caller must not get its memory back before the work
// has ended. The work is short.
func (j *imageJob) finish(src, dst gpu.Handle) error {
	err := j.dev.GPU().Read(context.Background(), dst, 0, nil)
	if dst != src {
		err = cmp.Or(err, j.dev.GPU().Free(dst))
	}
	return cmp.Or(err, j.dev.GPU().Free(src))
}
