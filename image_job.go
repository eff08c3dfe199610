package lathe

import (
	"context"
	"errors"
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
	*imageChain
	dev *Device
	dst *image.NRGBA // the bytes of the result, whatever becomes of them afterwards

	premultiply bool // The colours of the result are multiplied by alpha when it is complete.

	direct  *image.NRGBA            // the source, if it can be sent as it lies
	shifted bool                    // The source shares memory with dst, but its pixels lie elsewhere in it.
	rows    func(dst []byte, y int) // writes row y of the source, if it cannot
	behind  []byte                  // source rows above the strip that dst has overwritten
	upload  []byte                  // memory in which rows are put together
}

// newImageJob prepares a chain for a picture. The bytes of dst are those of an image that is
// premultiplied by alpha, or not.
// Errors: ErrInvalidArgument for a source that cannot be read.
func newImageJob(d *Device, dst *image.NRGBA, premultiplied bool, src image.Image, chain *imageChain) (*imageJob, error) {
	j := &imageJob{imageChain: chain, dev: d, dst: dst}
	j.moves = j.moving(d.strip)
	j.shifted = shifted(src, dst, j.moves)
	if err := j.separate(); err != nil {
		return nil, err
	}
	opaque, keeps := false, true
	if _, rgba := src.(*image.RGBA); rgba || premultiplied || j.padded {
		if err := readable(func() { opaque = pixels.Opaque(src) }); err != nil {
			return nil, err
		}
	}
	// Only operations that look at other pixels weigh colours by alpha. Without alpha they
	// need half as many kernels, which a driver would have to compile for the first picture.
	if opaque && j.padded {
		j.calls = imageops.ForOpaque(j.calls)
	}
	for _, c := range j.calls {
		if c.Spec().ForOpaque == nil {
			keeps = false
		} else if _, ok := c.Spec().ForOpaque(c); !ok {
			keeps = false
		}
	}
	j.premultiply = premultiplied && !(opaque && keeps) // An opaque picture has the same bytes either way.
	j.source(src, opaque)
	return j, nil
}

// source prepares how rows of src are sent. opaque says that src is known to be opaque.
func (j *imageJob) source(src image.Image, opaque bool) {
	switch m := src.(type) {
	case *image.NRGBA:
		if m.Stride == 4*j.pitch(0) {
			j.direct = m
		}
	case *image.RGBA:
		if m.Stride == 4*j.pitch(0) && opaque {
			j.direct = &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}
		}
	}
	if j.direct == nil {
		j.rows = pixels.Rows(src)
	}
}

func (j *imageJob) run(ctx context.Context) error {
	if j.bytes(j.last(), j.pictures[j.last()].Shape[0]) == 0 {
		return ctx.Err()
	}
	strips := j.strips(j.dev.strip)
	if done, err := j.zeroCopy(ctx, strips); done || err != nil {
		if err == nil {
			j.complete(strips[0].want)
		}
		return applyError(err)
	}
	if j.shifted && len(strips) > 1 {
		if err := j.copySource(); err != nil {
			return err
		}
	}
	for i, s := range strips {
		if err := j.strip(ctx, s, i == len(strips)-1); err != nil {
			return err
		}
	}
	return nil
}

// strip computes the rows of the result that s wants. It sends the rows of the source that
// they need.
func (j *imageJob) strip(ctx context.Context, s imageStrip, last bool) error {
	made, release, err := j.compute(ctx, s, last)
	if err != nil {
		return err
	}
	defer release()
	return applyError(j.result(ctx, made, s))
}

// compute returns the buffer with what the calls make for a strip, until release is called.
func (j *imageJob) compute(ctx context.Context, s imageStrip, last bool) (made gpu.Handle, release func(), err error) {
	rows, err := j.read(s.rows[0], s.want, last)
	if err != nil {
		return 0, nil, err
	}
	return j.computed(ctx, s, func(src gpu.Handle) error { return applyError(j.dev.GPU().Write(ctx, src, 0, rows)) })
}

// computed is compute for a source that upload writes into a buffer, which it may have to do twice.
func (j *imageJob) computed(ctx context.Context, s imageStrip, upload func(src gpu.Handle) error) (made gpu.Handle, release func(), err error) {
	if r := j.replay(ctx, s); r != nil {
		err := r.run(ctx, j, s, upload)
		if err == nil {
			return r.made, func() { j.dev.replays.release(r) }, nil
		}
		if !errors.Is(err, errNotReplayed) {
			j.dev.replays.release(r)
			return 0, nil, err
		}
		j.dev.replays.drop(j.dev.session, r, false)
	}
	bufs, release, err := j.buffers(s)
	if err != nil {
		return 0, nil, applyError(err)
	}
	if err = upload(bufs[0]); err == nil {
		made, err = j.chain(ctx, s, bufs[0], 0, bufs)
		err = applyError(err)
	}
	if err != nil {
		release()
		return 0, nil, err
	}
	return made, release, nil
}

// buffers lends the buffers that the calls of a strip need.
func (j *imageJob) buffers(s imageStrip) (bufs []gpu.Handle, release func(), err error) {
	if j.inPlace() {
		return j.borrow(1, j.most(s))
	}
	return j.borrow(2, j.most(s))
}

