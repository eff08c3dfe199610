package recurrent

import (
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
)

// loaded is a matrix of an input that is copied to a scratch buffer.
type loaded struct {
	in spec.Ref
	// terms is how many elements of the input each element is the sum of. They are second elements apart. If it
	// is 0, the matrix is zeros.
	terms, second int
	// rows and cols are the size of the source, and base, row and col say where it lies.
	rows, cols, base, row, col int
	// to is the destination, with tall rows of wide elements.
	to                    spec.Ref
	tall, wide, at, pitch int
}

// load appends the launches of a copy.
func (w *builder) load(l loaded) error {
	kernel := spirv.Kernel("nn/recurrent_load." + w.dtype.String())
	p := loadParams{
		Wide: uint32(l.wide), Terms: uint32(l.terms), Second: uint32(l.second),
		SrcRow: uint32(l.row), SrcCol: uint32(l.col), DstRow: uint32(l.pitch),
	}
	launch := func(from spec.Bind, base uint32, first, rows, tall int) error {
		p.Count, p.Rows, p.Cols, p.SrcBase, p.DstBase = uint32(tall*l.wide), uint32(rows), uint32(l.cols), base, uint32(l.at+first*l.pitch)
		groups, err := planner.Grid(w.t, planner.CeilDiv(int64(p.Count), planner.SmallGroup))
		w.plan.Steps = append(w.plan.Steps, spec.Step{Module: kernel, Params: p, Groups: groups, Bind: []spec.Bind{from, {Buf: l.to}}})
		return err
	}
	if l.terms == 0 {
		return launch(spec.Bind{Buf: w.gates}, 0, 0, 0, l.tall)
	}
	// Two terms are one range.
	o := planner.Operand{Ref: l.in, DType: w.dtype, Base: l.base, Strides: []int{l.row, l.second, l.col}}
	return planner.Split(w.t, planner.MaxSpan(w.t, false), planner.RegionOf([]int{l.rows, l.terms, l.cols}), []planner.Operand{o}, l.cols, func(r planner.Region) error {
		if r.N[1] != l.terms {
			return &errs.LimitError{Name: "MaxBinding", Want: o.Extent(planner.RegionOf([]int{1, l.terms, l.cols})) * int64(w.dtype.Size()), Have: planner.MaxSpan(w.t, false)}
		}
		from, base := o.Window(w.t, r)
		tall := r.N[0]
		if r.From[0]+tall == l.rows {
			tall = l.tall - r.From[0]
		}
		return launch(from, base, r.From[0], r.N[0], tall)
	})
}

