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

// mode is a way to place the operands of a case in memory.
type mode struct {
	name    string
	in, out layout
	inPlace bool // outputs that may be are the tensors of their inputs
	only    int  // in place: just the output only-1, if above 0
	over    int  // with only: the output is input over's tensor
	alias   bool // equal inputs are one tensor
	// optional modes may be answered with ErrUnsupported, which is counted and
	// shown; in the other ones only a whole dtype may be unsupported.
	optional bool
	image    string // that the mode is for, "" for any
}

var (
	guarded = layout{guards: true}
	padded  = layout{guards: true, pad: 1}
	// allModes starts with the plain one, whose result others must repeat.
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
	// repeatModes are for inputs that repeat along a dimension, by image.
	repeatModes = map[string][]mode{
		"repeated-first": {allModes[0], {name: "broadcast", in: layout{guards: true, repeated: 1}, out: guarded, optional: true}},
		"repeated-last":  {allModes[0], {name: "broadcast", in: layout{guards: true, repeated: -1}, out: padded, optional: true}},
	}
	fewModes = allModes[:2]
	bigModes = allModes[:3]
)

// The poisons: all ones is NaN in every floating-point type, and the second
// one catches an element that was left unwritten where 0xFF is a fair value.
const poison1, poison2 = 0xFF, 0x5A

// cases runs one job in all its modes.
func (s *suite) cases(l *lane, p *prepared) {
	if p.err != nil {
		s.add(l, p.job, "prepare", fail(p.err))
		return
	}
	planned := l
	if p.strategy != "" {
		var err error
		if planned, err = l.withStrategy(p.strategy); err != nil {
			s.add(l, p.job, "by-"+p.strategy, fail(err))
			return
		}
	}
	var base [][]byte // the plain result
	for _, m := range p.placements() {
		if !m.applies(p) {
			continue
		}
		o, got := s.runCase(planned, p, m, base)
		name := m.name
		if p.strategy != "" {
			name += "-by-" + p.strategy
		}
		s.add(l, p.job, name, o)
		if o.status == Pass && l.first == nil {
			l.first = got
		}
		if m.name == "plain" {
			if o.status != Pass {
				return // every other mode would say the same
			}
			base = got
		}
		if s.ctx.Err() != nil {
			return
		}
	}
	s.others(l, p)
	// A guarded lane looks at the zones of every buffer now, scratch included.
	if err := l.dev.Sync(s.ctx); err != nil && s.ctx.Err() == nil {
		s.add(l, p.job, "sync", fail(err))
	}
}

// others runs the job with the strategies of spec.Op.Strategies that its plan does not choose
// by itself, so that a tuner may choose any of them: in the first lane all jobs of
// the default call and dtype, and else some.
func (s *suite) others(l *lane, p *prepared) {
	everyday := p.dtype == p.op.Cases.DTypes[0] && callName(p.call) == callName(p.op.Cases.Calls[0])
	if s.opts.Once || s.opts.Pairs || p.op.Strategies == nil || !p.some && (l != s.lanes[0] || !everyday) {
		return
	}
	target := l.x.Target()
	strategies := p.op.Strategies(p.call, &target, descsOf(p.in), descsOf(p.want))
	for _, strategy := range strategies[min(1, len(strategies)):] {
		w, err := l.withStrategy(strategy)
		if err != nil {
			s.add(l, p.job, "by-"+strategy, fail(err))
			return
		}
		o, _ := s.runCase(w, p, allModes[0], nil)
		s.add(l, p.job, "by-"+strategy, o)
		if s.ctx.Err() != nil {
			return
		}
	}
}

// agree compares the results of two devices on a job.
func (s *suite) agree(a, b *lane, p *prepared) {
	o := pass()
	for i, w := range p.want {
		tol := among(p.image, p.op.Tolerance(p.call, w.DType, descsOf(p.in)), w.DType)
		o = o.and(compare(b.first[i], &tensor.Host{Desc: w.Desc, Data: a.first[i]}, tol))
	}
	s.add(b, p.job, "agrees", o)
}

// placements are the modes of the job. Where several outputs may be in place, they are
// tried together and each alone. Where an output may be one of several inputs, each is
// tried.
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
					continue // that is m
				}
				list = append(list, one)
			}
		}
	}
	return list
}

// overwritable lists the inputs whose tensor output i may be in this case.
func (p *prepared) overwritable(i int) []int {
	return overwritable(p.op, i, descsOf(p.in), p.want[i].Desc)
}

// overwritable lists the inputs of a call whose tensor output i may be.
func overwritable(op *spec.Op, i int, in []tensor.Desc, out tensor.Desc) []int {
	var list []int
	for k, d := range in {
		if op.MayOverwrite(i, k) && sameDesc(d, out) {
			list = append(list, k)
		}
	}
	return list
}

