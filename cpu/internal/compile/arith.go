package compile

import (
	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// opcodes are the instructions of an operation for each kind of operands. Unreachable, which
// is 0, stands for none.
type opcodes struct {
	i32, i64, f32, f64 wasm.Op
	i32x4, i64x2       wasm.Op
	f32x4, f64x2       wasm.Op
	compares, flip     bool
}

// simple are the operations that are one instruction on each kind of operands that they
// have. flip negates the result.
var simple = map[ir.Op]opcodes{
	ir.IAdd:              {i32: wasm.I32Add, i64: wasm.I64Add, i32x4: wasm.I32x4Add, i64x2: wasm.I64x2Add},
	ir.ISub:              {i32: wasm.I32Sub, i64: wasm.I64Sub, i32x4: wasm.I32x4Sub, i64x2: wasm.I64x2Sub},
	ir.IMul:              {i32: wasm.I32Mul, i64: wasm.I64Mul, i32x4: wasm.I32x4Mul}, // See wasm.Func.Choose for i64x2.mul.
	ir.FAdd:              {f32: wasm.F32Add, f64: wasm.F64Add, f32x4: wasm.F32x4Add, f64x2: wasm.F64x2Add},
	ir.FSub:              {f32: wasm.F32Sub, f64: wasm.F64Sub, f32x4: wasm.F32x4Sub, f64x2: wasm.F64x2Sub},
	ir.FMul:              {f32: wasm.F32Mul, f64: wasm.F64Mul, f32x4: wasm.F32x4Mul, f64x2: wasm.F64x2Mul},
	ir.FDiv:              {f32: wasm.F32Div, f64: wasm.F64Div, f32x4: wasm.F32x4Div, f64x2: wasm.F64x2Div},
	ir.FNegate:           {f32: wasm.F32Neg, f64: wasm.F64Neg, f32x4: wasm.F32x4Neg, f64x2: wasm.F64x2Neg},
	ir.BitwiseAnd:        {i32: wasm.I32And, i64: wasm.I64And, i32x4: wasm.V128And, i64x2: wasm.V128And},
	ir.BitwiseOr:         {i32: wasm.I32Or, i64: wasm.I64Or, i32x4: wasm.V128Or, i64x2: wasm.V128Or},
	ir.BitwiseXor:        {i32: wasm.I32Xor, i64: wasm.I64Xor, i32x4: wasm.V128Xor, i64x2: wasm.V128Xor},
	ir.LogicalAnd:        {i32: wasm.I32And, i32x4: wasm.V128And},
	ir.LogicalOr:         {i32: wasm.I32Or, i32x4: wasm.V128Or},
	ir.LogicalNotEqual:   {i32: wasm.I32Xor, i32x4: wasm.V128Xor},
	ir.LogicalEqual:      {i32: wasm.I32Eq, i32x4: wasm.I32x4Eq},
	ir.IEqual:            {i32: wasm.I32Eq, i64: wasm.I64Eq, i32x4: wasm.I32x4Eq, i64x2: wasm.I64x2Eq, compares: true},
	ir.INotEqual:         {i32: wasm.I32Ne, i64: wasm.I64Ne, i32x4: wasm.I32x4Ne, i64x2: wasm.I64x2Ne, compares: true},
	ir.SLessThan:         {i32: wasm.I32LtS, i64: wasm.I64LtS, i32x4: wasm.I32x4LtS, i64x2: wasm.I64x2LtS, compares: true},
	ir.SLessThanEqual:    {i32: wasm.I32LeS, i64: wasm.I64LeS, i32x4: wasm.I32x4LeS, i64x2: wasm.I64x2LeS, compares: true},
	ir.SGreaterThan:      {i32: wasm.I32GtS, i64: wasm.I64GtS, i32x4: wasm.I32x4GtS, i64x2: wasm.I64x2GtS, compares: true},
	ir.SGreaterThanEqual: {i32: wasm.I32GeS, i64: wasm.I64GeS, i32x4: wasm.I32x4GeS, i64x2: wasm.I64x2GeS, compares: true},
	ir.ULessThan:         {i32: wasm.I32LtU, i64: wasm.I64LtU, i32x4: wasm.I32x4LtU, compares: true},
	ir.ULessThanEqual:    {i32: wasm.I32LeU, i64: wasm.I64LeU, i32x4: wasm.I32x4LeU, compares: true},
	ir.UGreaterThan:      {i32: wasm.I32GtU, i64: wasm.I64GtU, i32x4: wasm.I32x4GtU, compares: true},
	ir.UGreaterThanEqual: {i32: wasm.I32GeU, i64: wasm.I64GeU, i32x4: wasm.I32x4GeU, compares: true},

	ir.FOrdEqual:              {f32: wasm.F32Eq, f64: wasm.F64Eq, f32x4: wasm.F32x4Eq, f64x2: wasm.F64x2Eq, compares: true},
	ir.FOrdLessThan:           {f32: wasm.F32Lt, f64: wasm.F64Lt, f32x4: wasm.F32x4Lt, f64x2: wasm.F64x2Lt, compares: true},
	ir.FOrdGreaterThan:        {f32: wasm.F32Gt, f64: wasm.F64Gt, f32x4: wasm.F32x4Gt, f64x2: wasm.F64x2Gt, compares: true},
	ir.FOrdLessThanEqual:      {f32: wasm.F32Le, f64: wasm.F64Le, f32x4: wasm.F32x4Le, f64x2: wasm.F64x2Le, compares: true},
	ir.FOrdGreaterThanEqual:   {f32: wasm.F32Ge, f64: wasm.F64Ge, f32x4: wasm.F32x4Ge, f64x2: wasm.F64x2Ge, compares: true},
	ir.FUnordNotEqual:         {f32: wasm.F32Ne, f64: wasm.F64Ne, f32x4: wasm.F32x4Ne, f64x2: wasm.F64x2Ne, compares: true},
	ir.FUnordLessThan:         {f32: wasm.F32Ge, f64: wasm.F64Ge, f32x4: wasm.F32x4Ge, f64x2: wasm.F64x2Ge, compares: true, flip: true},
	ir.FUnordGreaterThan:      {f32: wasm.F32Le, f64: wasm.F64Le, f32x4: wasm.F32x4Le, f64x2: wasm.F64x2Le, compares: true, flip: true},
	ir.FUnordLessThanEqual:    {f32: wasm.F32Gt, f64: wasm.F64Gt, f32x4: wasm.F32x4Gt, f64x2: wasm.F64x2Gt, compares: true, flip: true},
	ir.FUnordGreaterThanEqual: {f32: wasm.F32Lt, f64: wasm.F64Lt, f32x4: wasm.F32x4Lt, f64x2: wasm.F64x2Lt, compares: true, flip: true},
}

// commutes are operations whose operands may change places.
var commutes = map[ir.Op]bool{
	ir.IAdd: true, ir.IMul: true, ir.FAdd: true, ir.FMul: true, ir.BitwiseAnd: true, ir.BitwiseOr: true, ir.BitwiseXor: true,
	ir.LogicalAnd: true, ir.LogicalOr: true, ir.IEqual: true, ir.FOrdEqual: true, ir.FUnordNotEqual: true,
}

// scalar is the instruction for scalars of a type.
func (o *opcodes) scalar(t *ir.Type) wasm.Op {
	return map[wasm.ValType]wasm.Op{wasm.I32: o.i32, wasm.I64: o.i64, wasm.F32: o.f32, wasm.F64: o.f64}[scalarType(t)]
}

// vector is the instruction for vectors of a type.
func (o *opcodes) vector(t *ir.Type) wasm.Op {
	return map[wasm.ValType]wasm.Op{wasm.I32: o.i32x4, wasm.I64: o.i64x2, wasm.F32: o.f32x4, wasm.F64: o.f64x2}[scalarType(t)]
}

// operands pushes the operands of one leaf or lane.
type operands func(k int)

// arithmetic writes an operation whose leaves are computed of those of the operands.
func (e *emitter) arithmetic(v *ir.Value) {
	if e.linearAlgebra(v) || e.conversion(v) {
		return
	}
	if o, ok := simple[v.Op]; ok {
		e.simple(v, o)
		return
	}
	switch v.Op {
	case ir.Select:
		e.selectValue(v)
		return
	case ir.ShiftLeftLogical, ir.ShiftRightLogical, ir.ShiftRightArithmetic:
		e.shift(v)
		return
	case ir.Any, ir.All:
		e.anyOrAll(v)
		return
	case ir.IAddCarry, ir.ISubBorrow, ir.UMulExtended, ir.SMulExtended:
		e.extendedArithmetic(v)
		return
	case ir.SDot, ir.UDot, ir.SUDot, ir.SDotAccSat, ir.UDotAccSat, ir.SUDotAccSat:
		e.integerDot(v)
		return
	case ir.Halves:
		e.halves(v)
		return
	}
	f := scalarOps[v.Op]
	if f == nil {
		unknown(v)
	}
	for i := range countLeaves(v.Type) {
		t := leavesOf(v.Args[0].Type)[min(i, countLeaves(v.Args[0].Type)-1)]
		e.set(v, i, func() {
			f(e, t, func(k int) { e.push(v.Args[k], i%countLeaves(v.Args[k].Type)) })
			e.normalise(leavesOf(v.Type)[i])
		}, func(half int) {
			if g := vectorOps[v.Op]; g != nil && g(e, v, i, half, t) {
				return
			}
			e.lanewise(leavesOf(v.Type)[i], half, func(lane int) {
				f(e, t, func(k int) { e.pushLane(v.Args[k], i%countLeaves(v.Args[k].Type), lane) })
				e.normalise(leavesOf(v.Type)[i])
			})
		})
	}
}

// simple writes an operation of the table.
func (e *emitter) simple(v *ir.Value, o opcodes) {
	for i := range countLeaves(v.Type) {
		t := leavesOf(v.Args[0].Type)[i]
		to := leavesOf(v.Type)[i]
		e.set(v, i, func() {
			for _, a := range v.Args {
				e.push(a, i)
			}
			op := o.scalar(t)
			if op == wasm.Unreachable {
				unknown(v)
			}
			if e.Op(op); o.flip {
				e.Op(wasm.I32Eqz)
			}
			e.normalise(to)
		}, func(half int) {
			op := o.vector(t)
			unsigned := op == wasm.Unreachable && o.compares && isWide(t)
			if unsigned {
				op = map[ir.Op]wasm.Op{ir.ULessThan: wasm.I64x2LtS, ir.ULessThanEqual: wasm.I64x2LeS, ir.UGreaterThan: wasm.I64x2GtS, ir.UGreaterThanEqual: wasm.I64x2GeS}[v.Op]
			}
			if op == wasm.Unreachable {
				if o.compares || o.scalar(t) == wasm.Unreachable {
					unknown(v)
				}
				e.lanewise(to, half, func(lane int) {
					for _, a := range v.Args {
						e.pushLane(a, i, lane)
					}
					e.Op(o.scalar(t))
				})
				return
			}
			halves := []int{half}
			if o.compares && isWide(t) {
				halves = []int{0, 1}
			}
			args := v.Args
			if commutes[v.Op] && args[0].Op != ir.Const && args[1].Op == ir.Const {
				args = []*ir.Value{args[1], args[0]} // The engine computes in the register of the first operand.
			}
			for _, h := range halves {
				for _, a := range args {
					e.pushVector(a, i, h)
					if unsigned { // With the highest bits turned, the order is that of signed numbers.
						e.V128Const([4]uint32{0, 1 << 31, 0, 1 << 31})
						e.Op(wasm.V128Xor)
					}
				}
				e.Op(op)
			}
			if len(halves) == 2 {
				e.narrow()
			}
			if o.flip {
				e.Op(wasm.V128Not)
			}
			e.normaliseVector(to)
		})
	}
}

// normalise brings the scalar on the stack into the form that its type has: integers of
// fewer than 32 bits are extended, and floats of 16 bits are rounded.
func (e *emitter) normalise(t *ir.Type) {
	switch {
	case t.Kind == ir.Int && t.Bits < 32 && t.Signed:
		e.I32Const(int32(32 - t.Bits))
		e.Op(wasm.I32Shl)
		e.I32Const(int32(32 - t.Bits))
		e.Op(wasm.I32ShrS)
	case t.Kind == ir.Int && t.Bits < 32:
		e.I32Const(int32(1)<<t.Bits - 1)
		e.Op(wasm.I32And)
	case isHalf(t):
		e.Op(wasm.F32x4Splat)
		e.Call(e.roundHalf())
		e.Lane(wasm.F32x4ExtractLane, 0)
	}
}

// normaliseVector is normalise for four lanes.
func (e *emitter) normaliseVector(t *ir.Type) {
	switch {
	case t.Kind == ir.Int && t.Bits < 32 && t.Signed:
		e.I32Const(int32(32 - t.Bits))
		e.Op(wasm.I32x4Shl)
		e.I32Const(int32(32 - t.Bits))
		e.Op(wasm.I32x4ShrS)
	case t.Kind == ir.Int && t.Bits < 32:
		w := uint32(1)<<t.Bits - 1
		e.V128Const([4]uint32{w, w, w, w})
		e.Op(wasm.V128And)
	case isHalf(t):
		e.Call(e.roundHalf())
	}
}

func (e *emitter) selectValue(v *ir.Value) {
	c := v.Args[0]
	for i := range countLeaves(v.Type) {
		k := min(i, countLeaves(c.Type)-1)
		t := leavesOf(v.Type)[i]
		e.set(v, i, func() {
			e.push(v.Args[1], i)
			e.push(v.Args[2], i)
			e.push(c, k)
			e.Op(wasm.Select)
		}, func(half int) {
			if e.shapeOf(c, k).isUniform() {
				e.pushVector(v.Args[1], i, half)
				e.pushVector(v.Args[2], i, half)
				e.push(c, k)
				e.Op(wasm.Select)
				return
			}
			// The mask alone does it if one of the two is 0.
			first, second := !isZero(v.Args[1], i), !isZero(v.Args[2], i)
			if first || !second {
				e.pushVector(v.Args[1], i, half)
			}
			if second {
				e.pushVector(v.Args[2], i, half)
			}
			e.pushVector(c, k, 0)
			if isWide(t) {
				e.widen(half)
			}
			switch {
			case !second:
				e.Op(wasm.V128And)
			case !first:
				e.Op(wasm.V128Andnot)
			default:
				e.Choose()
			}
		})
	}
}

// isZero reports whether a leaf is a constant without a bit.
func isZero(v *ir.Value, i int) bool { return v.Op == ir.Const && leafBits(v, i) == 0 }

func (e *emitter) shift(v *ir.Value) {
	o := map[ir.Op]opcodes{
		ir.ShiftLeftLogical:     {i32: wasm.I32Shl, i64: wasm.I64Shl, i32x4: wasm.I32x4Shl, i64x2: wasm.I64x2Shl},
		ir.ShiftRightLogical:    {i32: wasm.I32ShrU, i64: wasm.I64ShrU, i32x4: wasm.I32x4ShrU, i64x2: wasm.I64x2ShrU},
		ir.ShiftRightArithmetic: {i32: wasm.I32ShrS, i64: wasm.I64ShrS, i32x4: wasm.I32x4ShrS, i64x2: wasm.I64x2ShrS},
	}[v.Op]
	by := v.Args[1]
	for i := range countLeaves(v.Type) {
		t, bt := leavesOf(v.Type)[i], leavesOf(by.Type)[i]
		// A logical shift to the right of a signed narrow integer shifts zeros in at its own
		// width.
		zeros := v.Op == ir.ShiftRightLogical && t.Bits < 32
		signs := v.Op == ir.ShiftRightArithmetic && t.Bits < 32 && !t.Signed
		scalar := func(push, amount func()) {
			push()
			if zeros {
				e.normalise(&ir.Type{Kind: ir.Int, Bits: t.Bits})
			}
			if signs {
				e.normalise(&ir.Type{Kind: ir.Int, Bits: t.Bits, Signed: true})
			}
			amount()
			switch {
			case isWide(t) && !isWide(bt):
				e.Op(wasm.I64ExtendI32U)
			case !isWide(t) && isWide(bt):
				e.Op(wasm.I32WrapI64)
			}
			e.Op(o.scalar(t))
			e.normalise(t)
		}
		e.set(v, i, func() { scalar(func() { e.push(v.Args[0], i) }, func() { e.push(by, i) }) }, func(half int) {
			if !e.shapeOf(by, i).isUniform() {
				e.lanewise(t, half, func(lane int) {
					scalar(func() { e.pushLane(v.Args[0], i, lane) }, func() { e.pushLane(by, i, lane) })
				})
				return
			}
			e.pushVector(v.Args[0], i, half)
			if zeros {
				e.normaliseVector(&ir.Type{Kind: ir.Int, Bits: t.Bits})
			}
			if signs {
				e.normaliseVector(&ir.Type{Kind: ir.Int, Bits: t.Bits, Signed: true})
			}
			if e.push(by, i); isWide(bt) {
				e.Op(wasm.I32WrapI64)
			}
			e.Op(o.vector(t))
			e.normaliseVector(t)
		})
	}
}

func (e *emitter) anyOrAll(v *ir.Value) {
	scalar, vector := wasm.I32And, wasm.V128And
	if v.Op == ir.Any {
		scalar, vector = wasm.I32Or, wasm.V128Or
	}
	n := countLeaves(v.Args[0].Type)
	e.set(v, 0, func() {
		for i := range n {
			if e.push(v.Args[0], i); i > 0 {
				e.Op(scalar)
			}
		}
	}, func(int) {
		for i := range n {
			if e.pushVector(v.Args[0], i, 0); i > 0 {
				e.Op(vector)
			}
		}
	})
}
