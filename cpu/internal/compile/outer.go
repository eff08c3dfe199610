package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// A function with barriers has two levels. Blocks around which all constructs have barriers
// are outer ones: all invocations of a workgroup take the same path through them, and the
// path is written once. The work of their instructions stands in loops over the vectors,
// which end at each barrier.

// outerFunction writes the function of a workgroup with barriers.
func (e *emitter) outerFunction() {
	end := e.Open(wasm.BlockBegin, wasm.Empty)
	e.targets[nil] = &target{label: end, partial: e.s.partial[nil]}
	total := e.prog.LocalSize[0] * e.prog.LocalSize[1] * e.prog.LocalSize[2]
	e.piece = noPiece
	if e.partialOuter() || total%lanes != 0 {
		alive := e.reserve(16 * e.count)
		e.openVectors()
		mask := e.orFull(e.firstMask())
		e.Get(e.slots)
		e.Get(mask)
		e.Memory(wasm.V128Store, 4, alive)
		e.closeVectors()
		e.alive = alive
	}
	e.openPiece()
	e.initialise()
	e.outerRegion(e.prog.Entry.Blocks[0], end)
	e.End()
}

// openPiece begins the loop over the vectors, if it is not open.
func (e *emitter) openPiece() {
	if e.open {
		return
	}
	e.open = true
	defer e.forget()
	e.openVectors()
	e.openEnd = e.Open(wasm.BlockBegin, wasm.Empty)
	e.dead, e.mask = e.openEnd, 0
	if e.alive != 0 {
		e.Get(e.slots)
		e.Memory(wasm.V128Load, 4, e.alive)
		e.mask = e.newLocal(wasm.V128)
		e.ifNone(e.mask)
	}
}

// closePiece ends the loop over the vectors.
func (e *emitter) closePiece() {
	if !e.open {
		return
	}
	e.open = false
	e.End()
	e.closeVectors()
}

// outerRegion writes the outer blocks from b on. end is the label behind the function.
func (e *emitter) outerRegion(b *ir.Block, end wasm.Label) {
	for b != nil {
		b = e.outerBlock(b, end)
	}
}

func (e *emitter) outerBlock(b *ir.Block, end wasm.Label) *ir.Block {
	c := e.s.graph.of[b]
	if c != nil && c.isLoop() && !e.running[c] {
		if c.outer {
			return e.outerLoop(c, end)
		}
		e.openPiece()
		e.piece = e.number[b.Term]
		return e.loop(c)
	}
	e.forget()
	for _, v := range b.Values {
		if isBarrier(v) {
			e.closePiece()
			continue
		}
		if v.Op == ir.Phi || e.fixed[v] {
			continue
		}
		e.openPiece()
		e.piece = e.number[v]
		e.caching = true
		e.value(v)
		e.caching = false
	}
	e.piece = e.number[b.Term]
	if c != nil && !c.isLoop() {
		if c.outer {
			return e.outerSelection(c, end)
		}
		e.openPiece()
		return e.selection(c)
	}
	switch {
	case len(b.Next) == 0:
		e.closePiece()
		e.Br(wasm.Br, end)
		return nil
	case !slices.ContainsFunc(b.Next, func(to *ir.Block) bool { return to != b.Next[0] }):
		return e.outerFollow(b, b.Next[0])
	case b.Term.Op == ir.Switch:
		e.outerSwitch(b, e.outerChoice(b), end)
		return nil
	}
	if e.s.differs(b) {
		return e.outerSplit(b)
	}
	choice := e.outerChoice(b)
	yes, no := b.Next[0], b.Next[1]
	e.Get(choice)
	if e.targets[yes] == nil {
		e.Op(wasm.I32Eqz)
		yes, no = no, yes
	}
	e.Open(wasm.If, wasm.Empty)
	e.outerJump(b, yes)
	e.End()
	return e.outerFollow(b, no)
}

