package lir

import (
	"fmt"
	"math"
	"slices"

	"github.com/lathe-gpu/lathe/graph/mir"
	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/spec"
	"github.com/lathe-gpu/lathe/tensor"
)

// Link checks a schedule that a program has made or changed, and returns it with code for c. p does not change, and what code it has is not used.
// A program that Link returns does nothing to memory that is not its own, whatever p was: each operand lies in memory that there is, at an offset that
// the device can bind; a call reads only what a run was given, constants, and what an earlier call made and nothing has overwritten since; no call
// writes over what it reads, unless its operation may; and each output is written.
// Errors: ErrInvalidArgument, which names the step, or the port, of the mistake; ErrUnsupported for a program with an If or a While; a *LegaliseError for calls that the device cannot run.
func Link(p *Program, c Compiler) (*Program, error) {
	if p == nil {
		return nil, fmt.Errorf("lir: link: %w: no program", errs.ErrInvalidArgument)
	}
	if errs.Nil(c) {
		return nil, fmt.Errorf("lir: link: %w: no compiler", errs.ErrInvalidArgument)
	}
	for i := range p.Steps {
		if p.Steps[i].Control != nil {
			return nil, fmt.Errorf("lir: link: step %d: %w: an If or a While (compile the graph)", i, errs.ErrUnsupported)
		}
	}
	l := &linker{c: c, align: max(c.Align(), 1), written: map[memory][]extent{}, made: map[mir.Value]Operand{}}
	to := p.clone()
	l.p = to
	if err := l.memories(); err != nil {
		return nil, fmt.Errorf("lir: link: %w", err)
	}
	var bad LegaliseError
	for k, steps := range [][]Step{to.Once, to.Prepare, to.Steps} {
		l.stage = k
		for i := range steps {
			err := l.step(&steps[i], &bad)
			if err != nil {
				return nil, fmt.Errorf("lir: link: %s %d: %w", [...]string{"once", "prepare", "step"}[k], i, err)
			}
		}
	}
	if len(bad.Nodes) > 0 {
		return nil, &bad
	}
	for i, o := range p.Outputs {
		if !l.intact(mir.None, memory{Outputs, i}, 0, o.Desc) {
			return nil, fmt.Errorf("lir: link: output %q: %w: no call makes the whole of it", o.Name, errs.ErrInvalidArgument)
		}
	}
	to.Bytes.Packed = to.packed()
	return to, nil
}

// linker checks a program.
type linker struct {
	p       *Program
	c       Compiler
	align   int64
	stage   int                   // the step is one of Once (0), Prepare (1) or Steps (2)
	written map[memory][]extent   // what has been written and not overwritten
	made    map[mir.Value]Operand // where each value that a call made lies
}

// memory names a buffer of a program.
type memory struct {
	kind   Memory
	buffer int
}

// extent is a range of bytes with elements of a dtype. Calls have made a value of them; others, such as inputs, are None.
type extent struct {
	from, to int64
	dtype    tensor.DType
	value    mir.Value
}

// memories checks the ports, the constants and the sizes.
func (l *linker) memories() error {
	for _, ports := range []struct {
		kind Memory
		list []Port
	}{{Inputs, l.p.Inputs}, {Params, l.p.Params}, {Outputs, l.p.Outputs}} {
		for i, port := range ports.list {
			err := port.Desc.Check()
			if err == nil && !port.Desc.IsContiguous() {
				err = fmt.Errorf("%w: strides %v (want row-major order without gaps)", errs.ErrInvalidArgument, port.Desc.Strides)
			}
			if err == nil && (port.Name == "" || slices.ContainsFunc(ports.list[:i], func(o Port) bool { return o.Name == port.Name })) {
				err = fmt.Errorf("%w: the name is empty or taken", errs.ErrInvalidArgument)
			}
			if err != nil {
				return fmt.Errorf("%v: %q: %w", ports.kind, port.Name, err)
			}
			if ports.kind != Outputs {
				l.write(memory{ports.kind, i}, extent{0, port.Desc.Bytes(), port.Desc.DType, mir.None})
			}
		}
	}
	most := l.c.MaxBuffer()
	if most <= 0 {
		most = math.MaxInt64
	}
	for _, size := range append(slices.Clone(l.p.Arena), l.p.Kept) {
		if size < 0 || size > most {
			return fmt.Errorf("%w: a buffer of %d bytes (want 0 to %d)", errs.ErrInvalidArgument, size, most)
		}
	}
	for i, c := range l.p.Constants {
		size := int64(len(c.Data))
		if c.Offset < 0 || c.Offset%l.align != 0 || c.Offset > l.p.Kept || size > l.p.Kept-c.Offset {
			return fmt.Errorf("constant %d: %w: %d bytes at %d, in %d bytes (want a multiple of %d)", i, errs.ErrInvalidArgument, size, c.Offset, l.p.Kept, l.align)
		}
		if l.touches(memory{Kept, 0}, c.Offset, c.Offset+size) {
			return fmt.Errorf("constant %d: %w: it lies on another one", i, errs.ErrInvalidArgument)
		}
		l.write(memory{Kept, 0}, extent{c.Offset, c.Offset + size, tensor.Invalid, mir.None}) // of any dtype
	}
	return nil
}

