package indexing

import (
	"math/bits"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

const (
	sortCount = "move/sort_count"
	sortSums  = "move/sort_sums.u32"
	sortMove  = "move/sort_move"
	sortRank  = "move/sort_rank"
	sortBlock = "move/sort_block"
)

const (
	// sortBits is the number of bits of a digit.
	sortBits = 4
	// leastSorted is the least number of keys of a chunk.
	leastSorted = 16
	// mostChunk and mostSorted keep the loops of the kernels below the iterations that an
	// invocation may have.
	mostChunk  = 1 << 14
	mostSorted = 1 << 30
	// mostChunks is enough chunks to keep a device busy, and few enough for the sums of their
	// counts.
	mostChunks = 1 << 12
	// mostRanked is the longest row whose keys are ranked: each is compared with each.
	mostRanked = 64
	// blockWords bounds the length of rows that a workgroup sorts in its own memory: so many keys of one word,
	// and half as many of two.
	blockWords = 2048
	// sumsBlock is the number of words that a workgroup of sortSums adds up where there are several.
	sumsBlock = 256
	// pairBytes is the size of a pair of a key of one word and a position.
	pairBytes = 8
)

// sortParams is the push-constant block of lib/sort.glsl.
type sortParams struct{ Count, Base, Chunk, Row, First, Chunks, Shift, Words, From, To, Have, At uint32 }

// sumsParams is the push-constant block of move/sort_sums.comp.
type sumsParams struct{ Count uint32 }

// rankParams is the push-constant block of move/sort_rank.comp.
type rankParams struct{ Count, Row, Base, At uint32 }

// blockParams is the push-constant block of move/sort_block.comp.
type blockParams struct{ Rows, Row, Size, Base, At uint32 }

// keyVariants are the suffixes of kernels by the words of a key.
var keyVariants = []string{"", ".u32", ".u64"}

// sortKernels lists the kernels that addSort launches for keys of up to so many words.
func sortKernels(words int) []spec.Kernel {
	ks := append(digitKernels(words), []spec.Kernel{{Name: sortSums, Params: sumsParams{}}, {Name: sortSums + ".totals", Params: sumsParams{}}, {Name: sortSums + ".spread", Params: sumsParams{}}}...)
	for _, v := range keyVariants[1 : words+1] {
		ks = append(ks, spec.Kernel{Name: sortCount + v, Params: sortParams{}}, spec.Kernel{Name: sortMove + v, Params: sortParams{}})
	}
	return ks
}

// rankKernels lists the kernels that addRanks and addBlocks launch.
func rankKernels() []spec.Kernel {
	return []spec.Kernel{{Name: sortRank + ".u32", Params: rankParams{}}, {Name: sortRank + ".u64", Params: rankParams{}},
		{Name: sortBlock + ".u32", Params: blockParams{}}, {Name: sortBlock + ".u64", Params: blockParams{}}}
}

// keyRows describes rows of keys that are sorted one by one. Keys are integers without a sign.
type keyRows struct {
	keys spec.Ref
	// rows of n keys each follow one another.
	rows, n int
	// words is how many words a key has, the low one first: 1 or 2.
	words int
	// bits is how many bits of a key count.
	bits int
}

// addSort appends to a plan the launches that sort rows of keys. The result is a scratch buffer
// of pairs, of a key and its position in the row, a word. Equal keys keep their order.
// Errors: *LimitError.
func addSort(plan *spec.Plan, t *spec.Target, s keyRows) (spec.Ref, error) {
	total := s.rows * s.n
	if total > mostSorted {
		return spec.Ref{}, &errs.LimitError{Name: "keys", Want: int64(total), Have: mostSorted}
	}
	if d, ok := s.byDigits(t); ok && s.words == 1 {
		return addDigits(plan, t, d, digitResult{})
	}
	room := int(min(planner.MaxSpan(t, false), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack)
	pair := 4 * (s.words + 1)
	chunk := min(max(leastSorted, planner.CeilDiv(s.n, mostChunks)), mostChunk)
	// Longer chunks of many rows need fewer launches. A launch still has hundreds of them.
	chunk = max(chunk, min(planner.CeilDiv(total, mostChunks), s.n, mostChunk, room/pair/256))
	chunks := planner.CeilDiv(s.n, chunk)
	batch := min(max(mostChunks/chunks, 1), s.rows) // rows that share a table
	tableBytes := func(rows int) int64 { return int64(4*rows*chunks) << sortBits }
	table := planner.AddScratch(plan, tableBytes(batch))
	to, other := planner.AddScratch(plan, int64(total)*int64(pair)), spec.Ref{}
	if want := max(tableBytes(batch), int64(chunk*pair)); want > int64(room) {
		return to, &errs.LimitError{Name: "MaxBinding", Want: want, Have: int64(room)}
	}
	from, words := s.keys, s.words
	for shift := 0; shift == 0 || shift < s.bits; shift += sortBits {
		if shift > 0 {
			if other.Kind == spec.RefNone {
				other = planner.AddScratch(plan, int64(total)*int64(pair))
			}
			from, words = to, s.words+1
			to, other = other, to
		}
		for row := 0; row < s.rows; row += batch {
			rows := min(batch, s.rows-row)
			p := sortParams{Chunk: uint32(chunk), Row: uint32(s.n), Chunks: uint32(chunks), Shift: uint32(shift), Words: uint32(words)}
			if err := s.addStep(plan, t, p, row*s.n, rows, room, from, to, table); err != nil {
				return to, err
			}
		}
	}
	return to, nil
}

// addStep appends the launches that sort rows of keys, of which the first key is number start, by
// one digit. p has what is the same for all of them, and room is the size of a binding.
func (s keyRows) addStep(plan *spec.Plan, t *spec.Target, p sortParams, start, rows, room int, from, to, table spec.Ref) error {
	var moves []spec.Step
	variant, words, pair := keyVariants[s.words], int(p.Words), s.words+1
	chunk, chunks := int(p.Chunk), int(p.Chunks)
	most, have := max(room/(4*words)/chunk, 1), room/(4*pair)
	// begin is the number of the first key of a chunk.
	begin := func(c int) int { return min(c/chunks*s.n+c%chunks*chunk, rows*s.n) }
	for first := 0; first < rows*chunks; first += most {
		p.Count, p.First, p.From = uint32(min(most, rows*chunks-first)), uint32(first), uint32(begin(first))
		end := begin(first + int(p.Count))
		var in spec.Bind
		in, p.Base = planner.Window(t, from, 4, int64(start+begin(first))*int64(words), int64(end-begin(first))*int64(words))
		groups, err := planner.Grid(t, int64(planner.CeilDiv(int(p.Count), planner.SmallGroup)))
		if err != nil {
			return err
		}
		plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(sortCount + variant), Params: p, Groups: groups, Bind: []spec.Bind{in, {Buf: table}}})
		// The pairs of a launch go to the rows that it reads.
		last := min(((first+int(p.Count)-1)/chunks+1)*s.n, rows*s.n)
		for k := first / chunks * s.n; k < last; k += have {
			q := p
			q.To, q.Have = uint32(k), uint32(min(have, last-k))
			var out spec.Bind
			out, q.At = planner.Window(t, to, 4, int64(start+k)*int64(pair), int64(q.Have)*int64(pair))
			moves = append(moves, spec.Step{Module: spirv.Kernel(sortMove + variant), Params: q, Groups: groups, Bind: []spec.Bind{in, {Buf: table}, out}})
		}
	}
	if err := addSums(plan, t, table, rows*chunks<<sortBits); err != nil {
		return err
	}
	plan.Steps = append(plan.Steps, moves...)
	return nil
}

