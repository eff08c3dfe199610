package conformance

import (
	"errors"
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/exec"
	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/gpu/null"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// refusal is a call that must fail with a sentinel and change nothing.
type refusal struct {
	name string
	call spec.Call
	out  []exec.Operand
	in   []exec.Operand
	want []error // any of these
}

// refusals makes every kind of wrong call of an operation once, and checks the
// error and that no buffer changed.
func (s *suite) refusals(l *lane, p *prepared) {
	if len(p.in) == 0 || len(p.want) == 0 || p.in[0].Elems() == 0 {
		p = s.small(p)
		if p == nil {
			return
		}
	}
	blocks, err := s.placeAll(l, p)
	defer l.free(blocks...)
	if err != nil {
		s.add(l, p.job, "refuse", fail(err))
		return
	}
	in, out := blocks[:len(p.in)], blocks[len(p.in):]
	for _, r := range s.wrong(l, p, in, out) {
		o := pass()
		if err := s.refuse(l, r, blocks); err != nil {
			o = fail(err)
		}
		s.add(l, p.job, "refuse-"+r.name, o)
	}
}

// small is the job with sizes that are not empty, or nil if there are none.
func (s *suite) small(p *prepared) *prepared {
	j := *p.job
	values := make([][]int, len(j.op.Cases.Dims))
	for i, d := range j.op.Cases.Dims {
		values[i] = awkward(d)
	}
	j.dims, j.image = at(j.op.Cases.Dims, values, 5), "random"
	q := s.prepare(&j)
	if q.err != nil || len(q.in) == 0 || q.in[0].Elems() == 0 {
		return nil
	}
	return q
}

func (s *suite) placeAll(l *lane, p *prepared) (blocks []*block, err error) {
	for _, h := range p.in {
		b, err := l.place(s, h.Desc, h, guarded, 0)
		if blocks = append(blocks, b); err != nil {
			return blocks, err
		}
	}
	for _, h := range p.want {
		b, err := l.place(s, h.Desc, nil, guarded, poison1)
		if blocks = append(blocks, b); err != nil {
			return blocks, err
		}
	}
	return blocks, nil
}

// refuse makes one wrong call.
func (s *suite) refuse(l *lane, r refusal, blocks []*block) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panicked: %v", v)
		}
	}()
	got := l.x.Run(s.ctx, r.call, r.out, r.in)
	switch {
	case got == nil:
		return fmt.Errorf("was accepted, want %v", r.want)
	case !slices.ContainsFunc(r.want, func(e error) bool { return errors.Is(got, e) }):
		return fmt.Errorf("got error %q, want %v", got, r.want)
	}
	for i, b := range blocks {
		after, err := l.read(s, b)
		if err != nil {
			return err
		}
		if k := differ(after, b.bytes); k >= 0 {
			return fmt.Errorf("was refused and yet changed operand %d at byte %d", i, k)
		}
	}
	return nil
}

