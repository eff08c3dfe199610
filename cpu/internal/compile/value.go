package compile

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

func float64FromBits(bits uint64) float64 { return math.Float64frombits(bits) }

// intBits returns an integer of up to 32 bits, or a boolean, extended to 32 bits.
func intBits(t *ir.Type, bits uint64) uint32 {
	switch {
	case t.Kind == ir.Bool:
		return uint32(bits & 1)
	case t.Kind != ir.Int || t.Bits >= 32:
		return uint32(bits)
	case t.Signed:
		shift := 32 - t.Bits
		return uint32(int32(uint32(bits)<<shift) >> shift)
	}
	return uint32(bits) & (1<<t.Bits - 1)
}

// floatBits returns the bits of a float of 32 bits for a constant of 16 or 32.
func floatBits(t *ir.Type, bits uint64) uint32 {
	if t.Kind == ir.Float && t.Bits == 16 {
		return math.Float32bits(halfToFloat(uint16(bits)))
	}
	return uint32(bits)
}

// halfToFloat converts a float of 16 bits.
func halfToFloat(h uint16) float32 {
	sign, exp, frac := uint32(h>>15)<<31, uint32(h>>10)&31, uint32(h)&1023
	switch exp {
	case 0:
		f := float32(frac) * 0x1p-24
		return math.Float32frombits(math.Float32bits(f) | sign)
	case 31:
		return math.Float32frombits(sign | 0xff<<23 | frac<<13)
	}
	return math.Float32frombits(sign | (exp+112)<<23 | frac<<13)
}

// leafBits returns the bits of a leaf of a constant, or 0 if it may be anything.
func leafBits(v *ir.Value, i int) uint64 {
	if v.Op != ir.Const {
		return 0
	}
	for _, a := range v.Args {
		n := countLeaves(a.Type)
		if i < n {
			return leafBits(a, i)
		}
		i -= n
	}
	if len(v.Args) > 0 {
		return 0
	}
	return v.Bits
}

// value writes an instruction.
func (e *emitter) value(v *ir.Value) {
	switch v.Op {
	case ir.Phi, ir.Undef, ir.MemoryBarrier:
		return
	case ir.ControlBarrier:
		unsupportedf("a barrier that not all invocations reach")
	case ir.Load:
		e.load(v)
	case ir.Store:
		e.store(v.Args[0], v.Args[1])
	case ir.AccessChain, ir.PtrAccessChain:
		e.chain(v)
	case ir.PtrEqual, ir.PtrNotEqual, ir.PtrDiff:
		e.comparePointers(v)
	case ir.ReadClockKHR:
		e.readClock(v)
	case ir.ArrayLength:
		e.arrayLength(v)
	case ir.CopyObject, ir.CopyLogical:
		if v.Type.Kind == ir.Pointer || v.Type.Kind == ir.TexelBuffer {
			if v.Type.Kind == ir.Pointer {
				e.copyLeaf(v, 0, v.Args[0], 0)
			}
			return
		}
		for i := range countLeaves(v.Type) {
			e.copyLeaf(v, i, v.Args[0], i)
		}
	case ir.CompositeConstruct:
		e.construct(v)
	case ir.CompositeExtract:
		part, before := partAt(v.Args[0].Type, v.Literals)
		for i := range countLeaves(part) {
			e.copyLeaf(v, i, v.Args[0], before+i)
		}
	case ir.CompositeInsert:
		part, before := partAt(v.Args[1].Type, v.Literals)
		n := countLeaves(part)
		for i := range countLeaves(v.Type) {
			if i >= before && i < before+n {
				e.copyLeaf(v, i, v.Args[0], i-before)
			} else {
				e.copyLeaf(v, i, v.Args[1], i)
			}
		}
	case ir.VectorShuffle:
		n := countLeaves(v.Args[0].Type)
		for i, k := range v.Literals {
			switch {
			case int(k) < n:
				e.copyLeaf(v, i, v.Args[0], int(k))
			case k != ^uint32(0):
				e.copyLeaf(v, i, v.Args[1], int(k)-n)
			}
		}
	case ir.VectorExtractDynamic:
		e.extractDynamic(v)
	case ir.VectorInsertDynamic:
		e.insertDynamic(v)
	case ir.Transpose:
		rows, columns := int(v.Args[0].Type.Elem.N), int(v.Args[0].Type.N)
		for i := range rows * columns {
			e.copyLeaf(v, i, v.Args[0], i%columns*rows+i/columns)
		}
	case ir.ExtInst:
		e.extended(v)
	default:
		switch {
		case isAtomic(v.Op):
			e.atomic(v)
		case v.Op >= ir.GroupNonUniformElect && v.Op <= ir.GroupNonUniformLogicalXor:
			e.subgroup(v)
		default:
			e.arithmetic(v)
		}
	}
}

// unknown says that an instruction cannot be compiled.
func unknown(v *ir.Value) { unsupportedf("the instruction %s", spv.InstructionName(v.Op)) }

