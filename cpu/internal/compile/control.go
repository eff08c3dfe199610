package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// region writes the blocks from b on. The code ends with a branch to a target or to dead, so
// that nothing falls through.
func (e *emitter) region(b *ir.Block) {
	for b != nil {
		b = e.block(b)
	}
}

// block writes a block, and returns the one to write next, or nil after a branch.
func (e *emitter) block(b *ir.Block) *ir.Block {
	if c := e.s.graph.of[b]; c != nil && c.isLoop() && !e.running[c] {
		return e.loop(c)
	}
	e.forget()
	e.caching = true
	for _, v := range b.Values {
		if !e.fixed[v] && (e.in == nil || e.in.live[v]) {
			e.value(v)
		}
	}
	e.caching = false
	return e.terminator(b)
}

func (e *emitter) terminator(b *ir.Block) *ir.Block {
	switch b.Term.Op {
	case ir.Return, ir.Unreachable:
		e.jump(b, nil)
		return nil
	case ir.ReturnValue:
		unsupportedf("an entry point with a result")
	}
	c := e.s.graph.of[b]
	switch {
	case c != nil && !c.isLoop():
		return e.selection(c)
	case len(b.Next) == 1 || !slices.ContainsFunc(b.Next, func(to *ir.Block) bool { return to != b.Next[0] }):
		return e.follow(b, b.Next[0])
	case b.Term.Op == ir.Switch:
		return e.choose(b, nil)
	}
	return e.condition(b)
}

// follow goes on at a block: it jumps there if it is a target, and otherwise returns it.
func (e *emitter) follow(b, to *ir.Block) *ir.Block {
	if e.targets[to] != nil {
		e.jump(b, to)
		return nil
	}
	e.copyPhis(b, to, 0)
	return to
}

// jump branches to a target with all invocations that run.
func (e *emitter) jump(b, to *ir.Block) {
	t := e.targets[to]
	if t.partial {
		e.join(b, to, e.mask)
		e.Br(wasm.Br, e.dead)
		return
	}
	e.copyPhis(b, to, 0)
	if t.out != 0 {
		e.pushMask()
		e.Set(t.out)
	}
	if t.back {
		e.stopCheck()
	}
	e.Br(wasm.Br, t.label)
}

// join has invocations wait at a partial target. lanes is the local with their mask, or 0
// for all.
func (e *emitter) join(b, to *ir.Block, lanes uint32) {
	t := e.targets[to]
	lanes = e.orFull(lanes)
	e.copyPhis(b, to, lanes)
	if e.alive != 0 && (to == nil || t.slot != 0) {
		e.update(e.alive, lanes, wasm.V128Andnot)
	}
	if t.slot != 0 {
		e.update(t.slot, lanes, wasm.V128Or)
	}
	if t.pend != 0 {
		e.Get(t.pend)
		e.Get(lanes)
		e.Op(wasm.V128Or)
		e.Set(t.pend)
	}
}

// update changes a mask in the frame.
func (e *emitter) update(slot, lanes uint32, op wasm.Op) {
	e.Get(e.slots)
	e.Get(e.slots)
	e.Memory(wasm.V128Load, 4, slot)
	e.Get(lanes)
	e.Op(op)
	e.Memory(wasm.V128Store, 4, slot)
}

// orFull returns a local with a mask: l, or one with all lanes if l is 0.
func (e *emitter) orFull(l uint32) uint32 {
	if l != 0 {
		return l
	}
	full := uint32(0xffffffff)
	e.V128Const([4]uint32{full, full, full, full})
	return e.newLocal(wasm.V128)
}

// copyPhis sets the phis of a block to their values from b. lanes is the local with the mask
// of the invocations that go there, or 0 if no others are there.
func (e *emitter) copyPhis(b, to *ir.Block, lanes uint32) {
	if to == nil {
		return // the end of the function
	}
	k := slices.Index(to.Preds, b)
	type item struct {
		l    *leafHome
		half int
	}
	var list []item
	for _, v := range to.Values {
		if v.Op != ir.Phi {
			break
		}
		h := e.homeOf(v)
		for i := range h.leaves {
			l := &h.leaves[i]
			if !l.shape.varying {
				if l.shape.local || !e.s.isOuterPhi(to) {
					e.push(v.Args[k], i)
					list = append(list, item{l, 0})
				}
				continue
			}
			for half := range vectors(l.t) {
				e.pushVector(v.Args[k], i, half)
				if lanes != 0 {
					if h.piece == noPiece && l.slot != 0 {
						e.Get(e.slots)
						e.Memory(wasm.V128Load, 4, l.slot+uint32(half)*e.slotBytes())
					} else {
						e.Get(l.local[half])
					}
					e.pushLanes(lanes, l.t, half)
					e.Choose()
				}
				list = append(list, item{l, half})
			}
		}
	}
	for i := len(list) - 1; i >= 0; i-- {
		e.popLeaf(list[i].l, list[i].half)
	}
}

