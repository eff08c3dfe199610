package spv

import "slices"

// node is a block's place in a control-flow graph.
type node struct {
	reached bool
	order   int    // reverse postorder number
	idom    *block // immediate dominator; nil for the first block
	depth   int    // in the tree of dominators
	// first and last are the numbers of the block and of the last one below it in the tree
	// of dominators, counted from the root down.
	first, last int
}

// flowOf and shapeOf choose the graph: that of the branches alone, by which
// values reach their uses, or the one by which constructs are nested.
func flowOf(b *block) *node  { return &b.flow }
func shapeOf(b *block) *node { return &b.shape }

// dominators numbers the blocks reached from the first one along next in
// reverse postorder and computes their immediate dominators (the algorithm of
// Cooper, Harvey and Kennedy).
func (fn *function) dominators(at func(*block) *node, next func(*block) []*block) {
	type frame struct {
		b       *block
		pending []*block
	}
	var post []*block
	pred := make([][]*block, len(fn.blocks))
	entry := fn.blocks[0]
	at(entry).reached = true
	for stack := []frame{{entry, next(entry)}}; len(stack) > 0; {
		f := &stack[len(stack)-1]
		if len(f.pending) == 0 {
			post = append(post, f.b)
			stack = stack[:len(stack)-1]
			continue
		}
		to := f.pending[0]
		f.pending = f.pending[1:]
		pred[to.index] = append(pred[to.index], f.b)
		if n := at(to); !n.reached {
			n.reached = true
			stack = append(stack, frame{to, next(to)})
		}
	}
	slices.Reverse(post)
	for i, b := range post {
		at(b).order = i
	}
	at(entry).idom = entry
	for changed := true; changed; {
		changed = false
		for _, b := range post[1:] {
			var d *block
			for _, p := range pred[b.index] {
				switch {
				case at(p).idom == nil:
				case d == nil:
					d = p
				default:
					d = meet(at, d, p)
				}
			}
			if at(b).idom != d {
				at(b).idom, changed = d, true
			}
		}
	}
	at(entry).idom = nil
	for _, b := range post[1:] {
		at(b).depth = at(at(b).idom).depth + 1
	}
	fn.number(at, post)
}

// number numbers the blocks in the tree of dominators. order has each block behind the one
// above it.
func (fn *function) number(at func(*block) *node, order []*block) {
	size := make([]int, len(fn.blocks)) // of the tree below each block
	for i := len(order) - 1; i >= 0; i-- {
		b := order[i]
		if size[b.index]++; i > 0 {
			size[at(b).idom.index] += size[b.index]
		}
	}
	next := make([]int, len(fn.blocks)) // the first number that is free below each block
	for i, b := range order {
		n := at(b)
		if i > 0 {
			up := n.idom.index
			n.first = next[up]
			next[up] += size[b.index]
		}
		n.last = n.first + size[b.index] - 1
		next[b.index] = n.first + 1
	}
}

// meet is the nearest block that dominates both.
func meet(at func(*block) *node, a, b *block) *block {
	for a != b {
		for at(b).order > at(a).order {
			b = at(b).idom
		}
		for at(a).order > at(b).order {
			a = at(a).idom
		}
	}
	return a
}

// dominates reports whether every way to b leads through a. Blocks that cannot
// be reached dominate only themselves.
func dominates(at func(*block) *node, a, b *block) bool {
	x, y := at(a), at(b)
	if !x.reached || !y.reached {
		return a == b
	}
	return x.first <= y.first && y.first <= x.last
}
