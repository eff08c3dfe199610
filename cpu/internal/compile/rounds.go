package compile

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// A loop that counts is written twice if it accesses memory at addresses that rise evenly
// from round to round. Before the loop, its first and last addresses are compared with the
// bounds. If all are inside, the loop runs that needs no bounds, and no looks at the stop
// word, because its rounds are few. Otherwise the loop runs that tests each access.

// countedLoop is a loop whose rounds can be counted before it runs.
type countedLoop struct {
	c *construct
	// from is the number of the predecessor of the head from which the loop is entered.
	from int
	// counter is the phi that is compared, bound its first value that ends the loop, and step
	// what each round adds.
	counter, bound *ir.Value
	step           uint32
	signed         bool
	accesses       []*ir.Value
}

// counted returns what is known about a loop, or nil if it is not written twice.
func (e *emitter) counted(c *construct) *countedLoop {
	h := c.head
	if len(h.Preds) != 2 || len(h.Next) != 2 || h.Term.Op != ir.BranchConditional || e.s.differs(h) || c.blocks[h.Next[1]] || !c.blocks[h.Next[0]] {
		return nil
	}
	l := &countedLoop{c: c}
	if c.blocks[h.Preds[0]] {
		l.from = 1
	}
	if c.blocks[h.Preds[l.from]] || !c.blocks[h.Preds[1-l.from]] {
		return nil
	}
	cond := h.Term.Args[0]
	if len(cond.Args) != 2 {
		return nil
	}
	l.counter, l.bound = cond.Args[0], cond.Args[1]
	switch cond.Op {
	case ir.ULessThan:
	case ir.SLessThan:
		l.signed = true
	case ir.UGreaterThan:
		l.counter, l.bound = l.bound, l.counter
	case ir.SGreaterThan:
		l.counter, l.bound, l.signed = l.bound, l.counter, true
	default:
		return nil
	}
	if !isWord(l.counter.Type) || !e.isCounter(l, l.counter) || l.varies(l.bound) {
		return nil
	}
	step := e.stepOf(l, l.counter)
	if step.Op != ir.Const || step.Bits == 0 || step.Bits > 1<<16 {
		return nil
	}
	l.step = uint32(step.Bits)
	for _, v := range []*ir.Value{l.counter, l.bound} {
		if sh := e.shapeOf(v, 0); !sh.isUniform() {
			return nil
		}
	}
	for b := range c.blocks {
		if n := e.s.graph.of[b]; n != nil && n.isLoop() && n != c {
			return nil // an outer loop
		}
	}
	inHead := map[*ir.Value]bool{} // The head runs once more than the rounds that are tested.
	for _, v := range h.Values {
		for _, a := range v.Args {
			inHead[a] = true
		}
	}
	for _, b := range e.prog.Entry.Blocks {
		if !c.blocks[b] || b == h {
			continue
		}
		for _, v := range b.Values {
			if (v.Op == ir.Load || v.Op == ir.Store) && !inHead[v.Args[0]] && e.isEven(l, v.Args[0]) {
				l.accesses = append(l.accesses, v)
			}
		}
	}
	if len(l.accesses) == 0 || len(l.accesses) > 64 {
		return nil
	}
	return l
}

// isWord reports whether a type is an integer of 32 bits.
func isWord(t *ir.Type) bool { return t.Kind == ir.Int && t.Bits == 32 }

// varies reports whether a value is computed in the loop.
func (l *countedLoop) varies(v *ir.Value) bool { return v.Block != nil && l.c.blocks[v.Block] }

// isCounter reports whether a value is a phi to which each round adds the same.
func (e *emitter) isCounter(l *countedLoop, v *ir.Value) bool {
	if v.Op != ir.Phi || v.Block != l.c.head || !isWord(v.Type) || e.shapeOf(v, 0).varying {
		return false
	}
	s := e.stepOf(l, v)
	return s != nil && !l.varies(s) && e.shapeOf(s, 0).isUniform()
}

