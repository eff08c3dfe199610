package resampling

import (
	"cmp"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/planner"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/spirv"
	"github.com/lathe-gpu/lathe/tensor"
)

const passShader = "nn/resample"

// passParams is the push-constant block of shaders/nn/resample.comp.
type passParams struct {
	Count, OutBase, Stage, Rows, Columns, Pitch, Block uint32
	InBase                                             int32
	TableBase, Entry, Low, High                        uint32
	Fill                                               [2]uint32
}

// resample appends the launches that resample a tensor of that shape and dtype. A gradient goes from the
// shape of the result to that of the source.
// Errors: *LimitError, ErrUnsupported.
func resample(plan *spec.Plan, t *spec.Target, d tensor.DType, axes []axis, fill float64, gradient bool) error {
	real := planner.Accumulator(d)
	var order []int
	shape := make([]int, len(axes))
	for k, x := range axes {
		if shape[k] = x.in; gradient {
			shape[k] = x.out
		}
		if !x.same() {
			order = append(order, k)
		}
	}
	if len(order) == 0 { // A copy, along the last axis.
		if len(axes) == 0 {
			axes, shape = []axis{{in: 1, out: 1, wide: 1}}, []int{1}
		}
		order = []int{len(axes) - 1}
		axes[order[0]].mode = nearest
	}
	// What becomes smaller comes first, so that no tensor between is larger than both others.
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := float64(axes[i].out)/float64(axes[i].in), float64(axes[j].out)/float64(axes[j].in)
		if gradient {
			a, b = b, a
		}
		return cmp.Compare(a, b)
	})
	src, from := spec.In(0), d
	for i, k := range order {
		b, err := addTable(plan, t, axes[k], real)
		if err != nil {
			return err
		}
		if gradient {
			if b, err = addTranspose(plan, t, axes[k], b, real); err != nil {
				return err
			}
		}
		v := planner.ViewAxis(shape, k)
		shape[k] = b.entries
		dst, to := spec.Out(0), d
		if i < len(order)-1 {
			dst, to = planner.AddScratch(plan, int64(v.Outer*b.entries*v.Inner)*int64(real.Size())), real
		}
		p := pass{t: t, plan: plan, view: v, table: b, src: src, dst: dst, from: from, to: to, fill: realWords(fill, real)}
		if err := p.add(); err != nil {
			return err
		}
		src, from = dst, to
	}
	return nil
}

// pass resamples an axis of a contiguous tensor of dtype from, to one of dtype to.
type pass struct {
	t        *spec.Target
	plan     *spec.Plan
	view     planner.AxisView // of the source
	table    table
	src, dst spec.Ref
	from, to tensor.DType
	fill     [2]uint32

	real   tensor.DType
	kernel string
	texel  bool
	sums   *spec.Ref
	unused *spec.Ref
}

// part is a part of the result [blocks, rows, columns] and of the weights of a row. from and n are blocks, rows,
// columns and weights.
type part struct{ from, n [4]int }

const (
	blocks = iota
	rows
	columns
	weights
)

// add appends the launches.
func (p *pass) add() error {
	name := p.from
	suffix := ""
	switch {
	case p.from.Size() == 2 && p.to.Size() == 4:
		suffix = ".from"
	case p.from.Size() == 4 && p.to.Size() == 2:
		name, suffix = p.to, ".to"
	}
	p.real, p.texel = planner.Accumulator(p.from), p.from.Size() < 8 && planner.UsesTexels(p.t, planner.TexelGroup)
	if p.texel {
		suffix += ".texel"
	}
	p.kernel = passShader + "." + name.String() + suffix
	return p.split(part{n: [4]int{p.view.Outer, p.table.entries, p.view.Inner, p.table.slots}})
}

// span returns the first element and the one after the last of what a part reads.
func (p *pass) span(s part) (first, end int) {
	low, high := p.table.rows(s.from[rows], s.from[rows]+s.n[rows])
	low += s.from[weights]
	high -= p.table.slots - s.from[weights] - s.n[weights]
	first = (s.from[blocks]*p.view.N+low)*p.view.Inner + s.from[columns]
	end = ((s.from[blocks]+s.n[blocks]-1)*p.view.N+high-1)*p.view.Inner + s.from[columns] + s.n[columns]
	return first, end
}

// elems is the number of elements of the result in a part.
func (s part) elems() int { return s.n[blocks] * s.n[rows] * s.n[columns] }

