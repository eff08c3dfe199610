package vk

import "slices"

// span is a range of bytes within a block.
type span struct{ off, size int64 }

func (s span) end() int64 { return s.off + s.size }

// freelist has the free part of a block: spans in ascending order that do not touch.
type freelist struct {
	spans []span
	free  int64 // the bytes of all spans
}

// fit returns the size of the smallest span that holds size bytes, or -1.
func (f *freelist) fit(size int64) int64 {
	best := int64(-1)
	if size > f.free {
		return best
	}
	for _, s := range f.spans {
		if s.size >= size && (best < 0 || s.size < best) {
			best = s.size
		}
	}
	return best
}

// allocate takes size bytes from the smallest span that has as many. It returns their
// offset, or -1 if no span has.
func (f *freelist) allocate(size int64) int64 {
	want := f.fit(size)
	if want < 0 {
		return -1
	}
	i := slices.IndexFunc(f.spans, func(s span) bool { return s.size == want })
	off := f.spans[i].off
	f.spans[i].off += size
	f.spans[i].size -= size
	if f.spans[i].size == 0 {
		f.spans = slices.Delete(f.spans, i, i+1)
	}
	f.free -= size
	return off
}

// release makes a span free again, and merges it with the free spans beside it.
func (f *freelist) release(s span) {
	f.free += s.size
	i, _ := slices.BinarySearchFunc(f.spans, s.off, func(e span, off int64) int {
		if e.off < off {
			return -1
		}
		return 1
	})
	if i < len(f.spans) && s.end() == f.spans[i].off { // joins the next
		s.size += f.spans[i].size
		f.spans = slices.Delete(f.spans, i, i+1)
	}
	if i > 0 && f.spans[i-1].end() == s.off { // joins the previous
		f.spans[i-1].size += s.size
		return
	}
	f.spans = slices.Insert(f.spans, i, s)
}
