package device

// Scratch is the memory that one Submit works in: the pipelines P of its dispatches,
// and the uses U of buffers by their bindings.
type Scratch[P, U any] struct {
	Pipes []P // one for each dispatch
	Uses  []U // for each dispatch in turn, one for each binding of its pipeline
}

// Scratches keeps Scratch for the next Submit, so that a Submit allocates nothing. The
// lock of the device guards it.
type Scratches[P, U any] struct{ free []*Scratch[P, U] }

// Borrow returns an empty Scratch. The caller gives it back by Return.
func (l *Scratches[P, U]) Borrow() *Scratch[P, U] {
	n := len(l.free)
	if n == 0 {
		return new(Scratch[P, U])
	}
	s := l.free[n-1]
	l.free = l.free[:n-1]
	return s
}

// Return empties s and keeps it. What s pointed to is not kept alive.
func (l *Scratches[P, U]) Return(s *Scratch[P, U]) {
	clear(s.Pipes)
	clear(s.Uses)
	s.Pipes, s.Uses = s.Pipes[:0], s.Uses[:0]
	l.free = append(l.free, s)
}
