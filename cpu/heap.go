package cpu

import "math/bits"

const (
	// heapAlign is the alignment of a span, and the unit of its size, in bytes.
	heapAlign = 64
	// idleBytes is how many bytes of free memory keep their pages. The first access to a
	// new page costs more than a copy of it.
	idleBytes = 256 << 20
	// discardLeast is the size in bytes from which a free span may lose its pages.
	discardLeast = 1 << 20
)

// span is a range of the memory, free or allocated. The spans of a heap are a list in the
// order of their addresses without gaps.
type span struct {
	off, size int64
	free      bool
	zero      bool  // a free span: all bytes are 0
	prev      *span // the span before it
	next      *span // the span behind it
	older     *span // in the list of its class
	newer     *span
}

// heap allocates spans of a range of addresses. Free spans are in lists by their size:
// four classes for each power of two. Neighbours that are free are merged. A heap is not
// safe for concurrent use.
type heap struct {
	start, limit int64 // the range
	top          int64 // spans are below, memory that was never used is above
	last         *span // the span that ends at top
	used         int64 // bytes of the allocated spans
	dirty        int64 // bytes of the free spans that are not zero
	classes      [4 * 64]*span
	filled       [4]uint64 // a bit for each class that has spans
	spare        *span     // span structs without a use, linked by next

	// grow makes the addresses below to usable. It reports whether it could.
	grow func(to int64) bool
	// discard gives the pages of a range back to the system and makes the range zero. It
	// reports whether it did. It may be nil.
	discard func(off, size int64) bool
}

// newHeap makes a heap of the addresses from start to limit. Both are multiples of
// heapAlign.
func newHeap(start, limit int64, grow func(int64) bool) *heap {
	return &heap{start: start, limit: limit, top: start, grow: grow}
}

// class is the number of the list for spans of size bytes.
func class(size int64) int {
	units := uint64(size) / heapAlign
	power := bits.Len64(units) - 1
	quarter := 0
	if power >= 2 {
		quarter = int(units>>(power-2)) & 3
	} else if power == 1 {
		quarter = int(units&1) * 2
	}
	return 4*power + quarter
}

// allocate returns a span of at least size bytes, or nil if there is no room. zero says
// that all its bytes are 0.
func (h *heap) allocate(size int64) (s *span, zero bool) {
	if size > h.limit-h.start {
		return nil, false
	}
	size = max((size+heapAlign-1)&^(heapAlign-1), heapAlign)
	if s = h.find(size); s == nil {
		if s = h.extend(size); s == nil {
			return nil, false
		}
	}
	h.unlink(s)
	zero = s.zero
	if rest := s.size - size; rest > 0 {
		r := h.newSpan()
		*r = span{off: s.off + size, size: rest, prev: s, next: s.next, zero: zero}
		if r.next != nil {
			r.next.prev = r
		} else {
			h.last = r
		}
		s.size, s.next = size, r
		h.link(r)
	}
	s.free, s.zero = false, false
	h.used += s.size
	return s, zero
}

// find returns a free span of at least size bytes, or nil.
func (h *heap) find(size int64) *span {
	c := class(size)
	for s, tried := h.classes[c], 0; s != nil && tried < 16; s, tried = s.older, tried+1 {
		if s.size == size {
			return s
		}
	}
	// Each span of a greater class is large enough.
	for i := (c + 1) / 64; i < len(h.filled); i++ {
		set := h.filled[i]
		if i == (c+1)/64 {
			set &= ^uint64(0) << ((c + 1) % 64)
		}
		if set != 0 {
			return h.classes[64*i+bits.TrailingZeros64(set)]
		}
	}
	for s := h.classes[c]; s != nil; s = s.older {
		if s.size >= size {
			return s
		}
	}
	return nil
}

// extend makes a free span of at least size bytes at the top, or returns nil.
func (h *heap) extend(size int64) *span {
	top := h.top
	if h.last != nil && h.last.free {
		top = h.last.off
	}
	if size > h.limit-top || h.grow != nil && !h.grow(top+size) {
		return nil
	}
	s := h.newSpan()
	*s = span{off: h.top, size: top + size - h.top, prev: h.last, zero: true}
	if h.last != nil {
		h.last.next = s
	}
	h.last, h.top = s, top+size
	if p := s.prev; p != nil && p.free {
		h.unlink(p)
		s = h.join(p, s)
	}
	h.link(s)
	return s
}

// release makes an allocated span free. The caller must not use s again.
func (h *heap) release(s *span) {
	h.used -= s.size
	if p := s.prev; p != nil && p.free {
		h.unlink(p)
		s = h.join(p, s)
	}
	if n := s.next; n != nil && n.free {
		h.unlink(n)
		s = h.join(s, n)
	}
	if h.discard != nil && s.size >= discardLeast && h.dirty+s.size > idleBytes {
		s.zero = h.discard(s.off, s.size)
	}
	h.link(s)
}

// join adds b, which follows a, to a.
func (h *heap) join(a, b *span) *span {
	a.size += b.size
	a.zero = a.zero && b.zero
	a.next = b.next
	if b.next != nil {
		b.next.prev = a
	} else {
		h.last = a
	}
	*b = span{next: h.spare}
	h.spare = b
	return a
}

// link puts a free span into the list of its class.
func (h *heap) link(s *span) {
	c := class(s.size)
	s.free, s.newer, s.older = true, nil, h.classes[c]
	if s.older != nil {
		s.older.newer = s
	}
	h.classes[c] = s
	h.filled[c/64] |= 1 << (c % 64)
	if !s.zero {
		h.dirty += s.size
	}
}

// unlink takes a free span out of the list of its class.
func (h *heap) unlink(s *span) {
	c := class(s.size)
	if s.newer != nil {
		s.newer.older = s.older
	} else if h.classes[c] = s.older; s.older == nil {
		h.filled[c/64] &^= 1 << (c % 64)
	}
	if s.older != nil {
		s.older.newer = s.newer
	}
	s.free, s.older, s.newer = false, nil, nil
	if !s.zero {
		h.dirty -= s.size
	}
}

func (h *heap) newSpan() *span {
	s := h.spare
	if s == nil {
		return new(span)
	}
	h.spare = s.next
	return s
}
