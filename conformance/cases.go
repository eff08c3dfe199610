package conformance

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// mode says how the operands of a case are placed in memory.
type mode struct {
	name string
	// in and out are the layouts of the inputs and outputs.
	in, out layout
	// inPlace says that outputs overwrite inputs where the operation allows it.
	inPlace bool
	// only, if above 0, says that only output only-1 is in place. over is then the input
	// that it overwrites.
	only, over int
	// alias says that equal inputs are the same tensor.
	alias bool
	// optional says that the operation may return ErrUnsupported, which is counted and
	// shown. In other modes, only a whole dtype may be unsupported.
	optional bool
	// pattern is the only pattern of inputs that the mode is for. "" means any.
	pattern string
}

var (
	guarded = layout{guards: true}
	padded  = layout{guards: true, pad: 1}
	// allModes begins with the plain mode. The other modes must give the same result.
	allModes = []mode{
		{name: "plain", in: guarded, out: guarded},
		{name: "exact"},
		{name: "in-place", in: guarded, inPlace: true},
		{name: "aliased", in: guarded, out: guarded, alias: true},
		{name: "strided-in", in: padded, out: guarded, optional: true},
		{name: "strided-out", in: guarded, out: padded, optional: true},
		{name: "strided-in-place", in: padded, out: padded, inPlace: true, optional: true},
		{name: "transposed", in: layout{guards: true, transposed: true}, out: guarded, optional: true},
		{name: "transposed-out", in: guarded, out: layout{guards: true, transposed: true}, optional: true},
		{name: "pitched", in: layout{guards: true, pad: 2, aligned: true}, out: layout{guards: true, pad: 5, aligned: true}, optional: true},
	}
	// repeatModes are the modes for inputs that repeat along a dimension, by the pattern.
	repeatModes = map[string][]mode{
		"repeated-first": {allModes[0], {name: "broadcast", in: layout{guards: true, repeated: 1}, out: guarded, optional: true}},
		"repeated-last":  {allModes[0], {name: "broadcast", in: layout{guards: true, repeated: -1}, out: padded, optional: true}},
	}
	fewModes = allModes[:2]
	bigModes = allModes[:3]
)

// These bytes fill outputs before they are written. 0xFF in all bytes is NaN in every
// floating-point type. 0x5A finds an element that was not written and for which 0xFF is a
// legal value.
const poison1, poison2 = 0xFF, 0x5A

// runModes runs one job in all its modes.
func (s *suite) runModes(l *variantDevice, p *prepared) {
	if p.err != nil {
		s.addRow(l, p.job, "prepare", fail(p.err))
		return
	}
	planned, err := l.withStrategy(p.strategy)
	if err != nil {
		s.addRow(l, p.job, "by-"+p.strategy, fail(err))
		return
	}
	var base [][]byte // This is the result in the plain mode.
	for _, m := range p.placements() {
		if !m.applies(p) || !s.draws(planned, p, m) {
			continue
		}
		o, got := s.runCase(planned, p, m, base)
		name := m.name
		if p.strategy != "" {
			name += "-by-" + p.strategy
		}
		s.addRow(l, p.job, name, o)
		if o.status == Pass && l.first == nil {
			l.first = got
		}
		if m.name == "plain" {
			if o.status != Pass {
				return // All other modes would give the same error.
			}
			base = got
		}
		if s.ctx.Err() != nil {
			return
		}
	}
	s.runOtherStrategies(l, p)
	// A guarded device now checks the zones of every buffer, including scratch buffers.
	if err := l.dev.Sync(s.ctx); err != nil && s.ctx.Err() == nil {
		s.addRow(l, p.job, "sync", fail(err))
	}
}