// outerChoice returns a local with the condition or the selector at the end of a block, and
// ends the loop over vectors.
func (e *emitter) outerChoice(b *ir.Block) uint32 {
	e.openPiece()
	v := b.Term.Args[0]
	t := scalarType(v.Type)
	if sh := e.shapeOf(v, 0); sh.varying {
		e.pushLane(v, 0, 0)
	} else {
		e.push(v, 0)
	}
	choice := e.newLocal(t)
	e.closePiece()
	return choice
}

func (e *emitter) outerFollow(b, to *ir.Block) *ir.Block {
	if e.targets[to] != nil {
		e.outerJump(b, to)
		return nil
	}
	e.outerPhis(b, to)
	return to
}

func (e *emitter) outerJump(b, to *ir.Block) {
	e.outerPhis(b, to)
	e.closePiece()
	t := e.targets[to]
	if t.back {
		e.stopCheck()
		if e.alive != 0 { // All may have left the loop.
			e.pushAny(e.alive)
			e.Br(wasm.BrIf, t.label)
			e.Br(wasm.Br, t.exit)
			return
		}
	}
	e.Br(wasm.Br, t.label)
}

// partialOuter reports whether invocations of a workgroup leave an outer construct, or the
// function, at different times.
func (e *emitter) partialOuter() bool {
	for to, yes := range e.s.partial {
		if yes && (to == nil || e.s.isOuter(to)) {
			return true
		}
	}
	return false
}

// pushAny pushes whether any lane of a mask in the frame is set, for any vector.
func (e *emitter) pushAny(slot uint32) {
	any := e.Local(wasm.V128)
	e.V128Const([4]uint32{})
	e.Set(any)
	e.openVectors()
	e.Get(any)
	e.Get(e.slots)
	e.Memory(wasm.V128Load, 4, slot)
	e.Op(wasm.V128Or)
	e.Set(any)
	e.closeVectors()
	e.Get(any)
	e.Op(wasm.V128AnyTrue)
}

// outerSplit writes a conditional branch of which the invocations of a workgroup may take
// both sides. At most one side is no target. Those that leave wait at their target.
func (e *emitter) outerSplit(b *ir.Block) *ir.Block {
	if b.Term.Op == ir.Switch {
		unsupportedf("a switch around a barrier that not all invocations take alike")
	}
	e.openPiece()
	first, second := e.split(b)
	yes, no := b.Next[0], b.Next[1]
	if e.targets[yes] == nil || e.isHead(b, yes) {
		yes, no, first, second = no, yes, second, first
	}
	e.join(b, yes, first)
	if e.targets[no] != nil && !e.isHead(b, no) {
		e.join(b, no, second)
		e.closePiece()
		e.Br(wasm.Br, e.targets[no].label)
		return nil
	}
	e.closePiece()
	return e.outerFollow(b, no)
}

// waiting declares the masks of those that wait at the merge block of an outer construct.
func (e *emitter) waiting(c *construct, label wasm.Label) {
	if c.merge == nil {
		return
	}
	t := &target{label: label}
	e.targets[c.merge] = t
	if !e.s.partial[c.merge] {
		return
	}
	t.partial, t.slot = true, e.reserve(16*e.count)
	e.openVectors()
	e.Get(e.slots)
	e.V128Const([4]uint32{})
	e.Memory(wasm.V128Store, 4, t.slot)
	e.closeVectors()
}

// goOn lets those go on that wait at the merge block of an outer construct.
func (e *emitter) goOn(c *construct) *ir.Block {
	if c.merge == nil {
		return nil
	}
	if t := e.targets[c.merge]; t.slot != 0 {
		e.openVectors()
		e.Get(e.slots)
		e.Memory(wasm.V128Load, 4, t.slot)
		waiting := e.newLocal(wasm.V128)
		e.update(e.alive, waiting, wasm.V128Or)
		e.closeVectors()
	}
	delete(e.targets, c.merge)
	return c.merge
}

