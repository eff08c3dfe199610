package resampling

import (
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	tableShader     = "nn/resample_table"
	transposeShader = "nn/resample_transpose"
)

// tableParams is the push-constant block of shaders/nn/resample_table.comp.
type tableParams struct {
	Count, Index, Base, Pitch, Slots, Size, Low, High, Kind, Rounding, Flags, Terms uint32
	Start, Step                                                                     [4]uint32
	Reach                                                                           [3]uint32
	Tau, Mask, Coefficient                                                          [2]uint32
}

// transposeParams is the push-constant block of shaders/nn/resample_transpose.comp.
type transposeParams struct {
	Count, Index, Base, Pitch, Slots, Low, High, Begin, End, Seek, SeekEnd, Limit uint32
	FromBase                                                                      int32
	FromPitch, FromSlots, Last, Flip                                              uint32
}

// These are the bits of tableParams.Flags.
const (
	flagExclude = 1 << iota
	flagCrop
	flagFlip
)

// realWords returns the words of a number as kernels compute with it.
func realWords(v float64, real tensor.DType) [2]uint32 {
	if real == tensor.F64 {
		b := math.Float64bits(v)
		return [2]uint32{uint32(b), uint32(b >> 32)}
	}
	return [2]uint32{math.Float32bits(float32(v))}
}

// table is a table of weights in scratch memory, as lib/resample.glsl has it.
type table struct {
	ref spec.Ref
	// entries is the number of rows that are made.
	entries int
	// slots is the number of weights of an entry, and pitch that of its words.
	slots, pitch int
	// rows returns the rows of the source that have weights in entries [from, to), or some more.
	rows func(from, to int) (first, end int)
}

func newTable(plan *spec.Plan, entries, slots int, real tensor.DType, rows func(from, to int) (first, end int)) table {
	b := table{entries: entries, slots: slots, pitch: 2 + (1+slots)*real.Size()/4, rows: rows}
	b.ref = planner.AddScratch(plan, int64(entries)*int64(b.pitch)*4)
	return b
}

// window binds entries [from, from+n).
func (b table) window(t *spec.Target, from, n int) (spec.Bind, uint32) {
	return planner.Window(t, b.ref, 4, int64(from)*int64(b.pitch), int64(n)*int64(b.pitch))
}

// most is how many entries fit a binding.
func (b table) most(t *spec.Target) int { return planner.RoomFor(t, false, 4) / b.pitch }

// check returns an error if an entry does not fit a binding.
// Errors: *LimitError.
func (b table) check(t *spec.Target) error {
	if b.most(t) == 0 {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(b.pitch) * 4, Have: t.MaxBinding}
	}
	return nil
}

// chunks calls f with parts of n iterations of a loop that a launch may have.
func chunks(t *spec.Target, n int, f func(low, high int)) {
	size := n
	if t.MaxIterations > 0 {
		size = max(int(t.MaxIterations)/4, 1)
	}
	for low := 0; low < n; low += size {
		f(low, min(low+size, n))
	}
}