// step checks a call and compiles it.
func (l *linker) step(s *Step, bad *LegaliseError) error {
	call, err := spec.Resolve(s.Call)
	if err != nil {
		return err
	}
	op := call.Spec()
	if err := l.operands(s, call); err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	s.Call = call
	if s.Code, err = l.c.Compile(call, l.places(s.In), l.places(s.Out)); err != nil {
		bad.Nodes = append(bad.Nodes, Refused{Node: s.Node, Label: s.Label, Op: op.Name, Err: err})
	} else if err := l.scratch(s); err != nil {
		return fmt.Errorf("%s: %w", op.Name, err)
	}
	for _, o := range s.Out {
		l.write(memoryOf(o), extent{o.Offset, o.Offset + o.Desc.Bytes(), o.Desc.DType, o.Value})
		l.made[o.Value] = o
	}
	return nil
}

// operands checks where the operands of a call lie, and that it makes what its operation's shape rule says.
func (l *linker) operands(s *Step, call spec.Call) error {
	op := call.Spec()
	descs := make([]tensor.Desc, len(s.In))
	for i, o := range s.In {
		if descs[i] = o.Desc; o.Value == mir.None {
			var want tensor.Desc
			ok := false
			if i > 0 {
				want, ok = op.LeftOut(i, descs[0].DType)
			}
			if !ok || want.DType != o.Desc.DType || !slices.Equal(want.Shape, o.Desc.Shape) {
				return fmt.Errorf("input %d: %w: it is left out", i, errs.ErrInvalidArgument)
			}
			continue
		}
		if err := l.reads(o); err != nil {
			return fmt.Errorf("input %d: %w", i, err)
		}
	}
	want, err := op.Shape(call, descs)
	if err != nil {
		return err
	}
	if len(want) != len(s.Out) {
		return fmt.Errorf("%w: results (got %d, want %d)", errs.ErrInvalidArgument, len(s.Out), len(want))
	}
	for k, o := range s.Out {
		if o.Desc.DType != want[k].DType || !slices.Equal(o.Desc.Shape, want[k].Shape) || !o.Desc.IsContiguous() {
			return fmt.Errorf("result %d: %w: got %v, want %v", k, errs.ErrInvalidArgument, o.Desc, want[k])
		}
		if err := l.writes(o); err != nil {
			return fmt.Errorf("result %d: %w", k, err)
		}
		for j, in := range s.In {
			same := in.Offset == o.Offset && in.Desc.DType == o.Desc.DType && slices.Equal(in.Desc.Shape, o.Desc.Shape) && in.Desc.IsContiguous()
			if in.Value != mir.None && overlap(in, o) && !(same && op.MayOverwrite(k, j)) {
				return fmt.Errorf("result %d: %w: it overwrites input %d", k, errs.ErrInvalidArgument, j)
			}
		}
		for j, other := range s.Out[:k] {
			if overlap(other, o) || other.Value == o.Value {
				return fmt.Errorf("result %d: %w: it is or overwrites result %d", k, errs.ErrInvalidArgument, j)
			}
		}
	}
	return nil
}

// reads checks an input: it lies where something is, and a value that a call made where that call left it.
func (l *linker) reads(o Operand) error {
	if err := l.within(o); err != nil {
		return err
	}
	weight := l.stage == 1 && o.Memory == Params && l.p.Params[o.Buffer].Weight
	if l.stage < 2 && o.Memory != Kept && !weight {
		return fmt.Errorf("%w: it lies in the %v, which a call that does not run each time does not read", errs.ErrInvalidArgument, o.Memory)
	}
	value := mir.None
	if m, ok := l.made[o.Value]; ok {
		value = o.Value
		if memoryOf(m) != memoryOf(o) || m.Offset != o.Offset || m.Desc.DType != o.Desc.DType || !slices.Equal(m.Desc.Shape, o.Desc.Shape) || !o.Desc.IsContiguous() {
			return fmt.Errorf("%w: %v was made as %v at %v[%d]+%d (and is read as %v at %v[%d]+%d)", errs.ErrInvalidArgument, o.Value, m.Desc, m.Memory, m.Buffer, m.Offset, o.Desc, o.Memory, o.Buffer, o.Offset)
		}
	}
	if !l.intact(value, memoryOf(o), o.Offset, o.Desc) {
		return fmt.Errorf("%w: %v of %v at %v[%d]+%d is not there, or was overwritten", errs.ErrInvalidArgument, o.Value, o.Desc, o.Memory, o.Buffer, o.Offset)
	}
	return nil
}

// writes checks a result.
func (l *linker) writes(o Operand) error {
	if err := l.within(o); err != nil {
		return err
	}
	_, again := l.made[o.Value]
	switch {
	case o.Value < 0 || again:
		return fmt.Errorf("%w: %v is made twice, or is no value", errs.ErrInvalidArgument, o.Value)
	case (l.stage < 2) != (o.Memory == Kept), o.Memory == Inputs, o.Memory == Params:
		return fmt.Errorf("%w: it lies in the %v, which this call does not write", errs.ErrInvalidArgument, o.Memory)
	case o.Memory == Outputs && (o.Offset != 0 || o.Desc.Bytes() != l.p.Outputs[o.Buffer].Desc.Bytes() || o.Desc.DType != l.p.Outputs[o.Buffer].Desc.DType || l.touches(memoryOf(o), 0, math.MaxInt64)):
		return fmt.Errorf("%w: %v at +%d is not the whole of output %q, or it has been written", errs.ErrInvalidArgument, o.Desc, o.Offset, l.p.Outputs[o.Buffer].Name)
	case o.Memory == Kept && l.touches(memoryOf(o), o.Offset, o.Offset+o.Desc.Bytes()):
		return fmt.Errorf("%w: it overwrites what is kept", errs.ErrInvalidArgument)
	}
	return nil
}