// addSums appends to a plan the launches that turn words of a table into their running sums. One workgroup takes
// 250 µs for 65 536 words on an H100. So a GPU gets many, and two more launches.
func addSums(plan *spec.Plan, t *spec.Target, table spec.Ref, words int) error {
	all := spec.Step{Module: spirv.Kernel(sortSums), Params: sumsParams{uint32(words)}, Groups: [3]uint32{1, 1, 1}, Bind: []spec.Bind{{Buf: table}}}
	if t.CPU || words <= 8*sumsBlock {
		plan.Steps = append(plan.Steps, all)
		return nil
	}
	blocks := planner.CeilDiv(words, sumsBlock)
	groups, err := planner.Grid(t, int64(blocks))
	if err != nil {
		return err
	}
	totals := planner.AddScratch(plan, 4*int64(blocks))
	part := spec.Step{Params: all.Params, Groups: groups, Bind: []spec.Bind{{Buf: table}, {Buf: totals}}}
	part.Module = spirv.Kernel(sortSums + ".totals")
	all.Params, all.Bind = sumsParams{uint32(blocks)}, []spec.Bind{{Buf: totals}}
	plan.Steps = append(plan.Steps, part, all)
	part.Module = spirv.Kernel(sortSums + ".spread")
	plan.Steps = append(plan.Steps, part)
	return nil
}