// runOtherStrategies runs the job with the strategies of spec.Op.Strategies that its plan
// does not choose itself, because a tuner may choose any of them. The first device runs
// all jobs of the everyday call and dtype. The others run some jobs.
func (s *suite) runOtherStrategies(l *variantDevice, p *prepared) {
	everyday := p.dtype == p.op.Cases.DTypes[0] && callName(p.call) == callName(p.op.Cases.Calls[0])
	if s.opts.Once || s.opts.Pairs || p.op.Strategies == nil || !p.some && (l != s.devices[0] || !everyday) {
		return
	}
	target := l.x.Target()
	strategies := p.op.Strategies(p.call, &target, descsOf(p.in), descsOf(p.want))
	for _, strategy := range strategies[min(1, len(strategies)):] {
		w, err := l.withStrategy(strategy)
		if err != nil {
			s.addRow(l, p.job, "by-"+strategy, fail(err))
			return
		}
		if !s.draws(w, p, allModes[0]) {
			continue
		}
		o, _ := s.runCase(w, p, allModes[0], nil)
		s.addRow(l, p.job, "by-"+strategy, o)
		if s.ctx.Err() != nil {
			return
		}
	}
}

// compareDevices compares the results of two devices for a job.
func (s *suite) compareDevices(a, b *variantDevice, p *prepared) {
	o := pass()
	for i, w := range p.want {
		tol := toleranceFor(p.pattern, p.op.Tolerance(p.call, w.DType, descsOf(p.in)), descsOf(p.in), w.Desc)
		o = o.merge(compare(b.first[i], &tensor.Host{Desc: w.Desc, Data: a.first[i]}, tol))
	}
	s.addRow(b, p.job, "agrees", o)
}

// placements returns the modes of the job. If several outputs may be in place, they are
// tried together and each alone. If an output may overwrite one of several inputs, each
// is tried.
func (p *prepared) placements() []mode {
	var list []mode
	for _, m := range p.modes {
		if list = append(list, m); !m.inPlace {
			continue
		}
		places := make([][]int, len(p.want))
		outputs := 0
		for i := range p.want {
			if places[i] = p.overwritable(i); len(places[i]) > 0 {
				outputs++
			}
		}
		for i, inputs := range places {
			for n, k := range inputs {
				one := m
				one.only, one.over = i+1, k
				switch {
				case n > 0:
					one.name = fmt.Sprintf("%s-%s-over-%s", m.name, p.op.Out[i].Name, p.op.In[min(k, len(p.op.In)-1)].Name)
				case outputs > 1:
					one.name = m.name + "-" + p.op.Out[i].Name
				default:
					continue // This is m itself.
				}
				list = append(list, one)
			}
		}
	}
	return list
}

// overwritable lists the inputs that output i may overwrite in this job.
func (p *prepared) overwritable(i int) []int {
	return overwritable(p.op, i, descsOf(p.in), p.want[i].Desc)
}

// overwritable lists the inputs that output i of a call may overwrite.
func overwritable(op *spec.Op, i int, in []tensor.Desc, out tensor.Desc) []int {
	var list []int
	for k, d := range in {
		if op.MayOverwrite(i, k) && sameDesc(d, out) {
			list = append(list, k)
		}
	}
	return list
}

// overwrites returns the input that output i overwrites in this mode, or -1.
func (m mode) overwrites(p *prepared, i int) int {
	if !m.inPlace || m.only > 0 && m.only-1 != i {
		return -1
	}
	if m.only > 0 {
		return m.over
	}
	if inputs := p.overwritable(i); len(inputs) > 0 {
		return inputs[0]
	}
	return -1
}

// applies reports whether the mode differs from the plain one for these operands.
func (m mode) applies(p *prepared) bool {
	if m.inPlace {
		any := false
		for i := range p.want {
			any = any || m.overwrites(p, i) >= 0
		}
		if !any {
			return false
		}
	}
	if m.alias && p.aliased == nil {
		return false
	}
	if m.in.plain() && m.out.plain() {
		return true
	}
	return changes(m.in, p.in) || changes(m.out, p.want)
}

