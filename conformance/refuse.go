package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/exec"
	"github.com/lathe-gpu/lathe/internal/gpu/null"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// refusal is a call that must return an error and change nothing.
type refusal struct {
	name string
	call spec.Call
	out  []exec.Operand
	in   []exec.Operand
	// want are the sentinels of which the error must be one.
	want []error
}

// runRefusals makes every kind of wrong call of an operation once. It checks the error,
// and that no buffer has changed.
func (s *suite) runRefusals(l *variantDevice, j *job) {
	p := s.smallCase(j)
	if p == nil {
		return
	}
	blocks, err := s.placeAll(l, p, guarded)
	defer func() {
		if err := l.freeBlocks(blocks...); err != nil {
			s.addRow(l, p.job, "refuse", fail(err))
		}
	}()
	if err != nil {
		s.addRow(l, p.job, "refuse", fail(err))
		return
	}
	list := s.wrongCalls(l, p, blocks[:len(p.in)], blocks[len(p.in):])
	more, extra, err := s.refusedInputs(l, p, blocks[len(p.in):])
	blocks, list = append(blocks, extra...), append(list, more...)
	if err != nil {
		s.addRow(l, p.job, "refuse", fail(err))
	}
	_, err = l.x.Plan(p.call, operands(blocks[:len(p.in)]), operands(blocks[len(p.in):len(p.in)+len(p.want)]))
	// The dtype is unsupported. Other errors of the call need not be found then.
	lacks := errors.Is(err, gpu.ErrUnsupported)
	if !lacks && s.opts.Kernels <= 1 { // Otherwise only some kernels are compiled.
		right, err := s.placeOutputs(l, p)
		blocks = append(blocks, right...)
		if err == nil {
			err = s.runRight(l, p, operands(blocks[:len(p.in)]), right)
		}
		if err != nil {
			s.addRow(l, p.job, "refuse", fail(err))
		}
	}
	for _, r := range list {
		o := pass()
		if lacks {
			r.want = append(slices.Clone(r.want), gpu.ErrUnsupported)
		}
		if err := s.runRefusal(l, r); err != nil {
			o = fail(err)
		}
		s.addRow(l, p.job, "refuse-"+r.name, o)
	}
	o := pass()
	if err := s.checkOperandsUnchanged(l, blocks); err != nil {
		o = fail(err)
	}
	s.addRow(l, p.job, "refuse-all", o)
	if err := undeclared(p); err != nil {
		s.addRow(l, p.job, "refuse-other-dtypes", fail(err))
	}
}

// placeOutputs places the outputs of a case.
func (s *suite) placeOutputs(l *variantDevice, p *prepared) (out []*block, err error) {
	for _, h := range p.want {
		b, err := l.place(s, h.Desc, nil, guarded, poison1)
		if b != nil {
			out = append(out, b)
		}
		if err != nil {
			return out, err
		}
	}
	return out, nil
}

// runRight makes the call of a case. The wrong calls after it must not change what it has written. They meet
// a cache of plans that has the right one.
func (s *suite) runRight(l *variantDevice, p *prepared, in []exec.Operand, out []*block) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the right call panicked: %v", v)
		}
	}()
	if err := l.x.Run(s.ctx, p.call, in, operands(out)); err != nil {
		return fmt.Errorf("the right call: %w", err)
	}
	for _, b := range out {
		if b.bytes, err = l.readBuffer(s, b); err != nil {
			return err
		}
	}
	return nil
}

// smallCase returns the everyday call of the job's operation at sizes that are not empty,
// or nil if there are none.
func (s *suite) smallCase(j *job) *prepared {
	return s.sample(j, 5, 4, 3, 2, 8, 1)
}

