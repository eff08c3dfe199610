package gemm

import (
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

// scaledBudget is the largest size of the temporary buffer of products that are scaled, in bytes. A batch
// whose products fit is one launch.
const scaledBudget = 64 << 20

// scaled plans y = α·A·B + β·C. Operands have strides along the dimensions of the product.
type scaled struct {
	*product
	alpha, beta float64
	// y has stride 1 along n.
	y planner.Operand
	// c may be y. It is nil if β·C is 0.
	c *planner.Operand
	// triangle is the part of y to compute. The rest is that of c, or zeros.
	triangle triangle
}

// triangle is a part of a matrix.
type triangle uint8

const (
	wholeMatrix triangle = iota
	lowerTriangle
	upperTriangle
)

// scaledParams is the push-constant block of gemm_finish.comp.
type scaledParams struct {
	Base, Count, Runs, Packs, Rows, Inner, N, YRow, YInner, YOuter uint32
	From, Row, RowInner, RowOuter, Parts, Part                     uint32
	Addend, CBase, CRow, CCol, CInner, COuter                      uint32
	Alpha, Beta                                                    [2]uint32
}

// triangleParams is the push-constant block of the variants for triangles.
type triangleParams struct {
	scaledParams
	Upper uint32
	Shift int32
}

var scaledKernels = slices.Concat(kernels,
	planner.DTypeVariants("blas/gemm_finish", scaledParams{}, planner.Floats, func(d tensor.DType) bool { return d != tensor.F64 }),
	planner.DTypeVariants("blas/gemm_finish_packs", scaledParams{}, planner.Floats[:3], func(tensor.DType) bool { return true }),
	kernelsOf("blas/gemm_finish_lanes", scaledParams{}, "f32", "f64"),
)

// add appends the steps.
func (s *scaled) add() error {
	all := planner.RegionOf(s.shape)
	switch {
	case slices.Contains(s.shape[:s.dimK()], 0):
		return nil
	case s.alpha == 0 || s.size(s.dimK()) == 0:
		return s.finish(all, chunk{})
	case s.alpha == 1 && s.c == nil && s.triangle == wholeMatrix && s.canWrite(s.y, nil):
		return s.addRegion(all, s.y, nil, false)
	}
	reach := (planner.MaxSpan(s.t, s.kind != sharedKind) - planner.WindowAlign(s.t)) / int64(s.y.DType.Size())
	return s.addChunks(all, planner.ScratchBudget(s.t, scaledBudget), reach, s.finish)
}

// finish appends the launches for a region whose products are in a chunk. A chunk without a buffer stands for
// products that are 0.
func (s *scaled) finish(b planner.Region, c chunk) error {
	// from has the strides of the chunk.
	from := planner.Operand{Strides: make([]int, len(s.shape))}
	rows := b.N[s.dimM()] * c.wide
	from.Strides[s.outer()], from.Strides[s.inner()], from.Strides[s.dimM()], from.Strides[s.dimN()] = b.N[s.inner()]*rows, rows, c.wide, 1
	for d, at := range b.From {
		from.Base -= at * from.Strides[d]
	}
	b = b.Clone()
	b.From[s.dimK()], b.N[s.dimK()] = 0, 1
	operands := []planner.Operand{s.y}
	if s.c != nil {
		operands = append(operands, *s.c)
	}
	whole := slices.Clone(b.N)
	for d := range s.outer() { // The kernel knows two dimensions of the batch.
		whole[d] = 1
	}
	return planner.Tiles(b, whole, func(b planner.Region) error {
		return planner.Split(s.t, planner.MaxSpan(s.t, s.kind != sharedKind), b, operands, 8, func(b planner.Region) error { return s.finishPart(b, c, from) })
	})
}

// finishPart appends the launch for a region of which all operands can be bound.
func (s *scaled) finishPart(b planner.Region, c chunk, from planner.Operand) error {
	outer, inner, m, n := s.outer(), s.inner(), s.dimM(), s.dimN()
	size, d := s.y.DType.Size(), s.accumulator()
	rows := b.N[outer] * b.N[inner] * b.N[m]
	p := scaledParams{
		Count: uint32(b.N[n]), Runs: uint32(rows), Rows: uint32(b.N[m]), Inner: uint32(b.N[inner]), N: uint32(b.N[n]),
		YRow: uint32(s.y.Strides[m]), YInner: uint32(s.y.Strides[inner]), YOuter: uint32(s.y.Strides[outer]),
		Alpha: bitsOf(s.alpha, d), Beta: bitsOf(s.beta, d),
	}
	step := spec.Step{Bind: make([]spec.Bind, 3)}
	step.Bind[2], p.Base = s.y.Window(s.t, b)
	if c.wide > 0 {
		step.Bind[0] = spec.Bind{Buf: c.parts}
		p.From, p.Row, p.RowInner, p.RowOuter = uint32(from.First(b)), uint32(c.wide), uint32(from.Strides[inner]), uint32(from.Strides[outer])
		p.Parts, p.Part = uint32(s.parts), uint32(c.part)
	} else {
		step.Bind[0] = s.nothing()
	}
	if s.c != nil {
		p.Addend = 1
		step.Bind[1], p.CBase = s.c.Window(s.t, b)
		p.CRow, p.CCol, p.CInner, p.COuter = uint32(s.c.Strides[m]), uint32(s.c.Strides[n]), uint32(s.c.Strides[inner]), uint32(s.c.Strides[outer])
	} else {
		step.Bind[1] = step.Bind[0]
	}
	kernel, local := "blas/gemm_finish", planner.SmallGroup
	switch {
	case s.t.HostVectors && s.kind == sharedKind && size >= 4 && s.triangle == wholeMatrix:
		kernel += "_lanes"
		p.Packs, local = uint32(planner.CeilDiv(b.N[n], 256)), 1
	case s.triangle == wholeMatrix && s.hasPacks(b):
		kernel += "_packs"
		if p.Packs = uint32(b.N[n] * size / planner.Pack); s.kind != sharedKind {
			local *= 4
		}
	case s.isRun(b):
		p.Count, p.Runs = p.Count*uint32(rows), 1
	case size < 4 && !s.hasOwnWords(b):
		return planner.Strides("output %v of 16 bits: rows of several matrices share words", s.y.Strides)
	}
	if p.Packs == 0 {
		p.Packs = uint32(planner.CeilDiv(int(p.Count)*size, planner.Pack) + 1)
	}
	kernel += "." + s.y.DType.String()
	step.Params = p
	if s.triangle != wholeMatrix {
		kernel += ".triangle"
		part := triangleParams{scaledParams: p, Shift: int32(b.From[n] - b.From[m])}
		if s.triangle == upperTriangle {
			part.Upper = 1
		}
		step.Params = part
	}
	if s.kind != sharedKind && s.accumulator() != tensor.F64 {
		kernel += ".texel"
	}
	var err error
	step.Groups, err = planner.Grid(s.t, planner.CeilDiv(int64(p.Runs)*int64(p.Packs), int64(local)))
	step.Module = spirv.Kernel(kernel)
	s.plan.Steps = append(s.plan.Steps, step)
	return err
}

// hasPacks reports whether the rows of y and of C in a region consist of whole packs.
func (s *scaled) hasPacks(b planner.Region) bool {
	pack := planner.Pack / s.y.DType.Size()
	whole := func(o planner.Operand) bool {
		for _, d := range []int{s.outer(), s.inner(), s.dimM()} {
			if b.N[d] > 1 && o.Strides[d]%pack != 0 {
				return false
			}
		}
		return o.Strides[s.dimN()] == 1 && o.First(b)%int64(pack) == 0
	}
	return s.y.DType != tensor.F64 && b.N[s.dimN()]%pack == 0 && whole(s.y) && (s.c == nil || whole(*s.c))
}

// nothing is a binding for what a kernel does not read.
func (s *scaled) nothing() spec.Bind {
	if s.unread.Kind == spec.RefNone {
		s.unread = planner.AddScratch(s.plan, planner.Pack)
	}
	return spec.Bind{Buf: s.unread}
}

// isRun reports whether the elements of y in a region follow each other without gaps.
func (s *scaled) isRun(b planner.Region) bool {
	dims := []int{s.outer(), s.inner(), s.dimM(), s.dimN()}
	var n, strides []int
	for _, d := range dims {
		n, strides = append(n, b.N[d]), append(strides, s.y.Strides[d])
	}
	return isRowMajor(n, strides)
}

// hasOwnWords reports whether no two rows of y in a region have elements of 16 bits in one word: two invocations must not write
// to it. Either each row begins with a word, or there are gaps between any two rows.
func (s *scaled) hasOwnWords(b planner.Region) bool {
	even := s.y.First(b)%2 == 0
	type level struct{ n, stride int }
	var levels []level
	for _, d := range []int{s.outer(), s.inner(), s.dimM()} {
		if b.N[d] > 1 {
			even = even && s.y.Strides[d]%2 == 0
			levels = append(levels, level{b.N[d], s.y.Strides[d]})
		}
	}
	if even {
		return true
	}
	slices.SortFunc(levels, func(a, b level) int { return a.stride - b.stride })
	reach := b.N[s.dimN()]
	for _, l := range levels {
		if l.stride <= reach {
			return false
		}
		reach += (l.n - 1) * l.stride
	}
	return true
}

// bitsOf returns the words of x in the dtype of the accumulators.
func bitsOf(x float64, d tensor.DType) [2]uint32 {
	if d == tensor.F64 {
		b := math.Float64bits(x)
		return [2]uint32{uint32(b), uint32(b >> 32)}
	}
	return [2]uint32{math.Float32bits(float32(x))}
}
