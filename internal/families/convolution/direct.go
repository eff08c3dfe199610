package convolution

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/elementwise"
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/families/movement"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// run is the number of products that a sum adds one after the other. The sums of such runs
// are added again, so that the error of a long sum stays small. gemm.DotTolerance counts on it.
const run = 4096

// directRun is the number of elements of the result that an invocation of a .run kernel makes.
const directRun = 8

const (
	lineShader  = "nn/conv_line.f32"
	threeShader = "nn/conv_three.f32"
)

// lineSteps are the variants for steps of 1 and of 2 from element to element of the result. rows is of how many
// lines an invocation of conv_three makes elements.
var lineSteps = []struct {
	suffix string
	rows   int
}{{"", 4}, {".two", 2}}

// directParams is the push-constant block of conv_direct.comp.
type directParams struct {
	Count, M, K, Lines, O1, O2, CR0, R1R2 uint32
	I0, I1, I2, SD0, SD1, SD2, L0L1, L2   uint32
	P0, P1, P2                            int32
	InBase, InB, InG, InC                 uint32
	WBase, WG, WK, WC, WTap               uint32
	OutBase, OutB, OutK, BiasBase         uint32
}

// steps adds the steps of a geometry to a plan.
type steps struct {
	*geometry
	t    *spec.Target
	plan *spec.Plan
	// unread is a buffer to bind where a kernel reads nothing.
	unread spec.Ref
	// packedAt are the numbers of the buffers for packed operands, counted from 1.
	packedAt [4]int
	// texels says that kernels read texel buffers.
	texels bool
	// parts is the number of parts of each sum that a launch of addShared makes; 0 counts as 1.
	parts int
}

// nothing returns a binding that no kernel reads.
func (s *steps) nothing() spec.Bind {
	if s.unread.Kind == spec.RefNone {
		s.unread = planner.AddScratch(s.plan, planner.Pack)
	}
	return spec.Bind{Buf: s.unread}
}

// windows returns the bindings of a part's operands, and where its elements begin in them. The
// base of the input is that of the channel's first element, which may lie before the binding. A
// part that reads nothing of the input binds its first pack.
func (s *steps) windows(p part) (bind []spec.Bind, in, filter, out uint32) {
	first, n := s.reach(p)
	at := int64(s.out.first) + int64(p.b.from)*int64(s.out.b) + int64(p.g.from)*int64(s.out.g) + int64(p.k.from)*int64(s.out.k) + int64(flat(p.o, s.o))
	bo, out := planner.Window(s.t, s.out.ref, s.out.dtype.Size(), at, s.outExtent(p))
	if p.c.n == 0 {
		return []spec.Bind{s.nothing(), s.nothing(), {}, bo}, 0, 0, out
	}
	bx := spec.Bind{Buf: s.in.ref, Size: planner.Pack}
	if n > 0 {
		at = int64(s.in.first) + int64(p.b.from)*int64(s.in.b) + int64(p.g.from)*int64(s.in.g) + int64(p.c.from)*int64(s.in.c) + int64(first)
		bx, in = planner.Window(s.t, s.in.ref, s.in.dtype.Size(), at, s.inExtent(p))
		in -= uint32(first)
	}
	tap, taps := flat(p.r, s.r), sizes(p.r).elems()
	if s.flip {
		tap = s.r.elems() - tap - taps
	}
	at = int64(s.filter.first) + int64(p.g.from)*int64(s.filter.g) + int64(p.k.from)*int64(s.filter.k) + int64(p.c.from)*int64(s.filter.c) + int64(tap)
	bw, filter := planner.Window(s.t, s.filter.ref, s.filter.dtype.Size(), at, s.filterExtent(p))
	if s.flip {
		filter += uint32(taps - 1)
	}
	return []spec.Bind{bx, bw, {}, bo}, in, filter, out
}