// refusedInputs returns the calls with the inputs of Cases.Refused, and the blocks that
// they use.
func (s *suite) refusedInputs(l *variantDevice, p *prepared, outBlocks []*block) (list []refusal, extra []*block, err error) {
	for k, descs := range p.op.Cases.Refused {
		r := refusal{name: fmt.Sprintf("inputs %v", descs), call: p.op.Cases.Calls[0], want: dtypeErrors}
		place := func(d tensor.Desc) (exec.Operand, error) {
			room := tensor.Contiguous(tensor.U8, 1<<16)
			if d.Check() == nil {
				room = tensor.Contiguous(tensor.U8, int(min(max(d.Bytes(), 1), 1<<20)))
			}
			b, err := l.place(s, room, nil, guarded, poison1)
			if b == nil {
				return exec.Operand{}, err
			}
			extra = append(extra, b)
			return exec.Operand{Buffer: b.h, Offset: b.off, Desc: d}, err
		}
		for _, d := range descs {
			o, err := place(d)
			if err != nil {
				return list, extra, err
			}
			r.in = append(r.in, o)
		}
		outs, err := shape(p.op, r.call, descs)
		for _, d := range outs {
			o, err := place(d)
			if err != nil {
				return list, extra, err
			}
			r.out = append(r.out, o)
		}
		if err != nil { // Nobody knows the shapes of its outputs.
			for _, b := range outBlocks {
				r.out = append(r.out, b.operand())
			}
		}
		r.name = fmt.Sprintf("inputs%d %v", k, descs)
		list = append(list, r)
	}
	return list, extra, nil
}

// shape calls op.Shape. If that panics, the inputs count as accepted. The panic comes
// again when they are tried.
func shape(op *spec.Op, c spec.Call, in []tensor.Desc) (out []tensor.Desc, err error) {
	defer func() { _ = recover() }()
	return op.Shape(c, in)
}

// undeclared checks that the operation refuses the dtypes that its cases do not list,
// because all dtypes that it accepts must be tried.
func undeclared(p *prepared) (err error) {
	for _, d := range tensor.DTypes() {
		if slices.Contains(p.op.Cases.DTypes, d) || len(p.in) == 0 {
			continue
		}
		in := p.op.Cases.InputsFor(p.op.Defaults, d, p.dims)
		follows := false // This says whether any input has the dtype of the case.
		for i, t := range in {
			follows = follows || i < len(p.in) && t.DType == d && p.in[i].DType == p.dtype
		}
		if !follows {
			continue
		}
		if _, err := p.op.Shape(p.op.Defaults, in); !isOneOf(err, dtypeErrors) {
			return fmt.Errorf("inputs %v, of a dtype that Cases.DTypes lacks: got error %v, want %v", in, err, dtypeErrors)
		}
	}
	return nil
}

var dtypeErrors = []error{gpu.ErrInvalidArgument, gpu.ErrUnsupported}

func isOneOf(err error, sentinels []error) bool {
	return slices.ContainsFunc(sentinels, func(e error) bool { return errors.Is(err, e) })
}

// placeAll places the inputs and outputs of a case.
func (s *suite) placeAll(l *variantDevice, p *prepared, lay layout) (blocks []*block, err error) {
	for _, h := range p.in {
		b, err := l.place(s, h.Desc, h, lay, 0)
		if blocks = append(blocks, b); err != nil {
			return blocks, err
		}
	}
	for _, h := range p.want {
		b, err := l.place(s, h.Desc, nil, lay, poison1)
		if blocks = append(blocks, b); err != nil {
			return blocks, err
		}
	}
	return blocks, nil
}

// runRefusal makes one wrong call.
func (s *suite) runRefusal(l *variantDevice, r refusal) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panicked: %v", v)
		}
	}()
	got := l.x.Run(s.ctx, r.call, r.in, r.out)
	switch {
	case got == nil:
		return fmt.Errorf("was accepted, want %v", r.want)
	case !isOneOf(got, r.want):
		return fmt.Errorf("got error %q, want %v", got, r.want)
	}
	return nil
}

// checkOperandsUnchanged checks after all refusals that no operand has changed. To read
// all operands after each refusal would take too long.
func (s *suite) checkOperandsUnchanged(l *variantDevice, blocks []*block) error {
	for i, b := range blocks {
		after, err := l.readBuffer(s, b)
		if err != nil {
			return err
		}
		if k := firstDifference(after, b.bytes); k >= 0 {
			return fmt.Errorf("a call was refused and yet changed operand %d at byte %d", i, k)
		}
	}
	return nil
}

