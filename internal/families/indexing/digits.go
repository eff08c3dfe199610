package indexing

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

const sortDigit = "move/sort_digit"

const (
	// digitGroup is the size of the workgroups of sortDigit: as many invocations as CPU drivers run at a time.
	digitGroup = 8
	// mostDigit is the largest number of bits of a digit, and shortDigit that of many rows of up to shortRow keys, whose counts
	// would take longer than the keys.
	mostDigit, shortDigit, shortRow = 8, 6, 96
	// leastByDigits is the length of rows from which on digits take less time than ranks, if there are manyKeys keys in all.
	leastByDigits, manyKeys = 40, 1 << 13
	// enoughChunks is how many invocations keep a processor busy, and leastOfChunk the fewest pairs that are worth the
	// counts of another one.
	enoughChunks, leastOfChunk = 16, 256
	// digitLoops is how many iterations an invocation of sortDigit takes at most, beyond one for each pair.
	digitLoops = 2*(1<<mostDigit) + 16
	// The parts of a step that a launch of sortDigit makes.
	digitCount, digitMove = 1, 2
)

// digitParams is the push-constant block of move/sort_digit.comp.
type digitParams struct{ Count, Base, Chunk, Row, Chunks, Shift, Bins, Part, At, Other uint32 }

// digitKernels lists the kernels that addDigits launches for keys of up to so many words. Those of one word become pairs.
func digitKernels(words int) []spec.Kernel {
	var ks []spec.Kernel
	for _, v := range []string{".u32.first", ".u32.next", ".u32.only", ".u32.last", ".u32.values", ".u64.first", ".u64.next", ".u64.values"} {
		if words == 1 && len(ks) == 4 {
			break
		}
		ks = append(ks, spec.Kernel{Name: sortDigit + v, Params: digitParams{}}, spec.Kernel{Name: sortDigit + v + ".texel", Params: digitParams{}})
	}
	return ks
}

// digitSort is how rows of keys are sorted on a CPU driver, by digits of up to eight bits.
type digitSort struct {
	keyRows
	// chunk is how many pairs of a row an invocation has, and chunks how many invocations a row has.
	chunk, chunks int
	// batch is how many rows a launch has.
	batch int
	// texel is the end of the kernels' names.
	texel string
	// table has the counts of the chunks of a batch.
	table spec.Ref
}

// byDigits returns how rows are sorted by digits on a CPU driver, and whether they can be.
func (s keyRows) byDigits(t *spec.Target) (digitSort, bool) {
	d := digitSort{keyRows: s, chunks: 1}
	if total := s.rows * s.n; !t.CPU || t.HostVectors || total == 0 || total > mostSorted {
		return d, false
	}
	if planner.UsesTexels(t, digitGroup) {
		d.texel = ".texel"
	}
	// The iterations of a chunk, and those of sortSums, of which an invocation goes twice through its part of the table.
	longest, cells := mostChunk, mostSorted
	if t.MaxIterations > 0 {
		longest = min(longest, int(t.MaxIterations)-digitLoops)
		cells = min(cells, (int(t.MaxIterations)/2-planner.SmallGroup)*planner.SmallGroup)
	}
	if longest < leastOfChunk {
		return d, false
	}
	if s.rows < enoughChunks {
		d.chunks = max(min(planner.CeilDiv(enoughChunks, s.rows), s.n/leastOfChunk), 1)
	}
	d.chunks = max(d.chunks, planner.CeilDiv(s.n, longest))
	d.chunk = planner.CeilDiv(s.n, d.chunks)
	d.chunks = planner.CeilDiv(s.n, d.chunk)
	d.batch = min(planner.RoomFor(t, d.texel != "", pairBytes)/s.n, s.rows)
	if d.chunks > 1 {
		d.batch = min(d.batch, mostChunks/d.chunks, min(cells, planner.RoomFor(t, false, 4))/d.chunks>>mostDigit)
	}
	return d, d.batch > 0
}

// digitResult is what addDigits makes of sorted rows.
type digitResult struct {
	// to gets the positions in the row, words. If it is the zero Ref, keys have one word, and the result is a scratch
	// buffer of pairs, as that of addSort.
	to spec.Ref
	// values, if not the zero Ref, are the elements that the keys are of. Keys have 32 bits or 64, and to gets elements.
	values spec.Ref
}

