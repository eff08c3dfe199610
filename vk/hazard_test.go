package vk

import (
	"math/rand/v2"
	"testing"
)

func TestHazards(t *testing.T) {
	a, b, over := span{0, 16}, span{16, 16}, span{8, 16}
	for _, c := range []struct {
		name   string
		first  span
		write1 bool
		second span
		write2 bool
		want   bool
	}{
		{"read after read", a, false, a, false, false},
		{"read after write", a, true, a, false, true},
		{"write after read", a, false, a, true, true},
		{"write after write", a, true, a, true, true},
		{"neighbours", a, true, b, true, false},
		{"overlap, read after write", a, true, over, false, true},
		{"overlap, write after read", a, false, over, true, true},
		{"overlap, reads", a, false, over, false, false},
	} {
		var m marks
		m.add(1, c.first, c.write1)
		if got := m.conflicts(1, c.second, c.write2); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
		if m.conflicts(2, c.second, c.write2) {
			t.Errorf("%s: a barrier in between does not count", c.name)
		}
	}
}

// TestHazardsRandom compares marks with one flag a byte. Past maxMarks ranges
// they may see a conflict that is none, never the reverse.
func TestHazardsRandom(t *testing.T) {
	const size = 2048
	rnd := rand.New(rand.NewPCG(3, 4))
	for round := range 200 {
		var m marks
		var reads, writes [size]bool
		epoch := uint64(round + 1)
		for step := range 200 {
			s := span{off: int64(rnd.IntN(size - 8)), size: int64(rnd.IntN(8) + 1)}
			write := rnd.IntN(2) == 0
			want := false
			for i := s.off; i < s.end(); i++ {
				want = want || writes[i] || write && reads[i]
			}
			got := m.conflicts(epoch, s, write)
			if got != want && (want || step < maxMarks) {
				t.Fatalf("round %d step %d: %v write=%v: got %v, want %v", round, step, s, write, got, want)
			}
			m.add(epoch, s, write)
			for i := s.off; i < s.end(); i++ {
				reads[i], writes[i] = reads[i] || !write, writes[i] || write
			}
			if len(m.reads) > maxMarks || len(m.writes) > maxMarks {
				t.Fatalf("%d reads, %d writes kept, at most %d", len(m.reads), len(m.writes), maxMarks)
			}
		}
	}
}