// wrong lists the wrong calls.
func (s *suite) wrong(l *lane, p *prepared, inBlocks, outBlocks []*block) []refusal {
	var (
		argument = []error{gpu.ErrInvalidArgument}
		dtype    = []error{gpu.ErrInvalidArgument, gpu.ErrUnsupported}
		handle   = []error{gpu.ErrInvalidHandle}
	)
	operands := func(bs []*block) []exec.Operand {
		var os []exec.Operand
		for _, b := range bs {
			os = append(os, b.operand())
		}
		return os
	}
	var list []refusal
	// add appends a call with one thing changed.
	add := func(name string, want []error, change func(r *refusal)) {
		r := refusal{name: name, call: p.call, in: operands(inBlocks), out: operands(outBlocks), want: want}
		change(&r)
		list = append(list, r)
	}
	for _, c := range p.op.Cases.Invalid {
		add("attributes "+callName(c), argument, func(r *refusal) { r.call = c })
	}
	if l.align > 1 {
		// One element off the device's alignment, with room to spare.
		add("in0-misaligned", argument, func(r *refusal) { r.in[0].Offset -= int64(r.in[0].Desc.DType.Size()) })
		add("out0-misaligned", argument, func(r *refusal) { r.out[0].Offset -= int64(r.out[0].Desc.DType.Size()) })
	}
	add("no-call", argument, func(r *refusal) { r.call = nil })
	add("no-outputs", argument, func(r *refusal) { r.out = nil })
	add("too-many-outputs", argument, func(r *refusal) { r.out = append(r.out, r.out[0]) })
	if len(p.in) > 0 {
		add("no-inputs", argument, func(r *refusal) { r.in = nil })
		add("too-many-inputs", argument, func(r *refusal) { r.in = append(r.in, r.in[0]) })
	}
	for k := range p.in {
		add(fmt.Sprintf("in%d-rank", k), argument, func(r *refusal) {
			d := &r.in[k].Desc
			d.Shape = append([]int{1}, d.Shape...)
		})
		add(fmt.Sprintf("in%d-dtype", k), dtype, func(r *refusal) { r.in[k].Desc.DType = other(p.op, r.in[k].Desc.DType) })
		add(fmt.Sprintf("in%d-bad-dtype", k), argument, func(r *refusal) { r.in[k].Desc.DType = tensor.Invalid })
		add(fmt.Sprintf("in%d-negative", k), argument, func(r *refusal) { r.in[k].Desc.Shape = grown(r.in[k].Desc.Shape, -1<<20) })
		add(fmt.Sprintf("in%d-past-end", k), argument, func(r *refusal) { r.in[k].Offset = l.past(inBlocks[k]) })
		add(fmt.Sprintf("in%d-negative-offset", k), argument, func(r *refusal) { r.in[k].Offset = -l.align })
		add(fmt.Sprintf("in%d-zero-handle", k), handle, func(r *refusal) { r.in[k].Buffer = 0 })
	}
	for k := range p.want {
		add(fmt.Sprintf("out%d-shape", k), argument, func(r *refusal) { r.out[k].Desc.Shape = grown(r.out[k].Desc.Shape, 1) })
		add(fmt.Sprintf("out%d-rank", k), argument, func(r *refusal) {
			d := &r.out[k].Desc
			d.Shape = append([]int{1}, d.Shape...)
		})
		add(fmt.Sprintf("out%d-dtype", k), dtype, func(r *refusal) { r.out[k].Desc.DType = other(p.op, r.out[k].Desc.DType) })
		add(fmt.Sprintf("out%d-past-end", k), argument, func(r *refusal) { r.out[k].Offset = l.past(outBlocks[k]) })
	}
	if stale, err := l.dev.Alloc(int64(len(inBlocks[0].bytes))); err == nil {
		l.dev.Free(stale)
		add("in0-stale", handle, func(r *refusal) { r.in[0].Buffer = stale })
		add("out0-stale", handle, func(r *refusal) { r.out[0].Buffer = stale })
	}
	add("in0-foreign", handle, func(r *refusal) { r.in[0].Buffer = foreign() })
	add("out0-foreign", handle, func(r *refusal) { r.out[0].Buffer = foreign() })

	// Overlaps of an output with an input: the same tensor, if the operation
	// does not allow it, and one element later in any case.
	if i, o := p.in[0], p.want[0]; sameDesc(i.Desc, o.Desc) && i.Bytes() > l.align {
		if !p.op.MayOverwrite(0, 0) {
			add("in-place", argument, func(r *refusal) { r.out[0] = r.in[0] })
		}
		add("overlap", argument, func(r *refusal) {
			r.out[0] = r.in[0]
			r.out[0].Offset += l.align
		})
	}
	return list
}

// past is an aligned offset at or after the end of the block's buffer.
func (l *lane) past(b *block) int64 {
	return (int64(len(b.bytes)) + l.align - 1) / l.align * l.align
}

// other returns a dtype the operation has no cases for, of the same size or
// smaller so that the operand still fits its buffer.
func other(op *spec.Op, d tensor.DType) tensor.DType {
	for _, o := range []tensor.DType{tensor.Bool, tensor.I8, tensor.I32, tensor.U32, tensor.F64} {
		if o != d && o.Size() <= d.Size() && !slices.Contains(op.Cases.DTypes, o) {
			return o
		}
	}
	return tensor.Invalid
}

// grown is the shape with its first dimension changed by n.
func grown(shape []int, n int) []int {
	s := slices.Clone(shape)
	if len(s) == 0 {
		return []int{2}
	}
	s[0] += n
	return s
}

// foreign is a handle of another device.
func foreign() gpu.Handle {
	h, err := null.New(nil).Alloc(1 << 20)
	if err != nil {
		panic(err) // a null device with nothing in it has a mebibyte
	}
	return h
}
