package lathe

import (
	"context"
	"encoding/binary"
	"fmt"
	"image"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/imageops"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// boundsBytes is the size of what an operation with spec.Op.Crops returns: four i32.
const boundsBytes = 16

// FindCrops replaces each call that finds a rectangle in src, such as imageops.Trim and
// imageops.SmartCrop, by the imageops.Crop that cuts it out. The other calls stay. imageops.Size
// of the result is then the size that ApplyTo wants of its dst. Apply and ApplyTo call FindCrops
// themselves.
//
// The device computes the operations before such a call, and searches the picture. It must hold
// that picture as a whole. It has 8 bits a channel, or floats if src is an *image.NRGBA64,
// *image.RGBA64 or *image.Gray16.
// Errors: as Apply.
func (d *Device) FindCrops(ctx context.Context, src image.Image, calls ...spec.Call) ([]spec.Call, error) {
	if err := d.ready("find crops"); err != nil {
		return nil, err
	}
	if err := pixels.Check(src); err != nil {
		return nil, fmt.Errorf("lathe: find crops: %w: %w", errs.ErrInvalidArgument, err)
	}
	good, err := imageCalls(calls)
	if err != nil {
		return nil, err
	}
	deep := false
	switch src.(type) {
	case *image.NRGBA64, *image.RGBA64, *image.Gray16:
		deep = true
	}
	return d.findCrops(ctx, src, good, deep)
}

// searches reports whether a call finds a rectangle.
func searches(c spec.Call) bool { return c.Spec().Crops != nil }

// findCrops is FindCrops for resolved calls. The device computes with floats if deep is set.
func (d *Device) findCrops(ctx context.Context, src image.Image, calls []spec.Call, deep bool) ([]spec.Call, error) {
	if !slices.ContainsFunc(calls, searches) {
		return calls, nil
	}
	if err := errs.Context(ctx); err != nil {
		return nil, fmt.Errorf("lathe: apply: %w", err)
	}
	size := src.Bounds().Size()
	// The sizes show mistakes in calls before anything is computed.
	if _, err := imageops.Size(size, calls...); err != nil {
		return nil, err
	}
	good := slices.Clone(calls)
	for i, c := range good {
		if !searches(c) {
			continue
		}
		chain, err := newImageChain(good[:i], size.X, size.Y)
		if err != nil {
			return nil, err
		}
		found, err := d.findCrop(ctx, src, chain, c, deep)
		if err != nil {
			return nil, err
		}
		if good[i], err = spec.Resolve(cropTo(found)); err != nil {
			return nil, err
		}
	}
	return good, nil
}

// cropTo returns the call that crops a picture to a rectangle.
func cropTo(r image.Rectangle) spec.Call {
	return imageops.Crop{X: r.Min.X, Y: r.Min.Y, Width: r.Dx(), Height: r.Dy()}
}

// findCrop returns the rectangle that a call finds in the result of a chain.
func (d *Device) findCrop(ctx context.Context, src image.Image, chain *imageChain, c spec.Call, deep bool) (image.Rectangle, error) {
	size := chain.size()
	whole := image.Rectangle{Max: size}
	if whole.Empty() {
		return whole, nil
	}
	var j interface {
		compute(ctx context.Context, s imageStrip, last bool) (gpu.Handle, func(), error)
	}
	var err error
	if deep {
		chain = chain.deep()
		j, err = newDeepJob(d, &image.NRGBA64{}, src, chain)
	} else {
		var own *imageJob
		if own, err = newImageJob(d, &image.NRGBA{}, false, src, chain); err == nil {
			chain = own.imageChain
		}
		j = own
	}
	if err != nil {
		return whole, err
	}
	s := chain.stripOf(spec.RowRange{To: size.Y})
	made, release, err := j.compute(ctx, s, true)
	if err != nil {
		return whole, err
	}
	defer release()
	bufs, done, err := d.session.Borrow(1, boundsBytes)
	if err != nil {
		return whole, applyError(err)
	}
	defer done()
	job := searchJob(c, chain.part(s, chain.last()), made, bufs[0])
	if err := d.session.RunOn(ctx, c, job.In, job.Out); err != nil {
		return whole, applyError(err)
	}
	var data [boundsBytes]byte
	if err := d.GPU().Read(ctx, bufs[0], 0, data[:]); err != nil {
		return whole, applyError(err)
	}
	var v [4]int
	for i := range v {
		v[i] = int(int32(binary.NativeEndian.Uint32(data[4*i:])))
	}
	found := image.Rect(v[0], v[1], v[0]+v[2], v[1]+v[3])
	if h, w := c.Spec().Crops(c, chain.pictures[chain.last()]); found.Empty() || !found.In(whole) || found.Dx() > w || found.Dy() > h {
		return whole, fmt.Errorf("lathe: apply: %s: %w: it found the rectangle x %d, y %d, width %d, height %d in a picture of %d×%d",
			c.Spec().Name, errs.ErrInvalidArgument, v[0], v[1], v[2], v[3], size.X, size.Y)
	}
	return found, nil
}

// searchJob is a call that finds a rectangle in a picture in a buffer.
func searchJob(c spec.Call, picture tensor.Desc, in, out gpu.Handle) exec.Job {
	return exec.Job{
		Call: c, In: []exec.Operand{{Buffer: in, Desc: picture}},
		Out: []exec.Operand{{Buffer: out, Desc: tensor.Contiguous(tensor.I32, 4), Alone: true}},
	}
}
