package convolution

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// packLinesParams is the push-constant block of conv_pack_lines.comp.
type packLinesParams struct {
	Count, C, Wide, Runs, Packs, E0, E1, E2, G, I0, I1, I2 uint32
	S0, S1, P0, P1, P2                                     int32
	Skip, InBase, InB, InG, InC                            uint32
}

// packTapsParams is the push-constant block of conv_pack_taps.comp.
type packTapsParams struct{ Count, K, KWide, Packs, C, Taps, Base, WG, WK uint32 }

// arePacks reports whether numbers of elements of the plane are whole packs.
func (p plane) arePacks(elems ...int) bool {
	for _, n := range elems {
		if n*p.dtype.Size()%planner.Pack != 0 {
			return false
		}
	}
	return true
}

// packsLines reports whether conv_pack_lines can pack an input that begins at base.
func (s *steps) packsLines(m packing, base uint32) bool {
	return s.texels && s.l == (extent{1, 1, 1}) && m.step[2] == 1 && s.in.arePacks(s.i[2], s.in.b, s.in.g, s.in.c, int(int32(base)))
}

// lineRun is the number of texels of a pack that an invocation of conv_pack_lines packs.
const lineRun = 4

// packLines appends the launch that packs the input of a part by whole packs.
func (s *steps) packLines(p part, m packing, from, to spec.Bind, base uint32) error {
	u, i := func(n int) uint32 { return uint32(n) }, func(n int) int32 { return int32(n) }
	n := planner.Pack / s.in.dtype.Size()
	first := s.position(p, 2)
	pack := first / n
	if first < pack*n {
		pack-- // The quotient was rounded up.
	}
	skip := first - pack*n
	packs, runs := planner.CeilDiv(skip+m.e[2], n), planner.CeilDiv(m.c, lineRun)
	count := int64(p.b.n*p.g.n*m.e[0]*m.e[1]) * int64(packs*runs)
	groups, err := planner.Grid(s.t, planner.CeilDiv(count, planner.SmallGroup))
	s.plan.Steps = append(s.plan.Steps, spec.Step{
		Module: spirv.Kernel("nn/conv_pack_lines." + s.in.dtype.String()),
		Params: packLinesParams{
			Count: uint32(count), C: u(p.c.n), Wide: u(m.c), Runs: u(runs), Packs: u(packs), E0: u(m.e[0]), E1: u(m.e[1]), E2: u(m.e[2]), G: u(p.g.n),
			I0: u(s.i[0]), I1: u(s.i[1]), I2: u(s.i[2] / n), S0: i(m.step[0]), S1: i(m.step[1]), P0: i(s.position(p, 0)), P1: i(s.position(p, 1)), P2: i(pack),
			Skip: u(skip), InBase: u(int(int32(base)) / n), InB: u(s.in.b / n), InG: u(s.in.g / n), InC: u(s.in.c / n),
		},
		Bind: []spec.Bind{from, to}, Groups: groups,
	})
	return err
}

// packsTaps reports whether conv_pack_taps can pack a filter of a part that begins at base.
func (s *steps) packsTaps(p part, base uint32) bool {
	taps := s.r.elems()
	return s.texels && !s.flip && s.filter.c == taps && sizes(p.r) == s.r && p.c.n%4 == 0 && s.filter.arePacks(p.c.n*taps, s.filter.g, s.filter.k, int(base))
}

// packTaps appends the launch that packs the filter of a part by whole packs.
func (s *steps) packTaps(p part, m packing, from, to spec.Bind, base uint32) error {
	u := func(n int) uint32 { return uint32(n) }
	n, taps := planner.Pack/s.filter.dtype.Size(), s.r.elems()
	count := int64(p.g.n) * int64(p.c.n*taps/n) * int64(m.k)
	groups, err := planner.Grid(s.t, planner.CeilDiv(count, planner.SmallGroup))
	s.plan.Steps = append(s.plan.Steps, spec.Step{
		Module: spirv.Kernel("nn/conv_pack_taps." + s.filter.dtype.String()),
		Params: packTapsParams{
			Count: uint32(count), K: u(p.k.n), KWide: u(m.k), Packs: u(p.c.n * taps / n), C: u(p.c.n), Taps: u(taps),
			Base: base / uint32(n), WG: u(s.filter.g / n), WK: u(s.filter.k / n),
		},
		Bind: []spec.Bind{from, to}, Groups: groups,
	})
	return err
}