// copyLeaf sets a leaf of a value to one of another.
func (e *emitter) copyLeaf(v *ir.Value, i int, from *ir.Value, k int) {
	e.set(v, i, func() { e.push(from, k) }, func(half int) { e.pushVector(from, k, half) })
}

func (e *emitter) construct(v *ir.Value) {
	i := 0
	for _, a := range v.Args {
		for k := range countLeaves(a.Type) {
			e.copyLeaf(v, i, a, k)
			i++
		}
	}
}

// extractDynamic takes the component of a vector at an index.
func (e *emitter) extractDynamic(v *ir.Value) {
	in, at := v.Args[0], v.Args[1]
	e.set(v, 0, func() {
		e.push(in, 0)
		for k := 1; k < countLeaves(in.Type); k++ {
			e.push(in, k)
			e.pushIndex(at)
			e.I32Const(int32(k))
			e.Op(wasm.I32Ne)
			e.Op(wasm.Select)
		}
	}, func(half int) {
		e.pushVector(in, 0, half)
		for k := 1; k < countLeaves(in.Type); k++ {
			e.pushVector(in, k, half)
			e.indexIs(at, uint64(k))
			e.Op(wasm.V128Not)
			if isWide(v.Type) {
				e.widen(half)
			}
			e.Choose()
		}
	})
}

// pushIndex pushes an index that is the same in all lanes, as 32 bits.
func (e *emitter) pushIndex(at *ir.Value) {
	e.push(at, 0)
	if isWide(at.Type) {
		e.Op(wasm.I32WrapI64)
	}
}

// indexIs pushes the mask of the lanes in which an index has a value.
func (e *emitter) indexIs(at *ir.Value, k uint64) { e.compareLanes(at, k) }

// insertDynamic replaces the component of a vector at an index.
func (e *emitter) insertDynamic(v *ir.Value) {
	in, part, at := v.Args[0], v.Args[1], v.Args[2]
	for k := range countLeaves(v.Type) {
		e.set(v, k, func() {
			e.push(part, 0)
			e.push(in, k)
			e.pushIndex(at)
			e.I32Const(int32(k))
			e.Op(wasm.I32Eq)
			e.Op(wasm.Select)
		}, func(half int) {
			e.pushVector(part, 0, half)
			e.pushVector(in, k, half)
			e.indexIs(at, uint64(k))
			if isWide(part.Type) {
				e.widen(half)
			}
			e.Choose()
		})
	}
}

// pushLane pushes one lane of a leaf as a scalar.
func (e *emitter) pushLane(v *ir.Value, i, lane int) {
	t := leavesOf(v.Type)[i]
	sh := e.shapeOf(v, i)
	if !sh.varying {
		e.push(v, i)
		if sh.stride != 0 && lane > 0 {
			e.I32Const(int32(lane) * sh.stride)
			e.Op(wasm.I32Add)
		}
		return
	}
	if isWide(t) {
		e.pushVector(v, i, lane/2)
	} else {
		e.pushVector(v, i, 0)
	}
	e.extract(t, lane)
}

// extract takes a lane of the vector on the stack, which is the half with that lane.
func (e *emitter) extract(t *ir.Type, lane int) {
	switch scalarType(t) {
	case wasm.I32:
		e.Lane(wasm.I32x4ExtractLane, byte(lane))
		if t.Kind == ir.Bool {
			e.I32Const(1)
			e.Op(wasm.I32And)
		}
	case wasm.I64:
		e.Lane(wasm.I64x2ExtractLane, byte(lane%2))
	case wasm.F32:
		e.Lane(wasm.F32x4ExtractLane, byte(lane))
	default:
		e.Lane(wasm.F64x2ExtractLane, byte(lane%2))
	}
}

// replace puts the scalar on the stack into a lane of the vector below it.
func (e *emitter) replace(t *ir.Type, lane int) {
	switch scalarType(t) {
	case wasm.I32:
		if t.Kind == ir.Bool {
			zero := e.newLocal(wasm.I32)
			e.I32Const(0)
			e.Get(zero)
			e.Op(wasm.I32Sub)
		}
		e.Lane(wasm.I32x4ReplaceLane, byte(lane))
	case wasm.I64:
		e.Lane(wasm.I64x2ReplaceLane, byte(lane%2))
	case wasm.F32:
		e.Lane(wasm.F32x4ReplaceLane, byte(lane))
	default:
		e.Lane(wasm.F64x2ReplaceLane, byte(lane%2))
	}
}

// lanewise computes a half of a vector lane by lane: scalar pushes the result of a lane.
func (e *emitter) lanewise(t *ir.Type, half int, scalar func(lane int)) {
	n, first := lanes, 0
	if isWide(t) {
		n, first = 2, 2*half
	}
	for k := range n {
		if k == 0 {
			scalar(first)
			e.splat(t)
			continue
		}
		scalar(first + k)
		e.replace(t, first+k)
	}
}
