package convolution

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// packBudget is the largest size of a packed operand in bytes.
const packBudget = 64 << 20

// packParams is the push-constant block of conv_pack.comp.
type packParams struct {
	Count, C, Wide, Runs, E0, E1, E2, G, I0, I1, I2 uint32
	S0, S1, S2, L0, L1, L2, P0, P1, P2              int32
	InBase, InB, InG, InC                           uint32
}

// packFilterParams is the push-constant block of conv_pack_filter.comp.
type packFilterParams struct{ Count, K, KWide, C, CAll, Taps, Base, WG, WK, WC, WTap uint32 }

// panelParams is the push-constant block of lib/conv.glsl.
type panelParams struct {
	Rows, Pixels, Plane, Line, InB, InG, In0, In1, In2, C, R1, R2, Next2, Next1, Next0 uint32
	Depth, K, KWide, WG, OutBase, OutB, OutG, OutK, Bias, BiasBase, FirstRow, FirstG   uint32
}

// packing says how the packed operands of a part lie. Lengths are in texels.
type packing struct {
	// step, s and d are the distance of packed positions in the input, and the distances in
	// packed positions from element to element of the result and from tap to tap.
	step, s, d extent
	// e is the number of packed positions along each axis.
	e extent
	// c and k are the texels of the channels of the reduction and of the result.
	c, k int
	// in and filter are the texels of the packed operands.
	in, filter int
}

// mostPacked is more texels than any binding holds.
const mostPacked = 1 << 29

// packing returns how the operands of a part are packed. Only positions that the part reads are.
func (x *geometry) packing(p part) packing {
	m := packing{c: planner.CeilDiv(p.c.n, 4), k: planner.CeilDiv(p.k.n, 4)}
	for a := range m.e {
		if p.o[a].n > 1 {
			m.s[a] = x.s[a]
		}
		if p.r[a].n > 1 {
			m.d[a] = x.d[a]
		}
		m.step[a] = max(divisor(m.s[a], m.d[a]), 1)
		m.s[a], m.d[a] = m.s[a]/m.step[a], m.d[a]/m.step[a]
		m.e[a] = (p.o[a].n-1)*m.s[a] + (p.r[a].n-1)*m.d[a] + 1
	}
	m.in = 1
	for _, n := range []int{p.b.n, p.g.n, m.e[0], m.e[1], m.e[2], m.c} {
		if n > 0 && m.in > mostPacked/n { // Only that it is too large counts.
			m.in = mostPacked
			continue
		}
		m.in *= n
	}
	m.filter = p.g.n * sizes(p.r).elems() * 4 * m.c * m.k
	return m
}

// packRun is the number of texels of a position that an invocation packs.
const packRun = 8

// positions returns the number of invocations that pack the input.
func (m packing) positions() int { return m.in / m.c * planner.CeilDiv(m.c, packRun) }

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// tile is a kernel for packed operands, and the part of the product that a workgroup makes.
type tile struct {
	kernel              string
	rows, columns       int
	addsByName, inTexel bool
}

// tile returns the kernel for the target.
func (s *steps) tile() tile {
	switch {
	// The larger tiles are slow to compile. They are for large products.
	case s.texels && s.k > 64 && s.large():
		return tile{"nn/conv_panel.f32.texel.wide", 16, 32, true, true}
	case s.texels && s.k > 32 && s.large():
		return tile{"nn/conv_panel.f32.texel.tall", 32, 16, true, true}
	case s.texels:
		return tile{"nn/conv_panel.f32.texel", 16, 8, true, true}
	case s.t.HostVectors:
		return tile{"nn/conv_lanes.f32", 3, 4, false, false}
	}
	return tile{"nn/conv_panel.f32", 32, 16, true, false}
}

// large reports whether a geometry has enough products for the larger tiles.
func (x *geometry) large() bool {
	return x.b*x.o.elems() > 32 && int64(x.outputs())*int64(x.c*x.r.elems()) >= 1<<21
}

