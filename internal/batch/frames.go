package batch

import (
	"fmt"
	"image"
	"io"
	"time"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/pixels"
	"github.com/lathe-gpu/lathe/spec"
)

// frameBytes is the number of bytes for each pixel that reading an animation takes, whichever format it has. What
// writing takes is in encodeBytes. A writer of animations in GIF keeps the colours of the frame before too, and takes
// gifBytes more for each pixel.
const (
	frameBytes = 20
	gifBytes   = 16
)

// animate processes a picture of several frames, one after the other.
func (r *runner) animate(j *Job, f *File, src *input, h imageio.Info, format imageio.Format) error {
	calls, err := r.callsFor(&h, format)
	if err != nil {
		return err
	}
	if err := checkFrames("", h.Frames, image.Pt(h.Width, h.Height), r.MaxPixels, " if you trust the file"); err != nil {
		return err
	}
	size := image.Pt(h.Width, h.Height)
	if r.Size != nil {
		if size, err = r.Size(size, calls...); err != nil {
			return err
		}
		if err := checkFrames("the result: ", h.Frames, size, r.MaxPixels, ""); err != nil {
			return err
		}
	}
	if !searches(calls) {
		if err := sized(format, size); err != nil {
			return err
		}
	}
	if _, err := r.deep(h, format); err != nil {
		return err
	}
	if r.Precise && len(calls) > 0 {
		return fmt.Errorf("%w: --precise is for single pictures, and this is an animation: leave it out, or take the first picture (--first)", errs.ErrInvalidArgument)
	}
	encode := r.encodeOptions(f, h, format)
	needs := func(size image.Point) int64 {
		area := int64(size.X) * int64(size.Y)
		n := r.Computing + frameBytes*int64(h.Width)*int64(h.Height) + 4*area + 3*metadataBytes(h.Metadata)
		n += encodeBytes(format, h, false, false, int64(size.X), int64(size.Y))
		if format == imageio.GIF {
			return n + gifBytes*area
		}
		return n + 8*area // this frame and the last one
	}
	need := needs(size)
	if err := r.budget.check(h, need); err != nil {
		return err
	}
	need -= r.Computing
	cost := min(need, r.room)
	if err := r.memory.Acquire(r.ctx, cost); err != nil {
		return err
	}
	defer r.memory.Release(cost)
	r.budget.reserve(need, 0)
	defer r.budget.release(need, 0)

	if searches(calls) {
		if calls, size, err = r.searchFrames(src, h, size, calls); err != nil {
			return err
		}
		// What was cut out may be enlarged to more than the whole picture.
		if err := r.budget.check(h, needs(size)); err != nil {
			return err
		}
		if err := sized(format, size); err != nil {
			return err
		}
	}
	f.Width, f.Height, f.Frames = h.Width, h.Height, h.Frames
	result := image.NewNRGBA(image.Rectangle{Max: size})
	var broken error // why there are no more frames
	frames := func(yield func(imageio.Frame, error) bool) {
		start, end := time.Now(), r.Stage("decode", j.Input)
		for frame, err := range src.dec.Frames(r.ctx) {
			end(err)
			f.Decode += time.Since(start)
			if err != nil {
				err = own(err)
			} else if len(calls) > 0 {
				err = r.computeFrame(j, f, result, frame.Image, calls)
				frame.Image = result
			}
			broken = err
			start, end = time.Now(), r.Stage("encode", j.Input)
			more := yield(frame, err)
			end(err)
			if f.Encode += time.Since(start); !more || err != nil {
				return
			}
			start, end = time.Now(), r.Stage("decode", j.Input)
		}
		end(nil)
	}
	put := func(w io.Writer) error {
		err := imageio.EncodeFrames(r.ctx, w, frames, format, encode)
		if broken != nil || err == nil {
			return broken
		}
		return writing(own(err))
	}
	f.OutBytes, err = r.writeOutput(j, src, put)
	return err
}

// computeFrame computes a frame.
func (r *runner) computeFrame(j *Job, f *File, result *image.NRGBA, m image.Image, calls []spec.Call) error {
	if err := r.compute.Acquire(r.ctx, 1); err != nil {
		return err
	}
	defer r.compute.Release(1)
	start, end := time.Now(), r.Stage("compute", j.Input)
	err := r.proc.ApplyTo(r.ctx, result, m, calls...)
	end(err)
	f.Compute += time.Since(start)
	return err
}

// searchFrames returns calls for all frames, in which crops stand for searches, and the size of their results. An
// operation whose result has one size, whatever the pixels are, gets the rectangle of the first frame. Others get the
// smallest one that has the rectangles of all frames, so that nothing is cut off that moves there later.
func (r *runner) searchFrames(src *input, h imageio.Info, most image.Point, calls []spec.Call) ([]spec.Call, image.Point, error) {
	s, ok := r.proc.(Searcher)
	if !ok || r.Size == nil || r.Union == nil {
		return nil, most, fmt.Errorf("batch: run: %w: an operation whose result depends on the pixels, and a processor that is no Searcher, or no Size or Union", errs.ErrInvalidArgument)
	}
	whole := image.Pt(h.Width, h.Height)
	for i := range calls {
		if !searches(calls[i : i+1]) {
			continue
		}
		largest, err := r.Size(whole, calls[:i+1]...)
		if err != nil {
			return nil, most, err
		}
		var found []spec.Call
		for frame, err := range src.dec.Frames(r.ctx) {
			if err != nil {
				return nil, most, own(err)
			}
			if err := r.compute.Acquire(r.ctx, 1); err != nil {
				return nil, most, err
			}
			got, err := s.FindCrops(r.ctx, frame.Image, calls[:i+1]...)
			r.compute.Release(1)
			if err != nil {
				return nil, most, err
			}
			if found == nil {
				found = got
			} else if found[i], err = r.Union(found[i], got[i]); err != nil {
				return nil, most, err
			}
			size, err := r.Size(whole, found...)
			if err != nil {
				return nil, most, err
			}
			if size == largest {
				break // It is the whole picture, or has the only size.
			}
		}
		calls = append(found, calls[i+1:]...)
	}
	size, err := r.Size(whole, calls...)
	if err != nil {
		return nil, most, err
	}
	return calls, size, checkFrames("the result: ", h.Frames, size, r.MaxPixels, "")
}

// checkFrames is checkPixels for n frames of a size.
func checkFrames(what string, n int, size image.Point, most int64, when string) error {
	if err := checkPixels("a frame", size, most, when); err != nil {
		return err
	}
	area := int64(size.X) * int64(size.Y)
	if area <= most/int64(n) {
		return nil
	}
	return fmt.Errorf("%w: %s%d frames of %d×%d are %s, the limit is %s (raise --max-pixels%s)", imageio.ErrTooLarge,
		what, n, size.X, size.Y, pixels.Count(float64(area)*float64(n)), pixels.Count(float64(most)), when)
}
