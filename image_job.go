package lathe

import (
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/internal/session"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// imageJob is one call of ApplyTo.
type imageJob struct {
	dev   *Device
	dst   *image.NRGBA // the bytes of the result, whatever becomes of them afterwards
	w, h  int          // of the picture in pixels
	calls []spec.Call  // fused, for opaque pictures where the source is one
	halo  int          // A pixel of the result depends on source pixels up to this far away.
	pitch int          // pixels from row to row on the device

	premultiply bool // The colours of the result are multiplied by alpha when it is complete.

	direct  *image.NRGBA            // the source, if it can be sent as it lies
	shifted bool                    // The source shares memory with dst, but its pixels lie elsewhere in it.
	rows    func(dst []byte, y int) // writes row y of the source, if it cannot
	behind  []byte                  // source rows above the strip that dst has overwritten
	upload  []byte                  // memory in which rows are put together
}

// newImageJob prepares the calls, which are resolved, for a picture. The bytes of dst are
// those of an image that is premultiplied by alpha, or not.
// Errors: ErrInvalidArgument for a source that cannot be read.
func newImageJob(d *Device, dst *image.NRGBA, premultiplied bool, src image.Image, calls []spec.Call) (*imageJob, error) {
	size := src.Bounds().Size()
	j := &imageJob{dev: d, dst: dst, w: size.X, h: size.Y, calls: imageops.Fuse(calls)}
	for _, c := range j.calls {
		j.halo += imageops.Halo(c)
	}
	j.shifted = shifted(src, dst)
	opaque, keeps := false, true
	if _, rgba := src.(*image.RGBA); rgba || premultiplied || j.halo > 0 {
		if err := readable(func() { opaque = pixels.Opaque(src) }); err != nil {
			return nil, err
		}
	}
	// Only operations with a halo weigh colours by alpha. Without alpha they need half as
	// many kernels, which a driver would have to compile for the first picture.
	if opaque && j.halo > 0 {
		j.calls = imageops.ForOpaque(j.calls)
	}
	for _, c := range j.calls {
		keeps = keeps && c.Spec().ForOpaque != nil
	}
	j.premultiply = premultiplied && !(opaque && keeps) // An opaque picture has the same bytes either way.
	j.setPitch()
	j.source(src, opaque)
	return j, nil
}

// setPitch chooses the pitch for the calls.
func (j *imageJob) setPitch() {
	// The filters' kernels for CPU drivers need rows that begin on a texel of four pixels.
	// Pointwise operations do not need that. For an operation that takes only contiguous
	// pictures the operands would have to be copied.
	if j.pitch = (j.w + 3) &^ 3; j.halo == 0 || !j.takes(j.desc(2)) {
		j.pitch = j.w
	}
}

// stripRows is how many rows of the result go through the device at a time.
func (j *imageJob) stripRows() int {
	rowBytes := 4 * int64(j.pitch)
	return int(max(j.dev.strip/rowBytes-2*int64(j.halo), 16))
}

// takes reports whether all calls work with pictures of the strides of desc.
func (j *imageJob) takes(desc tensor.Desc) bool {
	for _, c := range j.calls {
		if op := c.Spec(); !op.TakesInput(0, desc) || !op.TakesOutput(0, desc) {
			return false
		}
	}
	return true
}

// desc describes h rows of the picture on the device.
func (j *imageJob) desc(h int) tensor.Desc {
	desc := tensor.Contiguous(tensor.U8, h, j.w, 4)
	if j.pitch != j.w {
		desc.Strides = []int{4 * j.pitch, 4, 1}
	}
	return desc
}

// source prepares how rows of src are sent. opaque says that src is known to be opaque.
func (j *imageJob) source(src image.Image, opaque bool) {
	switch m := src.(type) {
	case *image.NRGBA:
		if m.Stride == 4*j.pitch {
			j.direct = m
		}
	case *image.RGBA:
		if m.Stride == 4*j.pitch && opaque {
			j.direct = &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
		}
	}
	if j.direct == nil {
		j.rows = pixels.Rows(src)
	}
}

func (j *imageJob) run(ctx context.Context) error {
	if j.w == 0 || j.h == 0 {
		return ctx.Err()
	}
	if done, err := j.zeroCopy(ctx); done || err != nil {
		if err == nil {
			j.complete(0, j.h)
		}
		return applyError(err)
	}
	strip := j.stripRows()
	if strip >= j.h {
		return j.strip(ctx, 0, j.h)
	}
	if j.shifted {
		if err := j.copySource(); err != nil {
			return err
		}
	}
	for top := 0; top < j.h; top += strip {
		if err := j.strip(ctx, top, min(top+strip, j.h)); err != nil {
			return err
		}
	}
	return nil
}

// strip computes rows [top, bottom) of the result. It sends these rows of the source and
// the halo rows around them.
func (j *imageJob) strip(ctx context.Context, top, bottom int) error {
	from, to := max(top-j.halo, 0), min(bottom+j.halo, j.h)
	n := 1
	if !j.inPlace() {
		n = 2
	}
	bufs, release, err := j.borrow(n, 4*int64(j.pitch)*int64(to-from))
	if err != nil {
		return applyError(err)
	}
	defer release()
	rows, err := j.read(from, to, bottom)
	if err != nil {
		return err
	}
	if err := j.dev.GPU().Write(ctx, bufs[0], 0, rows); err != nil {
		return applyError(err)
	}
	last, err := j.chain(ctx, j.desc(to-from), bufs[0], 0, bufs)
	if err != nil {
		return applyError(err)
	}
	return applyError(j.result(ctx, last, top-from, top, bottom))
}

// applyError names the call in an error of the device. It returns nil for nil.
func applyError(err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("lathe: apply: %w", err)
}

// borrow lends n buffers of at least size bytes until release is called. They are filled
// with zeros if a call may leave pixels unwritten, because borrowed memory may hold pixels
// of other pictures.
func (j *imageJob) borrow(n int, size int64) (bufs []gpu.Handle, release func(), err error) {
	s := j.dev.session
	if !slices.ContainsFunc(j.calls, func(c spec.Call) bool { return !c.Spec().WritesAll }) {
		return s.Borrow(n, size)
	}
	var made []session.Tensor
	release = func() {
		for _, t := range made {
			_ = s.Free(t) // no other code has this tensor, so only a closed device fails
		}
	}
	for range n {
		t, err := s.NewTensor(tensor.Contiguous(tensor.U8, int(size)))
		if err != nil {
			release()
			return nil, nil, err
		}
		made, bufs = append(made, t), append(bufs, t.Buffer.Handle())
	}
	return bufs, release, nil
}

// chain runs the calls on the picture in src and returns the buffer of the result. That
// buffer is dst, or one of spare if dst is 0. The buffers of spare may be overwritten.
// Two of them are enough, and one if all calls work in place.
func (j *imageJob) chain(ctx context.Context, desc tensor.Desc, src, dst gpu.Handle, spare []gpu.Handle) (gpu.Handle, error) {
	cur := src
	for i, c := range j.calls {
		next := dst
		switch {
		case i == len(j.calls)-1 && dst != 0:
		case c.Spec().MayOverwrite(0, 0) && slices.Contains(spare, cur):
			next = cur
		default:
			next = spare[slices.IndexFunc(spare, func(h gpu.Handle) bool { return h != cur })]
		}
		if err := j.dev.session.RunOn(ctx, c, []exec.Operand{{Buffer: cur, Desc: desc}}, []exec.Operand{{Buffer: next, Desc: desc}}); err != nil {
			return 0, err
		}
		cur = next
	}
	return cur, nil
}

// copySource makes a copy of the source and sends that. Otherwise a strip of the result
// could overwrite source pixels that a later strip needs.
func (j *imageJob) copySource() error {
	own := image.NewNRGBA(image.Rect(0, 0, j.pitch, j.h))
	if err := readable(func() { j.fill(own.Pix, 0, j.h) }); err != nil {
		return err
	}
	j.direct, j.rows = own, nil
	return nil
}

// read is sourceRows, and returns an error if the image panics.
func (j *imageJob) read(from, to, bottom int) (rows []byte, err error) {
	err = readable(func() { rows = j.sourceRows(from, to, bottom) })
	return rows, err
}

// readable calls f, which reads the source, and returns an error if the image panics.
func readable(f func()) error { return usable("apply", "the source cannot be read", f) }

// sourceRows returns rows [from, to) of the source at the pitch of the device. It keeps the
// rows above bottom that the next strip needs again.
func (j *imageJob) sourceRows(from, to, bottom int) []byte {
	row := 4 * j.pitch
	if j.direct != nil {
		m := j.direct
		o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+from)
		single := bottom == j.h && len(j.behind) == 0 // no strip has been written yet
		if single || j.halo == 0 || !sharesMemory(m.Pix, j.dst.Pix) {
			return m.Pix[o : o+(to-from-1)*row+4*j.w]
		}
	}
	if need := (to - from) * row; cap(j.upload) < need {
		j.upload = make([]byte, need)
	}
	up := j.upload[:(to-from)*row]
	kept := copy(up, j.behind) / row // rows that dst may have overwritten
	j.fill(up[kept*row:], from+kept, to)
	if again := max(bottom-j.halo, 0); bottom < j.h {
		j.behind = append(j.behind[:0], up[(again-from)*row:(bottom-from)*row]...)
	}
	return up
}

