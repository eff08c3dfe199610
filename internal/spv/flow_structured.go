package spv

import "slices"

// structured checks the rules of structured control flow, which drivers rely
// on when they rebuild loops and branches: every fork names where its ways
// meet again, loops have one way back, and no branch leaves a construct but to
// a place it may go.
func (fn *function) structured(s *shader) error {
	fn.dominators(shapeOf, fn.inner)
	merges := map[*block]*block{} // merge block → its header
	for _, h := range fn.blocks {
		if h.merge == nil {
			continue
		}
		a := h.merge.args()
		m := fn.at[a[0]]
		switch {
		case m == h:
			return invalid("%v: a block is its own merge block", h.merge)
		case m.index == 0:
			return invalid("%v: the first block of a function is a merge block", h.merge)
		case merges[m] != nil:
			return invalid("%v: %%%d is the merge block of %%%d already", h.merge, m.label, merges[m].label)
		case h.shape.reached && m.shape.reached && !dominates(shapeOf, h, m):
			return invalid("%v: the header does not dominate its merge block %%%d", h.merge, m.label)
		}
		merges[m] = h
		if err := h.mergeTerm(); err != nil {
			return err
		}
		if h.merge.op == opLoopMerge {
			c := fn.at[a[1]]
			if c == m {
				return invalid("%v: continue target and merge block are the same", h.merge)
			}
			if h.shape.reached && c.shape.reached && !dominates(shapeOf, h, c) {
				return invalid("%v: the header does not dominate its continue target %%%d", h.merge, c.label)
			}
			if c.shape.reached && m.shape.reached && dominates(shapeOf, m, c) {
				return invalid("%v: the merge block dominates the continue target", h.merge)
			}
		}
	}
	if err := fn.backEdges(); err != nil {
		return err
	}
	for _, b := range fn.blocks {
		if !b.shape.reached {
			for _, to := range b.succ {
				if fn.continues(to) {
					return invalid("%v branches to the continue target %%%d from outside its loop", b.term, to.label)
				}
			}
			continue
		}
		for _, to := range b.succ {
			if err := fn.exit(b, to); err != nil {
				return err
			}
		}
		if b.term.op == opSwitch && (b.merge == nil || b.merge.op != opSelectionMerge) {
			return invalid("%v has no OpSelectionMerge", b.term)
		}
		if b.merge == nil && b.term.op == opBranchConditional && len(b.succ) == 2 && !fn.plainFork(b) {
			return invalid("%v has no merge instruction, and neither way leaves a construct", b.term)
		}
	}
	return nil
}

// inner is the successors of b in the graph by which constructs are nested.
func (fn *function) inner(b *block) []*block {
	if b.merge == nil {
		return b.succ
	}
	next := slices.Clone(b.succ)
	for k, id := range b.merge.args()[:2] {
		if to := fn.at[id]; (k == 0 || b.merge.op == opLoopMerge) && !slices.Contains(next, to) {
			next = append(next, to)
		}
	}
	return next
}

// continues reports whether b is the continue target of a loop.
func (fn *function) continues(b *block) bool {
	return slices.ContainsFunc(fn.blocks, func(h *block) bool {
		return h.merge != nil && h.merge.op == opLoopMerge && fn.at[h.merge.args()[1]] == b
	})
}

// mergeTerm checks which terminators may follow a merge instruction.
func (h *block) mergeTerm() error {
	switch op := h.term.op; {
	case h.merge.op == opLoopMerge && (op == opBranch || op == opBranchConditional):
	case h.merge.op == opSelectionMerge && (op == opBranchConditional || op == opSwitch):
	default:
		return invalid("%v is followed by %v", h.merge, h.term)
	}
	return nil
}

// backEdges checks that each loop header has exactly one way back, which comes
// from its continue construct, and that nothing else is branched back to.
func (fn *function) backEdges() error {
	for _, h := range fn.blocks {
		if !h.shape.reached {
			continue
		}
		back := 0
		var from *block
		for _, p := range h.pred {
			if !p.shape.reached || !dominates(shapeOf, h, p) {
				if p.shape.reached && p.shape.order >= h.shape.order {
					return invalid("%v branches back to %%%d, which does not dominate it", p.term, h.label)
				}
				continue
			}
			back++
			from = p
			if h.merge == nil || h.merge.op != opLoopMerge {
				return invalid("%v branches back to %%%d, which has no OpLoopMerge", p.term, h.label)
			}
			if c := fn.at[h.merge.args()[1]]; !dominates(shapeOf, c, p) {
				return invalid("%v branches back to %%%d from outside its continue construct", p.term, h.label)
			}
		}
		if h.merge == nil || h.merge.op != opLoopMerge {
			continue
		}
		c := fn.at[h.merge.args()[1]]
		if back > 1 || back == 0 && c.shape.reached {
			return invalid("%v: the loop has %d ways back (want 1)", h.merge, back)
		}
		if back == 1 && !leadsBack(c, from, h, fn.at[h.merge.args()[0]]) {
			return invalid("%v: a way from the continue target %%%d does not lead back to the header", h.merge, c.label)
		}
	}
	return nil
}