// biasBind returns the binding of a part's bias, and where it begins. ok is false if the part
// adds none.
func (s *steps) biasBind(p part) (bind spec.Bind, base uint32, ok bool) {
	if s.bias == nil || p.again() {
		return s.nothing(), 0, false
	}
	bind, base = planner.Window(s.t, s.bias.ref, s.bias.dtype.Size(), int64(p.g.from*s.k+p.k.from), int64((p.g.n-1)*s.k+p.k.n))
	return bind, base, true
}

// room is the largest number of bytes of an operand that a part may use. A window may have to
// begin up to an alignment before its first element.
func (s *steps) room() int64 {
	return min(planner.MaxSpan(s.t, s.texels), planner.MaxWindow)&^(planner.Pack-1) - planner.WindowAlign(s.t)
}

// splitAll is split for the whole of the geometry.
func (s *steps) splitAll(fits func(part) []dim, f func(part) error) error {
	for _, p := range s.roots() {
		if err := s.split(p, fits, f); err != nil {
			return err
		}
	}
	return nil
}

// split calls f with parts of p that bindings hold, and whose sums are not too long. A part with
// several groups has all channels of each. fits may refuse further parts: it returns the
// dimensions along which to split them.
func (s *steps) split(p part, fits func(part) []dim, f func(part) error) error {
	dims, want := s.tooLarge(p)
	if dims == nil {
		dims = fits(p)
	}
	if dims == nil {
		return f(p)
	}
	low, high, ok := p.halve(dims...)
	if !ok {
		return &errs.LimitError{Name: "MaxBinding", Want: want, Have: s.room()}
	}
	if err := s.split(low, fits, f); err != nil {
		return err
	}
	return s.split(high, fits, f)
}

// tooLarge returns the dimensions along which to split a part because of its operands, or nil. That
// is the one that makes an operand's range longest. Four channels are a texel, so fewer are no
// shorter sum.
func (s *steps) tooLarge(p part) (dims []dim, want int64) {
	most := run
	if limit := int(s.t.MaxIterations); limit > 0 {
		most = min(most, max((limit-1)/8, 1))
	}
	o, r := sizes(p.o), sizes(p.r)
	_, reach := s.reach(p)
	inLast := []dim{dimO, dimR}
	if s.tapsExtent(p)*int64(s.in.dtype.Size()) > s.room()/2 {
		inLast = []dim{dimR, dimO} // Single elements of the result would still reach too far.
	}
	for _, need := range []struct {
		op     plane
		extent int64
		last   []dim
		n      int
	}{
		{s.out, s.outExtent(p), []dim{dimO}, o.elems()},
		{s.filter, s.filterExtent(p), []dim{dimR}, r.elems()},
		{s.in, s.inExtent(p), inLast, reach},
	} {
		if want = need.extent * int64(need.op.dtype.Size()); want > s.room() {
			return longest(p, need.op, need.n, need.last), want
		}
	}
	// The sums come last: a binding may have divided the channels already.
	if terms := int64(p.c.n) * int64(r.elems()); terms > int64(most)*int64(max(s.parts, 1)) {
		if p.c.n <= 4 {
			return []dim{dimR, dimC}, terms
		}
		return []dim{dimC}, terms
	}
	return nil, 0
}

// longest returns the dimension along which the range of an operand is longest, and then the
// spatial ones, whose range is n. A part with several groups keeps all channels of the result.
func longest(p part, op plane, n int, last []dim) []dim {
	dims, far := []dim{}, 0
	for _, x := range []struct {
		d         dim
		n, stride int
	}{{dimB, p.b.n, op.b}, {dimG, p.g.n, op.g}, {dimK, p.k.n, op.k}, {dimC, p.c.n, op.c}} {
		reach := (x.n - 1) * x.stride
		if reach <= far || reach < n && last != nil && (sizes(p.o).elems() > 1 || sizes(p.r).elems() > 1) {
			continue
		}
		if dims, far = []dim{x.d}, reach; x.d == dimK && p.g.n > 1 {
			dims[0] = dimG
		}
	}
	return append(append(dims, last...), dimB, dimG, dimK, dimC)
}