// appliesTo is applies for the operands of a call that is not prepared.
func (m mode) appliesTo(op *spec.Op, call spec.Call, in, out []tensor.Desc) bool {
	if m.inPlace {
		any := false
		for i, d := range out {
			any = any || len(overwritable(op, i, in, d)) > 0
		}
		if !any {
			return false
		}
	}
	if m.alias && !slices.ContainsFunc(aliases(op, call, in), func(same bool) bool { return same }) {
		return false
	}
	if m.in.plain() && m.out.plain() {
		return true
	}
	return m.in.changes(in) || m.out.changes(out)
}

// changes reports whether the layout makes a difference for any of the operands.
func changes(lay layout, hs []*tensor.Host) bool { return lay.changes(descsOf(hs)) }

// changes reports whether the layout makes a difference for any of the operands.
func (lay layout) changes(ds []tensor.Desc) bool {
	return slices.ContainsFunc(ds, func(d tensor.Desc) bool {
		_, ok := lay.strided(d)
		return ok || lay.shift > 0 && d.Elems() > 0
	})
}

// runCase runs a case and compares its outputs with the reference. If base is not nil, it
// also compares them with base, which must be equal bit for bit.
func (s *suite) runCase(l *variantDevice, p *prepared, m mode, base [][]byte) (outcome, [][]byte) {
	want := p.want
	if m.alias {
		want = p.aliased
	}
	got, err := s.launch(l, p, m, poison1)
	if err != nil {
		optional := m.optional && s.mayRefuse(p) || m.name == "plain" || p.lacks(l.dev.Info())
		// The dtype may be unsupported in the plain mode too.
		if s.opts.Pairs && !optional && errors.Is(err, gpu.ErrUnsupported) {
			_, plain := s.launch(l, p, allModes[0], poison1)
			optional = errors.Is(plain, gpu.ErrUnsupported)
		}
		return refusedOutcome(err, optional), nil
	}
	o := pass()
	for i, w := range want {
		tol := toleranceFor(p.pattern, p.op.Tolerance(p.call, w.DType, descsOf(p.in)), descsOf(p.in), w.Desc)
		c := p.judge(i, got[i], w, tol)
		if len(want) > 1 {
			c.message = fmt.Sprintf("output %s: %s", p.op.Out[i].Name, c.message)
		}
		o = o.merge(c)
	}
	if o.status != Pass {
		return o, got
	}
	switch {
	case m.inPlace && base != nil:
		same, err := s.elsewhere(l, p, m, base)
		if err != nil {
			return o.merge(fail(fmt.Errorf("out of place: %w", err))), got
		}
		if i, k := firstDiff(got, same); i >= 0 {
			return o.merge(failf("output %d differs in place from out of place at byte %d", i, k)), got
		}
	case m.name == "plain" && !s.opts.Once:
		again, err := s.launch(l, p, m, poison2)
		if err != nil {
			return o.merge(fail(fmt.Errorf("second run: %w", err))), got
		}
		if i, k := firstDiff(got, again); i >= 0 {
			return o.merge(failf("output %d differs at byte %d when run again over other contents (%#x, then %#x): left unwritten, or not deterministic",
				i, k, got[i][k], again[i][k])), got
		}
	}
	return o, got
}

// elsewhere returns what outputs in place must be equal to: base, which is the result in the plain mode. An
// output whose rounding depends on the strides is compared with that of the same strides, out of place.
func (s *suite) elsewhere(l *variantDevice, p *prepared, m mode, base [][]byte) ([][]byte, error) {
	if m.in.plain() && m.out.plain() || !slices.ContainsFunc(p.op.Out, func(a spec.Arg) bool { return a.RoundsByStrides }) {
		return base, nil
	}
	m.inPlace = false
	apart, err := s.launch(l, p, m, poison1)
	if err != nil {
		return nil, err
	}
	same := slices.Clone(base)
	for i := range same {
		if i < len(p.op.Out) && p.op.Out[i].RoundsByStrides {
			same[i] = apart[i]
		}
	}
	return same, nil
}

