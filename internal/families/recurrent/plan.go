package recurrent

import (
	"fmt"
	"math"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/families/gemm"
	"github.com/lathe-gpu/lathe/internal/families/indexing"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const (
	// stateBudget bounds the scratch buffers of the gates and of the states, in bytes.
	stateBudget = 8 << 20
	// weightBudget bounds a scratch buffer of weights.
	weightBudget = 64 << 20
	// none is where lengths begin that there are not.
	none = math.MaxUint32
)

// builder plans a layer. The products of the inputs come first, for some steps at a time. Then each step
// is a launch, or two if the reset gate of a GRU comes before the product. The states of these
// steps stay in a scratch buffer, a ring, until they are all written to the result.
type builder struct {
	*layer
	t     *spec.Target
	plan  *spec.Plan
	dtype tensor.DType
	texel bool
	// padded is the number of elements of a row of state: the hidden units in whole vectors.
	padded int
	// units is how many of them an invocation makes.
	units int
	// sequences and steps are how many are computed at a time.
	sequences, steps int
	// block is the number of units whose weights are in one scratch buffer of weights.
	block   int
	weights []spec.Ref
	// gates has [steps, sequences, gates, padded] products of the inputs. rowsOf has rows of biases
	// and peepholes, the cells, the reset states and the ring of hidden states.
	gates, rowsOf spec.Ref
	status        spec.Ref
}

// rows is the number of rows of biases and peepholes.
func (w *builder) rows() int { return w.layer.gates + 3 }

// These are where the parts of the scratch buffer of states begin.

func (w *builder) cells() int           { return w.rows() * w.padded }
func (w *builder) resets() int          { return w.cells() + w.sequences*w.padded }
func (w *builder) slot(i int) int       { return w.resets() + w.sequences*w.padded*(1+i) }
func (w *builder) stateRows(n int) int  { return w.rows() + w.sequences*(2+n) }
func (w *builder) accumulatorSize() int { return planner.Accumulator(w.dtype).Size() }

// add plans the call, whose results are not all empty.
func (w *builder) add() error {
	w.texel = w.dtype != tensor.F64 && planner.UsesTexels(w.t, planner.SmallGroup) && w.usual()
	w.padded, w.units = planner.CeilDiv(w.hidden, 4)*4, 1
	if w.texel {
		w.units = 4
	}
	if err := w.chooseSizes(); err != nil {
		return err
	}
	if w.given[inLengths] {
		var err error
		if w.status, err = indexing.AddCheck(w.plan, w.t, spec.In(inLengths), tensor.I32, w.batch, w.seq+1); err != nil {
			return err
		}
		seq := w.seq
		w.plan.Checks[w.status.Index].Error = func(words [4]uint32) error {
			return fmt.Errorf("%w: length %d of sequence %d (want 0 to %d)", errs.ErrInvalidArgument, int32(words[1]), math.MaxUint32-words[0], seq)
		}
	}
	for d := range w.directions {
		if err := w.addDirection(d); err != nil {
			return err
		}
	}
	return nil
}

// usual reports whether all activations are the usual ones.
func (w *builder) usual() bool {
	for i, f := range w.functions {
		if kinds[f.kind].name != w.kind.activations[i%len(w.kind.activations)] {
			return false
		}
	}
	return true
}

// chooseSizes chooses how much is computed at a time, and makes the scratch buffers.
func (w *builder) chooseSizes() error {
	size, span := int64(w.accumulatorSize()), planner.MaxSpan(w.t, w.texel)
	if n := w.t.MaxIterations; n > 0 && w.padded >= int(n) {
		return &errs.LimitError{Name: "MaxIterations", Want: int64(w.padded) + 1, Have: int64(n)}
	}
	// The weights of a block of units fit a binding, before and after they are packed.
	room := min(span, weightBudget) / size / int64(w.padded*w.layer.gates)
	source := (span - planner.WindowAlign(w.t)) / int64(w.dtype.Size()) / int64(w.hidden)
	if w.block = int(min(room, source, int64(w.padded))) / 4 * 4; w.block < 4 {
		return &errs.LimitError{Name: "MaxBinding", Want: 4 * int64(w.padded*w.layer.gates) * size, Have: span}
	}
	for range planner.CeilDiv(w.padded, w.block) {
		w.weights = append(w.weights, planner.AddScratch(w.plan, int64(w.padded*w.layer.gates*w.block)*size))
	}
	// The gates of the steps, and the states, each fit a binding.
	rows := int(min(planner.MaxSpan(w.t, false), stateBudget) / size / int64(w.padded))
	w.steps = 1
	w.sequences = max(min(w.batch, (rows-w.rows())/5, rows/w.layer.gates), 1)
	if w.stateRows(2) > rows || w.layer.gates > rows {
		rows = int(planner.MaxSpan(w.t, false) / size / int64(w.padded))
	}
	if w.stateRows(2) > rows || w.layer.gates > rows {
		return &errs.LimitError{Name: "MaxBinding", Want: int64(w.stateRows(2)*w.padded) * size, Have: planner.MaxSpan(w.t, false)}
	}
	w.steps = max(min(w.seq, rows/(w.layer.gates*w.sequences), (rows-w.rows())/w.sequences-3), 1)
	w.gates = planner.AddScratch(w.plan, int64(w.steps*w.sequences*w.layer.gates*w.padded)*size)
	w.rowsOf = planner.AddScratch(w.plan, int64(w.stateRows(w.steps+1)*w.padded)*size)
	return nil
}

// addDirection plans a direction.
func (w *builder) addDirection(d int) error {
	if err := w.loadWeights(d); err != nil {
		return err
	}
	if err := w.loadRows(d); err != nil {
		return err
	}
	product := w.newProduct(d)
	for from := 0; from < w.batch; from += w.sequences {
		part := sequences{direction: d, from: from, n: min(w.sequences, w.batch-from)}
		if err := w.loadStates(part); err != nil {
			return err
		}
		slot, ring := 0, w.steps+1
		for done := 0; done < w.seq; done += w.steps {
			n := min(w.steps, w.seq-done)
			first, turn := done, 1
			if w.reversed(d) {
				first, turn = w.seq-done-n, ring-1
			}
			if err := product.add(w, part, first, n); err != nil {
				return err
			}
			for i := range n {
				at := i
				if w.reversed(d) {
					at = n - 1 - i
				}
				if err := w.addStep(part, first, at, slot, (slot+1)%ring); err != nil {
					return err
				}
				slot = (slot + 1) % ring
			}
			s := stored{part: part, out: 0, time: first, n: n, from: w.slot(0), slot: slot, turn: turn, ring: ring}
			if !w.reversed(d) {
				s.slot = (slot + 1 + ring - n) % ring // that of the first of the steps
			}
			if err := w.store(s); err != nil {
				return err
			}
		}
		last := stored{part: part, out: 1, n: 1, from: w.slot(slot), ring: 1}
		if err := w.store(last); err != nil {
			return err
		}
		if w.kind == lstmKind {
			last.out, last.from = 2, w.cells()
			if err := w.store(last); err != nil {
				return err
			}
		}
	}
	return nil
}

// sequences are some sequences of the batch, in one direction.
type sequences struct{ direction, from, n int }

// product makes the products of the inputs of a direction.
type product struct {
	regions gemm.Regions
	// merged says that steps and sequences are one dimension. Otherwise bySteps says that the rows of a matrix
	// are steps, and each sequence has a matrix.
	merged, bySteps bool
}

// newProduct describes the products of the inputs with the weights of a direction.
func (w *builder) newProduct(d int) product {
	p := product{merged: w.batch == 1 || w.Layout == 0 && w.sequences == w.batch, bySteps: w.seq > w.batch}
	step, sequence := w.batch*w.input, w.input
	if w.Layout == 1 {
		step, sequence = w.input, w.seq*w.input
	}
	shape, a := []int{w.seq, w.layer.gates, w.batch, w.hidden, w.input}, planner.Operand{Ref: spec.In(inX), DType: w.dtype, Strides: []int{step, 0, sequence, 0, 1}}
	switch {
	case p.merged:
		shape[0], shape[2], a.Strides[0], a.Strides[2] = 1, w.seq*w.batch, 0, w.input
	case p.bySteps:
		shape[0], shape[2], a.Strides[0], a.Strides[2] = w.batch, w.seq, sequence, step
	}
	b := planner.Operand{
		Ref: spec.In(inW), DType: w.dtype, Base: d * w.layer.gates * w.hidden * w.input,
		Strides: []int{0, w.hidden * w.input, 0, w.input, 1},
	}
	p.regions = gemm.NewRegions(w.t, w.plan, shape, a, b)
	return p
}

// add appends the products of n steps from first on.
func (p product) add(w *builder, part sequences, first, n int) error {
	row := w.layer.gates * w.padded
	step := part.n * row
	c := planner.Operand{Ref: w.gates, DType: planner.Accumulator(w.dtype), Strides: []int{step, w.padded, row, 1, 0}}
	r := planner.Region{From: []int{first, 0, part.from, 0, 0}, N: []int{n, w.layer.gates, part.n, w.hidden, w.input}}
	switch {
	case p.merged:
		r.From[0], r.N[0], r.From[2], r.N[2], c.Strides[0] = 0, 1, first*part.n, n*part.n, 0
	case p.bySteps:
		r.From[0], r.N[0], r.From[2], r.N[2] = part.from, part.n, first, n
		c.Strides[0], c.Strides[2] = row, step
	}
	c.Base = -r.From[0]*c.Strides[0] - r.From[2]*c.Strides[2]
	return p.regions.Add(r, c)
}

// addStep appends a step: number at of the steps that begin with first. The slots are those of the hidden
// states before and after it.
func (w *builder) addStep(part sequences, first, at, before, after int) error {
	p := stepParams{
		Hidden: uint32(w.hidden), Padded: uint32(w.padded), Products: uint32(w.padded),
		Previous: uint32(w.slot(before)), Next: uint32(w.slot(after)), Cell: uint32(w.cells()), Reset: uint32(w.resets()),
		Gate: uint32(at * part.n * w.layer.gates * w.padded), Time: uint32(first + at), Lengths: none, Clip: w.clip,
	}
	if w.given[inPeepholes] {
		p.Peepholes = 1
	}
	if w.Coupled {
		p.Coupled = 1
	}
	for i, f := range w.of(part.direction) {
		p.Kinds |= f.kind << (8 * i)
		switch i {
		case 0:
			p.Alpha0, p.Beta0 = f.alpha, f.beta
		case 1:
			p.Alpha1, p.Beta1 = f.alpha, f.beta
		case 2:
			p.Alpha2, p.Beta2 = f.alpha, f.beta
		}
	}
	kernels, suffix := w.kind.steps, "."+planner.Accumulator(w.dtype).String()
	if w.After && w.kind.after != nil {
		kernels = w.kind.after
	}
	local := planner.SmallGroup
	switch {
	case w.texel:
		suffix, local = suffix+".texel", 8
	case !w.usual():
		suffix += ".any"
	}
	for _, kernel := range kernels {
		for i, weights := range w.weights {
			p.First = uint32(i * w.block)
			p.Block = uint32(w.block)
			p.Lanes = uint32(min(w.block, w.padded-i*w.block) / w.units)
			p.Count = p.Lanes * uint32(part.n)
			step := spec.Step{Module: spirv.Kernel(kernel + suffix), Bind: []spec.Bind{{Buf: weights}, {Buf: w.gates}, {Buf: w.rowsOf}, {Buf: w.gates}}}
			if w.given[inLengths] {
				step.Bind[3], p.Lengths = planner.Window(w.t, spec.In(inLengths), 4, int64(part.from), int64(part.n))
			}
			step.Params = p
			var err error
			if step.Groups, err = planner.Grid(w.t, planner.CeilDiv(int64(p.Count), int64(local))); err != nil {
				return err
			}
			w.plan.Steps = append(w.plan.Steps, step)
		}
	}
	return nil
}