// stepOf is what each round adds to a phi, or nil.
func (e *emitter) stepOf(l *countedLoop, v *ir.Value) *ir.Value {
	next := v.Args[1-l.from]
	if next.Op != ir.IAdd || !isWord(next.Type) {
		return nil
	}
	switch v {
	case next.Args[0]:
		return next.Args[1]
	case next.Args[1]:
		return next.Args[0]
	}
	return nil
}

// isEven reports whether the address of an access in memory that invocations share rises by
// the same in each round, and all its lanes are at one address or side by side.
func (e *emitter) isEven(l *countedLoop, p *ir.Value) bool {
	root := rootOf(p)
	if root == nil || root.Var.IsBuiltin || isPrivate(root) || e.bufs[root.ID] == nil || root.Var.Class == ir.PushConstant || e.degree(l, p) < 0 {
		return false
	}
	place := placeOf(p)
	list := (layout{}).accesses(place)
	if len(list) != 1 {
		return false
	}
	t := leavesOf(place.t)[0]
	sh := e.address(p)
	return sh.isUniform() || !sh.varying && list[0].side(sh.stride, t)
}

// degree is 0 for values that are the same in all rounds, 1 for those that rise by the
// same, and less than 0 for all others.
func (e *emitter) degree(l *countedLoop, v *ir.Value) int {
	if v.Op == ir.Variable || v.Op == ir.Const {
		return 0
	}
	if v.Op != ir.AccessChain && !isWord(v.Type) || e.shapeOf(v, 0).varying {
		return -1
	}
	if !l.varies(v) {
		return 0
	}
	both := func(a, b int) int {
		if a < 0 || b < 0 {
			return -1
		}
		return max(a, b)
	}
	switch v.Op {
	case ir.Phi:
		if e.isCounter(l, v) {
			return 1
		}
	case ir.IAdd, ir.ISub:
		return both(e.degree(l, v.Args[0]), e.degree(l, v.Args[1]))
	case ir.IMul:
		a, b := e.degree(l, v.Args[0]), e.degree(l, v.Args[1])
		if a >= 0 && b >= 0 && a+b < 2 {
			return a + b
		}
	case ir.ShiftLeftLogical:
		if v.Args[1].Op == ir.Const && v.Args[1].Bits < 32 {
			return e.degree(l, v.Args[0])
		}
	case ir.Bitcast, ir.CopyObject:
		return e.degree(l, v.Args[0])
	case ir.AccessChain:
		d := e.degree(l, v.Args[0])
		for _, s := range stepsOf(v) {
			if s.index != nil {
				d = both(d, e.degree(l, s.index))
			}
		}
		return d
	}
	return -1
}

// pushRound pushes what a value of a degree is in the first round, or in the second one.
func (e *emitter) pushRound(l *countedLoop, v *ir.Value, second bool) {
	if v.Op == ir.Variable || v.Op == ir.Const || !l.varies(v) {
		e.push(v, 0)
		return
	}
	switch v.Op {
	case ir.Phi:
		if e.push(v.Args[l.from], 0); second {
			e.push(e.stepOf(l, v), 0)
			e.Op(wasm.I32Add)
		}
	case ir.AccessChain:
		e.pushRound(l, v.Args[0], second)
		steps := stepsOf(v)
		for _, s := range steps {
			if s.index != nil {
				e.pushRound(l, s.index, second)
				e.I32Const(int32(s.unit))
				e.Op(wasm.I32Mul)
				e.Op(wasm.I32Add)
			}
		}
		e.I32Const(int32(offsetOf(steps)))
		e.Op(wasm.I32Add)
	case ir.Bitcast, ir.CopyObject:
		e.pushRound(l, v.Args[0], second)
	default:
		e.pushRound(l, v.Args[0], second)
		e.pushRound(l, v.Args[1], second)
		e.Op(map[ir.Op]wasm.Op{ir.IAdd: wasm.I32Add, ir.ISub: wasm.I32Sub, ir.IMul: wasm.I32Mul, ir.ShiftLeftLogical: wasm.I32Shl}[v.Op])
	}
}

