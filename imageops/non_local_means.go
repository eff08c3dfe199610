package imageops

import (
	"github.com/lathe-gpu/lathe/internal/families/picture"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// These are the largest sizes of NonLocalMeans, in pixels.
const (
	MaxPatch  = 9
	MaxSearch = 31
)

// NonLocalMeans takes noise away and keeps detail that repeats. Each pixel becomes the mean of the
// square of Search by Search pixels around it. A pixel counts the more, the more the patch of Patch
// by Patch pixels around it is like the patch around the pixel that is made. Its weight is
// exp(−d²/H²), where d² is the mean of the squares of the distances of colours in both patches. So H is
// about as large as the standard deviation of the noise, or somewhat more. These are h,
// templateWindowSize and searchWindowSize of OpenCV's fastNlMeansDenoising, whose h is 255 times H.
// Outside of the image the pixels of the edge are repeated. The cost grows with the square of
// Search and with Patch: the default takes about a minute a megapixel on two cores of a processor, and
// Patch 3 with Search 11 an eighth of that.
//
// Alpha is treated as a colour is, and colours are weighted by it. Distances are then those of
// colours times alpha, and of alpha. Where alpha becomes 0, the colours become 0.
type NonLocalMeans struct {
	H           float64 `attr:"h,main" doc:"how much is smoothed: about the standard deviation of the noise, where 1 is full; 0.001 to 10"`
	Patch       int     `attr:"patch" doc:"the side of the patches that are compared, in pixels; odd, 1 to 9"`
	Search      int     `attr:"search" doc:"the side of the square of pixels that are mixed, in pixels; odd, 3 to 31"`
	IgnoreAlpha bool    `attr:"ignore_alpha" doc:"smooth colours regardless of alpha, which stays; for data that is not colour"`
}

// Spec returns the declaration.
func (NonLocalMeans) Spec() *spec.Op { return nonLocalMeansOp.Op() }

func (c NonLocalMeans) means() picture.NonLocalMeans {
	return picture.NonLocalMeans{H: c.H, Patch: c.Patch / 2, Search: c.Search / 2, Weigh: !c.IgnoreAlpha}
}

var nonLocalMeansOp = spec.Declaration{Define: func() *spec.Op {
	return picture.Define(picture.Filter[*NonLocalMeans]{
		Name:     "non_local_means",
		Aliases:  []string{"nlmeans", "denoise"},
		Doc:      "Takes noise away and keeps detail that repeats: pixels count by how alike the patches around them are. Alpha is smoothed too, and weighs colours, which become 0 where it does.",
		Source:   "A. Buades, B. Coll and J.-M. Morel, A non-local algorithm for image denoising, 2005",
		Defaults: &NonLocalMeans{H: 0.04, Patch: 7, Search: 21},
		Kernels:  picture.NonLocalMeansKernels(),
		Check: func(c *NonLocalMeans) error {
			if err := within("h", c.H, 0.001, 10); err != nil {
				return err
			}
			if c.Patch < 1 || c.Patch > MaxPatch || c.Patch%2 == 0 {
				return planner.Invalid("patch (got %d, want an odd number from 1 to %d)", c.Patch, MaxPatch)
			}
			if c.Search < 3 || c.Search > MaxSearch || c.Search%2 == 0 {
				return planner.Invalid("search (got %d, want an odd number from 3 to %d)", c.Search, MaxSearch)
			}
			return nil
		},
		Plan: func(c *NonLocalMeans, t *spec.Target, in, out tensor.Desc) (*spec.Plan, error) {
			return picture.PlanNonLocalMeans(t, in, out, c.means())
		},
		Halo:      func(c *NonLocalMeans) int { return c.Patch/2 + c.Search/2 },
		ForOpaque: func(c *NonLocalMeans) *NonLocalMeans { c.IgnoreAlpha = true; return c },
		Reference: func(c *NonLocalMeans, in, out *tensor.Host) { picture.NonLocalMeansReference(c.means(), in, out) },
		Tolerance: func(_ *NonLocalMeans, d tensor.DType, _ []tensor.Desc) spec.Tolerance {
			return picture.LikenessTolerance(d)
		},
		Flops:   func(c *NonLocalMeans) int64 { return int64(c.Search * c.Search * c.Patch * (c.Patch + 3) * 8 / 4) },
		Calls:   []*NonLocalMeans{{H: 0.3, Patch: 3, Search: 5}, {H: 0.2, Patch: 1, Search: 7, IgnoreAlpha: true}},
		Invalid: []*NonLocalMeans{{}, {H: 0.1, Patch: 2, Search: 21}, {H: 0.1, Patch: 7, Search: 33}, {H: 0.1, Patch: 7, Search: 1}, {H: nan, Patch: 7, Search: 21}, {H: 0.1, Patch: 11, Search: 21}},
	})
}}