// addDirect appends the launches of conv_direct for a geometry. The result has the dtype of the
// arithmetic.
func (s *steps) addDirect() error {
	s.texels = s.byLines() && planner.HasTexels(s.t, planner.SmallGroup)
	count := func(p part) int64 {
		k := s.directKernel(p)
		return int64(p.b.n) * int64(p.g.n) * int64(p.k.n) * int64(p.o[0].n) * int64(planner.CeilDiv(p.o[1].n, k.rows)) * int64(planner.CeilDiv(p.o[2].n, k.length))
	}
	fits := func(p part) []dim {
		if _, err := planner.Grid(s.t, planner.CeilDiv(count(p), planner.SmallGroup)); err != nil || count(p) > planner.MaxWindow {
			return []dim{dimB, dimG, dimK, dimO}
		}
		return nil
	}
	return s.splitAll(fits, func(p part) error {
		k := s.directKernel(p)
		kernel := k.name
		bind, in, filter, out := s.windows(p)
		if k.whole && p.o[2].n%4 == 0 && out%4 == 0 && s.out.b%4 == 0 && s.out.k%4 == 0 && s.out.g%4 == 0 {
			kernel += ".whole"
		}
		u := func(n int) uint32 { return uint32(n) }
		o, r := sizes(p.o), sizes(p.r)
		d := directParams{
			Count: uint32(count(p)), M: u(p.g.n * p.k.n), K: u(p.k.n), Lines: u(o[0] * planner.CeilDiv(o[1], k.rows)), O1: u(o[1]), O2: u(o[2]),
			CR0: u(p.c.n | r[0]<<16), R1R2: u(r[1] | r[2]<<16), I0: u(s.i[0]), I1: u(s.i[1]), I2: u(s.i[2]),
			SD0: u(s.s[0] | s.d[0]<<16), SD1: u(s.s[1] | s.d[1]<<16), SD2: u(s.s[2] | s.d[2]<<16), L0L1: u(s.l[0] | s.l[1]<<16), L2: u(s.l[2]),
			P0: int32(s.position(p, 0)), P1: int32(s.position(p, 1)), P2: int32(s.position(p, 2)),
			InBase: in, InB: u(s.in.b), InG: u(s.in.g), InC: u(s.in.c),
			WBase: filter, WG: u(s.filter.g - p.k.n*s.filter.k), WK: u(s.filter.k), WC: u(s.filter.c), WTap: s.tapStep(),
			OutBase: out, OutB: u(s.out.b), OutK: u(s.out.k), BiasBase: 0xffffffff,
		}
		var ok bool
		var base uint32
		if bind[2], base, ok = s.biasBind(p); ok {
			d.BiasBase = base
		} else if p.again() {
			d.BiasBase = 0xfffffffe
		}
		groups, err := planner.Grid(s.t, planner.CeilDiv(count(p), planner.SmallGroup))
		s.plan.Steps = append(s.plan.Steps, spec.Step{Module: spirv.Kernel(kernel), Params: d, Bind: bind, Groups: groups})
		return err
	})
}

// directKernel is a kernel that reads operands where they lie. length and rows say of how many neighbours in a line
// of the result, and of how many lines, an invocation makes elements.
type directKernel struct {
	name         string
	length, rows int
	// whole says that a variant writes packs, where lines of the result begin and end with them.
	whole bool
}

// byLines reports whether kernels that make runs of a line serve the geometry: on CPU drivers, where much of a step is the
// same for a run.
func (s *steps) byLines() bool {
	return s.t.CPU && !s.t.HostVectors && s.in.dtype == tensor.F32 && s.l == (extent{1, 1, 1}) && s.o[2] >= directRun
}