func operands(bs []*block) []exec.Operand {
	var os []exec.Operand
	for _, b := range bs {
		os = append(os, b.operand())
	}
	return os
}

// wrongCalls lists the wrong calls.
func (s *suite) wrongCalls(l *variantDevice, p *prepared, inBlocks, outBlocks []*block) []refusal {
	var (
		argument = []error{gpu.ErrInvalidArgument}
		handle   = []error{gpu.ErrInvalidHandle}
	)
	var list []refusal
	// add appends a call with one change.
	add := func(name string, want []error, change func(r *refusal)) {
		r := refusal{name: name, call: p.call, in: operands(inBlocks), out: operands(outBlocks), want: want}
		change(&r)
		list = append(list, r)
	}
	// change is add for changes after which the operation must not accept the inputs: it
	// refuses them, or their outputs would be others.
	change := func(name string, want []error, f func(in []tensor.Desc)) {
		in := descsOf(p.in)
		for k := range in {
			in[k].Shape = slices.Clone(in[k].Shape)
		}
		f(in)
		if outs, err := shape(p.op, p.call, in); err == nil && slices.EqualFunc(outs, descsOf(p.want), sameDesc) {
			return
		}
		add(name, want, func(r *refusal) {
			for k := range in {
				r.in[k].Desc = in[k]
			}
		})
	}
	for _, c := range p.op.Cases.Invalid {
		add("attributes "+callName(c), argument, func(r *refusal) { r.call = c })
	}
	add("no-call", argument, func(r *refusal) { r.call = nil })
	add("no-outputs", argument, func(r *refusal) { r.out = nil })
	add("too-many-outputs", argument, func(r *refusal) { r.out = append(r.out, r.out[0]) })
	if p.op.CheckInputs(0) != nil {
		add("no-inputs", argument, func(r *refusal) { r.in = nil })
	}
	if p.op.CheckInputs(len(p.in)+1) != nil {
		add("too-many-inputs", argument, func(r *refusal) { r.in = append(r.in, r.out[0]) })
	}
	for k := range p.in {
		if p.in[k].DType.Size() > 1 { // The offset is wrong by one byte. The buffer is large enough.
			add(fmt.Sprintf("in%d-misaligned", k), argument, func(r *refusal) { r.in[k].Offset-- })
		}
		change(fmt.Sprintf("in%d-rank", k), argument, func(in []tensor.Desc) { in[k].Shape = append([]int{1}, in[k].Shape...) })
		for _, d := range tensor.DTypes() {
			if d != p.in[k].DType && d.Size() <= p.in[k].DType.Size() { // It fits the buffer.
				change(fmt.Sprintf("in%d-%v", k, d), dtypeErrors, func(in []tensor.Desc) { in[k].DType = d })
			}
		}
		add(fmt.Sprintf("in%d-bad-dtype", k), argument, func(r *refusal) { r.in[k].Desc.DType = tensor.Invalid })
		add(fmt.Sprintf("in%d-negative", k), argument, func(r *refusal) { r.in[k].Desc.Shape = grownShape(r.in[k].Desc.Shape, -1<<20) })
		add(fmt.Sprintf("in%d-past-end", k), argument, func(r *refusal) { r.in[k].Offset = l.pastEnd(inBlocks[k]) })
		add(fmt.Sprintf("in%d-negative-offset", k), argument, func(r *refusal) { r.in[k].Offset = -l.align })
		add(fmt.Sprintf("in%d-zero-handle", k), handle, func(r *refusal) { r.in[k].Buffer = 0 })
		add(fmt.Sprintf("in%d-foreign", k), handle, func(r *refusal) { r.in[k].Buffer = foreignHandle() })
	}
	for k := range p.want {
		if p.want[k].DType.Size() > 1 {
			add(fmt.Sprintf("out%d-misaligned", k), argument, func(r *refusal) { r.out[k].Offset-- })
		}
		add(fmt.Sprintf("out%d-shape", k), argument, func(r *refusal) { r.out[k].Desc.Shape = grownShape(r.out[k].Desc.Shape, 1) })
		add(fmt.Sprintf("out%d-rank", k), argument, func(r *refusal) {
			d := &r.out[k].Desc
			d.Shape = append([]int{1}, d.Shape...)
		})
		add(fmt.Sprintf("out%d-dtype", k), dtypeErrors, func(r *refusal) { r.out[k].Desc.DType = otherDType(r.out[k].Desc.DType) })
		add(fmt.Sprintf("out%d-repeated", k), argument, func(r *refusal) { // All elements have the same address.
			if d := &r.out[k].Desc; d.Elems() > 1 {
				d.Strides = make([]int, len(d.Shape))
			} else {
				d.DType = tensor.Invalid
			}
		})
		add(fmt.Sprintf("out%d-past-end", k), argument, func(r *refusal) { r.out[k].Offset = l.pastEnd(outBlocks[k]) })
		add(fmt.Sprintf("out%d-foreign", k), handle, func(r *refusal) { r.out[k].Buffer = foreignHandle() })
	}
	if stale, err := l.dev.Alloc(int64(len(outBlocks[0].bytes))); err == nil {
		l.dev.Free(stale)
		if len(p.in) > 0 {
			add("in0-stale", handle, func(r *refusal) { r.in[0].Buffer = stale })
		}
		add("out0-stale", handle, func(r *refusal) { r.out[0].Buffer = stale })
	}
	s.addOverlaps(l, p, add)
	return list
}