// ranked reports whether keys are ranked.
func (s keyRows) ranked(t *spec.Target) bool {
	_, digits := s.byDigits(t)
	return s.n <= mostRanked && !(digits && s.n >= leastByDigits && s.rows*s.n >= manyKeys)
}

// hasPositions reports whether addRows can sort the rows.
func (s keyRows) hasPositions(t *spec.Target) bool {
	_, digits := s.byDigits(t)
	return s.n <= mostRanked || s.fitsBlock(t) || digits
}

// addRows appends to a plan the launches that sort rows for which hasPositions holds. The positions in the row, words, are
// written to a buffer.
// Errors: *LimitError.
func addRows(plan *spec.Plan, t *spec.Target, s keyRows, to spec.Ref) error {
	if s.ranked(t) {
		return addRanks(plan, t, s, to)
	}
	if s.fitsBlock(t) {
		return addBlocks(plan, t, s, to)
	}
	d, _ := s.byDigits(t)
	_, err := addDigits(plan, t, d, digitResult{to: to})
	return err
}

// addRanks appends to a plan the launches that sort rows of at most mostRanked keys. The positions
// in the row, words, are written to a buffer.
// Errors: *LimitError.
func addRanks(plan *spec.Plan, t *spec.Target, s keyRows, to spec.Ref) error {
	room := int(min(planner.MaxSpan(t, false), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack)
	most := room / (4 * s.words * s.n)
	if most < 1 {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(4 * s.words * s.n), Have: int64(room)}
	}
	for row := 0; row < s.rows; row += most {
		n := min(most, s.rows-row) * s.n
		p, step := rankParams{Count: uint32(n), Row: uint32(s.n)}, spec.Step{Module: spirv.Kernel(sortRank + keyVariants[s.words]), Bind: make([]spec.Bind, 2)}
		step.Bind[0], p.Base = planner.Window(t, s.keys, 4, int64(row*s.n)*int64(s.words), int64(n)*int64(s.words))
		step.Bind[1], p.At = planner.Window(t, to, 4, int64(row*s.n), int64(n))
		var err error
		if step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(n, planner.SmallGroup))); err != nil {
			return err
		}
		step.Params = p
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}

// fitsBlock reports whether a workgroup of a GPU can hold a row and sort it.
func (s keyRows) fitsBlock(t *spec.Target) bool {
	return !t.CPU && !t.HostVectors && s.n <= blockWords/s.words && t.MaxInvocations >= 256 && t.MaxSharedBytes >= 2*4*blockWords
}

// addBlocks appends to a plan the launches that sort rows for which fitsBlock holds. The positions in the row,
// words, are written to a buffer.
// Errors: *LimitError.
func addBlocks(plan *spec.Plan, t *spec.Target, s keyRows, to spec.Ref) error {
	room := int(min(planner.MaxSpan(t, false), planner.MaxWindow) - planner.WindowAlign(t) - planner.Pack)
	most := room / (4 * s.words * s.n)
	if most < 1 {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(4 * s.words * s.n), Have: int64(room)}
	}
	for row := 0; row < s.rows; row += most {
		n := min(most, s.rows-row)
		p := blockParams{Rows: uint32(n), Row: uint32(s.n), Size: 1 << bits.Len(uint(s.n-1))}
		step := spec.Step{Module: spirv.Kernel(sortBlock + keyVariants[s.words]), Bind: make([]spec.Bind, 2)}
		step.Bind[0], p.Base = planner.Window(t, s.keys, 4, int64(row*s.n)*int64(s.words), int64(n*s.n)*int64(s.words))
		step.Bind[1], p.At = planner.Window(t, to, 4, int64(row*s.n), int64(n*s.n))
		var err error
		if step.Groups, err = planner.Grid(t, int64(n)); err != nil {
			return err
		}
		step.Params = p
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}

// AddSortRows appends to a plan the launches that sort rows of n words each, of which so many bits count. The
// result is a scratch buffer of pairs of a word and its position in the row. Equal words keep their order.
// Errors: *LimitError.
func AddSortRows(plan *spec.Plan, t *spec.Target, keys spec.Ref, rows, n, bits int) (spec.Ref, error) {
	return addSort(plan, t, keyRows{keys: keys, rows: rows, n: n, words: 1, bits: bits})
}

// SortKernels lists the kernels that AddSortRows launches.
func SortKernels() []spec.Kernel { return sortKernels(1) }