// outerPhis sets the phis of a block that all invocations of the workgroup come to. Those
// that differ are in memory, and the others are set once, when all vectors have read them.
func (e *emitter) outerPhis(b, to *ir.Block) {
	if len(to.Values) == 0 || to.Values[0].Op != ir.Phi {
		return
	}
	if !e.s.isOuterPhi(to) { // the head of a loop without barriers
		e.openPiece()
		e.copyPhis(b, to, 0)
		return
	}
	e.closePiece()
	piece := e.piece
	e.piece = noPiece
	k := slices.Index(to.Preds, b)
	var once []*leafHome
	some := false
	for _, v := range to.Values {
		if v.Op != ir.Phi {
			break
		}
		h := e.homeOf(v)
		for i := range h.leaves {
			if l := &h.leaves[i]; l.shape.local {
				some = true
			} else {
				once = append(once, l)
			}
		}
	}
	if some {
		e.openPiece()
		lanes := uint32(0)
		if e.s.partial[to] {
			lanes = e.mask
		}
		e.copyPhis(b, to, lanes)
		e.closePiece()
	}
	for _, v := range to.Values {
		if v.Op != ir.Phi {
			break
		}
		for i, l := range e.homeOf(v).leaves {
			if !l.shape.local {
				e.push(v.Args[k], i)
			}
		}
	}
	for i := len(once) - 1; i >= 0; i-- {
		e.popLeaf(once[i], 0)
	}
	e.piece = piece
}

func (e *emitter) outerSelection(c *construct, end wasm.Label) *ir.Block {
	b := c.head
	choice := uint32(0)
	if len(b.Next) > 1 {
		choice = e.outerChoice(b)
	}
	e.closePiece()
	behind := e.Open(wasm.BlockBegin, wasm.Empty)
	e.waiting(c, behind)
	switch {
	case len(b.Next) == 1:
		e.outerRegion(e.outerFollow(b, b.Next[0]), end)
	case b.Term.Op == ir.Switch:
		e.outerSwitch(b, choice, end)
	default:
		e.Get(choice)
		e.Open(wasm.If, wasm.Empty)
		e.outerRegion(e.outerFollow(b, b.Next[0]), end)
		e.Else()
		e.outerRegion(e.outerFollow(b, b.Next[1]), end)
		e.End()
	}
	e.closePiece()
	e.End()
	return e.goOn(c)
}

func (e *emitter) outerLoop(c *construct, end wasm.Label) *ir.Block {
	e.closePiece()
	e.running[c] = true
	exit := e.Open(wasm.BlockBegin, wasm.Empty)
	e.waiting(c, exit)
	top := e.Open(wasm.Loop, wasm.Empty)
	e.targets[c.head] = &target{label: top, back: true, exit: exit}
	if c.cont != c.head {
		cont := &construct{merge: c.cont}
		e.waiting(cont, e.Open(wasm.BlockBegin, wasm.Empty))
		e.outerRegion(c.head, end)
		e.closePiece()
		e.End()
		e.outerRegion(e.goOn(cont), end)
	} else {
		e.outerRegion(c.head, end)
	}
	e.closePiece()
	e.End()
	e.End()
	delete(e.targets, c.head)
	delete(e.running, c)
	return e.goOn(c)
}

// outerSwitch writes a switch that is the same for the workgroup.
func (e *emitter) outerSwitch(b *ir.Block, choice uint32, end wasm.Label) {
	order := e.caseOrder(b)
	e.openCases(order)
	t := b.Term.Args[0].Type
	e.eachCase(b, func(k int, to *ir.Block) {
		e.Get(choice)
		e.constant(t, e.caseValue(b, k))
		if t.Bits == 64 {
			e.Op(wasm.I64Eq)
		} else {
			e.Op(wasm.I32Eq)
		}
		e.Open(wasm.If, wasm.Empty)
		e.outerJump(b, to)
		e.End()
	})
	e.outerJump(b, b.Next[0])
	for _, to := range order {
		e.End()
		delete(e.targets, to)
		e.outerRegion(to, end)
	}
}
