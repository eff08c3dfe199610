package convolution

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/families/reduction"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// sharedParams is the push-constant block of lib/conv_product.glsl.
type sharedParams struct {
	M, N, K, KAll, PartsFlip            uint32
	ABase, AG, ARow, AC, Taps, R1R2     uint32
	Pixels, Plane, Line, I0, I1, I2     uint32
	SD0, SD1, SD2                       uint32
	P0, P1, P2                          int32
	InBase, InB, InG, InC               uint32
	OutBase, OutB, OutG, OutK, BiasBase uint32
}

const (
	// mostShared is the largest number of parts of a sum that one launch makes. The kernels divide
	// numbers of products, which are then less than 2²⁰.
	mostShared = 128
	// sharedIterations is the smallest limit of the loop iterations of an invocation for these kernels. Eight
	// products take ten.
	sharedIterations = 64
)

// sharedKernels lists the kernels of addShared.
func sharedKernels(dtypes ...tensor.DType) (ks []spec.Kernel) {
	for _, d := range dtypes {
		for _, suffix := range []string{"", ".apart", ".large", ".large.apart"} {
			ks = append(ks, spec.Kernel{Name: "nn/conv_product." + d.String() + suffix, Params: sharedParams{}})
		}
		for _, variant := range []string{"f16.m16.s32", "f16.m16.s64", "f16.m8.s8"} {
			if d == tensor.F16 {
				ks = append(ks, spec.Kernel{Name: "nn/conv_coop." + variant, Params: sharedParams{}}, spec.Kernel{Name: "nn/conv_coop." + variant + ".apart", Params: sharedParams{}})
			}
		}
	}
	return ks
}

// hasShared reports whether the kernels that read tiles of shared memory serve a geometry.
func (x *geometry) hasShared(t *spec.Target) bool {
	return x.in.dtype != tensor.F64 && x.c > 0 && (t.MaxIterations == 0 || t.MaxIterations >= sharedIterations)
}

// prefersShared reports whether tiles of shared memory are the fastest way on the target: on GPUs, where channels and positions fill
// half of a tile along each side.
func (x *geometry) prefersShared(t *spec.Target) bool {
	return !t.CPU && !t.HostVectors && x.hasShared(t) && x.k >= 32 && x.b*x.o.elems() >= 32 && x.c*x.r.elems() >= 16
}

// sharedStrategies lists the strategies by tiles of shared memory. The first one is the best of them.
func (x *geometry) sharedStrategies(t *spec.Target) []string {
	if !x.hasShared(t) {
		return nil
	}
	list := []string{byShared}
	if gemm.HasLarge(t) && x.k > 64 && x.b*x.o.elems() > 64 {
		if list = append(list, byLarge); x.tiles(128) >= 128 {
			list = []string{byLarge, byShared}
		}
	}
	positions := x.b * x.o.elems()
	switch {
	case x.matrixTile(t).rows == 0 || min(x.k, positions) <= 16:
	case gemm.WorthMatrices(int64(x.g), int64(x.k), int64(positions), int64(x.c*x.r.elems())):
		list = append([]string{byMatrix}, list...)
	default:
		list = append(list, byMatrix)
	}
	return list
}

// matrixTile returns the kernel for the device's cooperative matrices. Its rows are 0 if there is none.
func (x *geometry) matrixTile(t *spec.Target) tile {
	if x.in.dtype != tensor.F16 {
		return tile{}
	}
	variant, edge := gemm.Matrices(t)
	return tile{kernel: "nn/conv_coop." + variant, rows: edge, columns: edge}
}

// sharedStrategy returns the strategy by tiles of shared memory that the plan uses. It is "" if there is none.
func (x *geometry) sharedStrategy(t *spec.Target) string {
	list := x.sharedStrategies(t)
	switch {
	case len(list) == 0:
		return ""
	case t.Strategy == byMatrix && x.matrixTile(t).rows > 0:
		return byMatrix
	case (t.Strategy == byMatrix || t.Strategy == byLarge) && gemm.HasLarge(t):
		return byLarge
	case t.Strategy == byMatrix || t.Strategy == byShared || t.Strategy == byLarge:
		return byShared
	case t.Strategy == "" && x.prefersShared(t):
		return list[0]
	}
	return ""
}

// tiles returns the number of tiles of edge by edge elements.
func (x *geometry) tiles(edge int) int64 {
	return int64(x.g) * int64(planner.CeilDiv(x.k, edge)) * int64(planner.CeilDiv(x.b*x.o.elems(), edge))
}

// sharedTile returns the kernel for a strategy.
func (x *geometry) sharedTile(t *spec.Target, strategy string) (k tile) {
	switch strategy {
	case byMatrix:
		k = x.matrixTile(t)
	case byLarge:
		k = tile{kernel: "nn/conv_product." + x.in.dtype.String() + ".large", rows: 128, columns: 128}
	default:
		k = tile{kernel: "nn/conv_product." + x.in.dtype.String(), rows: 64, columns: 64}
	}
	if x.l != (extent{1, 1, 1}) {
		k.kernel += ".apart"
	}
	return k
}

