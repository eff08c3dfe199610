package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// choose writes a switch. c is the construct that it begins, or nil.
func (e *emitter) choose(b *ir.Block, c *construct) *ir.Block {
	order := e.caseOrder(b)
	before, dead := e.mask, e.dead
	lanes := e.caseMasks(b)
	if lanes != nil {
		// The invocations of each target wait until its turn comes.
		for _, to := range order {
			e.copyPhis(b, to, lanes[to])
			e.targets[to] = &target{partial: true, pend: lanes[to]}
		}
		for _, to := range b.Next {
			if e.targets[to] != nil && !slices.Contains(order, to) && lanes[to] != 0 {
				e.join(b, to, lanes[to])
				delete(lanes, to)
			}
		}
		for _, to := range order {
			delete(e.targets, to)
			e.dead = e.Open(wasm.BlockBegin, wasm.Empty)
			e.ifNone(lanes[to])
			e.mask = lanes[to]
			e.region(to)
			e.End()
		}
		e.mask, e.dead = before, dead
		if c == nil {
			e.Br(wasm.Br, e.dead)
		}
		return nil
	}
	e.openCases(order)
	if c == nil || e.loses(c) || c.merge != nil && e.s.partial[c.merge] {
		for _, to := range order { // Some may have left a case that falls through.
			if len(to.Preds) > 1 {
				e.targets[to].out = e.Local(wasm.V128)
			}
		}
	}
	e.eachCase(b, func(k int, to *ir.Block) {
		e.pushCase(b, k)
		e.Open(wasm.If, wasm.Empty)
		e.jump(b, to)
		e.End()
	})
	e.jump(b, b.Next[0])
	for _, to := range order {
		e.End()
		if e.mask = e.targets[to].out; e.mask == 0 {
			e.mask = before
		}
		delete(e.targets, to)
		e.region(to)
	}
	e.mask = before
	return nil
}

// openCases begins a block for each target of a switch. The first one ends first.
func (e *emitter) openCases(order []*ir.Block) {
	for i := len(order) - 1; i >= 0; i-- {
		e.targets[order[i]] = &target{label: e.Open(wasm.BlockBegin, wasm.Empty)}
	}
}

// eachCase calls f for each case of a switch but the default.
func (e *emitter) eachCase(b *ir.Block, f func(k int, to *ir.Block)) {
	for k, to := range b.Next[1:] {
		if to != b.Next[0] {
			f(k, to)
		}
	}
}

// caseValue is the value of case k.
func (e *emitter) caseValue(b *ir.Block, k int) uint64 {
	t := b.Term.Args[0].Type
	if t.Bits == 64 {
		return uint64(b.Term.Literals[2*k]) | uint64(b.Term.Literals[2*k+1])<<32
	}
	return uint64(b.Term.Literals[k])
}

// pushCase pushes whether the selector, which is the same in all lanes, has the value of
// case k.
func (e *emitter) pushCase(b *ir.Block, k int) {
	v := b.Term.Args[0]
	if e.shapeOf(v, 0).isUniform() {
		e.push(v, 0)
	} else {
		e.pushLane(v, 0, 0)
	}
	e.constant(v.Type, e.caseValue(b, k))
	if v.Type.Bits == 64 {
		e.Op(wasm.I64Eq)
		return
	}
	e.Op(wasm.I32Eq)
}

// caseMasks returns a local for each target of a switch with the mask of the invocations
// that choose it, or nil if all choose the same.
func (e *emitter) caseMasks(b *ir.Block) map[*ir.Block]uint32 {
	if !e.s.differs(b) {
		return nil
	}
	v := b.Term.Args[0]
	lanes := map[*ir.Block]uint32{}
	e.pushMask()
	rest := e.newLocal(wasm.V128)
	e.eachCase(b, func(k int, to *ir.Block) {
		e.compareLanes(v, e.caseValue(b, k))
		e.Get(rest)
		e.Op(wasm.V128And)
		hit := e.newLocal(wasm.V128)
		e.Get(rest)
		e.Get(hit)
		e.Op(wasm.V128Andnot)
		e.Set(rest)
		if lanes[to] == 0 {
			lanes[to] = hit
			return
		}
		e.Get(lanes[to])
		e.Get(hit)
		e.Op(wasm.V128Or)
		e.Set(lanes[to])
	})
	lanes[b.Next[0]] = rest
	return lanes
}

// compareLanes pushes the mask of the lanes in which an integer has a value.
func (e *emitter) compareLanes(v *ir.Value, bits uint64) {
	for half := range vectors(v.Type) {
		e.pushVector(v, 0, half)
		e.constantVector(v.Type, bits)
		if isWide(v.Type) {
			e.Op(wasm.I64x2Eq)
		} else {
			e.Op(wasm.I32x4Eq)
		}
	}
	if isWide(v.Type) {
		e.narrow()
	}
}

// narrow makes one mask of four lanes of the two masks of two wide lanes on the stack.
func (e *emitter) narrow() {
	e.Shuffle([16]byte{0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27})
}

// caseOrder lists the targets of a switch that are not targets of the constructs around it.
// One stands behind those that fall through to it.
func (e *emitter) caseOrder(b *ir.Block) []*ir.Block {
	var own []*ir.Block
	for _, to := range b.Next {
		if e.targets[to] == nil && !slices.Contains(own, to) {
			own = append(own, to)
		}
	}
	var order []*ir.Block
	done := map[*ir.Block]bool{}
	var visit func(to *ir.Block)
	visit = func(to *ir.Block) {
		if done[to] {
			return
		}
		done[to] = true
		stop := map[*ir.Block]bool{}
		for _, c := range e.s.inside[to] {
			if c.head != to { // A construct that begins with the case may end inside of it.
				stop[c.merge], stop[c.cont] = true, true
			}
		}
		seen := reach(to, b, stop)
		for _, other := range own {
			if other != to && seen[other] {
				visit(other)
			}
		}
		order = append(order, to)
	}
	for i := len(own) - 1; i >= 0; i-- {
		visit(own[i])
	}
	slices.Reverse(order)
	return order
}
