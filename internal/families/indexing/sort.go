package indexing

import (
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

const (
	sortCount = "move/sort_count.u32"
	sortSums  = "move/sort_sums.u32"
	sortMove  = "move/sort_move.u32"
)

const (
	// sortBits is the number of bits of a digit.
	sortBits = 4
	// mostChunk and mostSorted keep the loops of the kernels below the iterations that an
	// invocation may have.
	mostChunk  = 1 << 14
	mostSorted = 1 << 30
	// pairBytes is the size of a pair.
	pairBytes = 8
)

// sortParams is the push-constant block of lib/sort.glsl.
type sortParams struct{ Count, Base, Chunk, First, Chunks, Shift, Words, From, To, Have, At uint32 }

// sumsParams is the push-constant block of move/sort_sums.comp.
type sumsParams struct{ Count uint32 }

// sortKernels lists the kernels that addSort launches.
func sortKernels() []spec.Kernel {
	return []spec.Kernel{{Name: sortCount, Params: sortParams{}}, {Name: sortMove, Params: sortParams{}}, {Name: sortSums, Params: sumsParams{}}}
}

// addSort appends to a plan the launches that sort n keys, words below limit. The result
// is a scratch buffer of pairs, of a key and its position among the keys. Equal keys keep
// their order.
// Errors: *LimitError.
func addSort(plan *spec.Plan, t *spec.Target, keys spec.Ref, n, limit int) (spec.Ref, error) {
	if n > mostSorted {
		return spec.Ref{}, &errs.LimitError{Name: "indices", Want: int64(n), Have: mostSorted}
	}
	// Enough chunks to keep a device busy, and few enough for the sums of their counts.
	chunk := min(max(16, planner.CeilDiv(n, 4096)), mostChunk)
	chunks := planner.CeilDiv(n, chunk)
	table := planner.AddScratch(plan, int64(4*chunks)<<sortBits)
	from, words := keys, 1
	to, other := planner.AddScratch(plan, int64(n)*pairBytes), spec.Ref{}
	room := min(planner.MaxSpan(t, false), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack
	if int64(4*chunks)<<sortBits > room {
		return to, &errs.LimitError{Name: "MaxBinding", Want: int64(4*chunks) << sortBits, Have: room}
	}
	for shift := 0; shift == 0 || shift < bits.Len(uint(limit-1)); shift += sortBits {
		if shift > 0 {
			if other.Kind == spec.RefNone {
				other = planner.AddScratch(plan, int64(n)*pairBytes)
			}
			from, words = to, 2
			to, other = other, to
		}
		var moves []spec.Step
		most := max(int(room)/(4*words)/chunk, 1) * chunk
		for first := 0; first < n; first += most {
			count := min(most, n-first)
			p := sortParams{Count: uint32(count), Chunk: uint32(chunk), First: uint32(first / chunk), Chunks: uint32(chunks), Shift: uint32(shift), Words: uint32(words), From: uint32(first)}
			var in spec.Bind
			in, p.Base = planner.Window(t, from, 4, int64(first*words), int64(count*words))
			groups, err := planner.Grid(t, int64(planner.CeilDiv(planner.CeilDiv(count, chunk), planner.SmallGroup)))
			if err != nil {
				return to, err
			}
			plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(sortCount), Params: p, Groups: groups, Bind: []spec.Bind{in, {Buf: table}}})
			have := int(room) / pairBytes
			for k := 0; k < n; k += have {
				q := p
				q.To, q.Have = uint32(k), uint32(min(have, n-k))
				var out spec.Bind
				out, q.At = planner.Window(t, to, 4, int64(2*k), int64(2*q.Have))
				moves = append(moves, spec.Step{Module: spirv.Kernel(sortMove), Params: q, Groups: groups, Bind: []spec.Bind{in, {Buf: table}, out}})
			}
		}
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(sortSums), Params: sumsParams{uint32(chunks) << sortBits}, Groups: [3]uint32{1, 1, 1}, Bind: []spec.Bind{{Buf: table}}})
		plan.Steps = append(plan.Steps, moves...)
	}
	return to, nil
}
