package compile

import (
	"math"
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// anyWord is the bound of a word of which nothing is known.
const anyWord = math.MaxUint32

// mostOf returns a number that a leaf of words, taken as unsigned, does not exceed, as far as the
// instructions say that make it.
func mostOf(v *ir.Value, i int) uint64 { return boundOf(v, i, 8) }

// boundOf is mostOf, which looks at so many instructions one behind the other.
func boundOf(v *ir.Value, i, depth int) uint64 {
	if t := v.Type.Scalar(); t == nil || !isWord(t) || depth == 0 {
		return anyWord
	}
	arg := func(k int) uint64 { return boundOf(v.Args[k], i, depth-1) }
	by := func() (n uint64, ok bool) {
		n, ok = constantLeaf(v.Args[1], i)
		return n, ok && n < 32
	}
	most := uint64(anyWord)
	switch v.Op {
	case ir.Const:
		if k, ok := constantLeaf(v, i); ok {
			return uint64(uint32(k))
		}
	case ir.BitwiseAnd:
		most = min(arg(0), arg(1))
	case ir.BitwiseOr, ir.BitwiseXor:
		most = 1<<bits.Len64(max(arg(0), arg(1))) - 1
	case ir.IAdd:
		most = arg(0) + arg(1)
	case ir.IMul:
		most = arg(0) * arg(1) // both below 2^32
	case ir.ShiftRightLogical:
		if n, ok := by(); ok {
			most = arg(0) >> n
		}
	case ir.ShiftLeftLogical:
		if n, ok := by(); ok {
			most = arg(0) << n
		}
	case ir.ExtInst:
		if v.Literals[0] == glslUMin {
			most = min(arg(0), arg(1))
		}
	case ir.Select:
		most = max(arg(1), arg(2))
	case ir.CopyObject:
		most = arg(0)
	case ir.CompositeExtract:
		_, before := partAt(v.Args[0].Type, v.Literals)
		most = boundOf(v.Args[0], before+i, depth-1)
	case ir.CompositeConstruct:
		for _, a := range v.Args {
			n := countLeaves(a.Type)
			if i < n {
				return boundOf(a, i, depth-1)
			}
			i -= n
		}
	}
	return min(most, anyWord)
}

// splitAddress is an address that is a line, and a number of which the instructions say the most,
// times unit.
type splitAddress struct {
	at   line
	rest *ir.Value
	unit int64
}

// split divides an address in a buffer, if it can be.
func (in *interior) split(p *ir.Value) (s splitAddress, ok bool) {
	if p.Op != ir.AccessChain || p.Args[0].Op != ir.Variable {
		return s, false
	}
	for _, step := range stepsOf(p) {
		if step.offset < 0 || step.offset > mostApart || step.unit < 0 || step.unit > mostApart {
			return s, false
		}
		s.at.plus += int32(step.offset)
		if step.index != nil && !in.splitIndex(&s, step.index, step.unit) {
			return s, false
		}
	}
	return s, s.rest != nil && s.at.by >= 0 && s.at.by <= 1<<12 && s.at.plus >= -mostApart && s.at.plus <= mostApart
}

// splitIndex adds an index times unit to an address.
func (in *interior) splitIndex(s *splitAddress, v *ir.Value, unit int64) (ok bool) {
	if !isWord(v.Type) {
		return false
	}
	if a, is := in.lines.of(v, 0); is {
		s.at, ok = s.at.add(a, int32(unit))
		return ok
	}
	if s.rest == nil && mostOf(v, 0)*uint64(unit) <= mostApart {
		s.rest, s.unit = v, unit
		return true
	}
	return v.Op == ir.IAdd && in.splitIndex(s, v.Args[0], unit) && in.splitIndex(s, v.Args[1], unit)
}

// splitLanes are the addresses of the lanes of a split address: locals, and what to add.
type splitLanes struct {
	addr   [lanes]uint32
	offset [lanes]uint32
}

// splitWindow returns the addresses of an access whose address can be split. The window of its line
// has room for the most that the rest can be, so that they need no test.
func (e *emitter) splitWindow(p, root *ir.Value, a *access, t *ir.Type) (s splitLanes, ok bool) {
	if e.in == nil || t.Kind == ir.Bool || bytesOf(t) < 4 || a.offset > mostApart || a.span > mostApart {
		return s, false
	}
	if _, ok := e.in.address(p); ok || root.Var.Class != ir.StorageBuffer && root.Var.Class != ir.Uniform {
		return s, false
	}
	d, ok := e.in.split(p)
	if !ok {
		return s, false
	}
	from := d.at.plus + int32(a.offset)
	w := e.in.window(root, d.at, from, from+int32(mostOf(d.rest, 0)*uint64(d.unit))+int32(a.span))
	for k := range lanes {
		s.offset[k] = uint32(from-w.from) + uint32(k)*uint32(d.at.by)
	}
	if known, ok := e.splits[p]; ok && e.caching {
		s.addr = known
		return s, true
	}
	e.pushVector(d.rest, 0, 0)
	if d.unit != 1 {
		splatConst(e.Func, uint32(d.unit))
		e.Op(wasm.I32x4Mul)
	}
	x := e.newLocal(wasm.V128)
	for k := range lanes {
		e.Get(w.pointer)
		e.Get(x)
		e.Lane(wasm.I32x4ExtractLane, byte(k))
		e.Op(wasm.I32Add)
		s.addr[k] = e.newLocal(wasm.I32)
	}
	if e.caching && e.Depth() == e.blockDepth {
		e.splits[p] = s.addr
	}
	return s, true
}

// gatherSplit loads each lane from an address that can be split, and reports whether it can be.
func (e *emitter) gatherSplit(v, p, root *ir.Value, a *access, t *ir.Type) bool {
	s, ok := e.splitWindow(p, root, a, t)
	if !ok {
		return false
	}
	if len(a.parts) == 4 && bytesOf(t) == 4 && a.dense(t) {
		e.transpose(e.homeOf(v), a.leaf, func(k int) (uint32, uint32) { return s.addr[k], s.offset[k] })
		return true
	}
	for i, o := range a.parts {
		e.set(v, a.leaf+i, nil, func(half int) {
			e.gatherFrom(t, half, s.addr, func(lane int) uint32 { return s.offset[lane] + o })
		})
	}
	return true
}

// scatterSplit stores each lane to an address that can be split, and reports whether it can be.
func (e *emitter) scatterSplit(p, x, root *ir.Value, a *access, t *ir.Type) bool {
	s, ok := e.splitWindow(p, root, a, t)
	if !ok {
		return false
	}
	e.eachLane(func(k int) {
		for i, part := range a.parts {
			e.Get(s.addr[k])
			e.pushLane(x, a.leaf+i, k)
			e.storeScalar(t, s.offset[k]+part)
		}
	})
	return true
}