// pushLanes pushes a mask for a leaf: two lanes of it, twice as wide, if the leaf is wide.
func (e *emitter) pushLanes(lanes uint32, t *ir.Type, half int) {
	e.Get(lanes)
	if isWide(t) {
		e.widen(half)
	}
}

// widen makes the mask on the stack one for half of the lanes of a wide type.
func (e *emitter) widen(half int) {
	l := e.newLocal(wasm.V128)
	e.Get(l)
	e.Get(l)
	if half == 0 {
		e.Shuffle([16]byte{0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7})
		return
	}
	e.Shuffle([16]byte{8, 9, 10, 11, 8, 9, 10, 11, 12, 13, 14, 15, 12, 13, 14, 15})
}

// loses reports whether invocations may leave a construct for a target outside of it, other
// than its merge block, while others remain.
func (e *emitter) loses(c *construct) bool {
	for b := range c.blocks {
		targets := b.Next
		if len(targets) == 0 {
			targets = []*ir.Block{nil}
		}
		for _, to := range targets {
			if to == nil || !c.blocks[to] && to != c.merge {
				if e.s.partial[to] {
					return true
				}
			}
		}
	}
	return false
}

// enter declares the merge block of a construct as a target.
func (e *emitter) enter(c *construct, label wasm.Label, loses bool) *target {
	t := &target{label: label}
	if c.merge == nil {
		return t
	}
	t.partial = e.s.partial[c.merge]
	switch {
	case t.partial && loses:
		t.pend = e.Local(wasm.V128)
		e.V128Const([4]uint32{})
		e.Set(t.pend)
	case !t.partial && loses:
		t.out = e.Local(wasm.V128)
	}
	e.targets[c.merge] = t
	return t
}

// after goes on behind a construct: it sets the mask, and branches to dead if no invocation
// is left. before is the mask at the beginning.
func (e *emitter) after(c *construct, t *target, before uint32, loses bool) *ir.Block {
	e.mask = before
	if c.merge == nil {
		e.Br(wasm.Br, e.dead)
		return nil
	}
	delete(e.targets, c.merge)
	if !loses {
		return c.merge
	}
	if e.mask = t.out; t.partial {
		e.mask = t.pend
	}
	e.ifNone(e.mask)
	return c.merge
}

// ifNone branches to dead if a mask has no lane.
func (e *emitter) ifNone(mask uint32) {
	e.Get(mask)
	e.Op(wasm.V128AnyTrue)
	e.Op(wasm.I32Eqz)
	e.Br(wasm.BrIf, e.dead)
}

// selection writes a construct that is no loop.
func (e *emitter) selection(c *construct) *ir.Block {
	b := c.head
	before, dead, loses := e.mask, e.dead, e.loses(c)
	end := e.Open(wasm.BlockBegin, wasm.Empty)
	t := e.enter(c, end, loses)
	if t.partial { // Those that wait go on behind the construct.
		e.dead = end
	}
	switch {
	case len(b.Next) == 1:
		e.arm(b, b.Next[0])
	case b.Term.Op == ir.Switch:
		e.choose(b, c)
	case e.s.differs(b):
		yes, no := e.split(b)
		for i, lanes := range []uint32{yes, no} {
			to := b.Next[i]
			if e.targets[to] != nil { // Nothing is to be done on this side.
				e.join(b, to, lanes)
				continue
			}
			e.dead = e.Open(wasm.BlockBegin, wasm.Empty)
			e.ifNone(lanes)
			e.mask = lanes
			e.arm(b, to)
			e.End()
		}
	default:
		e.push(b.Term.Args[0], 0)
		e.Open(wasm.If, wasm.Empty)
		e.arm(b, b.Next[0])
		e.Else()
		e.mask = before
		e.arm(b, b.Next[1])
		e.End()
	}
	e.dead = dead
	e.End()
	return e.after(c, t, before, loses)
}

// arm writes the blocks from one target of b on.
func (e *emitter) arm(b, to *ir.Block) {
	mask := e.mask
	e.region(e.follow(b, to))
	e.mask = mask
}

// split returns locals with the masks of the invocations that run for which the condition
// at the end of a block holds, and for which it does not.
func (e *emitter) split(b *ir.Block) (yes, no uint32) {
	e.pushVector(b.Term.Args[0], 0, 0)
	if e.mask == 0 {
		yes = e.newLocal(wasm.V128)
		e.Get(yes)
		e.Op(wasm.V128Not)
		return yes, e.newLocal(wasm.V128)
	}
	e.Get(e.mask)
	e.Op(wasm.V128And)
	yes = e.newLocal(wasm.V128)
	e.Get(e.mask)
	e.Get(yes)
	e.Op(wasm.V128Andnot)
	return yes, e.newLocal(wasm.V128)
}

