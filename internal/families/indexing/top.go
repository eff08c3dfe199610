package indexing

import (
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

const sortTop = "move/sort_top"

const (
	// fewSlots and manySlots are how many keys a round of a kernel selects.
	fewSlots, manySlots = 4, 16
	// mostRounds is the most rounds that take less time than a sort: of CPU drivers, of the device cpu, and of GPUs, where
	// few invocations of a short row would each take long. The last one is an estimate.
	mostRounds, mostRoundsOfLanes, mostRoundsOfGPU = 16, 8, 4
	// leastShare is how many times longer than the list a chunk is at least, unless a row is shorter. It bounds
	// what the lists of the chunks add to the work.
	leastShare = 8
	// leastChunk is the smallest chunk, whatever the length of the list.
	leastChunk = 128
	// mostChunksOfRows is how many invocations keep a device busy.
	mostChunksOfRows = 1 << 12
)

// topParams is the push-constant block of move/sort_top.comp.
type topParams struct{ Count, Base, Chunk, Row, First, Chunks, From, Kept, At uint32 }

// topKernels lists the kernels that addTop launches.
func topKernels() []spec.Kernel {
	var ks []spec.Kernel
	for _, key := range keyVariants[1:] {
		for _, slots := range []string{".few", ".many"} {
			for _, source := range []string{"", ".texel", ".merge"} {
				ks = append(ks, spec.Kernel{Name: sortTop + key + slots + source, Params: topParams{}})
			}
		}
	}
	return ks
}

// topSize returns how many keys are selected for a list of kept keys, which are whole rounds, and how many
// each round selects.
func topSize(kept int) (size, slots int) {
	slots = manySlots
	if kept <= fewSlots {
		slots = fewSlots
	}
	return planner.CeilDiv(kept, slots) * slots, slots
}

// selects reports whether the first kept keys of rows are selected. Otherwise the rows are sorted.
func (s keyRows) selects(t *spec.Target, kept int) bool {
	size, slots := topSize(kept)
	most := mostRoundsOfGPU
	switch {
	case t.HostVectors:
		most = mostRoundsOfLanes
	case t.CPU:
		most = mostRounds
	}
	return size/slots <= most && s.n >= 2*size && mostOfChunk(t, s.words+1, 1, size/slots) >= 2*size
}

// mostOfChunk returns the longest chunk of keys of so many words that an invocation can have in some rounds, of
// which each iteration reads so many keys.
func mostOfChunk(t *spec.Target, words, each, rounds int) int {
	most := wordRoom(t) / words
	if t.MaxIterations > 0 { // Loops are counted as docs/shaders.md says. A chunk may begin and end within a texel.
		most = min(most, ((int(t.MaxIterations)-1)/rounds-4)*each)
	}
	return most
}

// wordRoom is how many words fit a binding, as a texel buffer too.
func wordRoom(t *spec.Target) int {
	return planner.RoomFor(t, t.TexelBuffers, 4)
}

// addTop appends to a plan the launches that select the first keys of each row. It returns a buffer with lists of
// pairs of a key and a position, and how many pairs lie from one list to the next. selects must be true.
// Errors: *LimitError.
func addTop(plan *spec.Plan, t *spec.Target, s keyRows, kept int) (pairs spec.Ref, size int, err error) {
	size, slots := topSize(kept)
	kernel := sortTop + keyVariants[s.words] + ".many"
	if slots == fewSlots {
		kernel = sortTop + keyVariants[s.words] + ".few"
	}
	l := topLevel{kernel: kernel, rows: s.rows, n: s.n, words: s.words, list: size * (s.words + 1), kept: size, from: s.keys}
	if planner.UsesTexels(t, planner.SmallGroup) {
		l.kernel = kernel + ".texel"
	}
	for {
		each := 4 / s.words
		if l.merge {
			each = 1
		}
		l.chunk = max(planner.CeilDiv(l.rows*l.n, mostChunksOfRows), leastChunk, leastShare*size)
		l.chunk = min(l.chunk, mostOfChunk(t, l.words, each, size/slots), l.n)
		l.chunks = planner.CeilDiv(l.n, l.chunk)
		l.to = planner.AddScratch(plan, 4*int64(l.rows)*int64(l.chunks)*int64(l.list))
		if err := l.add(plan, t); err != nil {
			return pairs, size, err
		}
		if l.chunks == 1 {
			return l.to, size, nil
		}
		l = topLevel{kernel: kernel + ".merge", merge: true, rows: l.rows, n: l.chunks * size, words: s.words + 1, list: l.list, kept: size, from: l.to}
	}
}

// topLevel is the selection in all chunks of rows of keys, or of pairs that an earlier selection has left.
type topLevel struct {
	kernel string
	merge  bool
	// rows of n keys each are divided into chunks. A key has so many words, and a list too.
	rows, n, chunk, chunks, words, list int
	// kept is how many keys of a chunk are selected.
	kept     int
	from, to spec.Ref
}

// add appends the launches.
// Errors: *LimitError.
func (l topLevel) add(plan *spec.Plan, t *spec.Target) error {
	most := wordRoom(t) / max(l.chunk*l.words, l.list)
	// begin is the number of the first key of a chunk.
	begin := func(c int) int { return min(c/l.chunks*l.n+c%l.chunks*l.chunk, l.rows*l.n) }
	for first := 0; first < l.rows*l.chunks; first += most {
		count := min(most, l.rows*l.chunks-first)
		p := topParams{
			Count: uint32(count), Chunk: uint32(l.chunk), Row: uint32(l.n), First: uint32(first), Chunks: uint32(l.chunks),
			From: uint32(begin(first)), Kept: uint32(l.kept),
		}
		step := spec.Step{Module: spirv.Kernel(l.kernel), Bind: make([]spec.Bind, 2)}
		step.Bind[0], p.Base = planner.WordWindow(t, l.from, 4*l.words, begin(first), begin(first+count)-begin(first))
		step.Bind[1], p.At = planner.WordWindow(t, l.to, 4*l.list, first, count)
		var err error
		if step.Groups, err = planner.Grid(t, int64(planner.CeilDiv(count, planner.SmallGroup))); err != nil {
			return err
		}
		step.Params = p
		plan.Steps = append(plan.Steps, step)
	}
	return nil
}