// per is how many elements an invocation makes.
func (p *pass) per() int { return max(4/p.to.Size(), 1) }

// split splits a part until it fits the target, and appends the launches. The parts of the result are contiguous,
// and each element gets its weights from the first one on.
func (p *pass) split(s part) error {
	if most := int(p.t.MaxIterations); most > 0 && (s.n[weights]+4)*p.per() > most-16 {
		return p.halve(s, weights)
	}
	first, end := p.span(s)
	room := planner.RoomFor(p.t, p.texel, p.from.Size())
	made := p.to.Size()
	if s.n[weights] < p.table.slots {
		made = max(made, p.real.Size())
	}
	fits := end-first <= room
	if fits && s.elems() <= planner.RoomFor(p.t, false, made)-int(planner.WindowAlign(p.t)) && s.n[rows] <= p.table.most(p.t) {
		return p.launch(s)
	}
	// far is how much longer the range that is read is because of the weights, and near because of the rows or columns.
	far, near := (s.n[weights]-1)*p.view.Inner, s.n[columns]
	if s.n[rows] > 1 {
		near = end - first - far
	}
	switch {
	case s.n[blocks] > 1:
		return p.halve(s, blocks)
	case !fits && far > near:
		return p.halve(s, weights)
	case s.n[rows] > 1:
		return p.halve(s, rows)
	case s.n[columns] > 1:
		return p.halve(s, columns)
	case !fits && s.n[weights] > 1:
		return p.halve(s, weights)
	}
	return &errs.LimitError{Name: "MaxBinding", Want: int64(end-first) * int64(p.from.Size()), Have: p.t.MaxBinding}
}

func (p *pass) halve(s part, k int) error {
	low, high := s, s
	low.n[k] = (s.n[k] + 1) / 2
	high.n[k] -= low.n[k]
	high.from[k] += low.n[k]
	if err := p.split(low); err != nil {
		return err
	}
	return p.split(high)
}

// launch appends the launch of a part.
func (p *pass) launch(s part) error {
	first, end := p.span(s)
	read, base := planner.Window(p.t, p.src, p.from.Size(), int64(first), int64(end-first))
	at := (s.from[blocks]*p.table.entries+s.from[rows])*p.view.Inner + s.from[columns]
	q := passParams{
		Count: uint32(s.elems()), Rows: uint32(s.n[rows]), Columns: uint32(s.n[columns]),
		Pitch: uint32(p.view.Inner), Block: uint32(p.view.N * p.view.Inner), Entry: uint32(p.table.pitch),
		Low: uint32(s.from[weights]), High: uint32(s.from[weights] + s.n[weights]), Fill: p.fill,
	}
	q.InBase = int32(s.from[blocks]*p.view.N*p.view.Inner + s.from[columns] - first + int(base))
	// The output and the sums have the same distance from the starts of their bindings.
	ahead := int(int64(at) % planner.WindowAlign(p.t))
	q.OutBase = uint32(ahead)
	bind := func(ref spec.Ref, size int) spec.Bind {
		made, _ := planner.Window(p.t, ref, size, int64(at-ahead), int64(s.elems()+ahead))
		return made
	}
	var entries, sums spec.Bind
	entries, q.TableBase = p.table.window(p.t, s.from[rows], s.n[rows])
	if s.from[weights] == 0 {
		q.Stage = 1
	}
	if s.from[weights]+s.n[weights] == p.table.slots {
		q.Stage |= 2
	}
	if q.Stage == 3 {
		if p.unused == nil {
			ref := planner.AddScratch(p.plan, 0)
			p.unused = &ref
		}
		sums = spec.Bind{Buf: *p.unused}
	} else {
		if p.sums == nil {
			ref := planner.AddScratch(p.plan, int64(p.view.Outer*p.table.entries*p.view.Inner)*int64(p.real.Size()))
			p.sums = &ref
		}
		sums = bind(*p.sums, p.real.Size())
	}
	local := planner.SmallGroup
	if p.texel {
		local = planner.TexelGroup
	}
	groups, err := planner.Grid(p.t, int64(planner.CeilDiv(planner.CeilDiv(ahead%p.per()+s.elems(), p.per()), local)))
	p.plan.Steps = append(p.plan.Steps, spec.Step{
		Module: spirv.Kernel(p.kernel), Params: q, Groups: groups,
		Bind: []spec.Bind{read, entries, sums, bind(p.dst, p.to.Size())},
	})
	return err
}
