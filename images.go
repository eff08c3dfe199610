package lathe

import (
	"cmp"
	"context"
	"fmt"
	"image"
	"image/draw"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/spec"
)

// defaultStrip is how many bytes of pixels go to the device at a time.
const defaultStrip = 256 << 20

// stripSize is how many bytes of pixels go to the device at a time: want, or less if the
// device would have no room for the source, the result and the pictures between.
func stripSize(want int64, info *gpu.Info) int64 {
	if want == 0 {
		want = defaultStrip
	}
	if info.Memory > 0 {
		want = min(want, info.Memory/6)
	}
	return min(want, info.Limits.MaxBuffer)
}

// Apply runs image operations on src, one after the other, and returns the result. It
// has 8 bits a channel, is not premultiplied by alpha, and has its origin at (0, 0). Its size
// is that of src, unless an operation such as imageops.Resize changes it (see imageops.Size and
// FindCrops).
// src may be any image of any size. Deeper colours are rounded to 8 bits: ApplyTo with an
// *image.NRGBA64 keeps 16. Pointwise operations
// in a row cost one pass.
// Errors: ErrInvalidArgument, ErrOutOfMemory, ctx.Err(), ErrDeviceLost, ErrCapture (calls of the device are being recorded).
func (d *Device) Apply(ctx context.Context, src image.Image, calls ...spec.Call) (*image.NRGBA, error) {
	if err := d.applies(); err != nil {
		return nil, err
	}
	if err := pixels.Check(src); err != nil {
		return nil, fmt.Errorf("lathe: apply: %w: %w", errs.ErrInvalidArgument, err)
	}
	good, err := imageCalls(calls)
	if err != nil {
		return nil, err
	}
	if good, err = d.findCrops(ctx, src, good, false); err != nil {
		return nil, orEnded(ctx, err)
	}
	size, err := imageops.Size(src.Bounds().Size(), good...)
	if err != nil {
		return nil, err
	}
	dst, err := newPicture(size)
	if err != nil {
		return nil, err
	}
	if err := d.ApplyTo(ctx, dst, src, good...); err != nil {
		return nil, err
	}
	return dst, nil
}

// ApplyTo is Apply into an image of the caller. dst must have the size of the result, and may be
// src itself. dst may also share memory with src in any other way, such as two overlapping
// views of one picture. The result is then the same as with memory of its own. This holds
// for the image types of Go. An image of another type must not share memory with dst, unless
// each of its pixels lies where the same pixel of dst does.
//
// The result is written straight into an *image.NRGBA or an *image.RGBA. They may be bytes
// of the caller: &image.RGBA{Pix: b, Stride: s, Rect: r} has rows that begin s bytes apart,
// and the bytes between rows stay as they are. The colours of an *image.RGBA are
// premultiplied by alpha as by color.RGBAModel, which changes nothing where they are opaque.
// An *image.NRGBA64 gets 16 bits a channel: the device computes with floats, of which a pixel takes
// 16 bytes, and nothing is rounded to 8 bits on the way. Any other dst gets the result of Apply by
// draw.Draw, which takes longer.
//
// Images larger than WithStrip go through the device in strips. If ApplyTo fails half-way,
// the part of dst that was done is overwritten.
// Errors: as Apply.
func (d *Device) ApplyTo(ctx context.Context, dst draw.Image, src image.Image, calls ...spec.Call) (err error) {
	if err := d.applies(); err != nil {
		return err
	}
	if err := errs.Context(ctx); err != nil {
		return fmt.Errorf("lathe: apply: %w", err)
	}
	defer func() { err = orEnded(ctx, err) }()
	if err := cmp.Or(pixels.Check(src), pixels.Check(dst)); err != nil {
		return fmt.Errorf("lathe: apply: %w: %w", errs.ErrInvalidArgument, err)
	}
	good, err := imageCalls(calls)
	if err != nil {
		return err
	}
	switch src.(type) {
	case *image.Gray, *image.Gray16:
		good = imageops.ForGrey(good)
	}
	_, deep := dst.(*image.NRGBA64)
	if good, err = d.findCrops(ctx, src, good, deep); err != nil {
		return err
	}
	from, to := src.Bounds().Size(), dst.Bounds().Size()
	chain, err := newImageChain(good, from.X, from.Y)
	if err != nil {
		return err
	}
	if want := chain.size(); to != want {
		return fmt.Errorf("lathe: apply: %w: size of the image for the result (got %v, want %v)", errs.ErrInvalidArgument, to, want)
	}
	var own *image.NRGBA // the bytes of dst, or else what dst gets by draw.Draw
	premultiplied, drawn := false, false
	switch m := dst.(type) {
	case *image.NRGBA:
		own = m
	case *image.NRGBA64:
		return d.applyDeep(ctx, m, src, chain.deep())
	case *image.RGBA:
		own, premultiplied = &image.NRGBA{Pix: m.Pix, Stride: m.Stride, Rect: m.Rect}, true
	default:
		var err error
		if own, err = newPicture(to); err != nil {
			return err
		}
		drawn = true
	}
	j, err := newImageJob(d, own, premultiplied, src, chain)
	if err != nil {
		return err
	}
	if err := j.run(ctx); err != nil || !drawn {
		return err
	}
	return usable("apply", "the result cannot be written", func() {
		draw.Draw(dst, dst.Bounds(), own, image.Point{}, draw.Src)
	})
}

// applies returns ErrNotInitialized for a Device that Open did not make, and ErrCapture while its calls are recorded.
func (d *Device) applies() error {
	if err := d.ready("apply"); err != nil {
		return err
	}
	return d.session.NotRecorded("apply")
}

// newPicture makes a picture, or returns an error if no memory can be as large.
func newPicture(size image.Point) (m *image.NRGBA, err error) {
	err = usable("apply", fmt.Sprintf("a picture of %d×%d", size.X, size.Y), func() { m = image.NewNRGBA(image.Rectangle{Max: size}) })
	return m, err
}

// usable calls f, which uses an image of the caller, and returns an error if the image
// panics. op is the name of the call.
func usable(op, what string, f func()) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("lathe: %s: %w: %s: %v", op, errs.ErrInvalidArgument, what, p)
		}
	}()
	f()
	return nil
}

// imageCalls resolves calls.
// Errors: ErrInvalidArgument.
func imageCalls(calls []spec.Call) ([]spec.Call, error) {
	good := slices.Clone(calls)
	for i, c := range good {
		var err error
		if good[i], err = spec.Resolve(c); err != nil {
			return nil, err
		}
	}
	return good, nil
}