// pastEnd returns an aligned offset at or after the end of the block's buffer.
func (l *variantDevice) pastEnd(b *block) int64 {
	return (int64(len(b.bytes)) + l.align - 1) / l.align * l.align
}

// addOverlaps adds calls whose output overlaps another operand. The output is the same
// tensor, if the operation does not allow that, or is shifted.
func (s *suite) addOverlaps(l *variantDevice, p *prepared, add func(string, []error, func(*refusal))) {
	argument := []error{gpu.ErrInvalidArgument}
	for o, w := range p.want {
		for i, h := range p.in {
			if h.Bytes() == 0 || h.Bytes() < w.Bytes() || w.Bytes() == 0 {
				continue // The output would not fit.
			}
			if !p.op.MayOverwrite(o, i) || !sameDesc(h.Desc, w.Desc) {
				add(fmt.Sprintf("out%d-is-in%d", o, i), argument, func(r *refusal) {
					r.out[o].Buffer, r.out[o].Offset = r.in[i].Buffer, r.in[i].Offset
				})
			}
			if h.Bytes() > l.align {
				add(fmt.Sprintf("out%d-overlaps-in%d", o, i), argument, func(r *refusal) {
					r.out[o].Buffer, r.out[o].Offset = r.in[i].Buffer, r.in[i].Offset+l.align
				})
			}
		}
		for k := range o {
			if b := p.want[k]; b.Bytes() >= w.Bytes() && w.Bytes() > 0 {
				add(fmt.Sprintf("out%d-is-out%d", o, k), argument, func(r *refusal) {
					r.out[o].Buffer, r.out[o].Offset = r.out[k].Buffer, r.out[k].Offset
				})
			}
		}
	}
}

// otherDType returns another dtype of the same size or a smaller one, so that the operand
// still fits its buffer.
func otherDType(d tensor.DType) tensor.DType {
	for _, o := range tensor.DTypes() {
		if o != d && o.Size() <= d.Size() {
			return o
		}
	}
	return tensor.Invalid
}

// grownShape returns the shape with its first dimension changed by n.
func grownShape(shape []int, n int) []int {
	s := slices.Clone(shape)
	if len(s) == 0 {
		return []int{n}
	}
	s[0] += n
	return s
}

// foreignHandle returns a handle of another device.
func foreignHandle() gpu.Handle {
	h, err := null.New(nil).Alloc(1 << 20)
	if err != nil {
		panic(err) // A new null device has room for a mebibyte.
	}
	return h
}
