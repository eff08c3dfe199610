package spv

import (
	"encoding/binary"
	"slices"
)

// carryLoops rewrites loops for WebGPU. Where its compiler writes GLSL, HLSL or Metal's
// language, a value of the loop's body that the continue construct uses is not kept: its
// expression is written a second time, after variables and buffers that it reads may have
// changed. So such a value goes through a variable of the function. What the module
// computes does not change.
//
// Pointers cannot go through variables, and the compiler refuses those that leave a loop.
// So an access chain is repeated in every block that uses it.
//
// A module without loops comes back as it is. The code must come from Parse.
func carryLoops(code []byte) ([]byte, error) {
	c, err := carrierOf(code)
	if c == nil {
		return code, err
	}
	if c.repeatChains(); len(c.changes) > 0 {
		code = c.rewritten(code)
		if c, err = carrierOf(code); err != nil {
			return nil, err
		}
	}
	c.carryValues()
	return c.rewritten(code), nil
}

// carrier collects the changes to a module whose loops are rewritten.
type carrier struct {
	s            *shader
	next         uint32            // the first free id
	variables    map[uint32]uint32 // the variable of each value that goes through one
	pointers     map[uint32]uint32 // by type, the type of pointers to it in a function
	declarations []byte            // of the new types
	before       map[*inst][]byte  // new instructions before one of the module
	after        map[*inst][]byte  // and after one
	changes      []operandChange
}

// operandChange makes an operand of an instruction another id.
type operandChange struct {
	in      *inst
	operand int
	id      uint32
}

// carrierOf returns a carrier without changes. It returns nil for a module without loops.
func carrierOf(code []byte) (*carrier, error) {
	s, err := typed(code)
	if err != nil || !slices.ContainsFunc(s.insts, func(in inst) bool { return in.op == opLoopMerge }) {
		return nil, err
	}
	if err := s.order(); err != nil {
		return nil, err
	}
	if err := s.link(); err != nil {
		return nil, err
	}
	return &carrier{s: s, next: s.bound, variables: map[uint32]uint32{}, pointers: map[uint32]uint32{}, before: map[*inst][]byte{}, after: map[*inst][]byte{}}, nil
}

func (c *carrier) id() uint32 {
	c.next++
	return c.next - 1
}

// rewritten returns the module with the changes.
func (c *carrier) rewritten(code []byte) []byte {
	if len(c.changes) == 0 {
		return code
	}
	for _, ch := range c.changes {
		ch.in.args()[ch.operand] = ch.id
	}
	out := append(make([]byte, 0, len(code)+len(code)/4), code[:4*headerWords]...)
	declared := false
	for i := range c.s.insts {
		in := &c.s.insts[i]
		if in.op == opFunction && !declared {
			declared = true
			out = append(out, c.declarations...)
		}
		out = append(out, c.before[in]...)
		out = appendWords(out, in.w)
		out = append(out, c.after[in]...)
	}
	binary.LittleEndian.PutUint32(out[4*3:], c.next)
	return out
}

// repeatChains gives each block that uses an access chain of another block one of its own.
func (c *carrier) repeatChains() {
	for _, fn := range c.s.fns {
		for _, b := range fn.blocks {
			own := map[uint32]uint32{} // the chains of this block, by those of others
			for _, in := range b.body {
				_ = c.s.values(in, func(k int, id uint32) error {
					if in.op == opPhi {
						return nil // a value, or a pointer that Lathe refuses
					}
					if to := c.chain(b, in, id, own); to != id {
						c.changes = append(c.changes, operandChange{in, k, to})
					}
					return nil
				})
			}
		}
	}
}

// chain returns the access chain of block b that stands for id, which is id itself if it is
// no chain of another block. A new chain goes before the instruction that uses it.
func (c *carrier) chain(b *block, user *inst, id uint32, own map[uint32]uint32) uint32 {
	d := c.s.def[id]
	in := &c.s.insts[d]
	if in.op != opAccessChain && in.op != opInBoundsAccess || c.s.blockOf[d] == b {
		return id
	}
	if to := own[id]; to != 0 {
		return to
	}
	words := []uint32{in.typ, 0}
	for _, a := range in.args() {
		words = append(words, c.chain(b, user, a, own))
	}
	words[1] = c.id()
	c.before[user] = appendInst(c.before[user], in.op, words...)
	own[id] = words[1]
	return words[1]
}

