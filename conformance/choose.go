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

// These are the factors of a case. One more for each of the operation's dimensions
// follows them.
const (
	factorCall = iota
	factorDType
	factorDevice
	factorMode
	factorStrategy
	factorDims
)

// chooser chooses the cases of one operation such that all pairs of choices occur
// together. Without it, Run would try all combinations.
type chooser struct {
	*suite
	op  *spec.Op
	rng *rand.Rand
	// values are the sizes of each dimension.
	values [][]int
	// modes are the modes to choose from.
	modes []mode
	// strategies are those of spec.Op.Strategies. The first one is "", the plan's own
	// choice.
	strategies []string
	jobs       []job
}

// pairModes are the modes to choose from.
var pairModes = append(slices.Clone(allModes),
	mode{name: "broadcast-first", in: layout{guards: true, repeated: 1}, out: guarded, optional: true, pattern: "repeated-first"},
	mode{name: "broadcast-last", in: layout{guards: true, repeated: -1}, out: padded, optional: true, pattern: "repeated-last"},
	mode{name: "misaligned-in", in: layout{guards: true, shift: 1}, out: guarded, optional: true},
	mode{name: "misaligned-out", in: guarded, out: layout{guards: true, shift: 3}, optional: true},
)

// chosen returns the jobs of an operation, sorted by element type. Small jobs are chosen
// by pairs. In addition there are special inputs, dimensions longer than 65 535, tensors
// that small limits split, and the sizes that the declaration lists.
func (s *suite) chosen(op *spec.Op) []job {
	h := fnv.New64a()
	h.Write([]byte(op.Name))
	c := &chooser{suite: s, op: op, rng: rand.New(rand.NewPCG(s.opts.Seed, h.Sum64())), modes: pairModes}
	for _, d := range op.Cases.Dims {
		c.values = append(c.values, awkward(d))
	}
	c.findStrategies()
	c.addCorners()
	c.addSmall()
	c.addPatterns()
	c.addRanks()
	c.addLarge()
	c.addNamed()
	c.addMissing()
	place := func(d tensor.DType) int { return slices.Index(op.Cases.DTypes, d) }
	slices.SortStableFunc(c.jobs, func(a, b job) int { return place(a.dtype) - place(b.dtype) })
	for first := 0; first < len(c.jobs); {
		n := first
		for n < len(c.jobs) && c.jobs[n].dtype == c.jobs[first].dtype {
			n++
		}
		c.moveRefusalsLast(c.jobs[first:n])
		first = n
	}
	return c.jobs
}

// moveRefusalsLast moves a job of the first device to the end of those of an element
// type, because the refusals follow the last job. At the full level, every device makes
// the refusals.
func (c *chooser) moveRefusalsLast(js []job) {
	end := len(js) - 1
	if i := slices.IndexFunc(js, func(j job) bool { return slices.Equal(j.devices, []int{0}) }); i >= 0 {
		js[i], js[end] = js[end], js[i]
		if !c.opts.Quick {
			js[end].devices = nil
		}
	}
	js[end].last = true
}

// add appends a job for the devices with these indices, or for all if there are none.
func (c *chooser) add(call, dtype int, k combo, strategy string, devices ...int) {
	c.jobs = append(c.jobs, job{
		op: c.op, call: c.op.Cases.Calls[call], dtype: c.op.Cases.DTypes[dtype],
		dims: k.dims, shape: k.shape, pattern: k.pattern, modes: k.modes, strategy: strategy, devices: devices,
	})
}

// sizeLimits returns the largest number of elements and of operations in a small job.
func (c *chooser) sizeLimits() (elems, flops int64) {
	if c.opts.Quick {
		return 1 << 13, 1 << 22
	}
	return 1 << 15, 1 << 24
}

// fits reports whether the operation has a case of these sizes within the limits.
func (c *chooser) fits(call, dtype int, dims []int, elems, flops int64) bool {
	n, f, ok := caseSize(c.op, c.op.Cases.Calls[call], c.op.Cases.DTypes[dtype], dims, call == 0)
	return ok && n <= elems && f <= flops
}

// operandsOf returns the inputs and outputs of a case. ok is false if Shape refuses the
// inputs. If that was not expected, the case itself reports it.
func (c *chooser) operandsOf(call, dtype int, dims []int) (in, out []tensor.Desc, ok bool) {
	in = c.op.Cases.InputsFor(c.op.Cases.Calls[call], c.op.Cases.DTypes[dtype], dims)
	out, err := shape(c.op, c.op.Cases.Calls[call], in)
	return in, out, err == nil
}