// testRounds returns a local that says whether the loop may run without tests.
func (e *emitter) testRounds(l *countedLoop) uint32 {
	// The number of rounds is that of the steps from the first value to the bound.
	extend := wasm.I64ExtendI32U
	if l.signed {
		extend = wasm.I64ExtendI32S
	}
	e.push(l.bound, 0)
	e.Op(extend)
	e.push(l.counter.Args[l.from], 0)
	e.Op(extend)
	e.Op(wasm.I64Sub)
	e.I64Const(int64(l.step) - 1)
	e.Op(wasm.I64Add)
	rounds := e.newLocal(wasm.I64)
	e.Get(rounds)
	e.I64Const(int64(l.step))
	e.Op(wasm.I64DivS)
	e.Set(rounds)
	e.Get(rounds)
	e.I64Const(roundsBetweenYields)
	e.Op(wasm.I64LeS)
	e.Get(rounds)
	e.I64Const(0)
	e.Op(wasm.I64GtS)
	e.Op(wasm.I32And)
	// The counter must not pass the largest number on its way.
	e.push(l.bound, 0)
	e.Op(extend)
	most := int64(math.MaxUint32)
	if l.signed {
		most = math.MaxInt32
	}
	e.I64Const(most - int64(l.step))
	e.Op(wasm.I64LeS)
	e.Op(wasm.I32And)
	ok := e.newLocal(wasm.I32)
	e.Get(ok)
	e.Open(wasm.If, wasm.Empty)
	for _, g := range e.evenGroups(l) {
		first := e.testEnds(l, g.low, rounds, ok)
		if g.high == g.low {
			continue
		}
		// What lies between the two is inside too, if the addresses do not wrap.
		e.Get(first)
		e.Get(e.testEnds(l, g.high, rounds, ok))
		e.Op(wasm.I32LeU)
		e.Get(ok)
		e.Op(wasm.I32And)
		e.Set(ok)
	}
	e.Get(ok)
	e.Open(wasm.If, wasm.Empty)
	e.Get(e.fuel)
	e.Get(rounds)
	e.Op(wasm.I32WrapI64)
	e.Op(wasm.I32Sub)
	e.Tee(e.fuel)
	e.I32Const(0)
	e.Op(wasm.I32LeS)
	e.lookAtStop()
	e.End()
	e.End()
	return ok
}

// testEnds clears ok if an address is outside of its buffer in the first or the last round. It
// returns the local with the first address.
func (e *emitter) testEnds(l *countedLoop, p *ir.Value, rounds, ok uint32) uint32 {
	e.pushRound(l, p, false)
	first := e.newLocal(wasm.I32)
	e.pushRound(l, p, true)
	e.Get(first)
	e.Op(wasm.I32Sub)
	e.Op(wasm.I64ExtendI32S)
	e.Get(rounds)
	e.I64Const(1)
	e.Op(wasm.I64Sub)
	e.Op(wasm.I64Mul)
	e.Get(first)
	e.Op(wasm.I64ExtendI32U)
	e.Op(wasm.I64Add)
	last := e.newLocal(wasm.I64)
	a := (layout{}).accesses(placeOf(p))[0]
	bytes := int64(a.offset) + int64(a.span)
	if !e.address(p).isUniform() {
		bytes = int64(a.offset) + lanes*int64(a.span)
	}
	// Both ends are at least 0, and at least bytes before the end of the buffer.
	b := e.bufs[rootOf(p).ID]
	size := func() {
		if b.fixed {
			e.I64Const(int64(b.size) - bytes)
			return
		}
		e.Get(b.size)
		e.Op(wasm.I64ExtendI32U)
		e.I64Const(bytes)
		e.Op(wasm.I64Sub)
	}
	e.Get(first)
	e.Op(wasm.I64ExtendI32U)
	size()
	e.Op(wasm.I64LeS)
	e.Get(last)
	size()
	e.Op(wasm.I64LeS)
	e.Op(wasm.I32And)
	e.Get(last)
	e.I64Const(0)
	e.Op(wasm.I64GeS)
	e.Op(wasm.I32And)
	e.Get(ok)
	e.Op(wasm.I32And)
	e.Set(ok)
	return first
}

