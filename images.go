package lathe

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// defaultStrip is how many bytes of pixels go to the device at a time.
const defaultStrip = 256 << 20

// stripSize limits a strip to what leaves a device room for the source, the
// result and what lies between.
func stripSize(want int64, info *gpu.Info) int64 {
	if want <= 0 {
		want = defaultStrip
	}
	if info.Memory > 0 {
		want = min(want, info.Memory/6)
	}
	return min(want, info.Limits.MaxBuffer)
}

// Apply runs image operations on src, one after the other, and returns the
// result: 8 bits a channel, not premultiplied by alpha, with src's size and its
// origin at (0, 0). src may be any image of any size; deeper colours are
// rounded to 8 bits. Runs of pointwise operations cost one pass.
// Errors: ErrInvalidArgument, ErrOutOfMemory, ctx.Err(), ErrDeviceLost.
func (d *Device) Apply(ctx context.Context, src image.Image, calls ...spec.Call) (*image.NRGBA, error) {
	if err := d.ready("apply"); err != nil {
		return nil, err
	}
	if err := pixels.Check(src); err != nil {
		return nil, fmt.Errorf("lathe: apply: %w: %w", errs.ErrInvalidArgument, err)
	}
	b := src.Bounds()
	dst := image.NewNRGBA(image.Rect(0, 0, b.Dx(), b.Dy()))
	if err := d.ApplyTo(ctx, dst, src, calls...); err != nil {
		return nil, err
	}
	return dst, nil
}

// ApplyTo is Apply into an image that the caller has: dst must have src's size,
// and may be src itself. Images larger than WithStrip go through the device in
// strips. If it fails half-way, the part of dst that was done is overwritten.
func (d *Device) ApplyTo(ctx context.Context, dst *image.NRGBA, src image.Image, calls ...spec.Call) error {
	if err := d.ready("apply"); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("lathe: apply: %w", err)
	}
	if err := cmp.Or(pixels.Check(src), pixels.Check(dst)); err != nil {
		return fmt.Errorf("lathe: apply: %w: %w", errs.ErrInvalidArgument, err)
	}
	from, to := src.Bounds().Size(), dst.Rect.Size()
	if from != to {
		return fmt.Errorf("lathe: apply: %w: size of the result (got %v, want %v)", errs.ErrInvalidArgument, to, from)
	}
	calls = slices.Clone(calls)
	for i, c := range calls {
		var err error
		if calls[i], err = checkImageCall(c); err != nil {
			return err
		}
	}
	a := &application{dev: d, dst: dst, w: from.X, h: from.Y, calls: imageops.Fuse(calls)}
	for _, c := range a.calls {
		a.halo += imageops.Halo(c)
	}
	// Only operations with a halo weigh colours by alpha. Without that they need half as
	// many kernels, which a driver would have to compile for the first picture.
	if a.halo > 0 && pixels.Opaque(src) {
		a.calls = imageops.ForOpaque(a.calls)
	}
	// Kernels for CPU drivers take rows that begin on a texel of four pixels.
	a.pitch = (a.w + 3) &^ 3
	if a.halo == 0 {
		a.pitch = a.w // pointwise operations do not care about rows
	}
	a.source(src)
	return a.run(ctx)
}

// checkImageCall resolves c, if it is an operation on images with good attributes.
func checkImageCall(c spec.Call) (spec.Call, error) {
	c, err := spec.Resolve(c)
	if err != nil {
		return nil, err
	}
	one := tensor.Contiguous(tensor.U8, 1, 1, 4)
	out, err := c.Spec().Shape(c, []tensor.Desc{one})
	if err != nil {
		return nil, err
	}
	if len(out) != 1 || out[0].String() != one.String() {
		return nil, fmt.Errorf("lathe: apply: %w: %s does not make an image of an image", errs.ErrInvalidArgument, c.Spec().Name)
	}
	return c, nil
}

// application is one call of ApplyTo.
type application struct {
	dev   *Device
	dst   *image.NRGBA
	w, h  int
	calls []spec.Call
	halo  int // pixels a result depends on beyond its own
	pitch int // pixels from row to row on the device

	direct *image.NRGBA            // the source, if it can be sent as it lies
	rows   func(dst []byte, y int) // otherwise, its rows
	behind []byte                  // source rows above the strip that dst has overwritten
	upload []byte                  // where rows are put together
}

// source prepares how rows of src are sent.
func (a *application) source(src image.Image) {
	switch m := src.(type) {
	case *image.NRGBA:
		if m.Stride == 4*a.pitch {
			a.direct = m
		}
	case *image.RGBA:
		// An opaque picture has the same bytes either way.
		if m.Stride == 4*a.pitch && m.Opaque() {
			a.direct = &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
		}
	}
	if a.direct == nil {
		a.rows = pixels.Rows(src)
	}
}

