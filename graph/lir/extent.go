package lir

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

func memoryOf(o Operand) memory {
	if o.Memory == Kept {
		return memory{Kept, 0}
	}
	return memory{o.Memory, o.Buffer}
}

// within returns an error unless an operand lies in memory that there is.
func (l *linker) within(o Operand) error {
	size := int64(-1)
	if o.Buffer >= 0 {
		for _, ports := range []struct {
			kind Memory
			list []Port
		}{{Inputs, l.p.Inputs}, {Params, l.p.Params}, {Outputs, l.p.Outputs}} {
			if o.Memory == ports.kind && o.Buffer < len(ports.list) {
				size = ports.list[o.Buffer].Desc.Bytes()
			}
		}
		switch {
		case o.Memory == Kept && o.Buffer == 0:
			size = l.p.Kept
		case o.Memory == Arena && o.Buffer < len(l.p.Arena):
			size = l.p.Arena[o.Buffer]
		}
	}
	if size < 0 {
		return fmt.Errorf("%w: there is no buffer %v[%d]", errs.ErrInvalidArgument, o.Memory, o.Buffer)
	}
	if err := o.Desc.Check(); err != nil {
		return err
	}
	if o.Offset < 0 || o.Offset%int64(o.Desc.DType.Size()) != 0 || o.Offset > size || o.Desc.Bytes() > size-o.Offset {
		return fmt.Errorf("%w: %v at +%d, in %d bytes", errs.ErrInvalidArgument, o.Desc, o.Offset, size)
	}
	return nil
}

// overlap reports whether two operands have a byte in common.
func overlap(a, b Operand) bool {
	m, n := a.Desc.Bytes(), b.Desc.Bytes()
	return memoryOf(a) == memoryOf(b) && m > 0 && n > 0 && a.Offset < b.Offset+n && b.Offset < a.Offset+m
}

// places are the places of operands, as the compiler sees them.
func (l *linker) places(list []Operand) []spec.Place {
	places := make([]spec.Place, len(list))
	for i, o := range list {
		places[i] = spec.Place{Desc: o.Desc, Misalignment: o.Offset % l.align}
	}
	return places
}

// scratch checks the scratch memory of a call. What was in it is lost.
func (l *linker) scratch(s *Step) error {
	sizes := s.Code.Scratch()
	if len(s.Scratch) != len(sizes) {
		return fmt.Errorf("%w: ranges of scratch memory (got %d, want %d)", errs.ErrInvalidArgument, len(s.Scratch), len(sizes))
	}
	bytes := func(r Range) Operand {
		return Operand{Memory: Arena, Buffer: r.Buffer, Offset: r.Offset, Desc: tensor.Contiguous(tensor.U8, int(r.Size))}
	}
	for i, r := range s.Scratch {
		if r.Size < sizes[i] || r.Size != int64(int(r.Size)) || r.Offset%l.align != 0 {
			return fmt.Errorf("scratch memory %d: %w: %d bytes at +%d (want %d, at a multiple of %d)", i, errs.ErrInvalidArgument, r.Size, r.Offset, sizes[i], l.align)
		}
		if err := l.within(bytes(r)); err != nil {
			return fmt.Errorf("scratch memory %d: %w", i, err)
		}
		for _, o := range slices.Concat(s.In, s.Out) {
			if o.Value >= 0 && overlap(o, bytes(r)) {
				return fmt.Errorf("scratch memory %d: %w: it lies on an operand", i, errs.ErrInvalidArgument)
			}
		}
		for _, other := range s.Scratch[:i] {
			if overlap(bytes(other), bytes(r)) {
				return fmt.Errorf("scratch memory %d: %w: it lies on that before it", i, errs.ErrInvalidArgument)
			}
		}
	}
	for _, r := range s.Scratch {
		l.lose(memory{Arena, r.Buffer}, r.Offset, r.Offset+r.Size)
	}
	return nil
}

// write remembers what has been written. What it touches is lost.
func (l *linker) write(m memory, e extent) {
	l.lose(m, e.from, e.to)
	l.written[m] = append(l.written[m], e)
}

// lose forgets what lies in a range.
func (l *linker) lose(m memory, from, to int64) {
	l.written[m] = slices.DeleteFunc(l.written[m], func(e extent) bool { return from < to && from < e.to && e.from < to })
}

// touches reports whether something lies in a range.
func (l *linker) touches(m memory, from, to int64) bool {
	return slices.ContainsFunc(l.written[m], func(e extent) bool { return from < to && from < e.to && e.from < to })
}

// intact reports whether elements of such a description lie in something that has been written: by a call that made v, unless v is None.
func (l *linker) intact(v mir.Value, m memory, offset int64, d tensor.Desc) bool {
	if d.Bytes() == 0 {
		return true
	}
	return slices.ContainsFunc(l.written[m], func(e extent) bool {
		return e.from <= offset && offset+d.Bytes() <= e.to && (e.dtype == d.DType || e.dtype == tensor.Invalid) && (v == mir.None || v == e.value)
	})
}

// clone returns a copy that shares nothing that could change but calls and the bytes of constants.
func (p *Program) clone() *Program {
	to := *p
	desc := func(d tensor.Desc) tensor.Desc {
		return tensor.Desc{DType: d.DType, Shape: slices.Clone(d.Shape), Strides: slices.Clone(d.Strides)}
	}
	for _, ports := range []*[]Port{&to.Inputs, &to.Params, &to.Outputs} {
		*ports = slices.Clone(*ports)
		for i := range *ports {
			(*ports)[i].Desc = desc((*ports)[i].Desc)
		}
	}
	for _, steps := range []*[]Step{&to.Once, &to.Prepare, &to.Steps} {
		*steps = slices.Clone(*steps)
		for i := range *steps {
			s := &(*steps)[i]
			s.Scratch = slices.Clone(s.Scratch)
			for _, operands := range []*[]Operand{&s.In, &s.Out} {
				*operands = slices.Clone(*operands)
				for k := range *operands {
					(*operands)[k].Desc = desc((*operands)[k].Desc)
				}
			}
		}
	}
	to.Constants, to.Arena = slices.Clone(p.Constants), slices.Clone(p.Arena)
	return &to
}