// findStrategies lists the strategies that the operation has for its calls at a few
// sizes.
func (c *chooser) findStrategies() {
	c.strategies = []string{""}
	if c.op.Strategies == nil {
		return
	}
	for call := range c.op.Cases.Calls {
		for dtype := range c.op.Cases.DTypes {
			for _, n := range []int{1, 13, 67, 257} {
				dims := sizesAt(c.op.Cases.Dims, c.values, n)
				in, out, ok := c.operandsOf(call, dtype, dims)
				if !ok || len(in) == 0 {
					continue
				}
				for _, l := range c.devices {
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

// strategiesOf returns the strategies that the plan does not choose itself.
func (c *chooser) strategiesOf(l *variantDevice, call int, in, out []tensor.Desc) []string {
	target := l.x.Target()
	names := c.op.Strategies(c.op.Cases.Calls[call], &target, in, out)
	return names[min(1, len(names)):]
}

// dims returns the sizes in a row of levels.
func (c *chooser) dims(row []int) []int {
	v := make([]int, len(c.values))
	for k := range v {
		v[k] = c.values[k][row[factorDims+k]]
	}
	return v
}

// isCase reports whether there is a case for the row.
func (c *chooser) isCase(row []int) bool {
	elems, flops := c.sizeLimits()
	dims := c.dims(row)
	if !c.fits(row[factorCall], row[factorDType], dims, elems, flops) {
		return false
	}
	in, out, ok := c.operandsOf(row[factorCall], row[factorDType], dims)
	if !ok {
		return row[factorMode] == 0 && row[factorStrategy] == 0 // The case will report why.
	}
	m := c.modes[row[factorMode]]
	if m.pattern != "" && slices.Max(append(dims, 0)) > 40 {
		return false // Equal values have equal errors, and tolerances of long sums expect random errors.
	}
	if !m.appliesTo(c.op, c.op.Cases.Calls[row[factorCall]], in, out) {
		return false
	}
	if c.opts.noCopies && !c.plansDirectly(row, m, in, out) {
		return false
	}
	name := c.strategies[row[factorStrategy]]
	return name == "" || slices.Contains(c.strategiesOf(c.devices[row[factorDevice]], row[factorCall], in, out), name)
}

// plansDirectly reports whether the operation itself has a plan for operands in that
// mode, without copies.
func (c *chooser) plansDirectly(row []int, m mode, in, out []tensor.Desc) bool {
	target := c.devices[row[factorDevice]].x.Target()
	lie := func(ds []tensor.Desc, lay layout) []tensor.Desc {
		ds = slices.Clone(ds)
		for i, d := range ds {
			ds[i], _ = lay.strided(d)
		}
		return ds
	}
	defer func() { _ = recover() }() // The case will report the panic.
	_, err := c.op.Plan(c.op.Cases.Calls[row[factorCall]], &target, lie(in, m.in), lie(out, m.out))
	return m.in.shift == 0 && m.out.shift == 0 && !errors.Is(err, errs.ErrUnsupported)
}

// ordinaryDevices returns the number of devices that run small jobs too. Distinct devices
// come after them, because they change plans of large jobs only.
func (c *chooser) ordinaryDevices() int {
	n := slices.IndexFunc(c.devices[1:], func(l *variantDevice) bool { return l.Distinct })
	if n < 0 {
		return len(c.devices)
	}
	return n + 1
}

// addSmall chooses jobs by pairs. At the quick level, not all pairs of sizes of two
// dimensions occur, and not all pairs of a size and a mode.
func (c *chooser) addSmall() {
	cover := covering{
		levels: []int{len(c.op.Cases.Calls), len(c.op.Cases.DTypes), c.ordinaryDevices(), len(c.modes), len(c.strategies)},
		ok:     c.isCase,
		hides:  func(a, i int) bool { return a >= factorDims && c.values[a-factorDims][i] == 0 },
	}
	for _, v := range c.values {
		cover.levels = append(cover.levels, len(v))
	}
	if c.opts.Quick {
		cover.want = func(a, b int) bool { return b < factorDims || a < factorDims && a != factorMode }
	}
	rows, _ := cover.chooseRows(c.rng)
	if !c.opts.Quick {
		rows = append(rows, cover.sampleRows(c.rng, len(rows)/4)...)
	}
	for _, row := range rows {
		m := c.modes[row[factorMode]]
		k := combo{dims: c.dims(row), pattern: "random", modes: []mode{m}}
		if m.inPlace { // The result must be equal bit for bit to that of the plain mode.
			k.modes = []mode{allModes[0], m}
		}
		if m.pattern != "" {
			k.pattern = m.pattern
		}
		c.add(row[factorCall], row[factorDType], k, c.strategies[row[factorStrategy]], row[factorDevice])
	}
}

// addMissing adds a job for each call that has none, because its attributes need more
// elements than a small job has.
func (c *chooser) addMissing() {
	for call, a := range c.op.Cases.Calls {
		if slices.ContainsFunc(c.jobs, func(j job) bool { return callName(j.call) == callName(a) }) {
			continue
		}
		for dtype := range c.op.Cases.DTypes {
			for _, v := range corners(c.op.Cases.Dims, c.values) {
				if c.fits(call, dtype, v, 1<<21, 1<<28) {
					c.add(call, dtype, combo{dims: v, pattern: "random", modes: fewModes}, "", 0)
					break
				}
			}
		}
	}
}

// addCorners adds the shapes that break kernels most often, for the everyday call and
// element type. They run on the first device and, in turn, on one of the others.
func (c *chooser) addCorners() {
	elems, flops := c.sizeLimits()
	for i, v := range append(corners(c.op.Cases.Dims, c.values), sizesAt(c.op.Cases.Dims, c.values, 0)) {
		if !c.fits(0, 0, v, elems, flops) {
			continue
		}
		devices := []int{0}
		if n := c.ordinaryDevices(); n > 1 {
			devices = append(devices, 1+i%(n-1))
		}
		c.add(0, 0, combo{dims: v, pattern: "random", modes: fewModes}, "", devices...)
	}
}

// addPatterns chooses the inputs that are not random. Every pattern occurs with every
// element type and device, and at the full level with every call.
func (c *chooser) addPatterns() {
	var names []string
	for dtype := range c.op.Cases.DTypes {
		for _, name := range c.patternsOf(0, dtype) {
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
	cover := covering{levels: []int{calls, len(c.op.Cases.DTypes), c.ordinaryDevices(), len(names)}, ok: func(row []int) bool {
		return slices.Contains(c.patternsOf(row[0], row[1]), names[row[3]])
	}}
	rows, _ := cover.chooseRows(c.rng)
	for _, row := range rows {
		k := combo{dims: c.patternSizes(row[0], row[1]), pattern: names[row[3]], modes: fewModes[1:]}
		c.add(row[0], row[1], k, "", row[2])
	}
}

// patternSizes returns sizes for patterns that are within the limits, or nil.
func (c *chooser) patternSizes(call, dtype int) []int {
	elems, flops := c.sizeLimits()
	for _, n := range []int{37, 13, 7, 5, 3, 2} {
		if v := sizesAt(c.op.Cases.Dims, c.values, n); c.fits(call, dtype, v, elems, flops) {
			return v
		}
	}
	return nil
}

// patternsOf lists the patterns for a call and element type.
func (c *chooser) patternsOf(call, dtype int) []string {
	v := c.patternSizes(call, dtype)
	if v == nil {
		return nil
	}
	var names []string
	// The reference uses F64 too, so for equal values it is not more exact than the
	// device.
	if c.op.Cases.DTypes[dtype] != tensor.F64 {
		names = slices.Clone(patterns)
	}
	if c.op.Cases.Specials {
		in, _, _ := c.operandsOf(call, dtype, v)
		names = append(names, specialPatterns(in)...)
	}
	return names
}

// addRanks chooses inputs with another rank than the declaration's, on every device.
func (c *chooser) addRanks() {
	list := otherRanks(c.op, c.op.Cases.Calls[0], c.op.Cases.DTypes[0])
	if len(list) == 0 {
		return
	}
	cover := covering{levels: []int{len(list), c.ordinaryDevices(), len(c.modes)}, ok: func(row []int) bool {
		in := reshaped(c.op.Cases.InputsFor(c.op.Cases.Calls[0], c.op.Cases.DTypes[0], list[row[0]].dims), list[row[0]].shape)
		out, err := shape(c.op, c.op.Cases.Calls[0], in)
		return err == nil && c.modes[row[2]].appliesTo(c.op, c.op.Cases.Calls[0], in, out)
	}}
	if c.opts.Quick {
		cover.want = func(a, b int) bool { return b == 1 }
	}
	rows, _ := cover.chooseRows(c.rng)
	for _, row := range rows {
		k := list[row[0]]
		if k.modes = []mode{c.modes[row[2]]}; k.modes[0].pattern != "" {
			k.pattern = k.modes[0].pattern
		}
		c.add(0, 0, k, "", row[1])
	}
}