// addTable appends the launches that make the weights of an axis.
// Errors: *LimitError.
func addTable(plan *spec.Plan, t *spec.Target, x axis, real tensor.DType) (table, error) {
	g := x.grid()
	b := newTable(plan, x.out, x.slots(), real, func(from, to int) (int, int) {
		first, last := g.first(from), g.first(to-1)
		return min(first, last), max(first, last) + x.slots()
	})
	q := tableParams{
		Pitch: uint32(b.pitch), Slots: uint32(b.slots), Size: uint32(x.in), Kind: uint32(x.mode), Rounding: x.rounding,
		Terms: uint32(x.terms()), Coefficient: realWords(x.coefficient, real),
	}
	for _, f := range []struct {
		set bool
		bit uint32
	}{{x.exclude, flagExclude}, {x.crop, flagCrop}, {x.step < 0, flagFlip}} {
		if f.set {
			q.Flags |= f.bit
		}
	}
	q.Start, q.Step, q.Reach = g.start.words(), g.step.words(), reachWords(x.wide)
	q.Tau, q.Mask = [2]uint32{uint32(g.tau), uint32(g.tau >> 32)}, [2]uint32{uint32(g.mask), uint32(g.mask >> 32)}
	terms := 4 * x.terms()
	if x.mode == nearest {
		terms = 1
	}
	if err := b.check(t); err != nil {
		return b, err
	}
	var failed error
	for from := 0; from < b.entries; from += b.most(t) {
		n := min(b.most(t), b.entries-from)
		bind, base := b.window(t, from, n)
		groups, err := planner.Grid(t, int64(planner.CeilDiv(n, planner.SmallGroup)))
		if err != nil {
			failed = err
		}
		chunks(t, terms, func(low, high int) {
			q := q
			q.Count, q.Index, q.Base, q.Low, q.High = uint32(n), uint32(from), base, uint32(low), uint32(high)
			plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(tableShader + "." + real.String()), Params: q, Bind: []spec.Bind{bind}, Groups: groups})
		})
	}
	return b, failed
}

// addTranspose appends the launches that make the weights of the gradient from those of an axis.
// Errors: *LimitError.
func addTranspose(plan *spec.Plan, t *spec.Target, x axis, forward table, real tensor.DType) (table, error) {
	slots := x.touches()
	g := x.grid()
	begin, end := x.inside()
	// Entries begin so early that all their rows exist.
	first := func(j int) int { return min(g.touching(j, begin, end), x.out-slots) }
	b := newTable(plan, x.in, slots, real, func(from, to int) (int, int) {
		a, b := first(from), first(to-1)
		return min(a, b), max(a, b) + slots
	})
	q := transposeParams{
		Pitch: uint32(b.pitch), Slots: uint32(b.slots), Limit: uint32(x.out - slots),
		FromPitch: uint32(forward.pitch), FromSlots: uint32(forward.slots), Last: uint32(x.in - 1),
	}
	if x.step < 0 {
		q.Flip = 1
	}
	var add func(from, n int) error
	add = func(from, n int) error {
		// The entries of the other table from the first one that reaches a row here to the last one that has a weight.
		low, high := b.rows(from, from+n)
		low, high = max(low, begin), max(min(high, end), low+1)
		if n > 1 && (n > b.most(t) || high-low > forward.most(t)) {
			if err := add(from, n/2); err != nil {
				return err
			}
			return add(from+n/2, n-n/2)
		}
		groups, err := planner.Grid(t, int64(planner.CeilDiv(n, planner.SmallGroup)))
		q := q
		q.Count, q.Index, q.Seek, q.SeekEnd = uint32(n), uint32(from), uint32(low), uint32(high)
		bind, base := b.window(t, from, n)
		q.Base = base
		launch := func(slot, slotEnd, low, high int) {
			read, readBase := forward.window(t, low, high-low)
			chunks(t, slotEnd-slot, func(from, to int) {
				q := q
				q.Low, q.High = uint32(slot+from), uint32(slot+to)
				q.Begin, q.End, q.FromBase = uint32(low), uint32(high), int32(int(readBase)-low*forward.pitch)
				plan.Steps = append(plan.Steps, spec.Step{Module: spirv.Kernel(transposeShader + "." + real.String()), Params: q, Bind: []spec.Bind{read, bind}, Groups: groups})
			})
		}
		most := forward.most(t)
		if high-low <= most {
			launch(0, slots, low, high)
			return err
		}
		// The entries that reach one row do not fit a binding. Weight k is that of entry first + k.
		start := first(from)
		q.Seek, q.SeekEnd = uint32(start), uint32(start)
		for slot := 0; slot < slots; slot += most {
			slotEnd := min(slot+most, slots)
			launch(slot, slotEnd, start+slot, start+slotEnd)
		}
		return err
	}
	if err := b.check(t); err != nil {
		return b, err
	}
	return b, add(0, b.entries)
}
