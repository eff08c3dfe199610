package picture

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Local holds the attributes of an operation that maps luma by the histograms of tiles.
type Local struct {
	// TilesX and TilesY are the number of tiles. A picture has no more of them than pixels.
	TilesX, TilesY int
	// Clip is the largest count of a level, where the mean of all levels is 1.
	Clip float64
}

// claheTableParams is the push-constant block of clahe_table.comp.
type claheTableParams struct {
	First uint32
	Clip  uint32
}

// claheParams is the push-constant block of clahe.comp.
type claheParams struct {
	PlacedParams
	TilesX uint32
	TilesY uint32
	PerX   float32
	PerY   float32
}

// ClaheKernels lists the kernels that PlanClahe launches.
func ClaheKernels() []spec.Kernel {
	list := []spec.Kernel{
		{Name: histogramSum, Params: histogramSumParams{}},
		{Name: kernelName("histogram_own", tensor.U8, countLuma, true), Params: histogramOwnParams{}},
	}
	for _, d := range dtypes {
		list = append(list,
			spec.Kernel{Name: kernelName("histogram", d, countLuma, false), Params: histogramParams{}},
			spec.Kernel{Name: kernelName("clahe_table", d, "", false), Params: claheTableParams{}},
			spec.Kernel{Name: kernelName("clahe", d, "", false), Params: claheParams{}})
	}
	return append(list, histogramSharedKernels(countLuma)...)
}

// PlanClahe plans an operation that maps luma by the histograms of tiles: the launches that make
// these, one that makes the tables of all tiles, and a pass over the picture. On a CPU driver each tile
// has launches of its own, so that its pixels and its counts stay in a cache.
// Errors: ErrStrides, *LimitError, ErrUnsupported for more than 2³²/3 pixels.
func PlanClahe(t *spec.Target, in, out tensor.Desc, c Local) (*spec.Plan, error) {
	src, _, err := layouts(in, out)
	if err != nil {
		return nil, err
	}
	plan := &spec.Plan{}
	if src.w == 0 || src.h == 0 {
		return plan, nil
	}
	if err := countable(src); err != nil {
		return nil, err
	}
	c.TilesX, c.TilesY = min(c.TilesX, src.w), min(c.TilesY, src.h)
	levels, tiles := bins(src.dtype), c.TilesX*c.TilesY
	each := int64(levels) * 4
	if want, have := int64(tiles)*each, room(t, false); want > have {
		return nil, &errs.LimitError{Name: "MaxBinding", Want: want, Have: have}
	}
	// An invocation of clahe_table.comp looks at all levels twice, and makes a 64th of them.
	if err := checkIterations(t, 2*loopCost(levels, 0)+loopCost(levels/64, 0)); err != nil {
		return nil, err
	}
	plan.Scratch = []int64{0, int64(tiles) * each, int64(tiles) * each}
	if sharesHistograms(t) {
		err = addSharedHistograms(plan, t, src, countLuma, c.TilesX, c.TilesY, spec.Bind{Buf: spec.Scratch(scratchSums)})
	} else {
		err = c.addHistograms(plan, t, src)
	}
	if err != nil {
		return nil, err
	}
	table := spec.Bind{Buf: spec.Scratch(scratchTable)}
	_ = spans(tiles, int(t.MaxGroups[0]), func(from, to int) error {
		plan.Steps = append(plan.Steps, spec.Step{
			Module: kernel("clahe_table", src.dtype, "", false),
			Params: claheTableParams{First: uint32(from), Clip: uint32(c.clip64() * 1024 / levels)},
			Bind:   []spec.Bind{{Buf: spec.Scratch(scratchSums)}, table}, Groups: [3]uint32{uint32(to - from), 1, 1},
		})
		return nil
	})
	return plan, addPlaced(plan, t, in, out, kernelName("clahe", src.dtype, "", false), 0, []spec.Bind{table}, func(p PlacedParams) any {
		return claheParams{
			PlacedParams: p, TilesX: uint32(c.TilesX), TilesY: uint32(c.TilesY),
			PerX: float32(float64(c.TilesX) / float64(src.w)), PerY: float32(float64(c.TilesY) / float64(src.h)),
		}
	})
}

// addHistograms appends the launches of a histogram for each tile.
// Errors: *LimitError.
func (c Local) addHistograms(plan *spec.Plan, t *spec.Target, src layout) error {
	levels, largest := bins(src.dtype), src
	largest.w, largest.h = planner.CeilDiv(src.w, c.TilesX), planner.CeilDiv(src.h, c.TilesY)
	regions, each := toneRegions(t, largest, levels), int64(levels)*4
	plan.Scratch[scratchCounts] = int64(regions) * each
	for i := range c.TilesX * c.TilesY {
		x, y := i%c.TilesX, i/c.TilesX
		tile := rect{x * src.w / c.TilesX, (x + 1) * src.w / c.TilesX, y * src.h / c.TilesY, (y + 1) * src.h / c.TilesY}
		sums := spec.Bind{Buf: spec.Scratch(scratchSums), Offset: int64(i) * each, Size: each}
		if err := addHistogram(plan, t, src, tile, countLuma, regions, levels, sums); err != nil {
			return err
		}
	}
	return nil
}

// clip64 is the limit in 64ths, a whole number, so that every device has the same.
func (c Local) clip64() int { return int(math.Round(c.Clip * 64)) }
