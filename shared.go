package lathe

import (
	"context"
	"errors"

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/tensor"
)

// leastShared is the size from which on it pays to work in the caller's memory.
const leastShared = 128 << 10

// shared runs the application in the memory of src and dst themselves, where
// the device can do that: on a CPU driver copies cost as much as a pointwise
// operation. It reports whether it did; if not, nothing has happened.
func (a *application) shared(ctx context.Context) (done bool, err error) {
	dev, ok := a.dev.gpu.(gpu.Importer)
	size := 4 * int64(a.pitch) * int64(a.h)
	if !ok || a.direct == nil || len(a.calls) == 0 || a.dst.Stride != 4*a.pitch || size < leastShared || size > a.dev.strip {
		return false, nil
	}
	o, p := a.direct.PixOffset(a.direct.Rect.Min.X, a.direct.Rect.Min.Y), a.dst.PixOffset(a.dst.Rect.Min.X, a.dst.Rect.Min.Y)
	span := 4 * (a.pitch*(a.h-1) + a.w)
	from, to := a.direct.Pix[o:o+span], a.dst.Pix[p:p+span]
	same := sameMemory(from, to)
	if same && (&from[0] != &to[0] || !a.inPlace()) {
		return false, nil
	}
	src, err := dev.Import(from)
	if err != nil {
		return false, nil // copying always works
	}
	dst := src
	defer func() { err = errors.Join(err, a.finish(src, dst)) }()
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
	return true, a.chain(ctx, src, dst)
}

// inPlace reports whether all calls can work in place.
func (a *application) inPlace() bool {
	for _, c := range a.calls {
		if !c.Spec().MayOverwrite(0, 0) {
			return false
		}
	}
	return true
}

// chain runs the calls from src to dst, through borrowed buffers in between.
func (a *application) chain(ctx context.Context, src, dst gpu.Handle) error {
	desc := tensor.Contiguous(tensor.U8, a.h, a.w, 4)
	if a.pitch != a.w {
		desc.Strides = []int{4 * a.pitch, 4, 1}
	}
	var between []gpu.Handle
	if n := min(len(a.calls)-1, 2); n > 0 {
		bufs, release, err := a.dev.run.Borrow(n, 4*int64(a.pitch)*int64(a.h))
		if err != nil {
			return err
		}
		defer release()
		between = bufs
	}
	cur := src
	for i, c := range a.calls {
		next := dst
		switch {
		case i == len(a.calls)-1:
		case c.Spec().MayOverwrite(0, 0) && cur != src:
			next = cur
		case cur == between[0]:
			next = between[1]
		default:
			next = between[0]
		}
		err := a.dev.run.Run(ctx, c, []exec.Operand{{Buffer: next, Desc: desc}}, []exec.Operand{{Buffer: cur, Desc: desc}})
		if err != nil {
			return err
		}
		cur = next
	}
	return nil
}

// finish waits for the work on the caller's memory, whatever became of it, and
// lets go of that memory. It takes no context: what was submitted ends soon,
// and until then the caller must not have its memory back.
func (a *application) finish(src, dst gpu.Handle) error {
	err := a.dev.gpu.Read(context.Background(), dst, 0, nil)
	if dst != src {
		err = errors.Join(err, a.dev.gpu.Free(dst))
	}
	return errors.Join(err, a.dev.gpu.Free(src))
}