// condition writes a conditional branch of which at most one side is no target.
func (e *emitter) condition(b *ir.Block) *ir.Block {
	yes, no := b.Next[0], b.Next[1]
	if !e.s.differs(b) {
		e.pushChoice(b)
		if e.targets[yes] == nil {
			e.Op(wasm.I32Eqz)
			yes, no = no, yes
		}
		mask := e.mask
		e.Open(wasm.If, wasm.Empty)
		e.jump(b, yes)
		e.End()
		e.mask = mask
		return e.follow(b, no)
	}
	first, second := e.split(b)
	if e.targets[yes] == nil || e.isHead(b, yes) && e.targets[no] != nil {
		yes, no, first, second = no, yes, second, first
	}
	e.join(b, yes, first)
	e.mask = second
	if e.isHead(b, no) { // the end of a loop
		e.copyPhis(b, no, 0)
		t := e.targets[no]
		if t.out != 0 {
			e.Get(second)
			e.Set(t.out)
		}
		e.Get(second)
		e.Op(wasm.V128AnyTrue)
		e.stopCheck()
		e.Br(wasm.BrIf, t.label)
		e.Br(wasm.Br, e.dead)
		return nil
	}
	e.ifNone(second)
	return e.follow(b, no)
}

// pushChoice pushes the condition at the end of a block, which is the same for all
// invocations of a vector, or must be for those of the workgroup.
func (e *emitter) pushChoice(b *ir.Block) {
	c := b.Term.Args[0]
	if e.shapeOf(c, 0).varying {
		e.pushVector(c, 0, 0)
		e.Lane(wasm.I32x4ExtractLane, 0)
		return
	}
	e.push(c, 0)
}

// isHead reports whether a branch from b to a block goes back to the beginning of a loop.
func (e *emitter) isHead(b, to *ir.Block) bool {
	_, of := e.s.crossed(b, to)
	return of != nil && of.isLoop() && of.head == to
}

// loop writes a loop.
func (e *emitter) loop(c *construct) *ir.Block {
	e.running[c] = true
	before, dead, loses := e.mask, e.dead, e.loses(c)
	partialMerge := c.merge != nil && e.s.partial[c.merge]
	body := c.cont != c.head // Otherwise the loop is its own continue construct.
	var masks uint32         // This local has the mask at the beginning of each round.
	if partialMerge || loses || body && e.s.partial[c.cont] {
		e.pushMask()
		masks = e.newLocal(wasm.V128)
		e.mask = masks
	}
	var t *target
	if masks != 0 || loses {
		t = e.rounds(c, before, masks, loses)
	} else {
		e.twice(c, func() { e.running[c], e.mask = true, before; t = e.rounds(c, before, masks, loses) })
	}
	e.dead = dead
	return e.after(c, t, before, loses)
}

// rounds writes the loop itself. masks is the local with the mask at the beginning of each
// round, or 0.
func (e *emitter) rounds(c *construct, before, masks uint32, loses bool) *target {
	body := c.cont != c.head
	dead := e.dead
	exit := e.Open(wasm.BlockBegin, wasm.Empty)
	t := e.enter(c, exit, loses)
	top := e.Open(wasm.Loop, wasm.Empty)
	e.targets[c.head] = &target{label: top, out: masks, back: true}
	if t.partial { // Those that wait go on behind the loop.
		e.dead = exit
	}
	waiting := e.dead
	if body {
		k := &target{label: e.Open(wasm.BlockBegin, wasm.Empty), partial: e.s.partial[c.cont], out: masks}
		if k.partial {
			k.out, k.pend = 0, e.Local(wasm.V128)
			e.V128Const([4]uint32{})
			e.Set(k.pend)
			e.dead = k.label
		}
		e.targets[c.cont] = k
		e.region(c.head)
		e.End()
		delete(e.targets, c.cont)
		if e.mask = masks; masks == 0 {
			e.mask = before
		}
		e.dead = waiting
		if k.partial {
			e.Get(k.pend)
			e.Set(masks)
			e.ifNone(masks)
		}
		e.region(c.cont)
	} else {
		e.region(c.head)
	}
	e.End()
	e.End()
	delete(e.targets, c.head)
	delete(e.running, c)
	e.dead = dead
	return t
}

// roundsBetweenYields is how many rounds loops make until the kernel lets other goroutines
// run and looks at the stop word. Until then, the garbage collector waits for it.
const roundsBetweenYields = 1 << 14

// stopCheck is written at the end of each round of a loop. It ends the kernel by a trap if
// the stop word is set.
func (e *emitter) stopCheck() {
	if e.unwatched != nil {
		return
	}
	e.Get(e.fuel)
	e.I32Const(1)
	e.Op(wasm.I32Sub)
	e.Tee(e.fuel)
	e.Op(wasm.I32Eqz)
	e.lookAtStop()
}

// lookAtStop lets other goroutines run and looks at the stop word, if the condition on the
// stack holds.
func (e *emitter) lookAtStop() {
	e.Open(wasm.If, wasm.Empty)
	e.Get(paramFrame)
	e.Memory(wasm.I32Load, 2, FrameStop)
	e.Memory(wasm.I32Load, 2, 0)
	e.Open(wasm.If, wasm.Empty)
	e.Op(wasm.Unreachable)
	e.End()
	e.Call(e.yield)
	e.I32Const(roundsBetweenYields)
	e.Set(e.fuel)
	e.End()
}
