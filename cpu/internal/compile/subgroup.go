package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// The invocations of a vector are a subgroup.

// Kinds of operations on a subgroup.
const (
	groupInclusive = 1
	groupExclusive = 2
	groupClustered = 3
)

// subgroup writes an operation of a subgroup.
func (e *emitter) subgroup(v *ir.Value) {
	switch v.Op {
	case ir.GroupNonUniformElect:
		e.set(v, 0, nil, func(int) {
			e.V128Const([4]uint32{0, 1, 2, 3})
			e.pushBits(func() { e.pushMask() })
			e.Op(wasm.I32Ctz)
			e.Op(wasm.I32x4Splat)
			e.Op(wasm.I32x4Eq)
		})
	case ir.GroupNonUniformAll, ir.GroupNonUniformAny:
		e.vote(v)
	case ir.GroupNonUniformAllEqual:
		e.allEqual(v)
	case ir.GroupNonUniformBallot:
		for i := range 4 {
			e.set(v, i, func() {
				if i > 0 {
					e.I32Const(0)
					return
				}
				e.pushBits(func() { e.masked(v.Args[1]) })
			}, nil)
		}
	case ir.GroupNonUniformBroadcast, ir.GroupNonUniformBroadcastFirst:
		for i := range countLeaves(v.Type) {
			e.set(v, i, func() {
				first := func() {
					e.pushBits(func() { e.pushMask() })
					e.Op(wasm.I32Ctz)
				}
				if v.Op == ir.GroupNonUniformBroadcast && !e.shapeOf(v.Args[2], 0).varying {
					e.pushLaneAt(v.Args[1], i, func() { e.pushLane(v.Args[2], 0, 0) })
					return
				}
				if v.Op == ir.GroupNonUniformBroadcast {
					// The number is the same in those that run, of which lane 0 need not be one.
					e.pushLaneAt(v.Args[1], i, func() { e.pushLaneAt(v.Args[2], 0, first) })
					return
				}
				e.pushLaneAt(v.Args[1], i, first)
			}, nil)
		}
	case ir.GroupNonUniformShuffle, ir.GroupNonUniformShuffleXor, ir.GroupNonUniformShuffleUp, ir.GroupNonUniformShuffleDown:
		e.shuffle(v)
	case ir.GroupNonUniformInverseBallot, ir.GroupNonUniformBallotBitExtract, ir.GroupNonUniformBallotBitCount, ir.GroupNonUniformBallotFindLSB, ir.GroupNonUniformBallotFindMSB:
		e.ballot(v)
	default:
		e.reduce(v)
	}
}

// pushBits pushes the lanes of the mask that f pushes as bits of a number.
func (e *emitter) pushBits(f func()) {
	f()
	e.Op(wasm.I32x4Bitmask)
}

// masked pushes a condition and the mask of the invocations that run, both together.
func (e *emitter) masked(c *ir.Value) {
	e.pushVector(c, 0, 0)
	if e.mask != 0 {
		e.Get(e.mask)
		e.Op(wasm.V128And)
	}
}

// vote writes whether a condition holds for all invocations, or for any.
func (e *emitter) vote(v *ir.Value) {
	e.set(v, 0, func() {
		e.pushBits(func() { e.masked(v.Args[1]) })
		if v.Op == ir.GroupNonUniformAny {
			e.I32Const(0)
			e.Op(wasm.I32Ne)
			return
		}
		e.pushBits(func() { e.pushMask() })
		e.Op(wasm.I32Eq)
	}, nil)
}

// allEqual writes whether all invocations have the value of the first one.
func (e *emitter) allEqual(v *ir.Value) {
	in := v.Args[1]
	e.set(v, 0, func() {
		e.pushBits(func() { e.pushMask() })
		bits := e.newLocal(wasm.I32)
		e.I32Const(1)
		for i, t := range leavesOf(in.Type) {
			e.pushLaneAt(in, i, func() { e.Get(bits); e.Op(wasm.I32Ctz) })
			first := e.newLocal(scalarType(t))
			for k := range lanes {
				e.pushLane(in, i, k)
				e.Get(first)
				e.Op(map[wasm.ValType]wasm.Op{wasm.I32: wasm.I32Eq, wasm.I64: wasm.I64Eq, wasm.F32: wasm.F32Eq, wasm.F64: wasm.F64Eq}[scalarType(t)])
				e.Get(bits)
				e.I32Const(1 << k)
				e.Op(wasm.I32And)
				e.Op(wasm.I32Eqz)
				e.Op(wasm.I32Or)
				e.Op(wasm.I32And)
			}
		}
	}, nil)
}