// loadWeights copies the weights of the states of a direction. In each block they are [padded, gates, block].
func (w *builder) loadWeights(d int) error {
	for i, to := range w.weights {
		units := min(w.block, w.hidden-i*w.block)
		for g := range w.layer.gates {
			err := w.load(loaded{
				in: spec.In(inR), terms: 1, rows: w.hidden, cols: units, row: 1, col: w.hidden,
				base: ((d*w.layer.gates+g)*w.hidden + i*w.block) * w.hidden,
				to:   to, tall: w.padded, wide: w.block, at: g * w.block, pitch: w.layer.gates * w.block,
			})
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// loadRows copies the biases and peepholes of a direction.
func (w *builder) loadRows(d int) error {
	gates := w.layer.gates
	l := loaded{
		in: spec.In(inB), second: gates * w.hidden, rows: gates, cols: w.hidden, base: 2 * d * gates * w.hidden, row: w.hidden, col: 1,
		to: w.rowsOf, tall: gates, wide: w.padded, pitch: w.padded,
	}
	if w.given[inB] {
		l.terms = 2
	}
	if w.kind == gruKind && w.After { // The last gate has its biases apart.
		l.rows, l.tall = gates-1, gates-1
		last := l
		last.terms, last.rows, last.tall = min(l.terms, 1), 2, 2
		last.base, last.row, last.at = l.base+(gates-1)*w.hidden, gates*w.hidden, (gates-1)*w.padded
		if err := w.load(last); err != nil {
			return err
		}
	}
	if err := w.load(l); err != nil || !w.given[inPeepholes] {
		return err
	}
	return w.load(loaded{
		in: spec.In(inPeepholes), terms: 1, rows: 3, cols: w.hidden, base: 3 * d * w.hidden, row: w.hidden, col: 1,
		to: w.rowsOf, tall: 3, wide: w.padded, at: gates * w.padded, pitch: w.padded,
	})
}

// loadStates copies the first states of some sequences.
func (w *builder) loadStates(part sequences) error {
	l := loaded{
		rows: part.n, cols: w.hidden, base: (part.direction*w.batch + part.from) * w.hidden, row: w.hidden, col: 1,
		to: w.rowsOf, tall: part.n, wide: w.padded, pitch: w.padded,
	}
	if w.Layout == 1 {
		l.base, l.row = (part.from*w.directions+part.direction)*w.hidden, w.directions*w.hidden
	}
	for i, at := range []int{w.slot(0), w.cells()} {
		l.in, l.at, l.terms = spec.In(inHidden+i), at, 0
		if w.given[inHidden+i] {
			l.terms = 1
		}
		if err := w.load(l); err != nil {
			return err
		}
	}
	return nil
}

// stored are states that are written to a result: of n steps from time on. Their slots lie on a ring.
type stored struct {
	part                   sequences
	out, time, n           int
	from, slot, turn, ring int
}

// store appends the launches that write states.
func (w *builder) store(s stored) error {
	// These are the strides of the result along steps and sequences.
	step, sequence, own := 0, w.hidden, w.batch*w.hidden
	all := 1
	if s.out == 0 {
		step, all = w.directions*w.batch*w.hidden, w.seq
	}
	if w.Layout == 1 {
		step, sequence, own = w.directions*w.hidden, all*w.directions*w.hidden, w.hidden
	}
	o := planner.Operand{Ref: spec.Out(s.out), DType: w.dtype, Base: s.part.direction * own, Strides: []int{step, sequence, 1}}
	region := planner.Region{From: []int{s.time, s.part.from, 0}, N: []int{s.n, s.part.n, w.hidden}}
	return planner.Split(w.t, planner.MaxSpan(w.t, false), region, []planner.Operand{o}, w.hidden, func(r planner.Region) error {
		steps, rows := r.N[0], r.N[1]
		p := storeParams{
			Hidden: uint32(w.hidden), Padded: uint32(w.padded), Stride: uint32(w.padded * w.sequences), Ring: uint32(s.ring), Turn: uint32(s.turn),
			Slot: uint32((s.slot + (r.From[0]-s.time)*s.turn) % s.ring), Time: uint32(r.From[0]), Lengths: none,
			From: uint32(s.from + (r.From[1]-s.part.from)*w.padded), Inner: 1,
		}
		switch whole := w.directions == 1; {
		case w.Layout == 0 && whole && rows == w.batch:
			p.ByStep, p.Major, p.Runs, p.Rows = 1, uint32(rows), 1, uint32(steps*rows)
		case w.Layout == 0:
			p.ByStep, p.Major, p.Runs, p.Rows, p.RunOuter = 1, uint32(rows), uint32(steps), uint32(rows), uint32(step)
		case whole && steps == all:
			p.Major, p.Runs, p.Rows = uint32(steps), 1, uint32(steps*rows)
		case whole:
			p.Major, p.Runs, p.Rows, p.RunOuter = uint32(steps), uint32(rows), uint32(steps), uint32(sequence)
		default:
			p.Major, p.Runs, p.Rows, p.RunOuter = uint32(steps), uint32(rows*steps), 1, uint32(sequence)
			p.Inner, p.RunInner = uint32(steps), uint32(step)
		}
		p.Count = p.Rows * p.Hidden
		p.Words = p.Count
		if w.dtype.Size() == 2 {
			p.Words = p.Count/2 + 1
		}
		// Without lengths, the kernel reads states only.
		bind := []spec.Bind{{Buf: w.rowsOf}, {Buf: w.rowsOf}, {Buf: w.rowsOf}, {}}
		bind[3], p.Base = o.Window(w.t, r)
		if w.given[inLengths] {
			var first uint32
			bind[1], first = planner.Window(w.t, spec.In(inLengths), 4, int64(r.From[1]), int64(rows))
			bind[2], p.Checked = spec.Bind{Buf: w.status}, 1
			if s.out == 0 {
				p.Lengths = first
			}
		}
		groups, err := planner.Grid(w.t, planner.CeilDiv(int64(p.Runs)*int64(p.Words), planner.SmallGroup))
		w.plan.Steps = append(w.plan.Steps, spec.Step{
			Module: spirv.Kernel("nn/recurrent_store." + w.dtype.String()), Params: p, Bind: bind, Groups: groups,
		})
		return err
	})
}