// sharedParts returns into how many parts to divide the sums, which one launch makes at the same time. Few
// workgroups would leave most of a GPU idle.
func (x *geometry) sharedParts(t *spec.Target, k tile) int {
	n, terms := int64(x.outputs()), int64(x.c)*int64(x.r.elems())
	groups := x.tiles(k.rows)
	enough, least := int64(512), int64(256)
	if t.CPU {
		enough, least = 16, 1024
	}
	if groups >= enough || x.g > 1 && n != int64(x.g*x.out.g) { // A group of the result is not contiguous.
		return 1
	}
	s := steps{t: t}
	return int(max(min(enough/groups, terms/least, s.room()/(4*n), int64(t.MaxGroups[2])/int64(x.g), mostShared), 1))
}

// addSharedSums is addShared for a strategy, with sums in parts where there are few workgroups.
// Errors: *LimitError.
func (x *geometry) addSharedSums(plan *spec.Plan, t *spec.Target, strategy string) error {
	parts := x.sharedParts(t, x.sharedTile(t, strategy))
	y := *x
	s := &steps{geometry: &y, t: t, plan: plan, parts: parts}
	if parts == 1 {
		return s.addShared(strategy)
	}
	n := x.outputs() / x.g
	y.out.ref, y.out.first, y.out.g = planner.AddScratch(plan, int64(x.g*parts*n)*4), 0, n
	if err := s.addShared(strategy); err != nil {
		return err
	}
	_, err := reduction.Add(plan, t, sumReducer, x.out.dtype, planner.AxisView{Outer: x.g, N: parts, Inner: n}, x.out.ref, y.out.ref)
	return err
}

// addShared appends the launches of a convolution as a product of the filter [k, c·r] and a matrix [c·r, b·o] of which only
// tiles are ever made, in shared memory. The result is F32.
// Errors: *LimitError.
func (s *steps) addShared(strategy string) error {
	k := s.sharedTile(s.t, strategy)
	limit := s.t.MaxGroups
	fits := func(p part) []dim {
		r, columns := sizes(p.r), int64(p.b.n)*int64(sizes(p.o).elems())
		switch {
		case columns > math.MaxInt32 || planner.CeilDiv(columns, int64(k.columns)) > int64(limit[0]):
			return []dim{dimB, dimO}
		case planner.CeilDiv(p.k.n, k.rows) > int(limit[1]):
			return []dim{dimG, dimK}
		case p.g.n*max(s.parts, 1) > int(limit[2]):
			return []dim{dimG}
		case max(r[1], r[2]) > mostStep:
			return []dim{dimR}
		}
		return nil
	}
	return s.splitAll(fits, func(p part) error {
		s.addSharedOf(p, k)
		return nil
	})
}

// addSharedOf is addShared for a part.
func (s *steps) addSharedOf(p part, k tile) {
	u := func(n int) uint32 { return uint32(n) }
	o, r, parts := sizes(p.o), sizes(p.r), max(s.parts, 1)
	bind, in, filter, out := s.windows(p)
	bind[0], bind[1] = bind[1], bind[0] // The filter is the first operand of the product.
	depth := p.c.n * r.elems()
	d := sharedParams{
		M: u(p.k.n), N: u(p.b.n * o.elems()), K: u(depth), KAll: u(depth), PartsFlip: u(parts),
		ABase: filter, AG: u(s.filter.g), ARow: u(s.filter.k), AC: u(s.filter.c), Taps: u(r.elems()), R1R2: u(r[1] | r[2]<<16),
		Pixels: u(o.elems()), Plane: u(o[1] * o[2]), Line: u(o[2]), I0: u(s.i[0]), I1: u(s.i[1]), I2: u(s.i[2]),
		P0: int32(s.position(p, 0)), P1: int32(s.position(p, 1)), P2: int32(s.position(p, 2)),
		InBase: in, InB: u(s.in.b), InG: u(s.in.g), InC: u(s.in.c),
		OutBase: out, OutB: u(s.out.b), OutG: u(s.out.g), OutK: u(s.out.k), BiasBase: 0xffffffff,
	}
	for a, to := range []*uint32{&d.SD0, &d.SD1, &d.SD2} {
		*to = u(s.s[a] | s.d[a]<<16)
		if s.l != (extent{1, 1, 1}) { // Then positions are neighbours.
			*to = u(s.l[a] | s.d[a]<<16)
		}
	}
	if s.flip {
		d.PartsFlip |= 1 << 16
	}
	if parts > 1 { // The parts of a group follow each other, and so do the groups.
		d.K = u(planner.CeilDiv(planner.CeilDiv(depth, parts), 16) * 16)
		d.OutBase = u(p.b.from*s.out.b + p.g.from*parts*s.out.g + p.k.from*s.out.k + flat(p.o, s.o))
		bind[3] = spec.Bind{Buf: s.out.ref}
	}
	var ok bool
	var base uint32
	if bind[2], base, ok = s.biasBind(p); ok {
		d.BiasBase = base
	} else if p.again() {
		d.BiasBase = 0xfffffffe
	}
	s.plan.Steps = append(s.plan.Steps, spec.Step{
		Module: spirv.Kernel(k.kernel), Params: d, Bind: bind,
		Groups: [3]uint32{planner.CeilDiv(d.N, uint32(k.columns)), u(planner.CeilDiv(p.k.n, k.rows)), u(p.g.n * parts)},
	})
}