// fill converts rows [from, to) of the source.
func (j *imageJob) fill(up []byte, from, to int) {
	row := 4 * j.pitch
	rows := j.rows
	if rows == nil {
		rows = pixels.Rows(j.direct)
	}
	pixels.EachRow(row, to-from, func(y int) { rows(up[y*row:y*row+4*j.w], from+y) })
}

// result reads rows [top, bottom) of the result. They begin at row at of the buffer.
func (j *imageJob) result(ctx context.Context, h gpu.Handle, at, top, bottom int) error {
	row, n := 4*j.pitch, bottom-top
	m := j.dst
	o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+top)
	if m.Stride == row && j.pitch == j.w {
		if err := j.dev.GPU().Read(ctx, h, int64(at*row), m.Pix[o:o+n*row]); err != nil {
			return err
		}
		j.complete(top, bottom)
		return nil
	}
	if need := n * row; cap(j.upload) < need {
		j.upload = make([]byte, need)
	}
	down := j.upload[:n*row]
	if err := j.dev.GPU().Read(ctx, h, int64(at*row), down); err != nil {
		return err
	}
	for y := range n {
		copy(m.Pix[o+y*m.Stride:o+y*m.Stride+4*j.w], down[y*row:])
	}
	j.complete(top, bottom)
	return nil
}

// complete makes of rows [top, bottom) what the caller's image has. They hold the result of
// the calls.
func (j *imageJob) complete(top, bottom int) {
	if m := j.dst; j.premultiply {
		o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+top)
		pixels.Premultiply(m.Pix[o:], m.Stride, j.w, bottom-top)
	}
}

// inPlace reports whether all calls can work in place.
func (j *imageJob) inPlace() bool {
	for _, c := range j.calls {
		if !c.Spec().MayOverwrite(0, 0) {
			return false
		}
	}
	return true
}