// orEnded is err. If the context has ended too, which may be why a program closed the device, it wraps the
// error of the context.
func orEnded(ctx context.Context, err error) error {
	if end := ctx.Err(); err != nil && end != nil && !errors.Is(err, end) {
		return fmt.Errorf("%w (%w)", err, end)
	}
	return err
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

// chain runs the calls of a strip on the picture in src and returns the buffer of the result. That
// buffer is dst, or one of spare if dst is 0. The buffers of spare may be overwritten.
// Two of them are enough, and one if all calls work in place.
func (j *imageJob) chain(ctx context.Context, s imageStrip, src, dst gpu.Handle, spare []gpu.Handle) (gpu.Handle, error) {
	return j.chainOn(ctx, j.dev.session, s, src, dst, spare, func(i int) ([]exec.Operand, func(), error) { return j.operands(ctx, s, i) })
}

// chainOn is chain on a Session, with the further operands of each call until they are released.
func (j *imageJob) chainOn(ctx context.Context, ses *session.Session, s imageStrip, src, dst gpu.Handle, spare []gpu.Handle, operands func(i int) ([]exec.Operand, func(), error)) (gpu.Handle, error) {
	cur := src
	for i, c := range s.calls {
		next := dst
		switch {
		case i == len(s.calls)-1 && dst != 0:
		case j.overwrites(i) && slices.Contains(spare, cur):
			next = cur
		default:
			next = spare[slices.IndexFunc(spare, func(h gpu.Handle) bool { return h != cur })]
		}
		further, release, err := operands(i)
		if err != nil {
			return 0, err
		}
		in, out := exec.Operand{Buffer: cur, Desc: j.part(s, i)}, exec.Operand{Buffer: next, Desc: j.part(s, i+1), Alone: true}
		err = ses.RunOn(ctx, c, append([]exec.Operand{in}, further...), []exec.Operand{out})
		release()
		if err != nil {
			return 0, err
		}
		cur = next
	}
	return cur, nil
}

// copySource makes a copy of the source and sends that. Otherwise a strip of the result
// could overwrite source pixels that a later strip needs.
func (j *imageJob) copySource() error {
	h := j.pictures[0].Shape[0]
	own := image.NewNRGBA(image.Rect(0, 0, j.pitch(0), h))
	if err := readable(func() { j.fill(own.Pix, 0, h) }); err != nil {
		return err
	}
	j.direct, j.rows = own, nil
	return nil
}

// read is sourceRows, and returns an error if the image panics.
func (j *imageJob) read(need, want spec.RowRange, last bool) (rows []byte, err error) {
	err = readable(func() { rows = j.sourceRows(need, want, last) })
	return rows, err
}

// readable calls f, which reads the source, and returns an error if the image panics.
func readable(f func()) error { return usable("apply", "the source cannot be read", f) }

// sourceRows returns rows need of the source at the pitch of the device, for rows want of the
// result. Where no pixel moves it keeps the rows that the next strip needs again, because dst
// may overwrite them.
func (j *imageJob) sourceRows(need, want spec.RowRange, last bool) []byte {
	row, from, n := int(j.bytes(0, 1)), need.From, need.To-need.From
	if n == 0 {
		return nil
	}
	if j.direct != nil {
		m := j.direct
		o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+from)
		single := last && len(j.behind) == 0 // no strip has been written yet
		if single || j.halo == 0 || j.moves || !sharesMemory(m.Pix, j.dst.Pix) {
			return m.Pix[o : o+(n-1)*row+4*j.pictures[0].Shape[1]]
		}
	}
	if size := n * row; cap(j.upload) < size {
		j.upload = make([]byte, size)
	}
	up := j.upload[:n*row]
	kept := 0 // rows that dst may have overwritten
	if !j.moves {
		kept = copy(up, j.behind) / row
	}
	j.fill(up[kept*row:], from+kept, need.To)
	if again := max(want.To-j.halo, 0); !last && !j.moves {
		j.behind = append(j.behind[:0], up[(again-from)*row:(want.To-from)*row]...)
	}
	return up
}

// fill converts rows [from, to) of the source.
func (j *imageJob) fill(up []byte, from, to int) {
	row := int(j.bytes(0, 1))
	rows := j.rows
	if rows == nil {
		rows = pixels.Rows(j.direct)
	}
	pixels.EachRow(row, to-from, func(y int) { rows(up[y*row:y*row+4*j.pictures[0].Shape[1]], from+y) })
}

// result reads the rows of the result that a strip wants.
func (j *imageJob) result(ctx context.Context, h gpu.Handle, s imageStrip) error {
	row, w, n := int(j.bytes(j.last(), 1)), j.pictures[j.last()].Shape[1], s.want.To-s.want.From
	at := int64(s.want.From-s.rows[j.last()].From) * int64(row)
	m := j.dst
	o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+s.want.From)
	if m.Stride == row && row == 4*w {
		if err := j.dev.GPU().Read(ctx, h, at, m.Pix[o:o+n*row]); err != nil {
			return err
		}
		j.complete(s.want)
		return nil
	}
	if size := n * row; cap(j.upload) < size {
		j.upload = make([]byte, size)
	}
	down := j.upload[:n*row]
	if err := j.dev.GPU().Read(ctx, h, at, down); err != nil {
		return err
	}
	for y := range n {
		copy(m.Pix[o+y*m.Stride:o+y*m.Stride+4*w], down[y*row:])
	}
	j.complete(s.want)
	return nil
}

// complete makes of rows of the result what the caller's image has. They hold the result of
// the calls.
func (j *imageJob) complete(rows spec.RowRange) {
	if m := j.dst; j.premultiply {
		o := m.PixOffset(m.Rect.Min.X, m.Rect.Min.Y+rows.From)
		pixels.Premultiply(m.Pix[o:], m.Stride, j.pictures[j.last()].Shape[1], rows.To-rows.From)
	}
}
