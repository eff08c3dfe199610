package session

import (
	"fmt"
	"slices"

	"github.com/lathe-gpu/lathe/graph/lir"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Direct reports whether a program can use a tensor where it lies: as an input, a param or an output.
func (s *Session) Direct(t Tensor) bool {
	return t.Desc.IsContiguous() && t.Offset%s.run.Align() == 0
}

// fits returns an error unless a tensor can be an input, param or output of the program.
func (p *Program) fits(op, kind string, port lir.Port, t Tensor) error {
	if err := p.session.Check(op, t); err != nil {
		return fmt.Errorf("%w (%s %q)", err, kind, port.Name)
	}
	if t.Desc.DType != port.Desc.DType || !slices.Equal(t.Desc.Shape, port.Desc.Shape) {
		return fmt.Errorf("%s: %s: %s %q: %w: got %v, want %v", p.session.surface, op, kind, port.Name, errs.ErrInvalidArgument, t.Desc, port.Desc)
	}
	if !t.Desc.IsContiguous() {
		return fmt.Errorf("%s: %s: %s %q: %w: a view with strides %v (want row-major order without gaps)", p.session.surface, op, kind, port.Name, errs.ErrInvalidArgument, t.Desc.Strides)
	}
	if !p.session.Direct(t) {
		return fmt.Errorf("%s: %s: %s %q: %w: a view that begins %d bytes into its buffer (want a multiple of %d)", p.session.surface, op, kind, port.Name, errs.ErrInvalidArgument, t.Offset, p.session.run.Align())
	}
	return nil
}

// overlaps reports whether an output lies where an input, a param or another output does.
func (p *Program) overlaps(t Tensor, in, out []Tensor) bool {
	for _, list := range [][]Tensor{in, out} {
		for _, o := range list {
			if overlap(t, o) {
				return true
			}
		}
	}
	for _, o := range p.params {
		if overlap(t, o.tensor) {
			return true
		}
	}
	return false
}

func overlap(a, b Tensor) bool {
	return a.Buffer == b.Buffer && a.Offset < b.Offset+b.Desc.Bytes() && b.Offset < a.Offset+a.Desc.Bytes()
}
