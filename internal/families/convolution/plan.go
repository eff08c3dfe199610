package convolution

import (
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Strategies of convolutions, for spec.Target.Strategy.
const (
	byDirect  = "direct"   // operands are read where they lie
	byPanel   = "panel"    // packed operands, and tiles in registers
	byProduct = "product"  // the kernels of matrix products, for filters of one element
	byTiles   = "winograd" // see addTiles
	byShared  = "shared"   // a product by tiles of 64 by 64 elements in shared memory, see addShared
	byLarge   = "large"    // the same by tiles of 128 by 128 elements
	byMatrix  = "matrix"   // the same by cooperative matrices
)

// strategies lists the strategies of a geometry. The first one is what the plan chooses itself.
func (x *geometry) strategies(t *spec.Target) []string {
	if x.in.dtype == tensor.F64 || x.outputs() == 0 || x.c*x.r.elems() == 0 {
		return nil
	}
	list := []string{byDirect, byPanel}
	switch {
	case !x.rowsFit(t):
		list = []string{byDirect}
	case x.pays():
		list = []string{byPanel, byDirect}
	}
	// Barriers are so slow on CPU drivers that tiles in shared memory need not be measured there.
	if shared := x.sharedStrategies(t); !t.CPU && x.prefersShared(t) {
		list = append(shared, list...)
	} else if !t.CPU {
		list = append(list, shared...)
	}
	switch {
	case x.isThree() && x.tilesPay(t):
		return append([]string{byTiles}, list...)
	case x.isThree():
		return append(list, byTiles)
	case !x.isPointwise():
		return list
	case x.multipliesWell():
		return append([]string{byProduct}, list...)
	}
	return append(list, byProduct)
}

// sizeClass returns the numbers that decide which strategy is best.
func (x *geometry) sizeClass() []int {
	return []int{x.b, x.g, x.k, x.c, x.o.elems(), x.r.elems(), x.s.elems(), x.l.elems()}
}

// outputs returns the number of elements of the result.
func (x *geometry) outputs() int { return x.b * x.g * x.k * x.o.elems() }

// pays reports whether packed operands serve so many products that packing them pays. Packed
// channels come in fours, and a tile has 32 channels of the result.
func (x *geometry) pays() bool {
	return x.k >= 4 && x.c >= 2 && x.c*x.r.elems() >= 16
}

// packs reports whether to pack the operands of a geometry for the target.
func (x *geometry) packs(t *spec.Target) bool {
	return x.in.dtype != tensor.F64 && x.c > 0 && (t.Strategy == byPanel || t.Strategy != byDirect && x.pays()) && x.rowsFit(t)
}

// mostPanelLaunches is how many launches the rows of a product of packed operands may take.
const mostPanelLaunches = 4096

// rowsFit reports whether a product of packed operands needs at most mostPanelLaunches for its rows. A launch has at
// least 3·MaxGroups[1] rows. No GPU has limits so low that it matters.
func (x *geometry) rowsFit(t *spec.Target) bool {
	return int64(x.b)*int64(x.o.elems()) <= 3*int64(t.MaxGroups[1])*mostPanelLaunches
}

// strategy returns how to plan a geometry for the target: by tiles of shared memory, over packed operands, or directly.
func (x *geometry) strategy(t *spec.Target) string {
	switch shared := x.sharedStrategy(t); {
	case shared != "":
		return shared
	case x.packs(t):
		return byPanel
	}
	return byDirect
}

// add appends the launches of a geometry, by a strategy that geometry.strategy returned.
func (s *steps) add(strategy string) error {
	switch strategy {
	case byDirect:
		return s.addDirect()
	case byShared, byLarge, byMatrix:
		return s.addShared(strategy)
	}
	s.texels = s.t.CPU && !s.t.HostVectors && planner.HasTexels(s.t, planner.SmallGroup)
	return s.addPanel()
}

// planOf plans a geometry, and casts what its kernels cannot read or write.
func planOf(t *spec.Target, x geometry) (*spec.Plan, error) {
	plan := &spec.Plan{}
	if x.in.dtype == tensor.F64 && !t.F64 {
		return nil, planner.Unsupported("f64: this device has no double precision")
	}
	n := x.outputs()
	if n == 0 {
		return plan, nil
	}
	multiplies, strategy := x.multiplies(t), x.strategy(t)
	to, narrow := x.out, x.out.dtype.Size() == 2
	if narrow {
		x.out.dtype = tensor.F32
		x.out.ref = planner.AddScratch(plan, int64(n)*4)
	}
	parts, chunk := x.sumParts()
	var made bool
	var err error
	if multiplies && parts == 1 {
		made, err = x.addProducts(plan, t)
	}
	if !made && err == nil && parts == 1 && x.usesTiles(t) {
		made, err = x.makeTiles(plan, t)
	}
	if strategy == byPanel && !made && err == nil && x.bias != nil && narrow {
		x.bias, err = x.wideBias(plan, t)
	}
	add := func(x geometry) error {
		s := &steps{geometry: &x, t: t, plan: plan}
		return s.add(strategy)
	}
	switch {
	case made || err != nil:
	case strategy == byShared || strategy == byLarge || strategy == byMatrix:
		err = x.addSharedSums(plan, t, strategy)
	case parts > 1:
		err = x.addSums(plan, t, parts, chunk, add)
	default:
		err = add(x)
	}
	if err != nil {
		return nil, err
	}
	if narrow {
		return plan, addCast(plan, t, x.out, to, n)
	}
	return plan, nil
}

// addCast appends the steps that cast n elements.
func addCast(plan *spec.Plan, t *spec.Target, from, to plane, n int) error {
	cast, err := elementwise.PlanCast(t, tensor.Contiguous(from.dtype, n), tensor.Contiguous(to.dtype, n))
	if err != nil {
		return err
	}
	for _, step := range cast.Steps {
		for i := range step.Bind {
			switch b := &step.Bind[i]; b.Buf.Kind {
			case spec.RefIn:
				b.Buf = from.ref
			case spec.RefOut:
				b.Buf = to.ref
			}
		}
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}
