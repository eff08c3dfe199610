package cpu

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// check verifies all that must hold of a heap.
func (h *heap) check(t *testing.T) {
	t.Helper()
	at, used, dirty, free := h.start, int64(0), int64(0), 0
	var prev *span
	for s := h.first(); s != nil; s = s.next {
		if s.off != at || s.size <= 0 || s.size%heapAlign != 0 || s.prev != prev {
			t.Fatalf("span %+v after address %d", *s, at)
		}
		if s.free {
			free++
			if prev != nil && prev.free {
				t.Fatalf("free neighbours at %d", s.off)
			}
			if !s.zero {
				dirty += s.size
			}
		} else {
			used += s.size
		}
		at, prev = s.off+s.size, s
	}
	if at != h.top || prev != h.last || used != h.used || dirty != h.dirty || h.top > h.limit {
		t.Fatalf("ends at %d (top %d), used %d (%d), dirty %d (%d)", at, h.top, used, h.used, dirty, h.dirty)
	}
	linked := 0
	for c, s := range h.classes {
		if filled := h.filled[c/64]>>(c%64)&1 == 1; filled != (s != nil) {
			t.Fatalf("class %d: filled is %v", c, filled)
		}
		for ; s != nil; s = s.older {
			if !s.free || class(s.size) != c || s.older != nil && s.older.newer != s {
				t.Fatalf("class %d has %+v", c, *s)
			}
			linked++
		}
	}
	if linked != free {
		t.Fatalf("%d free spans, %d in lists", free, linked)
	}
}

func (h *heap) first() *span {
	s := h.last
	for s != nil && s.prev != nil {
		s = s.prev
	}
	return s
}

// exercise makes a heap do what the bytes say and compares it with the memory itself:
// each live span is filled with its own number.
func exercise(t *testing.T, steps []byte) {
	const limit = 1 << 20
	mem := make([]byte, limit)
	grown := int64(0)
	h := newHeap(128, limit, func(to int64) bool {
		grown = to
		return to <= limit-4096 // growing fails before the end
	})
	h.discard = func(off, size int64) bool {
		clear(mem[off : off+size])
		return size%128 == 0 // some ranges cannot be discarded
	}
	type live struct {
		s    *span
		mark byte
	}
	var all []live
	for i, b := range steps {
		if b%3 != 0 || len(all) == 0 {
			size := int64(b) << (i % 9)
			s, zero := h.allocate(size)
			if s == nil {
				free := int64(limit-4096) - h.top
				if h.last != nil && h.last.free {
					free += h.last.size
				}
				if free >= size+heapAlign {
					t.Fatalf("step %d: no room for %d bytes, %d are free at the top", i, size, free)
				}
				continue
			}
			if s.size < size || s.off%heapAlign != 0 || s.off < 128 || s.off+s.size > grown {
				t.Fatalf("step %d: %+v for %d bytes, grown to %d", i, *s, size, grown)
			}
			bytes := mem[s.off : s.off+s.size]
			if zero && slices.ContainsFunc(bytes, func(b byte) bool { return b != 0 }) {
				t.Fatalf("step %d: %+v is not zero", i, *s)
			}
			mark := byte(i%255 + 1)
			for j := range bytes {
				bytes[j] = mark
			}
			all = append(all, live{s, mark})
		} else {
			k := i * 7 % len(all)
			l := all[k]
			for _, b := range mem[l.s.off : l.s.off+l.s.size] {
				if b != l.mark {
					t.Fatalf("step %d: span %+v was overwritten", i, *l.s)
				}
			}
			h.release(l.s)
			all = slices.Delete(all, k, k+1)
		}
		h.check(t)
	}
	for _, l := range all {
		h.release(l.s)
		h.check(t)
	}
	if s := h.last; h.used != 0 || s != nil && (!s.free || s.prev != nil) {
		t.Fatalf("all is free, but %d bytes are used and the last span is %+v", h.used, s)
	}
}

func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		steps := make([]byte, 1+rng.IntN(300))
		for i := range steps {
			steps[i] = byte(rng.Uint32())
		}
		exercise(t, steps)
	}
}

func FuzzHeap(f *testing.F) {
	f.Add([]byte{1, 2, 3, 4, 5, 6})
	f.Fuzz(func(t *testing.T, steps []byte) { exercise(t, steps[:min(len(steps), 1000)]) })
}

// TestHeapDiscards checks that free memory beyond idleBytes goes back, and comes as zeros.
func TestHeapDiscards(t *testing.T) {
	h := newHeap(64, 1<<40, nil)
	discarded := int64(0)
	h.discard = func(off, size int64) bool {
		discarded += size
		return true
	}
	var spans []*span
	for range 3 {
		s, zero := h.allocate(200 << 20)
		if !zero {
			t.Error("new memory is not zero")
		}
		spans = append(spans, s)
		h.allocate(64) // keeps the spans apart
	}
	for i, s := range spans {
		h.release(s)
		if want := int64(min(i, 1)*i*200) << 20; discarded != want {
			t.Errorf("after %d spans: %d bytes discarded, want %d", i+1, discarded, want)
		}
		h.check(t)
	}
	zeros := 0
	for range 3 {
		if _, zero := h.allocate(200 << 20); zero {
			zeros++
		}
	}
	if zeros != 2 || h.dirty != 0 {
		t.Errorf("%d spans are zero, want 2; %d dirty", zeros, h.dirty)
	}
	if s, _ := h.allocate(1 << 41); s != nil {
		t.Error("got more than there is")
	}
}

func BenchmarkHeap(b *testing.B) {
	h := newHeap(64, 1<<32-64, nil)
	rng := rand.New(rand.NewPCG(1, 2))
	var live [1024]*span
	for i := range b.N {
		k := i % len(live)
		if live[k] != nil {
			h.release(live[k])
		}
		live[k], _ = h.allocate(int64(1 + rng.IntN(1<<20)))
	}
}