func (a *application) run(ctx context.Context) error {
	if a.w == 0 || a.h == 0 {
		return ctx.Err()
	}
	if done, err := a.shared(ctx); done {
		return err
	}
	rowBytes := 4 * int64(a.pitch)
	strip := int(max(a.dev.strip/rowBytes-2*int64(a.halo), 16))
	if strip >= a.h {
		return a.strip(ctx, 0, a.h)
	}
	for top := 0; top < a.h; top += strip {
		if err := a.strip(ctx, top, min(top+strip, a.h)); err != nil {
			return err
		}
	}
	return nil
}

// strip makes rows [top, bottom) of the result from those rows of the source
// and halo rows around them.
func (a *application) strip(ctx context.Context, top, bottom int) error {
	from, to := max(top-a.halo, 0), min(bottom+a.halo, a.h)
	rowBytes := 4 * int64(a.pitch)
	desc := tensor.Contiguous(tensor.U8, to-from, a.w, 4)
	if a.pitch != a.w {
		desc.Strides = []int{4 * a.pitch, 4, 1}
	}
	n := 1
	if a.halo > 0 {
		n = 2 // operations with a halo do not work in place
	}
	bufs, release, err := a.dev.run.Borrow(n, rowBytes*int64(to-from))
	if err != nil {
		return fmt.Errorf("lathe: apply: %w", err)
	}
	defer release()
	rows, err := a.read(from, to, bottom)
	if err != nil {
		return err
	}
	if err := a.dev.gpu.Write(ctx, bufs[0], 0, rows); err != nil {
		return err
	}
	cur := exec.Operand{Buffer: bufs[0], Desc: desc}
	for _, c := range a.calls {
		next := cur
		if !c.Spec().MayOverwrite(0, 0) {
			next.Buffer, bufs[0], bufs[n-1] = bufs[n-1], bufs[n-1], bufs[0]
		}
		if err := a.dev.run.Run(ctx, c, []exec.Operand{next}, []exec.Operand{cur}); err != nil {
			return err
		}
		cur = next
	}
	return a.result(ctx, cur.Buffer, top-from, top, bottom)
}

// read is sourceRows; an image that panics is an error.
func (a *application) read(from, to, bottom int) (rows []byte, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("lathe: apply: %w: the source cannot be read: %v", errs.ErrInvalidArgument, p)
		}
	}()
	return a.sourceRows(from, to, bottom), nil
}

// sourceRows returns rows [from, to) of the source at the device's pitch, and
// remembers those above `bottom` that the next strip needs once more.
func (a *application) sourceRows(from, to, bottom int) []byte {
	row := 4 * a.pitch
	if a.direct != nil {
		m := a.direct
		o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+from)
		whole := bottom == a.h && len(a.behind) == 0 // no strip has been written yet
		if whole || a.halo == 0 || !sameMemory(m.Pix, a.dst.Pix) {
			return m.Pix[o : o+(to-from-1)*row+4*a.w]
		}
	}
	if need := (to - from) * row; cap(a.upload) < need {
		a.upload = make([]byte, need)
	}
	up := a.upload[:(to-from)*row]
	kept := copy(up, a.behind) / row // rows that dst may have overwritten
	a.fill(up[kept*row:], from+kept, to)
	if again := max(bottom-a.halo, 0); bottom < a.h {
		a.behind = append(a.behind[:0], up[(again-from)*row:(bottom-from)*row]...)
	}
	return up
}

// fill converts rows [from, to) of the source.
func (a *application) fill(up []byte, from, to int) {
	row := 4 * a.pitch
	rows := a.rows
	if rows == nil {
		rows = pixels.Rows(a.direct)
	}
	const many = 32 // rows a worker takes at a time
	pixels.Parallel((to-from+many-1)/many, 0, func(next func() (int, bool)) {
		for i, ok := next(); ok; i, ok = next() {
			for y := i * many; y < min((i+1)*many, to-from); y++ {
				rows(up[y*row:y*row+4*a.w], from+y)
			}
		}
	})
}

// result reads rows [top, bottom) of the result, which begin at row `at` of the
// buffer.
func (a *application) result(ctx context.Context, h gpu.Handle, at, top, bottom int) error {
	row, n := 4*a.pitch, bottom-top
	m := a.dst
	o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+top)
	if m.Stride == row && a.pitch == a.w {
		return a.dev.gpu.Read(ctx, h, int64(at*row), m.Pix[o:o+n*row])
	}
	if need := n * row; cap(a.upload) < need {
		a.upload = make([]byte, need)
	}
	down := a.upload[:n*row]
	if err := a.dev.gpu.Read(ctx, h, int64(at*row), down); err != nil {
		return err
	}
	for y := range n {
		copy(m.Pix[o+y*m.Stride:o+y*m.Stride+4*a.w], down[y*row:])
	}
	return nil
}

// sameMemory reports whether two slices may share memory.
func sameMemory(a, b []byte) bool {
	return len(a) > 0 && len(b) > 0 && cap(a) > 0 && cap(b) > 0 && &a[:cap(a)][cap(a)-1] == &b[:cap(b)][cap(b)-1]
}