// verdict is the outcome of comparing the bytes of an output with the reference.
type verdict struct {
	want *tensor.Host
	got  []byte
	outcome
}

// judge compares output i with the reference. Most results of a job are equal bit for bit
// in all modes and variants. Equal results are compared once.
func (p *prepared) judge(i int, got []byte, want *tensor.Host, tol spec.Tolerance) outcome {
	p.mu.Lock()
	known := p.known
	p.mu.Unlock()
	for _, v := range known {
		if v.want == want && bytes.Equal(v.got, got) {
			return v.outcome
		}
	}
	var others []*tensor.Host
	if p.flushed != nil {
		others = p.flushed[i : i+1]
	}
	o := compare(got, want, tol, others...)
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.known) < maxVerdicts {
		p.known = append(p.known, verdict{want, got, o})
	}
	return o
}

// maxVerdicts is how many verdicts of a job are kept, with their results.
const maxVerdicts = 8

// lacks reports whether the case has an element type that the device does not support.
func (p *prepared) lacks(info *gpu.Info) bool {
	double := func(h *tensor.Host) bool { return h.DType == tensor.F64 }
	return !info.Features.F64 && (slices.ContainsFunc(p.in, double) || slices.ContainsFunc(p.want, double))
}

// mayRefuse reports whether the operation may refuse operands with strides. It may if no
// operation can copy them.
func (s *suite) mayRefuse(p *prepared) bool {
	copier := spec.Lookup("copy")
	return s.opts.noCopies || copier == nil || !slices.Contains(copier.Cases.DTypes, p.dtype)
}

// refusedOutcome turns an error of a run into an outcome.
func refusedOutcome(err error, optional bool) outcome {
	if optional && errors.Is(err, gpu.ErrUnsupported) {
		return outcome{status: Unsupported, message: err.Error(), err: err}
	}
	return fail(err)
}

// firstDiff returns the first output and byte at which a and b differ, or -1.
func firstDiff(a, b [][]byte) (output, index int) {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return i, firstDifference(a[i], b[i])
		}
	}
	return -1, -1
}

// launch places the operands, runs the operation, checks that nothing around the operands
// has changed, and returns the elements of the outputs.
func (s *suite) launch(l *variantDevice, p *prepared, m mode, poison byte) (outs [][]byte, err error) {
	var in, out []*block
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panicked: %v", v)
		}
		err = errors.Join(err, l.freeBlocks(in...), l.freeBlocks(out...))
	}()
	for i, h := range p.in {
		if m.alias && i > 0 && p.interchangeable(i) {
			in = append(in, &block{desc: in[0].desc, off: in[0].off})
			continue
		}
		b, err := l.place(s, h.Desc, h, m.in, 0)
		if in = append(in, b); err != nil {
			return nil, err
		}
	}
	inputs := make([]exec.Operand, len(in))
	for i, b := range in {
		if inputs[i] = b.operand(); b.h == 0 {
			inputs[i] = inputs[0]
		}
	}
	for i, w := range p.want {
		if k := m.overwrites(p, i); k >= 0 {
			out = append(out, in[k])
			in[k] = nil
			continue
		}
		b, err := l.place(s, w.Desc, nil, m.out, poison)
		if out = append(out, b); err != nil {
			return nil, err
		}
	}
	outputs := make([]exec.Operand, len(out))
	for i, b := range out {
		outputs[i] = b.operand()
	}
	if err := l.x.Run(s.ctx, p.call, inputs, outputs); err != nil {
		return nil, err
	}
	for i, b := range out {
		got, err := l.readBuffer(s, b)
		if err != nil {
			return nil, err
		}
		e, err := b.elements(got)
		if err != nil {
			return nil, fmt.Errorf("output %d: %w", i, err)
		}
		outs = append(outs, e)
	}
	for i, b := range in {
		if b == nil || b.h == 0 {
			continue
		}
		got, err := l.readBuffer(s, b)
		if err != nil {
			return nil, err
		}
		if err := b.unchanged(got); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	return outs, nil
}
