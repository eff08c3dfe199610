package exec

import (
	"slices"
	"testing"

	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/internal/spv"
	"github.com/lathe-gpu/lathe/spec"
)

// TestFixed looks which launches of made-up plans run once. A launch is written as what it reads and what it writes.
func TestFixed(t *testing.T) {
	in, out, scratch := func(i int) spec.Ref { return spec.Ref{Kind: spec.RefIn, Index: i} }, spec.Ref{Kind: spec.RefOut}, func(i int) spec.Ref { return spec.Ref{Kind: spec.RefScratch, Index: i} }
	type launch struct{ reads, writes []spec.Ref }
	refs := func(list ...spec.Ref) []spec.Ref { return list }
	status := spec.Ref{Kind: spec.RefStatus}
	for name, c := range map[string]struct {
		list     []launch
		launches []bool // what runs once if input 1 stays
		scratch  []bool
	}{
		"packed":                     {[]launch{{refs(in(1)), refs(scratch(0))}, {refs(in(0), scratch(0)), refs(out)}}, []bool{true, false}, []bool{true, false}},
		"two stages":                 {[]launch{{refs(in(1)), refs(scratch(0))}, {refs(scratch(0)), refs(scratch(1))}, {refs(in(0), scratch(1)), refs(out)}}, []bool{true, true, false}, []bool{true, true}},
		"reads what may change":      {[]launch{{refs(in(0), in(1)), refs(scratch(0))}, {refs(scratch(0)), refs(out)}}, []bool{false, false}, []bool{false, false}},
		"part after part":            {[]launch{{refs(in(1)), refs(scratch(0))}, {refs(in(0), scratch(0)), refs(out)}, {refs(in(1)), refs(scratch(0))}, {refs(in(0), scratch(0)), refs(out)}}, []bool{false, false, false, false}, []bool{false, false}},
		"written by others too":      {[]launch{{refs(in(1)), refs(scratch(0))}, {refs(in(0)), refs(scratch(0))}, {refs(scratch(0)), refs(out)}}, []bool{false, false, false}, []bool{false, false}},
		"after one of each run":      {[]launch{{refs(in(0)), refs(scratch(1))}, {refs(in(1)), refs(scratch(0))}, {refs(scratch(0), scratch(1)), refs(out)}}, []bool{false, true, false}, []bool{true, false}},
		"reads scratch of each run":  {[]launch{{refs(in(0)), refs(scratch(1))}, {refs(in(1), scratch(1)), refs(scratch(0))}, {refs(scratch(0)), refs(out)}}, []bool{false, false, false}, []bool{false, false}},
		"makes the result":           {[]launch{{refs(in(1)), refs(out)}}, []bool{false}, []bool{false, false}},
		"tells the host":             {[]launch{{refs(in(1)), refs(scratch(0), status)}, {refs(scratch(0)), refs(out)}}, []bool{false, false}, []bool{false, false}},
		"reads what nobody has made": {[]launch{{refs(scratch(0)), refs(out)}}, []bool{false}, []bool{false, false}},
	} {
		call := &Compiled{Scratch: []int64{16, 16}, name: name}
		for _, l := range c.list {
			var bindings []spv.Binding
			var step boundStep
			for i, r := range append(slices.Clone(l.reads), l.writes...) {
				access := spv.ReadOnly
				if i >= len(l.reads) {
					access = spv.WriteOnly
				}
				bindings = append(bindings, spv.Binding{Slot: uint32(i), Access: access})
				step.bind = append(step.bind, bindRange{ref: r})
			}
			step.module = null.Module("test/fixed", 0, bindings...)
			call.steps = append(call.steps, step)
		}
		launches, stays := call.Fixed([]bool{false, true})
		if !slices.Equal(launches, c.launches) || !slices.Equal(stays, c.scratch) {
			t.Errorf("%s: launches %v and scratch memory %v (want %v and %v)", name, launches, stays, c.launches, c.scratch)
		}
		once, rest := call.Split(launches)
		n := 0
		for _, l := range launches {
			if l {
				n++
			}
		}
		if len(once.steps) != n || len(rest.steps) != len(launches)-n || len(once.Scratch) != 2 || once.out != nil {
			t.Errorf("%s: %d and %d launches of %d", name, len(once.steps), len(rest.steps), len(launches))
		}
		if none, _ := call.Fixed([]bool{false, false}); slices.Contains(none, true) {
			t.Errorf("%s: %v without an input that stays", name, none)
		}
	}
}