// addDigits appends to a plan the launches that sort the rows. It returns the buffer of the result.
// Errors: *LimitError.
func addDigits(plan *spec.Plan, t *spec.Target, d digitSort, r digitResult) (spec.Ref, error) {
	most, bits := mostDigit, min(max(d.bits, 1), 32)
	if d.n <= shortRow && d.rows >= enoughChunks {
		most = shortDigit
	}
	// each is the number of steps for a word.
	each := planner.CeilDiv(bits, most)
	steps, width := each*d.words, planner.CeilDiv(bits, each)
	table := int64(0)
	if d.chunks > 1 {
		table = int64(4*d.batch*d.chunks) << width
	}
	d.table = planner.AddScratch(plan, table)
	pairs := func() spec.Ref { return planner.AddScratch(plan, int64(pairBytes)*int64(d.rows)*int64(d.n)) }
	from, to, other := d.keys, spec.Ref{}, spec.Ref{}
	for step := range steps {
		isLast := step == steps-1 && r.to.Kind != spec.RefNone
		shift := step % each * width
		p := digitParams{Shift: uint32(shift), Bins: 1 << min(width, bits-shift)}
		l := digitLaunch{kernel: sortDigit + ".u32.next", p: p, words: 2, pair: pairBytes, from: from}
		switch {
		case step == 0 && isLast:
			l.kernel, l.words = sortDigit+".u32.only", 1
		case step == 0:
			l.kernel, l.words = sortDigit+keyVariants[d.words]+".first", d.words
		case isLast && r.values.Kind != spec.RefNone:
			l.kernel, l.other = sortDigit+keyVariants[d.words]+".values", r.values
		case isLast:
			l.kernel = sortDigit + ".u32.last"
		case d.words == 2 && step == each-1:
			l.kernel, l.other = sortDigit+".u64.next", d.keys
		}
		switch {
		case isLast && r.values.Kind != spec.RefNone:
			to, l.pair = r.to, 4*d.words
		case isLast:
			to, l.pair = r.to, 4
		case step < 2:
			to, other = pairs(), to
		default:
			to, other = other, to
		}
		l.to = to
		if err := d.add(plan, t, l); err != nil {
			return to, err
		}
		from = to
	}
	return to, nil
}

// digitLaunch is a step of the sort.
type digitLaunch struct {
	kernel string
	p      digitParams
	// words is how many words a pair or key of the input has, and pair the size of one of the result in bytes.
	words, pair int
	from, to    spec.Ref
	// other are the keys whose high words go to the result, or the elements, or the zero Ref.
	other spec.Ref
}

// add appends the launches of a step.
// Errors: *LimitError.
func (d digitSort) add(plan *spec.Plan, t *spec.Target, l digitLaunch) error {
	for row := 0; row < d.rows; row += d.batch {
		rows := min(d.batch, d.rows-row)
		start, count := int64(row)*int64(d.n), int64(rows)*int64(d.n)
		p := l.p
		p.Count, p.Chunk, p.Row, p.Chunks, p.Part = uint32(rows*d.chunks), uint32(d.chunk), uint32(d.n), uint32(d.chunks), digitCount|digitMove
		step := spec.Step{Module: spirv.Kernel(l.kernel + d.texel), Bind: make([]spec.Bind, 3)}
		step.Bind[0], p.Base = planner.Window(t, l.from, 4, start*int64(l.words), count*int64(l.words))
		step.Bind[1].Buf = d.table
		step.Bind[2], p.At = planner.Window(t, l.to, l.pair, start, count)
		if l.other.Kind != spec.RefNone {
			var other spec.Bind
			other, p.Other = planner.Window(t, l.other, 4, start*int64(d.words), count*int64(d.words))
			step.Bind = append(step.Bind, other)
		}
		var err error
		if step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(int(p.Count), digitGroup))); err != nil {
			return err
		}
		if d.chunks > 1 {
			p.Part = digitCount
			count := step
			count.Params = p
			plan.Steps = append(plan.Steps, count)
			if err := addSums(plan, t, d.table, int(p.Count*p.Bins)); err != nil {
				return err
			}
			p.Part = digitMove
		}
		step.Params = p
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}
