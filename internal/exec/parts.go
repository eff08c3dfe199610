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
	launches, scratch = make([]bool, len(c.steps)), make([]bool, len(c.Scratch))
	for i := range launches {
		launches[i] = true
	}
	// A launch that does not run once makes others so, until nothing changes.
	for changed := true; changed; {
		changed = false
		for k := range scratch {
			scratch[k] = c.stays(k, launches)
		}
		for i := range c.steps {
			if launches[i] && !c.runsOnce(i, fixed, scratch) {
				launches[i], changed = false, true
			}
		}
	}
	for k := range scratch { // memory that nobody writes is not left for anybody
		scratch[k] = scratch[k] && c.writes(k, launches)
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

// runsOnce reports whether a launch reads and writes only what stays.
func (c *Compiled) runsOnce(i int, fixed, scratch []bool) bool {
	s := &c.steps[i]
	wrote := false
	for j, b := range s.bind {
		n, access := b.ref.Index, s.access(j)
		switch {
		case b.ref.Kind == spec.RefScratch && scratch[n]:
			wrote = wrote || access&spv.WriteOnly != 0
		case b.ref.Kind == spec.RefIn && n < len(fixed) && fixed[n] && access == spv.ReadOnly:
		default:
			return false
		}
	}
	return wrote
}

// stays reports whether scratch memory is written only by launches that run once, all of which come before the first other one that binds it.
func (c *Compiled) stays(k int, launches []bool) bool {
	others := false
	for i := range c.steps {
		for j, b := range c.steps[i].bind {
			if b.ref.Kind != spec.RefScratch || b.ref.Index != k {
				continue
			}
			writes := c.steps[i].access(j)&spv.WriteOnly != 0
			if !launches[i] {
				others = true
			}
			if writes && others {
				return false
			}
		}
	}
	return true
}

// writes reports whether a launch that runs once writes scratch memory.
func (c *Compiled) writes(k int, launches []bool) bool {
	for i := range c.steps {
		for j, b := range c.steps[i].bind {
			if launches[i] && b.ref == (spec.Ref{Kind: spec.RefScratch, Index: k}) && c.steps[i].access(j)&spv.WriteOnly != 0 {
				return true
			}
		}
	}
	return false
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
