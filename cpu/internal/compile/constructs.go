package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// construct is a part of a function with structured control flow: a loop, or what a
// condition chooses from.
type construct struct {
	head *ir.Block
	// merge is the block behind the construct, and cont the continue target of a loop. They
	// are nil if they cannot be reached.
	merge, cont *ir.Block
	// blocks are those of the construct. The head is one, merge is none.
	blocks map[*ir.Block]bool
	// continues are the blocks of the continue construct of a loop.
	continues map[*ir.Block]bool
	// outer says that a barrier stands in the construct. All invocations of the workgroup
	// take the same path through it.
	outer bool
	// open says that invocations of a vector may wait at the merge block or the continue
	// target, while others are still in the construct.
	open bool
}

// isLoop reports whether the construct has a way back to its head.
func (c *construct) isLoop() bool { return c.cont != nil }

// graph is the control flow of a function.
type graph struct {
	f *ir.Func
	// of is the construct that begins at a block, and inside lists the constructs around a
	// block, the outermost first.
	of     map[*ir.Block]*construct
	inside map[*ir.Block][]*construct
	// barriers says that the function has any.
	barriers bool
}

// graphOf finds the constructs of a function without calls.
func graphOf(f *ir.Func) *graph {
	g := &graph{f: f, of: map[*ir.Block]*construct{}, inside: map[*ir.Block][]*construct{}}
	for _, h := range f.Blocks { // A block stands behind those that dominate it.
		if h.Merge == nil && h.Continue == nil && g.staying(h) < 2 {
			continue
		}
		c := &construct{head: h, merge: h.Merge, cont: h.Continue}
		if c.merge != nil && g.isTarget(h, c.merge) {
			c.merge = nil // The construct around this one ends or goes on there too.
		}
		stop := map[*ir.Block]bool{}
		if h.Merge != nil {
			stop[h.Merge] = true
		}
		for _, o := range g.inside[h] {
			stop[o.merge] = true
			if o.cont != h {
				stop[o.cont] = true
			}
		}
		c.blocks = reach(h, h, stop)
		if c.cont != nil {
			c.continues = reach(c.cont, h, stop)
		}
		g.of[h] = c
		for b := range c.blocks {
			g.inside[b] = append(g.inside[b], c)
		}
	}
	for _, b := range f.Blocks {
		if slices.ContainsFunc(b.Values, isBarrier) {
			g.barriers = true
			for _, c := range g.inside[b] {
				if c.head != b || c.isLoop() { // A selection begins behind the values of its head.
					c.outer = true
				}
			}
		}
	}
	return g
}

func isBarrier(v *ir.Value) bool { return v.Op == ir.ControlBarrier }

// reach returns the blocks that from reaches without the blocks of stop, and without the way
// back to h or further.
func reach(from, h *ir.Block, stop map[*ir.Block]bool) map[*ir.Block]bool {
	seen := map[*ir.Block]bool{from: true}
	for list := []*ir.Block{from}; len(list) > 0; list = list[1:] {
		for _, to := range list[0].Next {
			if !seen[to] && !stop[to] && to.Index > h.Index {
				seen[to] = true
				list = append(list, to)
			}
		}
	}
	return seen
}

// staying counts the targets of a block that are no target of the constructs around it.
func (g *graph) staying(b *ir.Block) int {
	n := 0
	for i, to := range b.Next {
		if !slices.Contains(b.Next[:i], to) && !g.isTarget(b, to) {
			n++
		}
	}
	return n
}

// isTarget reports whether to is the merge block, the continue target or the head of a
// construct around b.
func (g *graph) isTarget(b, to *ir.Block) bool {
	return slices.ContainsFunc(g.inside[b], func(c *construct) bool { return c.hasTarget(to) })
}

// hasTarget reports whether a branch to a block leaves the construct, or goes back in it.
func (c *construct) hasTarget(to *ir.Block) bool {
	return to == c.merge && to != nil || c.isLoop() && (to == c.cont && to != c.head || to == c.head)
}

// crossed lists the constructs around b, or beginning at it, that a branch to a target leaves
// before it comes to the one that the target belongs to, and that one. The latter is nil
// for a return, whose target is nil.
func (g *graph) crossed(b, to *ir.Block) (left []*construct, of *construct) {
	around := g.inside[b]
	for i := len(around) - 1; i >= 0; i-- {
		if to != nil && around[i].hasTarget(to) {
			return left, around[i]
		}
		left = append(left, around[i])
	}
	return left, nil
}