// target is the input that output i is in this mode, or -1.
func (m mode) target(p *prepared, i int) int {
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
			any = any || m.target(p, i) >= 0
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

// suits reports whether the mode differs from the plain one for operands of a call,
// as applies does of a prepared one.
func (m mode) suits(op *spec.Op, call spec.Call, in, out []tensor.Desc) bool {
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

// changes reports whether the layout makes a difference to any of the operands.
func changes(lay layout, hs []*tensor.Host) bool { return lay.changes(descsOf(hs)) }

func (lay layout) changes(ds []tensor.Desc) bool {
	return slices.ContainsFunc(ds, func(d tensor.Desc) bool {
		_, ok := lay.strided(d)
		return ok || lay.shift > 0 && d.Elems() > 0
	})
}

// runCase runs a case and checks its outputs against the reference, and against
// base where the result must be the same bit for bit.
func (s *suite) runCase(l *lane, p *prepared, m mode, base [][]byte) (outcome, [][]byte) {
	want := p.want
	if m.alias {
		want = p.aliased
	}
	got, err := s.launch(l, p, m, poison1)
	if err != nil {
		optional := m.optional && s.mayRefuse(p) || m.name == "plain" || p.lacks(l.dev.Info())
		if s.opts.Pairs && !optional && errors.Is(err, gpu.ErrUnsupported) { // the dtype, if it is so in the plain mode
			_, plain := s.launch(l, p, allModes[0], poison1)
			optional = errors.Is(plain, gpu.ErrUnsupported)
		}
		return refused(err, optional), nil
	}
	o := pass()
	for i, w := range want {
		tol := among(p.image, p.op.Tolerance(p.call, w.DType, descsOf(p.in)), w.DType)
		c := p.judge(i, got[i], w, tol)
		if len(want) > 1 {
			c.message = fmt.Sprintf("output %s: %s", p.op.Out[i].Name, c.message)
		}
		o = o.and(c)
	}
	if o.status != Pass {
		return o, got
	}
	switch {
	case m.inPlace && base != nil:
		if i, k := firstDiff(got, base); i >= 0 {
			return o.and(failf("output %d differs in place from out of place at byte %d", i, k)), got
		}
	case m.name == "plain" && !s.opts.Once:
		again, err := s.launch(l, p, m, poison2)
		if err != nil {
			return o.and(fail(fmt.Errorf("second run: %w", err))), got
		}
		if i, k := firstDiff(got, again); i >= 0 {
			return o.and(failf("output %d differs at byte %d when run again over other contents (%#x, then %#x): left unwritten, or not deterministic",
				i, k, got[i][k], again[i][k])), got
		}
	}
	return o, got
}

// verdict is what comparing the bytes of an output with the reference found.
type verdict struct {
	want *tensor.Host
	got  []byte
	outcome
}

// judge compares output i with the reference. Most results of a job are the same bits
// however it was run, and those are compared once.
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
	if len(p.known) < mostKnown {
		p.known = append(p.known, verdict{want, got, o})
	}
	return o
}

// mostKnown is how many verdicts of a job are kept, and its results with them.
const mostKnown = 8

// lacks reports whether the case has an element type that the device lacks.
func (p *prepared) lacks(info *gpu.Info) bool {
	double := func(h *tensor.Host) bool { return h.DType == tensor.F64 }
	return !info.Features.F64 && (slices.ContainsFunc(p.in, double) || slices.ContainsFunc(p.want, double))
}

// mayRefuse reports whether the operation may refuse operands with strides:
// there is no operation to copy them with.
func (s *suite) mayRefuse(p *prepared) bool {
	copier := spec.Lookup("copy")
	return s.opts.noCopies || copier == nil || !slices.Contains(copier.Cases.DTypes, p.dtype)
}

// refused turns an error of a run into an outcome.
func refused(err error, optional bool) outcome {
	if optional && errors.Is(err, gpu.ErrUnsupported) {
		return outcome{status: Unsupported, message: err.Error(), err: err}
	}
	return fail(err)
}

func firstDiff(a, b [][]byte) (output, index int) {
	for i := range a {
		if !bytes.Equal(a[i], b[i]) {
			return i, differ(a[i], b[i])
		}
	}
	return -1, -1
}

// launch places the operands, runs the operation, checks the surroundings and
// returns the elements of the outputs.
func (s *suite) launch(l *lane, p *prepared, m mode, poison byte) (outs [][]byte, err error) {
	var in, out []*block
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panicked: %v", v)
		}
		err = errors.Join(err, l.free(in...), l.free(out...))
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
		if k := m.target(p, i); k >= 0 {
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
		got, err := l.read(s, b)
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
		got, err := l.read(s, b)
		if err != nil {
			return nil, err
		}
		if err := b.unchanged(got); err != nil {
			return nil, fmt.Errorf("input %d: %w", i, err)
		}
	}
	return outs, nil
}
