package conformance

import (
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"slices"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// The factors of a case, before one for each of the operation's dimensions.
const (
	factorCall = iota
	factorDType
	factorLane
	factorMode
	factorStrategy
	factorDims
)

// chooser chooses the cases of one operation so that pairs of choices occur together,
// where Run would else try all combinations.
type chooser struct {
	*suite
	op         *spec.Op
	rng        *rand.Rand
	values     [][]int  // of each dimension
	modes      []mode   // ways to place operands
	strategies []string // of spec.Op.Strategies, the first one "" for the plan's own choice
	jobs       []job
}

// pairModes are the ways to place operands of which one is a choice.
var pairModes = append(slices.Clone(allModes),
	mode{name: "broadcast-first", in: layout{guards: true, repeated: 1}, out: guarded, optional: true, image: "repeated-first"},
	mode{name: "broadcast-last", in: layout{guards: true, repeated: -1}, out: padded, optional: true, image: "repeated-last"},
	mode{name: "misaligned-in", in: layout{guards: true, shift: 1}, out: guarded, optional: true},
	mode{name: "misaligned-out", in: guarded, out: layout{guards: true, shift: 3}, optional: true},
)

// chosen lists the cases of an operation by element type. Small ones are chosen by
// pairs, and besides: inputs that are special, a side longer than 65 535, tensors
// that small limits cut, and those that the declaration names.
func (s *suite) chosen(op *spec.Op) []job {
	h := fnv.New64a()
	h.Write([]byte(op.Name))
	c := &chooser{suite: s, op: op, rng: rand.New(rand.NewPCG(s.opts.Seed, h.Sum64())), modes: pairModes}
	for _, d := range op.Cases.Dims {
		c.values = append(c.values, awkward(d))
	}
	c.findStrategies()
	c.corners()
	c.small()
	c.special()
	c.ranks()
	c.long()
	c.named()
	c.rest()
	place := func(d tensor.DType) int { return slices.Index(op.Cases.DTypes, d) }
	slices.SortStableFunc(c.jobs, func(a, b job) int { return place(a.dtype) - place(b.dtype) })
	for first := 0; first < len(c.jobs); {
		n := first
		for n < len(c.jobs) && c.jobs[n].dtype == c.jobs[first].dtype {
			n++
		}
		c.finish(c.jobs[first:n])
		first = n
	}
	return c.jobs
}

// finish puts a case of the first lane last among those of an element type: the
// refusals follow it. At the full level they are tried in every lane.
func (c *chooser) finish(js []job) {
	end := len(js) - 1
	if i := slices.IndexFunc(js, func(j job) bool { return slices.Equal(j.lanes, []int{0}) }); i >= 0 {
		js[i], js[end] = js[end], js[i]
		if !c.opts.Quick {
			js[end].lanes = nil
		}
	}
	js[end].last = true
}

// add appends a case in the lanes, by their places; in all if there are none.
func (c *chooser) add(call, dtype int, k combo, strategy string, lanes ...int) {
	c.jobs = append(c.jobs, job{
		op: c.op, call: c.op.Cases.Calls[call], dtype: c.op.Cases.DTypes[dtype],
		dims: k.dims, shape: k.shape, image: k.image, modes: k.modes, strategy: strategy, lanes: lanes,
	})
}

// most are the most elements and operations of a small case.
func (c *chooser) most() (elems, flops int64) {
	if c.opts.Quick {
		return 1 << 13, 1 << 22
	}
	return 1 << 15, 1 << 24
}

// fits reports whether the operation has a case of these sizes within the bounds.
func (c *chooser) fits(call, dtype int, dims []int, elems, flops int64) bool {
	n, f, ok := weigh(c.op, c.op.Cases.Calls[call], c.op.Cases.DTypes[dtype], dims, call == 0)
	return ok && n <= elems && f <= flops
}

// sides are the inputs and outputs of a case; ok is false where Shape refuses it,
// which is for the case itself to report if no call was expected to.
func (c *chooser) sides(call, dtype int, dims []int) (in, out []tensor.Desc, ok bool) {
	in = c.op.Cases.InputsFor(c.op.Cases.Calls[call], c.op.Cases.DTypes[dtype], dims)
	out, err := shape(c.op, c.op.Cases.Calls[call], in)
	return in, out, err == nil
}

// findStrategies lists the names that the operation gives to strategies for its
// calls at a few sizes.
func (c *chooser) findStrategies() {
	c.strategies = []string{""}
	if c.op.Strategies == nil {
		return
	}
	for call := range c.op.Cases.Calls {
		for dtype := range c.op.Cases.DTypes {
			for _, n := range []int{1, 13, 67, 257} {
				dims := at(c.op.Cases.Dims, c.values, n)
				in, out, ok := c.sides(call, dtype, dims)
				if !ok || len(in) == 0 {
					continue
				}
				for _, l := range c.lanes {
					for _, name := range c.strategiesOf(l, call, in, out) {
						if !slices.Contains(c.strategies, name) {
							c.strategies = append(c.strategies, name)
						}
					}
				}
			}
		}
	}
}

// strategiesOf returns the strategies that the plan does not choose by itself.
func (c *chooser) strategiesOf(l *lane, call int, in, out []tensor.Desc) []string {
	target := l.x.Target()
	names := c.op.Strategies(c.op.Cases.Calls[call], &target, in, out)
	return names[min(1, len(names)):]
}

// dims are the sizes of a row of the factors.
func (c *chooser) dims(row []int) []int {
	v := make([]int, len(c.values))
	for k := range v {
		v[k] = c.values[k][row[factorDims+k]]
	}
	return v
}

// exists reports whether there is a case of the row.
func (c *chooser) exists(row []int) bool {
	elems, flops := c.most()
	dims := c.dims(row)
	if !c.fits(row[factorCall], row[factorDType], dims, elems, flops) {
		return false
	}
	in, out, ok := c.sides(row[factorCall], row[factorDType], dims)
	if !ok {
		return row[factorMode] == 0 && row[factorStrategy] == 0 // the case will say why
	}
	m := c.modes[row[factorMode]]
	if m.image != "" && slices.Max(append(dims, 0)) > 40 {
		return false // values that repeat err alike, and tolerances are for such that do not
	}
	if !m.suits(c.op, c.op.Cases.Calls[row[factorCall]], in, out) {
		return false
	}
	if c.opts.noCopies && !c.plans(row, m, in, out) {
		return false
	}
	name := c.strategies[row[factorStrategy]]
	return name == "" || slices.Contains(c.strategiesOf(c.lanes[row[factorLane]], row[factorCall], in, out), name)
}

// plans reports whether the operation has a plan of its own for operands placed so:
// nothing copies them for it.
func (c *chooser) plans(row []int, m mode, in, out []tensor.Desc) bool {
	target := c.lanes[row[factorLane]].x.Target()
	lie := func(ds []tensor.Desc, lay layout) []tensor.Desc {
		ds = slices.Clone(ds)
		for i, d := range ds {
			ds[i], _ = lay.strided(d)
		}
		return ds
	}
	defer func() { _ = recover() }() // for the case to report
	_, err := c.op.Plan(c.op.Cases.Calls[row[factorCall]], &target, lie(in, m.in), lie(out, m.out))
	return m.in.shift == 0 && m.out.shift == 0 && !errors.Is(err, errs.ErrUnsupported)
}

// everyday is the number of lanes that are for small cases too: those that are Distinct
// come last, and change plans of large ones.
func (c *chooser) everyday() int {
	n := slices.IndexFunc(c.lanes[1:], func(l *lane) bool { return l.Distinct })
	if n < 0 {
		return len(c.lanes)
	}
	return n + 1
}

// small chooses cases by pairs. At the quick level two dimensions need not meet at
// all their sizes, nor a size every placement.
func (c *chooser) small() {
	cover := covering{
		levels: []int{len(c.op.Cases.Calls), len(c.op.Cases.DTypes), c.everyday(), len(c.modes), len(c.strategies)},
		ok:     c.exists,
		hides:  func(a, i int) bool { return a >= factorDims && c.values[a-factorDims][i] == 0 },
	}
	for _, v := range c.values {
		cover.levels = append(cover.levels, len(v))
	}
	if c.opts.Quick {
		cover.want = func(a, b int) bool { return b < factorDims || a < factorDims && a != factorMode }
	}
	rows, _ := cover.rows(c.rng)
	if !c.opts.Quick {
		rows = append(rows, cover.sample(c.rng, len(rows)/4)...)
	}
	for _, row := range rows {
		m := c.modes[row[factorMode]]
		k := combo{dims: c.dims(row), image: "random", modes: []mode{m}}
		if m.inPlace { // the same bits as out of place
			k.modes = []mode{allModes[0], m}
		}
		if m.image != "" {
			k.image = m.image
		}
		c.add(row[factorCall], row[factorDType], k, c.strategies[row[factorStrategy]], row[factorLane])
	}
}

// rest chooses a case for each call that has none, because its attributes ask for more
// elements than a small case has.
func (c *chooser) rest() {
	for call, a := range c.op.Cases.Calls {
		if slices.ContainsFunc(c.jobs, func(j job) bool { return callName(j.call) == callName(a) }) {
			continue
		}
		for dtype := range c.op.Cases.DTypes {
			for _, v := range corners(c.op.Cases.Dims, c.values) {
				if c.fits(call, dtype, v, 1<<21, 1<<28) {
					c.add(call, dtype, combo{dims: v, image: "random", modes: fewModes}, "", 0)
					break
				}
			}
		}
	}
}

// corners are the shapes that break kernels most often, of the default call and
// element type: in the first lane and, in turn, in the others.
func (c *chooser) corners() {
	elems, flops := c.most()
	for i, v := range append(corners(c.op.Cases.Dims, c.values), at(c.op.Cases.Dims, c.values, 0)) {
		if !c.fits(0, 0, v, elems, flops) {
			continue
		}
		lanes := []int{0}
		if n := c.everyday(); n > 1 {
			lanes = append(lanes, 1+i%(n-1))
		}
		c.add(0, 0, combo{dims: v, image: "random", modes: fewModes}, "", lanes...)
	}
}

// special chooses the inputs that are not random: every image meets every element
// type and lane, and at the full level every call.
func (c *chooser) special() {
	var names []string
	for dtype := range c.op.Cases.DTypes {
		for _, name := range c.imagesOf(0, dtype) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if len(names) == 0 {
		return
	}
	calls := len(c.op.Cases.Calls)
	if c.opts.Quick {
		calls = 1
	}
	cover := covering{levels: []int{calls, len(c.op.Cases.DTypes), c.everyday(), len(names)}, ok: func(row []int) bool {
		return slices.Contains(c.imagesOf(row[0], row[1]), names[row[3]])
	}}
	rows, _ := cover.rows(c.rng)
	for _, row := range rows {
		k := combo{dims: c.middle(row[0], row[1]), image: names[row[3]], modes: fewModes[1:]}
		c.add(row[0], row[1], k, "", row[2])
	}
}

// middle is a size that the call can afford for images, or nil.
func (c *chooser) middle(call, dtype int) []int {
	elems, flops := c.most()
	for _, n := range []int{37, 13, 7, 5, 3, 2} {
		if v := at(c.op.Cases.Dims, c.values, n); c.fits(call, dtype, v, elems, flops) {
			return v
		}
	}
	return nil
}

// imagesOf are the images for a call and element type.
func (c *chooser) imagesOf(call, dtype int) []string {
	v := c.middle(call, dtype)
	if v == nil {
		return nil
	}
	var names []string
	if c.op.Cases.DTypes[dtype] != tensor.F64 { // of equal values the reference, in float64, knows no more than the device
		names = slices.Clone(images)
	}
	if c.op.Cases.Specials {
		in, _, _ := c.sides(call, dtype, v)
		names = append(names, specialImages(in)...)
	}
	return names
}

// ranks chooses inputs of other ranks than the declaration's own, in every lane.
func (c *chooser) ranks() {
	list := ranks(c.op, c.op.Cases.Calls[0], c.op.Cases.DTypes[0])
	if len(list) == 0 {
		return
	}
	cover := covering{levels: []int{len(list), c.everyday(), len(c.modes)}, ok: func(row []int) bool {
		in := reshaped(c.op.Cases.InputsFor(c.op.Cases.Calls[0], c.op.Cases.DTypes[0], list[row[0]].dims), list[row[0]].shape)
		out, err := shape(c.op, c.op.Cases.Calls[0], in)
		return err == nil && c.modes[row[2]].suits(c.op, c.op.Cases.Calls[0], in, out)
	}}
	if c.opts.Quick {
		cover.want = func(a, b int) bool { return b == 1 }
	}
	rows, _ := cover.rows(c.rng)
	for _, row := range rows {
		k := list[row[0]]
		if k.modes = []mode{c.modes[row[2]]}; k.modes[0].image != "" {
			k.image = k.modes[0].image
		}
		c.add(0, 0, k, "", row[1])
	}
}