// pushLaneAt pushes the lane of a leaf that index pushes the number of.
func (e *emitter) pushLaneAt(v *ir.Value, i int, index func()) {
	index()
	at := e.newLocal(wasm.I32)
	e.pushLane(v, i, 0)
	for k := 1; k < lanes; k++ {
		e.pushLane(v, i, k)
		e.Get(at)
		e.I32Const(int32(k))
		e.Op(wasm.I32Ne)
		e.Op(wasm.Select)
	}
}

// shuffle writes the exchange of values between invocations.
func (e *emitter) shuffle(v *ir.Value) {
	in, by := v.Args[1], v.Args[2]
	for i, t := range leavesOf(v.Type) {
		e.set(v, i, nil, func(half int) {
			e.lanewise(t, half, func(lane int) {
				e.pushLaneAt(in, i, func() {
					switch v.Op {
					case ir.GroupNonUniformShuffle:
						e.pushLane(by, 0, lane)
					case ir.GroupNonUniformShuffleXor:
						e.pushLane(by, 0, lane)
						e.I32Const(int32(lane))
						e.Op(wasm.I32Xor)
					case ir.GroupNonUniformShuffleUp:
						e.I32Const(int32(lane))
						e.pushLane(by, 0, lane)
						e.Op(wasm.I32Sub)
					default:
						e.I32Const(int32(lane))
						e.pushLane(by, 0, lane)
						e.Op(wasm.I32Add)
					}
					e.I32Const(lanes - 1)
					e.Op(wasm.I32And)
				})
			})
		})
	}
}

// ballot writes an operation on the bits of a ballot, of which four count.
func (e *emitter) ballot(v *ir.Value) {
	in := v.Args[1]
	lane := func(k int) {
		e.pushLane(in, 0, k)
		e.I32Const(1<<lanes - 1)
		e.Op(wasm.I32And)
		switch v.Op {
		case ir.GroupNonUniformInverseBallot:
			e.I32Const(int32(k))
			e.Op(wasm.I32ShrU)
			e.I32Const(1)
			e.Op(wasm.I32And)
		case ir.GroupNonUniformBallotBitExtract:
			e.pushLane(v.Args[2], 0, k)
			e.Op(wasm.I32ShrU)
			e.I32Const(1)
			e.Op(wasm.I32And)
		case ir.GroupNonUniformBallotBitCount:
			switch v.Literals[0] {
			case groupInclusive:
				e.I32Const(2<<k - 1)
				e.Op(wasm.I32And)
			case groupExclusive:
				e.I32Const(1<<k - 1)
				e.Op(wasm.I32And)
			}
			e.Op(wasm.I32Popcnt)
		case ir.GroupNonUniformBallotFindLSB:
			e.Op(wasm.I32Ctz)
		default:
			x := e.newLocal(wasm.I32)
			e.I32Const(31)
			e.Get(x)
			e.Op(wasm.I32Clz)
			e.Op(wasm.I32Sub)
		}
	}
	e.set(v, 0, func() { lane(0) }, func(half int) { e.lanewise(v.Type, half, lane) })
}

// reduction is an operation on all values of a subgroup.
type reduction struct {
	op opcodes
	// order is the comparison of a minimum or a maximum.
	order    ir.Op
	identity func(t *ir.Type) uint64
}

func zeroBits(*ir.Type) uint64   { return 0 }
func oneBits(*ir.Type) uint64    { return 1 }
func allBits(*ir.Type) uint64    { return ^uint64(0) }
func leastInt(t *ir.Type) uint64 { return ^uint64(0) << (t.Bits - 1) }
func greatest(t *ir.Type) uint64 { return ^(^uint64(0) << (t.Bits - 1)) }
func infinite(t *ir.Type) uint64 {
	return map[uint32]uint64{16: 0x7c00, 32: 0x7f800000, 64: 0x7ff << 52}[t.Bits]
}
func minusInf(t *ir.Type) uint64  { return infinite(t) | 1<<(t.Bits-1) }
func minusZero(t *ir.Type) uint64 { return 1 << (t.Bits - 1) }