// directKernel returns the kernel for a part. A part may have a part of the taps only.
func (s *steps) directKernel(p part) directKernel {
	general := "nn/conv_direct." + s.in.dtype.String()
	r := sizes(p.r)
	switch {
	case s.l != (extent{1, 1, 1}):
		return directKernel{general + ".apart", 1, 1, false}
	case !s.byLines():
		return directKernel{general, 1, 1, false}
	case s.s[2] > len(lineSteps) || s.d[2] > 1 && s.r[2] > 1:
		return directKernel{general + ".run", directRun, 1, false}
	}
	step := lineSteps[s.s[2]-1]
	switch {
	case !s.texels:
		return directKernel{lineShader + step.suffix, directRun, 1, false}
	case r[1] == 3 && r[2] == 3 && s.d[1] == 1 && s.s[1] == s.s[2]:
		return directKernel{threeShader + step.suffix + ".texel", directRun, step.rows, true}
	}
	return directKernel{lineShader + step.suffix + ".texel", directRun, 1, true}
}

// kernels lists the kernels of convolutions.
func kernels() []spec.Kernel {
	narrow := []tensor.DType{tensor.F32, tensor.F16, tensor.BF16}
	ks := slices.Concat(
		planner.DTypeVariants("nn/conv_direct", directParams{}, planner.Floats, nil),
		planner.DTypeVariants("nn/conv_pack", packParams{}, narrow, nil),
		planner.DTypeVariants("nn/conv_pack_filter", packFilterParams{}, narrow, nil),
	)
	for _, d := range narrow {
		ks = append(ks, spec.Kernel{Name: "nn/conv_pack_lines." + d.String(), Params: packLinesParams{}}, spec.Kernel{Name: "nn/conv_pack_taps." + d.String(), Params: packTapsParams{}})
	}
	ks = append(ks, spec.Kernel{Name: "nn/conv_direct.f32.run", Params: directParams{}})
	ks = append(ks, lineKernels()...)
	for _, d := range narrow {
		ks = append(ks, spec.Kernel{Name: "nn/conv_pack." + d.String() + ".apart", Params: packParams{}})
	}
	for _, d := range planner.Floats {
		ks = append(ks, spec.Kernel{Name: "nn/conv_direct." + d.String() + ".apart", Params: directParams{}})
	}
	ks = append(append(ks, panelKernels()...), tilesKernels()...)
	ks = append(ks, sharedKernels(narrow...)...)
	ks = append(append(ks, gemm.Kernels()...), movement.CopyKernels()...)
	ks = append(ks, sumReducer.Kernels(tensor.F32, tensor.F64)...)
	return append(ks, elementwise.NarrowCastKernels()...)
}

// panelKernels lists the kernels that multiply packed operands.
func panelKernels() (ks []spec.Kernel) {
	for _, v := range []string{"panel.f32", "panel.f32.add", "panel.f32.texel", "panel.f32.texel.add", "panel.f32.texel.tall", "panel.f32.texel.tall.add", "panel.f32.texel.wide", "panel.f32.texel.wide.add", "lanes.f32"} {
		ks = append(ks, spec.Kernel{Name: "nn/conv_" + v, Params: panelParams{}})
	}
	return ks
}

// lineKernels lists the kernels of directKernel for lines.
func lineKernels() (ks []spec.Kernel) {
	for _, x := range lineSteps {
		for _, name := range []string{lineShader + x.suffix, lineShader + x.suffix + ".texel", lineShader + x.suffix + ".texel.whole", threeShader + x.suffix + ".texel", threeShader + x.suffix + ".texel.whole"} {
			ks = append(ks, spec.Kernel{Name: name, Params: directParams{}})
		}
	}
	return ks
}

// RunKernels lists the kernels of Product.AddRuns.
func RunKernels() []spec.Kernel {
	return append([]spec.Kernel{
		{Name: "nn/conv_direct.f32", Params: directParams{}}, {Name: "nn/conv_direct.f32.run", Params: directParams{}},
		{Name: "nn/conv_pack.f32", Params: packParams{}}, {Name: "nn/conv_pack_filter.f32", Params: packFilterParams{}},
		{Name: "nn/conv_pack_lines.f32", Params: packLinesParams{}}, {Name: "nn/conv_pack_taps.f32", Params: packTapsParams{}},
	}, slices.Concat(lineKernels(), panelKernels(), sharedKernels(tensor.F32), movement.CopyKernels())...)
}