// addPanel appends the launches that pack the operands of a geometry and multiply them. The result
// and the bias are F32.
func (s *steps) addPanel() error {
	k := s.tile()
	most := min(planner.MaxSpan(s.t, s.texels), packBudget)/planner.Pack - 1
	fits := func(p part) []dim {
		m := s.packing(p)
		_, errIn := planner.Grid(s.t, planner.CeilDiv(int64(m.in), planner.SmallGroup))
		_, errFilter := planner.Grid(s.t, planner.CeilDiv(int64(m.filter), planner.SmallGroup))
		switch {
		case int64(m.in) > most || errIn != nil:
			return []dim{dimB, dimG, dimO, dimC, dimR}
		case int64(m.filter) > most || errFilter != nil:
			return []dim{dimG, dimK, dimC, dimR}
		case planner.CeilDiv(m.k, k.columns) > int(s.t.MaxGroups[0]):
			return []dim{dimG, dimK}
		}
		return nil
	}
	return s.splitAll(fits, func(p part) error {
		m := s.packing(p)
		bind, in, filter, out := s.windows(p)
		var err error
		if bind[0], err = s.packInput(p, m, bind[0], in); err != nil {
			return err
		}
		if bind[1], err = s.packFilter(p, m, bind[1], filter); err != nil {
			return err
		}
		u := func(n int) uint32 { return uint32(n) }
		o, r := sizes(p.o), sizes(p.r)
		d := panelParams{
			Rows: u(p.b.n * o.elems()), Pixels: u(o.elems()), Plane: u(o[1] * o[2]), Line: u(o[2]),
			InG: u(m.e.elems() * m.c), InB: u(p.g.n * m.e.elems() * m.c),
			In0: u(m.s[0] * m.e[1] * m.e[2] * m.c), In1: u(m.s[1] * m.e[2] * m.c), In2: u(m.s[2] * m.c),
			C: u(m.c), R1: u(r[1]), R2: u(r[2]),
			Next2: u(m.d[2]*m.c - m.c), Next1: u((m.d[1]*m.e[2] - r[2]*m.d[2]) * m.c),
			Next0: u((m.d[0]*m.e[1] - r[1]*m.d[1]) * m.e[2] * m.c),
			Depth: u(r.elems() * m.c), K: u(p.k.n), KWide: u(m.k), WG: u(r.elems() * 4 * m.c * m.k),
			OutBase: out, OutB: u(s.out.b), OutG: u(s.out.g), OutK: u(s.out.k),
		}
		kernel := k.kernel
		var ok bool
		if bind[2], d.BiasBase, ok = s.biasBind(p); ok {
			d.Bias = 1
		}
		switch {
		case p.again() && k.addsByName:
			kernel += ".add"
		case p.again():
			d.Bias = 2
		}
		rows, columns := planner.CeilDiv(int(d.Rows), k.rows), planner.CeilDiv(m.k, k.columns)
		limit := s.t.MaxGroups
		for g := 0; g < p.g.n; g += int(limit[2]) {
			for row := 0; row < rows; row += int(limit[1]) {
				d.FirstG, d.FirstRow = u(g), u(row*k.rows)
				s.plan.Steps = append(s.plan.Steps, spec.Step{
					Module: spirv.Kernel(kernel), Params: d, Bind: bind,
					Groups: [3]uint32{u(columns), u(min(rows-row, int(limit[1]))), u(min(p.g.n-g, int(limit[2])))},
				})
			}
		}
		return nil
	})
}

// packed returns the buffer for a packed operand of so many texels. All parts share it. Its number of texels is odd: lavapipe
// compiles a kernel once more for texel buffers whose size is a power of two.
func (s *steps) packed(slot, texels int) spec.Bind {
	if s.packedAt[slot] == 0 {
		s.packedAt[slot] = 1 + len(s.plan.Scratch)
		s.plan.Scratch = append(s.plan.Scratch, 0)
	}
	n := s.packedAt[slot] - 1
	bytes := int64(texels|1) * planner.Pack
	s.plan.Scratch[n] = max(s.plan.Scratch[n], bytes)
	return spec.Bind{Buf: spec.Scratch(n), Size: bytes}
}

// packInput appends the launch that packs the input of a part.
func (s *steps) packInput(p part, m packing, from spec.Bind, base uint32) (spec.Bind, error) {
	to := s.packed(0, m.in)
	if s.packsLines(m, base) {
		return to, s.packLines(p, m, from, to, base)
	}
	u, i := func(n int) uint32 { return uint32(n) }, func(n int) int32 { return int32(n) }
	d := packParams{
		Count: u(m.positions()), C: u(p.c.n), Wide: u(m.c), Runs: u(planner.CeilDiv(m.c, packRun)), E0: u(m.e[0]), E1: u(m.e[1]), E2: u(m.e[2]), G: u(p.g.n),
		I0: u(s.i[0]), I1: u(s.i[1]), I2: u(s.i[2]), S0: i(m.step[0]), S1: i(m.step[1]), S2: i(m.step[2]),
		L0: i(s.l[0]), L1: i(s.l[1]), L2: i(s.l[2]), P0: i(s.position(p, 0)), P1: i(s.position(p, 1)), P2: i(s.position(p, 2)),
		InBase: base, InB: u(s.in.b), InG: u(s.in.g), InC: u(s.in.c),
	}
	groups, err := planner.Grid(s.t, planner.CeilDiv(int64(m.positions()), planner.SmallGroup))
	kernel := "nn/conv_pack." + s.in.dtype.String()
	if s.l != (extent{1, 1, 1}) {
		kernel += ".apart"
	}
	s.plan.Steps = append(s.plan.Steps, spec.Step{
		Module: spirv.Kernel(kernel), Params: d, Bind: []spec.Bind{from, to}, Groups: groups,
	})
	return to, err
}

// packFilter appends the launch that packs the filter of a part.
func (s *steps) packFilter(p part, m packing, from spec.Bind, base uint32) (spec.Bind, error) {
	to := s.packed(1, m.filter)
	if s.packsTaps(p, base) {
		return to, s.packTaps(p, m, from, to, base)
	}
	u := func(n int) uint32 { return uint32(n) }
	d := packFilterParams{
		Count: u(m.filter / 4), K: u(p.k.n), KWide: u(m.k), C: u(p.c.n), CAll: u(4 * m.c), Taps: u(sizes(p.r).elems()),
		Base: base, WG: u(s.filter.g), WK: u(s.filter.k), WC: u(s.filter.c), WTap: s.tapStep(),
	}
	groups, err := planner.Grid(s.t, planner.CeilDiv(int64(m.filter/4), planner.SmallGroup))
	s.plan.Steps = append(s.plan.Steps, spec.Step{
		Module: spirv.Kernel("nn/conv_pack_filter." + s.filter.dtype.String()), Params: d, Bind: []spec.Bind{from, to}, Groups: groups,
	})
	return to, err
}