// reductions are the operations by their instructions.
var reductions = map[ir.Op]reduction{
	ir.GroupNonUniformIAdd: {op: simple[ir.IAdd], identity: zeroBits}, ir.GroupNonUniformFAdd: {op: simple[ir.FAdd], identity: minusZero},
	ir.GroupNonUniformIMul: {op: simple[ir.IMul], identity: oneBits}, ir.GroupNonUniformFMul: {op: simple[ir.FMul], identity: one},
	ir.GroupNonUniformSMin: {order: ir.SLessThan, identity: greatest}, ir.GroupNonUniformUMin: {order: ir.ULessThan, identity: allBits}, ir.GroupNonUniformFMin: {order: ir.FOrdLessThan, identity: infinite},
	ir.GroupNonUniformSMax: {order: ir.SGreaterThan, identity: leastInt}, ir.GroupNonUniformUMax: {order: ir.UGreaterThan, identity: zeroBits}, ir.GroupNonUniformFMax: {order: ir.FOrdGreaterThan, identity: minusInf},
	ir.GroupNonUniformBitwiseAnd: {op: simple[ir.BitwiseAnd], identity: allBits}, ir.GroupNonUniformBitwiseOr: {op: simple[ir.BitwiseOr], identity: zeroBits}, ir.GroupNonUniformBitwiseXor: {op: simple[ir.BitwiseXor], identity: zeroBits},
	ir.GroupNonUniformLogicalAnd: {op: simple[ir.LogicalAnd], identity: oneBits}, ir.GroupNonUniformLogicalOr: {op: simple[ir.LogicalOr], identity: zeroBits}, ir.GroupNonUniformLogicalXor: {op: simple[ir.LogicalNotEqual], identity: zeroBits},
}

// reduce writes a reduction or a scan. The values are combined from the first lane on.
func (e *emitter) reduce(v *ir.Value) {
	r, ok := reductions[v.Op]
	if !ok {
		unknown(v)
	}
	in, kind := v.Args[1], v.Literals[0]
	cluster := lanes
	if kind == groupClustered {
		n, constant := constantLeaf(v.Args[2], 0)
		if !constant {
			unknown(v)
		}
		cluster = min(int(n), lanes)
	}
	e.pushBits(func() { e.pushMask() })
	bits := e.newLocal(wasm.I32)
	for i, t := range leavesOf(v.Type) {
		// active pushes the value of a lane, or the identity if it does not run.
		active := func(k int) {
			e.pushLane(in, i, k)
			if e.mask == 0 {
				return
			}
			e.constant(t, r.identity(t))
			e.Get(bits)
			e.I32Const(1 << k)
			e.Op(wasm.I32And)
			e.Op(wasm.Select)
		}
		over := func(from, to int) {
			if from >= to {
				e.constant(t, r.identity(t))
				return
			}
			active(from)
			for k := from + 1; k < to; k++ {
				active(k)
				e.combineScalars(r, t)
			}
		}
		lane := func(k int) {
			switch kind {
			case groupInclusive:
				over(0, k+1)
			case groupExclusive:
				over(0, k)
			default:
				over(k/cluster*cluster, k/cluster*cluster+cluster)
			}
		}
		e.set(v, i, func() { lane(0) }, func(half int) { e.lanewise(t, half, lane) })
	}
}

// combineScalars combines the two scalars on the stack.
func (e *emitter) combineScalars(r reduction, t *ir.Type) {
	if r.order == 0 {
		e.Op(r.op.scalar(t))
		e.normalise(t)
		return
	}
	w := scalarType(t)
	y := e.newLocal(w)
	x := e.newLocal(w)
	e.Get(x)
	e.Get(y)
	e.Get(x)
	e.Get(y)
	o := simple[r.order]
	e.Op(o.scalar(t))
	e.Op(wasm.Select)
}
