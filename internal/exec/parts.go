package exec

import (
	"slices"

	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
)

// Fixed says which launches need not run again as long as some inputs keep their elements, and which of Scratch they leave for the others. fixed says of each
// input whether it keeps them. Such a launch reads only those inputs and what launches like it have written, and it writes only scratch memory. No
// other launch writes that memory, and none reads it before all that run once have written it: a plan that packs one part of a matrix after
// another into the same memory has no launch like that.
func (c *Compiled) Fixed(fixed []bool) (launches, scratch []bool) {
	if c == nil {
		return nil, nil
	}
	launches, scratch = slices.Repeat([]bool{true}, len(c.steps)), slices.Repeat([]bool{true}, len(c.Scratch))
	// Scratch memory stays if the last launch that writes it comes before the first one that binds it in each run.
	users, lastWrite := make([][]int, len(scratch)), make([]int, len(scratch))
	var runs []int // launches that have been found to run each time, of which what they bind was not looked at
	for i := range c.steps {
		s := &c.steps[i]
		for j, b := range s.bind {
			if k := b.ref.Index; b.ref.Kind == spec.RefScratch {
				users[k] = append(users[k], i)
				if s.access(j)&spv.WriteOnly != 0 {
					lastWrite[k] = i + 1
				}
			}
		}
		if !s.mayRunOnce(fixed) {
			launches[i], runs = false, append(runs, i)
		}
	}
	// A launch that runs each time makes others so, by memory that does not stay.
	for len(runs) > 0 {
		i := runs[len(runs)-1]
		runs = runs[:len(runs)-1]
		for _, b := range c.steps[i].bind {
			k := b.ref.Index
			if b.ref.Kind != spec.RefScratch || !scratch[k] || lastWrite[k] <= i {
				continue
			}
			scratch[k] = false
			for _, u := range users[k] {
				if launches[u] {
					launches[u], runs = false, append(runs, u)
				}
			}
		}
	}
	for k := range scratch { // memory that nobody writes is not left for anybody
		scratch[k] = scratch[k] && lastWrite[k] > 0
	}
	return launches, scratch
}

// access is what a launch does to what it binds there. A texel buffer, which shaders only read, has it too.
func (s *boundStep) access(binding int) spv.Access {
	for _, b := range s.module.Bindings {
		if int(b.Slot) == binding {
			return b.Access
		}
	}
	return spv.ReadWrite
}

// mayRunOnce reports whether a launch reads only inputs that stay, and scratch memory, and writes only such memory.
func (s *boundStep) mayRunOnce(fixed []bool) bool {
	wrote := false
	for j, b := range s.bind {
		n, access := b.ref.Index, s.access(j)
		switch {
		case b.ref.Kind == spec.RefScratch:
			wrote = wrote || access&spv.WriteOnly != 0
		case b.ref.Kind == spec.RefIn && n < len(fixed) && fixed[n] && access == spv.ReadOnly:
		default:
			return false
		}
	}
	return wrote
}

// Split divides the launches: once has those for which launches is true, and rest the others. once makes no output and checks nothing.
func (c *Compiled) Split(launches []bool) (once, rest *Compiled) {
	if c == nil {
		return nil, nil
	}
	a, b := *c, *c
	a.out, a.Checks, a.steps, a.bindings = nil, nil, nil, 0
	b.steps, b.bindings = nil, 0
	for i, s := range c.steps {
		to := &b
		if i < len(launches) && launches[i] {
			to = &a
		}
		to.steps, to.bindings = append(to.steps, s), to.bindings+len(s.bind)
	}
	a.Scratch, b.Scratch = slices.Clone(c.Scratch), slices.Clone(c.Scratch)
	return &a, &b
}
