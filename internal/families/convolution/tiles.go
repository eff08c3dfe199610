package convolution

import (
	"errors"
	"fmt"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// tilesInParams is the push-constant block of conv_tiles_in.comp.
type tilesInParams struct{ Count, C, Tiles, Down, Across, Line, InG, InB uint32 }

// tilesFilterParams is the push-constant block of conv_tiles_filter.comp.
type tilesFilterParams struct{ Count, Tap uint32 }

// tilesParams is the push-constant block of conv_tiles.comp.
type tilesParams struct {
	C, KWide, K, VStep, UStep, Tiles, Down, Across, O1, O2, OutBase, OutB, OutG, OutK, Bias, BiasBase, Line, InG, InB, FirstRow, FirstG uint32
}

// tilesKernels lists the kernels of addTiles, without those that pack.
func tilesKernels() (ks []spec.Kernel) {
	for _, suffix := range []string{"", ".texel"} {
		ks = append(ks,
			spec.Kernel{Name: "nn/conv_tiles_in.f32" + suffix, Params: tilesInParams{}},
			spec.Kernel{Name: "nn/conv_tiles_filter.f32" + suffix, Params: tilesFilterParams{}},
			spec.Kernel{Name: "nn/conv_tiles.f32" + suffix, Params: tilesParams{}},
			spec.Kernel{Name: "nn/conv_tiles.f32" + suffix + ".add", Params: tilesParams{}})
	}
	for _, suffix := range []string{".wide", ".wide.add"} {
		ks = append(ks, spec.Kernel{Name: "nn/conv_tiles.f32.texel" + suffix, Params: tilesParams{}})
	}
	return ks
}

// isThree reports whether the filter has three by three neighbouring taps, for elements of the result
// that are neighbours too, along two axes.
func (x *geometry) isThree() bool {
	one := extent{1, 1, 1}
	return x.o[0] == 1 && x.r == (extent{1, 3, 3}) && x.s == one && x.d == one && x.l == one && x.c > 0
}

// tilesPay reports whether tiles are the fastest way on the target.
func (x *geometry) tilesPay(t *spec.Target) bool {
	return t.CPU && !t.HostVectors && planner.HasTexels(t, planner.SmallGroup) && x.c >= 16 && x.k >= 16 && x.b*x.o.elems() >= 64
}

// usesTiles reports whether to plan a geometry by tiles.
func (x *geometry) usesTiles(t *spec.Target) bool {
	return x.in.dtype != tensor.F64 && x.isThree() && (t.Strategy == byTiles || t.Strategy == "" && x.tilesPay(t))
}

// tilesOf returns the tiles of two by two elements along each axis of a part of the result.
func tilesOf(p part) (down, across int) {
	return planner.CeilDiv(p.o[1].n, 2), planner.CeilDiv(p.o[2].n, 2)
}

// wholeTiles returns a part with whole tiles. These may reach past the result.
func wholeTiles(p part) part {
	down, across := tilesOf(p)
	p.o[1].n, p.o[2].n = 2*down, 2*across
	return p
}

// tilesBindings is the number of operands of conv_tiles.
const tilesBindings = 6

// tilesIterations is the smallest limit of the loop iterations of an invocation for conv_tiles. Of as many as allow a sum of eight
// products, it may need a third and 230 more, where it makes all of its elements again.
const tilesIterations = 512

// errTiles says that a part has no plan by tiles.
var errTiles = errors.New("no plan by tiles")

// makeTiles is addTiles. It returns false, and leaves the plan as it is, where no such plan exists.
// Errors: *LimitError.
func (x *geometry) makeTiles(plan *spec.Plan, t *spec.Target) (made bool, err error) {
	before, y := *plan, *x
	s := &steps{geometry: &y, t: t, plan: plan, texels: t.CPU && !t.HostVectors && planner.HasTexels(t, planner.SmallGroup)}
	if !s.texels && t.MaxBindings < tilesBindings || t.MaxIterations > 0 && t.MaxIterations < tilesIterations {
		return false, nil
	}
	if y.bias != nil {
		if y.bias, err = x.wideBias(plan, t); err != nil {
			return false, err
		}
	}
	// Whole tiles reach further than single elements, so they may exceed a limit where others do not.
	var limit *errs.LimitError
	if err = s.addTiles(); errors.Is(err, errTiles) || errors.As(err, &limit) {
		*plan = before
		return false, nil
	}
	return true, err
}

// addTiles appends the launches of a convolution of three by three taps by Winograd's algorithm F(2×2, 3×3). It needs 16
// products where the taps need 36, and each is one of 16 products of matrices.
// Errors: *LimitError, errTiles.
func (s *steps) addTiles() error {
	most := min(planner.MaxSpan(s.t, s.texels), packBudget)/planner.Pack - 1
	fits := func(p part) []dim {
		whole := wholeTiles(p)
		m := s.packing(whole)
		if planner.CeilDiv(m.k, s.tilesTile(m).columns) > int(s.t.MaxGroups[0]) {
			return []dim{dimG, dimK}
		}
		if s.inExtent(whole)*int64(s.in.dtype.Size()) > s.room() {
			return []dim{dimG, dimB, dimO, dimC}
		}
		down, across := tilesOf(p)
		tiles := int64(p.g.n) * int64(p.b.n*down*across) * 16
		for _, x := range []struct {
			texels int64
			dims   []dim
		}{
			{int64(m.in), []dim{dimG, dimB, dimO, dimC}},
			{int64(m.filter) / 9 * 16, []dim{dimG, dimK, dimC}},
			{tiles * int64(m.c), []dim{dimG, dimB, dimO, dimC}},
			{tiles * int64(m.k), []dim{dimG, dimB, dimO, dimK}},
		} {
			if _, err := planner.Grid(s.t, planner.CeilDiv(x.texels, planner.SmallGroup)); err != nil || x.texels > most {
				return x.dims
			}
		}
		return nil
	}
	return s.splitAll(fits, func(p part) error {
		if sizes(p.r) != s.r {
			return errTiles
		}
		return s.addTilesOf(p)
	})
}

// tilesTile returns the kernel for the target.
func (s *steps) tilesTile(m packing) tile {
	switch {
	case s.texels && m.k > 8:
		return tile{"nn/conv_tiles.f32.texel.wide", 10, 16, true, true}
	case s.texels:
		return tile{"nn/conv_tiles.f32.texel", 16, 8, true, true}
	}
	return tile{"nn/conv_tiles.f32", 32, 8, true, false}
}

// addTilesOf is addTiles for a part.
func (s *steps) addTilesOf(p part) error {
	u := func(n int) uint32 { return uint32(n) }
	whole := wholeTiles(p)
	m := s.packing(whole)
	bind, _, filter, out := s.windows(p)
	from, in, _, _ := s.windows(whole)
	x, err := s.packInput(p, m, from[0], in)
	if err != nil {
		return err
	}
	w, err := s.packFilter(p, m, bind[1], filter)
	if err != nil {
		return err
	}
	down, across := tilesOf(p)
	tiles, tap := p.b.n*down*across, 4*m.c*m.k
	step := func(kernel string, invocations int, params any, bind ...spec.Bind) error {
		if s.texels {
			kernel = "nn/conv_tiles_" + fmt.Sprintf(kernel, ".texel")
		} else {
			kernel = "nn/conv_tiles_" + fmt.Sprintf(kernel, "")
		}
		groups, err := planner.Grid(s.t, planner.CeilDiv(int64(invocations), planner.SmallGroup))
		s.plan.Steps = append(s.plan.Steps, spec.Step{Module: spirv.Kernel(kernel), Params: params, Bind: bind, Groups: groups})
		return err
	}
	line, image := m.e[2]*m.c, p.g.n*m.e.elems()*m.c
	v := s.packed(2, 16*p.g.n*tiles*m.c)
	if err := step("in.f32%s", p.g.n*tiles*m.c, tilesInParams{
		Count: u(p.g.n * tiles * m.c), C: u(m.c), Tiles: u(tiles), Down: u(down), Across: u(across), Line: u(line), InG: u(m.e.elems() * m.c), InB: u(image),
	}, x, v); err != nil {
		return err
	}
	f := s.packed(3, 16*p.g.n*tap)
	if err := step("filter.f32%s", p.g.n*tap, tilesFilterParams{Count: u(p.g.n * tap), Tap: u(tap)}, w, f); err != nil {
		return err
	}
	d := tilesParams{
		C: u(m.c), KWide: u(m.k), K: u(p.k.n), VStep: u(p.g.n * tiles * m.c), UStep: u(p.g.n * tap), Tiles: u(tiles), Down: u(down), Across: u(across),
		O1: u(p.o[1].n), O2: u(p.o[2].n), OutBase: out, OutB: u(s.out.b), OutG: u(s.out.g), OutK: u(s.out.k),
		Line: u(line), InG: u(m.e.elems() * m.c), InB: u(image),
	}
	var ok bool
	if bind[2], d.BiasBase, ok = s.biasBind(p); ok {
		d.Bias = 1
	}
	k := s.tilesTile(m)
	kernel := k.kernel
	if p.again() {
		kernel += ".add"
	}
	rows, columns := planner.CeilDiv(tiles, k.rows), planner.CeilDiv(m.k, k.columns)
	limit := s.t.MaxGroups
	for g := 0; g < p.g.n; g += int(limit[2]) {
		for row := 0; row < rows; row += int(limit[1]) {
			d.FirstG, d.FirstRow = u(g), u(row*k.rows)
			s.plan.Steps = append(s.plan.Steps, spec.Step{
				Module: spirv.Kernel(kernel), Params: d, Bind: []spec.Bind{v, f, x, w, bind[2], bind[3]},
				Groups: [3]uint32{u(columns), u(min(rows-row, int(limit[1]))), u(min(p.g.n-g, int(limit[2])))},
			})
		}
	}
	return nil
}

// tilesTolerance returns the tolerance of an operation whose plan may be addTiles. three says that the call is one for which it may.
// There an element is a sum of nine products for each channel too. The input's factors have four times the variance of an element,
// and the filter's 0.7 times that of a tap by the mean, so that errors of sums of few channels grow by the root of 2.8.
func tilesTolerance(tol spec.Tolerance, d tensor.DType, three bool) spec.Tolerance {
	tol.Law += "; where Winograd's algorithm may compute a call, its first term is doubled: " + tilesCalls
	tol.AnyLaw += "; for " + tilesCalls + ", ((1 + ε)^(h + 12) − 1)·81·Σ max|a|·max|b| over the channels, a of four by four neighbours and b of the taps"
	if three && d != tensor.F64 {
		tol.Abs = 2*tol.Abs - planner.Tiny(d)
		tol.Any = 0 // The terms are not those of the element.
	}
	return tol
}

// tilesCalls names the calls that addTiles may compute.
const tilesCalls = "three by three taps along two axes, strides and dilations of 1, types other than f64"