// twice writes a loop in both ways. write writes it.
func (e *emitter) twice(c *construct, write func()) {
	var l *countedLoop
	if e.untested == nil {
		l = e.counted(c)
	}
	if l == nil {
		write()
		return
	}
	ok := e.testRounds(l)
	e.Get(ok)
	e.Open(wasm.If, wasm.Empty)
	e.untested = map[*ir.Value]bool{}
	for _, v := range l.accesses {
		e.untested[v.Args[0]] = true
	}
	e.unwatched = c
	write()
	e.untested, e.unwatched = nil, nil
	e.Else()
	write()
	e.End()
}

// reached pushes the address of a proven access without its constant part, which it returns.
// Addresses in one block that differ by constants only are computed once.
func (e *emitter) reached(p, root *ir.Value) (offset uint32) {
	b := e.bufs[root.ID]
	if p.Op != ir.AccessChain || p.Args[0].Op != ir.Variable {
		e.pushBase(b)
		e.pushOffset(p, 0)
		e.Op(wasm.I32Add)
		return 0
	}
	steps := stepsOf(p)
	offset = uint32(offsetOf(steps))
	type term struct {
		v    *ir.Value
		unit int64
	}
	var terms []term
	for _, s := range steps {
		if s.index == nil {
			continue
		}
		v := s.index
		for v.Op == ir.IAdd && isWord(v.Type) && v.Args[1].Op == ir.Const && int64(offset)+int64(v.Args[1].Bits&0xffffffff)*s.unit <= leastAddress {
			offset += uint32(v.Args[1].Bits) * uint32(s.unit)
			v = v.Args[0]
		}
		terms = append(terms, term{v, s.unit})
	}
	if offset > leastAddress {
		e.pushBase(b)
		e.pushOffset(p, 0)
		e.Op(wasm.I32Add)
		return 0
	}
	key := addressKey{root: root}
	if len(terms) == 1 {
		key.index, key.unit = terms[0].v, terms[0].unit
		if l, ok := e.addresses[key]; ok {
			e.Get(l)
			return offset
		}
	}
	e.pushBase(b)
	for _, t := range terms {
		e.push(t.v, 0)
		if t.unit != 1 {
			e.I32Const(int32(t.unit))
			e.Op(wasm.I32Mul)
		}
		e.Op(wasm.I32Add)
	}
	if len(terms) == 1 {
		l := e.Local(wasm.I32)
		e.Tee(l)
		if e.Depth() == e.blockDepth {
			e.addresses[key] = l
		}
	}
	return offset
}

// leastAddress is at most the address of any variable that invocations share. So an address
// without a constant part up to this is not less than 0 either.
const leastAddress = 4096

// addressKey names an address without its constant part.
type addressKey struct {
	root, index *ir.Value
	unit        int64
}

func (e *emitter) pushBase(b *buffer) {
	if !b.fixed {
		e.Get(b.base)
		return
	}
	e.Get(paramFrame)
	e.I32Const(int32(b.base))
	e.Op(wasm.I32Add)
}

// forget begins a sequence of instructions that run one after the other.
func (e *emitter) forget() {
	e.blockDepth = e.Depth()
	e.addresses = map[addressKey]uint32{}
	e.recent = map[leafOf]uint32{}
	e.splits = map[*ir.Value][lanes]uint32{}
}
