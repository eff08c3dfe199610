package exec

import (
	"math/bits"
	"math/rand/v2"
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

// TestFixedOfMany divides plans of thousands of launches, each of which packs a part, and each of which reads what the one before has made.
func TestFixedOfMany(t *testing.T) {
	const n = 4096
	module := null.Module("test/fixed", 0, spv.Binding{Slot: 0, Access: spv.ReadOnly}, spv.Binding{Slot: 1, Access: spv.WriteOnly})
	for name, input := range map[string]int{"all run once": 1, "none does": 0} {
		call := &Compiled{Scratch: make([]int64, n)}
		from := spec.Ref{Kind: spec.RefIn, Index: input}
		for i := range n {
			to := spec.Ref{Kind: spec.RefScratch, Index: i}
			call.steps = append(call.steps, boundStep{module: module, bind: []bindRange{{ref: from}, {ref: to}}})
			from = to
		}
		launches, scratch := call.Fixed([]bool{false, true})
		if want := input == 1; slices.Contains(launches, !want) || slices.Contains(scratch, !want) {
			t.Errorf("%s: %d launches, not alike", name, len(launches))
		}
	}
}

// TestFixedRandom compares the launches that run once, of random plans, with the largest set that a search through all sets finds: each launch of it reads input 1 and memory that
// only the set writes, before others bind it.
func TestFixedRandom(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	some := 0
	for range 3000 {
		call := &Compiled{Scratch: make([]int64, 3)}
		for range 1 + rng.IntN(6) {
			var bindings []spv.Binding
			var step boundStep
			for i := range 1 + rng.IntN(3) {
				ref := spec.Ref{Kind: spec.RefScratch, Index: rng.IntN(3)}
				if rng.IntN(3) == 0 {
					ref = spec.Ref{Kind: spec.RefIn, Index: min(rng.IntN(5), 1)}
				}
				access := []spv.Access{spv.ReadOnly, spv.WriteOnly, spv.ReadWrite}[rng.IntN(3)]
				if ref.Kind == spec.RefIn {
					access = spv.ReadOnly
				}
				bindings = append(bindings, spv.Binding{Slot: uint32(i), Access: access})
				step.bind = append(step.bind, bindRange{ref: ref})
			}
			step.module = null.Module("test/fixed", 0, bindings...)
			call.steps = append(call.steps, step)
		}
		allowed := func(set int) bool {
			for k := range 3 {
				others := false
				for i, s := range call.steps {
					for j, b := range s.bind {
						if b.ref != (spec.Ref{Kind: spec.RefScratch, Index: k}) {
							continue
						}
						others = others || set>>i&1 == 0
						if others && s.access(j) != spv.ReadOnly {
							for u, other := range call.steps { // memory that does not stay
								if set>>u&1 == 1 && slices.ContainsFunc(other.bind, func(b bindRange) bool { return b.ref == (spec.Ref{Kind: spec.RefScratch, Index: k}) }) {
									return false
								}
							}
						}
					}
				}
			}
			for i, s := range call.steps {
				writes := false
				for j, b := range s.bind {
					writes = writes || b.ref.Kind == spec.RefScratch && s.access(j) != spv.ReadOnly
					if set>>i&1 == 1 && b.ref == (spec.Ref{Kind: spec.RefIn}) {
						return false
					}
				}
				if set>>i&1 == 1 && !writes {
					return false
				}
			}
			return true
		}
		largest := 0
		for set := range 1 << len(call.steps) {
			if allowed(set) && bits.OnesCount(uint(set)) > bits.OnesCount(uint(largest)) {
				largest = set
			}
		}
		launches, _ := call.Fixed([]bool{false, true})
		for i, once := range launches {
			if once != (largest>>i&1 == 1) {
				t.Fatalf("launch %d of %+v: %v, and the largest set is %b", i, call.steps, launches, largest)
			}
		}
		if largest > 0 {
			some++
		}
	}
	if some < 300 {
		t.Errorf("only %d of 3000 plans have launches that run once", some)
	}
}
