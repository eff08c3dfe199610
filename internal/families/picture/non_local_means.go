package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// NonLocalMeans holds the attributes of a filter against noise.
type NonLocalMeans struct {
	// H is the distance of patches, where 1 is full, that makes a weight 1/e.
	H float64
	// Patch and Search are the pixels on each side of the middle of a patch, and of the square
	// that is searched.
	Patch, Search int
	// Weigh says that colours are weighted by alpha.
	Weigh bool
}

// nonLocalParams is the push-constant block of non_local_means.comp.
type nonLocalParams struct {
	StencilParams
	Radius uint32
	Weigh  uint32
	Patch_ uint32
	Search uint32
	ByFar  float32
}

// NonLocalMeansKernels lists the kernels that PlanNonLocalMeans launches.
func NonLocalMeansKernels() []spec.Kernel {
	return aroundKernels([]string{"non_local_means"}, []string{""}, nonLocalParams{})
}

// PlanNonLocalMeans plans a filter against noise.
// Errors: ErrStrides, *LimitError.
func PlanNonLocalMeans(t *spec.Target, in, out tensor.Desc, c NonLocalMeans) (*spec.Plan, error) {
	patch, side := 2*c.Patch+1, 2*c.Search+1
	steps := loopCost(side, loopCost(side, loopCost(2*c.Patch+aroundRows, loopCost(int(groups(patch, aroundTaps)), 0))))
	if err := checkIterations(t, steps); err != nil {
		return nil, err
	}
	h := c.H * Full(in.DType)
	return planAround(t, in, out, around{
		name: "non_local_means", radius: c.Patch + c.Search, most: aroundMost / int64(side*side*patch*patch),
		finish: func(p StencilParams) any {
			return nonLocalParams{
				p, uint32(c.Patch + c.Search), one(c.Weigh && p.Channels == 4), uint32(c.Patch), uint32(c.Search),
				float32(-math.Log2E / (3 * h * h * float64(patch*patch))), // The kernel adds three colours, of a grey pixel too.
			}
		},
	})
}

// NonLocalMeansReference computes NonLocalMeans in float64.
func NonLocalMeansReference(c NonLocalMeans, in, out *tensor.Host) {
	colours := float64(min(in.Shape[2], 3))
	likenessReference(c.Weigh, in, out, c.Search, func(at func(y, x int) []float64, y, x, dy, dx int) float64 {
		far := 0.0
		for i := -c.Patch; i <= c.Patch; i++ {
			for j := -c.Patch; j <= c.Patch; j++ {
				other := at(y+dy+i, x+dx+j)
				for k, v := range at(y+i, x+j) {
					far += (v - other[k]) * (v - other[k])
				}
			}
		}
		return math.Exp(-far / (colours * c.H * c.H * float64((2*c.Patch+1)*(2*c.Patch+1))))
	})
}