// leadsBack reports whether every way from a loop's continue target c ends in
// the block that branches back to the header h, rather than leave the loop.
func leadsBack(c, back, h, m *block) bool {
	seen := map[*block]bool{}
	for pending := []*block{c}; len(pending) > 0; {
		b := pending[len(pending)-1]
		pending = pending[:len(pending)-1]
		if b == back || seen[b] {
			continue
		}
		if b == m || b == h && seen[c] || len(b.succ) == 0 && b.term.op != opUnreachable {
			return false
		}
		seen[b] = true
		pending = append(pending, b.succ...)
	}
	return true
}

// in reports whether b lies in the construct of header h: dominated by h and
// not by h's merge block.
func (fn *function) in(b, h *block) bool {
	m := fn.at[h.merge.args()[0]]
	return dominates(shapeOf, h, b) && !(m.shape.reached && dominates(shapeOf, m, b))
}

// exit checks one edge: where it leaves a construct it goes to the construct's
// merge block or to the merge block or continue target of an enclosing loop,
// or to the merge block of an enclosing switch.
func (fn *function) exit(b, to *block) error {
	switchOpen := true // no loop lies between b and the constructs still to look at
	loopOpen := true
	for h := b; h != nil; h = h.shape.idom {
		if h.merge == nil || !fn.in(b, h) {
			continue
		}
		loop := h.merge.op == opLoopMerge
		m := fn.at[h.merge.args()[0]]
		if loop {
			c := fn.at[h.merge.args()[1]]
			if loopOpen && (to == m || to == c || to == h) {
				return fn.intoContinue(b, to, h)
			}
		} else if to == m && (h.term.op == opSwitch && switchOpen && loopOpen || fn.innermost(b, h)) {
			return nil
		}
		if fn.in(to, h) && to != h {
			return fn.enter(b, to)
		}
		if loop {
			loopOpen = false
		} else if h.term.op == opSwitch {
			switchOpen = false
		}
	}
	// Outside all constructs: anywhere but into one.
	for h := b; h != nil; h = h.shape.idom {
		if h.merge != nil && fn.in(b, h) {
			return invalid("%v leaves the construct of %%%d to %%%d, which is none of its ways out", b.term, h.label, to.label)
		}
	}
	return fn.enter(b, to)
}

// innermost reports whether h's construct is the nearest one around b, apart
// from selections whose merge blocks b's way out passes as well.
func (fn *function) innermost(b, h *block) bool {
	for x := b; x != h; x = x.shape.idom {
		if x.merge != nil && fn.in(b, x) {
			return false
		}
	}
	return true
}

// intoContinue accepts a branch to a loop's own merge block, continue target
// or header; a continue construct may not be continued again.
func (fn *function) intoContinue(b, to, h *block) error {
	c := fn.at[h.merge.args()[1]]
	if to == c && c != h && c.shape.reached && dominates(shapeOf, c, b) {
		return invalid("%v branches to the continue target %%%d from inside it", b.term, c.label)
	}
	return nil
}

// enter checks that a branch from b to a block enters constructs by their headers.
func (fn *function) enter(b, to *block) error {
	for h := to.shape.idom; h != nil; h = h.shape.idom {
		if h.merge != nil && fn.in(to, h) && !fn.in(b, h) {
			return invalid("%v enters the construct of %%%d past its header", b.term, h.label)
		}
	}
	return nil
}

// plainFork reports whether a conditional branch without a merge instruction
// is one of the kind allowed: at least one of its ways leaves a construct.
func (fn *function) plainFork(b *block) bool {
	for h := b; h != nil; h = h.shape.idom {
		if h.merge == nil || !fn.in(b, h) {
			continue
		}
		m := fn.at[h.merge.args()[0]]
		if slices.Contains(b.succ, m) {
			return true
		}
		if h.merge.op == opLoopMerge {
			return slices.Contains(b.succ, fn.at[h.merge.args()[1]]) || slices.Contains(b.succ, h)
		}
	}
	return false
}