// carryValues rewrites all loops.
func (c *carrier) carryValues() {
	for i := range c.s.insts {
		if in := &c.s.insts[i]; in.op == opTypePointer && in.w[2] == classFunction {
			c.pointers[in.w[3]] = in.res
		}
	}
	for _, fn := range c.s.fns {
		for _, h := range fn.blocks {
			if h.merge != nil && h.merge.op == opLoopMerge {
				c.loop(h)
			}
		}
	}
}

// loop rewrites the uses that the continue construct of a loop makes of values of the
// loop's body.
func (c *carrier) loop(h *block) {
	fn := h.fn
	target := fn.at[h.merge.args()[1]]
	if target == h || !h.shape.reached || !target.shape.reached {
		return
	}
	l := &carriedLoop{carrier: c, header: h, target: target, ids: map[uint32]uint32{}}
	for _, b := range fn.blocks {
		if !l.continues(b) {
			continue
		}
		for _, in := range b.body {
			l.uses(in, func(from *block) bool { return l.continues(from) })
		}
		l.uses(b.term, nil)
	}
	for _, in := range h.body {
		if in.op == opPhi {
			l.uses(in, func(from *block) bool { return l.continues(from) })
		}
	}
	if len(l.loads) > 0 {
		at := target.term
		if target.merge != nil {
			at = target.merge
		}
		for _, in := range target.body {
			if in.op != opPhi {
				at = in
				break
			}
		}
		c.before[at] = append(slices.Clone(l.loads), c.before[at]...)
	}
}

// carriedLoop is a loop at work.
type carriedLoop struct {
	*carrier
	header, target *block
	ids            map[uint32]uint32 // what stands for a value of the body in the continue construct
	loads          []byte            // the instructions that make these, for the continue target
}

// continues reports whether a block is of the continue construct.
func (l *carriedLoop) continues(b *block) bool {
	return b.shape.reached && dominates(shapeOf, l.target, b) && b.fn.in(b, l.header)
}

// uses changes the operands of an instruction that are values of the body. Of a phi it
// changes those that come from blocks for which from holds.
func (l *carriedLoop) uses(in *inst, from func(*block) bool) {
	_ = l.s.values(in, func(k int, id uint32) error {
		if in.op == opPhi && !from(l.header.fn.at[in.args()[k+1]]) {
			return nil
		}
		if to := l.inContinue(id); to != id {
			l.changes = append(l.changes, operandChange{in, k, to})
		}
		return nil
	})
}

// inContinue returns what stands for a value in the continue construct: the value
// itself if it is none of the body.
func (l *carriedLoop) inContinue(id uint32) uint32 {
	d := l.s.def[id]
	b := l.s.blockOf[d]
	in := &l.s.insts[d]
	if l.s.fnOf[d] != l.header.fn || b == nil || in.op == opVariable || !b.shape.reached || !b.fn.in(b, l.header) || l.continues(b) {
		return id
	}
	if to := l.ids[id]; to != 0 {
		return to
	}
	if !l.s.storable(l.s.types[in.typ]) {
		return id
	}
	to := l.id()
	l.loads = appendInst(l.loads, opLoad, in.typ, to, l.variable(in, b))
	l.ids[id] = to
	return to
}

// variable returns the variable that holds a value, which is stored there as soon as it
// is computed.
func (c *carrier) variable(in *inst, b *block) uint32 {
	if v := c.variables[in.res]; v != 0 {
		return v
	}
	pointer := c.pointers[in.typ]
	if pointer == 0 {
		pointer = c.id()
		c.pointers[in.typ] = pointer
		c.declarations = appendInst(c.declarations, opTypePointer, pointer, classFunction, in.typ)
	}
	v := c.id()
	c.variables[in.res] = v
	first := b.fn.blocks[0]
	start := first.term
	switch {
	case len(first.body) > 0:
		start = first.body[0]
	case first.merge != nil:
		start = first.merge
	}
	c.before[start] = append(c.before[start], appendInst(nil, opVariable, pointer, v, classFunction)...)
	at := in
	if in.op == opPhi { // phis stand together
		for _, p := range b.body {
			if p.op == opPhi {
				at = p
			}
		}
	}
	c.after[at] = appendInst(c.after[at], opStore, v, in.res)
	return v
}

// storable reports whether a variable of a function can hold values of a type without
// more ado: types with a layout are for buffers.
func (s *shader) storable(t *typ) bool {
	switch t.op {
	case opTypeBool, opTypeInt, opTypeFloat, opTypeVector, opTypeMatrix:
		return true
	case opTypeStruct:
		for k, m := range t.members {
			if len(s.mdecor[member{t.id, uint32(k)}]) > 0 || !s.storable(m) {
				return false
			}
		}
		return true
	}
	return false
}
