package compile

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv/ir"
)

// The processor computes instructions that do not depend on each other at the same time, but
// it looks ahead by some hundred instructions only. A shader that computes several elements,
// each by a long chain of instructions, has the chains one after the other. schedule mixes
// them: it puts the instructions of a block into the order in which a processor would start
// them that looks ahead without limit. It keeps few values alive at a time, because there are
// sixteen registers.

const (
	// mostAlive is how many vectors may be alive before the scheduler prefers instructions
	// that end one.
	mostAlive = 11
	// lookAhead is how far behind the first instruction that is left another one may stand that
	// comes before it.
	lookAhead = 56
	// issueTime is the time between two instructions, in quarters of a cycle.
	issueTime = 2
	// maxScheduled is the most instructions that are put into order together.
	maxScheduled = 1024
)

// schedule orders the instructions of a program.
func schedule(p *ir.Program) {
	for _, b := range p.Entry.Blocks {
		uses := map[*ir.Value]int{} // by the instructions of the block
		for v := range b.Instructions() {
			for _, a := range v.Args {
				uses[a]++
			}
		}
		for from := 0; from < len(b.Values); {
			to := from
			for to < len(b.Values) && to-from < maxScheduled && movable(b.Values[to]) {
				to++
			}
			if to-from > 8 {
				inOrder(b.Values[from:to], uses)
			}
			from = max(to, from+1)
		}
	}
	if checked {
		if err := p.Check(); err != nil {
			panic(err.Error())
		}
	}
}

// movable reports whether a value may be computed earlier or later, as long as its operands
// come before it and no store lies in between.
func movable(v *ir.Value) bool {
	if v.Type == nil || v.Type.Kind == ir.Void || v.Op == ir.Phi || v.Op == ir.Variable {
		return false
	}
	return v.Op == ir.Load || ir.IsPure(v)
}

// latency is about how long the result of an instruction takes, in quarters of a cycle.
func latency(v *ir.Value) int {
	switch v.Op {
	case ir.Load:
		return 20
	case ir.FDiv:
		return 48
	case ir.FAdd, ir.FSub, ir.FMul, ir.ConvertFToS, ir.ConvertFToU, ir.ConvertSToF, ir.ConvertUToF:
		return 16
	case ir.PackLevels:
		return 16
	case ir.ExtInst:
		if v.Literals[0] == glslSqrt {
			return 60
		}
		return 16
	case ir.AccessChain, ir.CompositeExtract, ir.CompositeConstruct, ir.Bitcast, ir.CopyObject, ir.CopyLogical, ir.VectorShuffle, ir.CompositeInsert:
		return 0
	}
	return 6
}

// inOrder puts instructions of one block into order. None of them stores anything. uses counts
// how often instructions of the block use a value.
func inOrder(list []*ir.Value, uses map[*ir.Value]int) {
	number := map[*ir.Value]int{}
	for i, v := range list {
		number[v] = i
	}
	steps := make([]scheduled, len(list))
	inside := make([]int, len(list)) // how often the list itself uses a value
	last := -1
	for i, v := range list {
		s := &steps[i]
		for _, a := range v.Args {
			k, ok := number[a]
			if !ok {
				continue
			}
			inside[k]++
			if !slices.Contains(s.operands, k) {
				s.operands = append(s.operands, k)
				steps[k].users = append(steps[k].users, i)
			}
		}
		s.waits = len(s.operands)
		s.size = registers(v)
		// Loads keep their order, so that the addresses that the engine tests stay first.
		if v.Op == ir.Load {
			if last >= 0 {
				steps[last].next = i
				s.waits++
			}
			last = i
		}
	}
	for i := range steps {
		// What others use stays alive to the end.
		steps[i].left = len(steps[i].users) + uses[list[i]] - inside[i]
	}
	// grows is by how much an instruction changes the number of vectors that are alive.
	grows := func(i int) int {
		d := steps[i].size
		for _, k := range steps[i].operands {
			if steps[k].left == 1 {
				d -= steps[k].size
			}
		}
		return d
	}
	order := make([]*ir.Value, 0, len(list))
	alive, now, first := 0, 0, 0
	for len(order) < len(list) {
		for steps[first].done {
			first++
		}
		best := -1
		for i := first; i < min(first+lookAhead, len(list)); i++ {
			if steps[i].done || steps[i].waits > 0 {
				continue
			}
			if best < 0 {
				best = i
				continue
			}
			a, b := max(steps[i].ready, now), max(steps[best].ready, now)
			if alive >= mostAlive {
				a, b = max(grows(i), 0), max(grows(best), 0)
			}
			if a < b {
				best = i
			}
		}
		s := &steps[best]
		s.done = true
		alive += grows(best)
		now = max(now+issueTime, s.ready)
		order = append(order, list[best])
		for _, k := range s.operands {
			steps[k].left--
		}
		for _, u := range s.users {
			steps[u].ready = max(steps[u].ready, now+latency(list[best]))
			steps[u].waits--
		}
		if s.next > 0 {
			steps[s.next].waits--
		}
	}
	copy(list, order)
}

// scheduled is an instruction that is put into order. Instructions have numbers by their old order.
type scheduled struct {
	operands, users []int
	waits           int // how many operands are not there yet
	left            int // how many users come later
	next            int // the load behind a load
	ready           int // when the operands are there
	size            int // the registers of the result
	done            bool
}

// registers is the number of vectors of a result.
func registers(v *ir.Value) int {
	if v.Type.Scalar() == nil {
		return 0
	}
	return countLeaves(v.Type)
}
