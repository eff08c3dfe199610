package vk

import (
	"math/rand/v2"
	"testing"
)

// TestFreelist plays random takes and gives against a map of bytes in use.
func TestFreelist(t *testing.T) {
	const size = 4096
	rnd := rand.New(rand.NewPCG(1, 2))
	var f freelist
	f.release(span{0, size})
	used := make([]bool, size)
	var held []span
	for step := range 20000 {
		if rnd.IntN(2) == 0 {
			n := int64(rnd.IntN(300) + 1)
			smallest := f.fit(n)
			off := f.allocate(n)
			if (off < 0) != (smallest < 0) {
				t.Fatalf("step %d: fit says %d, take %d", step, smallest, off)
			}
			if off < 0 {
				continue
			}
			for i := off; i < off+n; i++ {
				if used[i] {
					t.Fatalf("step %d: byte %d given out twice", step, i)
				}
				used[i] = true
			}
			held = append(held, span{off, n})
		} else if len(held) > 0 {
			i := rnd.IntN(len(held))
			s := held[i]
			held[i] = held[len(held)-1]
			held = held[:len(held)-1]
			for j := s.off; j < s.end(); j++ {
				used[j] = false
			}
			f.release(s)
		}
		// The list is what is not in use, in order and merged.
		at, free := int64(0), int64(0)
		for _, s := range f.spans {
			if s.size <= 0 || s.off < at || (s.off == at && at > 0) {
				t.Fatalf("step %d: span %v after %d: %v", step, s, at, f.spans)
			}
			for j := at; j < s.off; j++ {
				if !used[j] {
					t.Fatalf("step %d: byte %d is lost", step, j)
				}
			}
			for j := s.off; j < s.end(); j++ {
				if used[j] {
					t.Fatalf("step %d: byte %d is free and in use", step, j)
				}
			}
			at, free = s.end(), free+s.size
		}
		if free != f.free {
			t.Fatalf("step %d: free is %d, spans have %d", step, f.free, free)
		}
	}
	for _, s := range held {
		f.release(s)
	}
	if len(f.spans) != 1 || f.spans[0] != (span{0, size}) {
		t.Errorf("all given back: got %v, want one span of %d", f.spans, size)
	}
}

func TestFreelistBestFit(t *testing.T) {
	var f freelist
	for _, s := range []span{{0, 100}, {200, 40}, {300, 60}} {
		f.release(s)
	}
	if off := f.allocate(50); off != 300 {
		t.Errorf("50 bytes: got offset %d, want 300, the smallest hole that holds them", off)
	}
	if off := f.allocate(101); off != -1 {
		t.Errorf("101 bytes: got offset %d, want none", off)
	}
}
