package batch

import (
	"context"
	"fmt"
	"image"
	"slices"

	"github.com/lathe-gpu/lathe/imageio"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
)

// Searcher is a Processor that finds out what calls such as imageops.Trim leave of a picture. It
// returns the calls for this picture, whose result has the size that Options.Size says.
// A *lathe.Device is one.
type Searcher interface {
	FindCrops(ctx context.Context, src image.Image, calls ...spec.Call) ([]spec.Call, error)
}

// searches reports whether the size of the result depends on the pixels.
func searches(calls []spec.Call) bool {
	return slices.ContainsFunc(calls, func(c spec.Call) bool { return c != nil && c.Spec() != nil && c.Spec().Crops != nil })
}

// search returns calls for a picture, in which crops stand for searches, and the size of their result. need is what was reserved for
// a result of size most.
func (r *runner) search(m image.Image, h imageio.Info, most image.Point, pixel, need int64, calls []spec.Call) ([]spec.Call, image.Point, error) {
	s, ok := r.proc.(Searcher)
	if !ok {
		return nil, most, fmt.Errorf("batch: run: %w: an operation whose result depends on the pixels, and a processor that is no Searcher", errs.ErrInvalidArgument)
	}
	calls, err := s.FindCrops(r.ctx, m, calls...)
	if err != nil {
		return nil, most, err
	}
	size := image.Pt(h.Width, h.Height)
	if r.Size != nil {
		if size, err = r.Size(size, calls...); err != nil {
			return nil, most, err
		}
	}
	if err := checkPixels("the result", size, r.MaxPixels, ""); err != nil {
		return nil, most, err
	}
	// A small part that is enlarged to a certain width may be higher than the whole picture
	// would be. Waiting for memory while a picture holds some could wait for ever, so there
	// is only the limit for a single picture.
	if more := pixel * (int64(size.X)*int64(size.Y) - int64(most.X)*int64(most.Y)); more > 0 {
		return calls, size, r.budget.check(h, need+more)
	}
	return calls, size, nil
}
