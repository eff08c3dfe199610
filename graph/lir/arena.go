package lir

import (
	"cmp"
	"slices"
)

// span is memory that is needed from step first to step last.
type span struct {
	size        int64 // bytes, a multiple of the alignment
	first, last int
	least       int64 // what is needed at one time of the memory of bodies; 0 is size
	offset      int64 // where it is placed
}

// overlaps reports whether both are needed at one time.
func (s *span) overlaps(o *span) bool { return s.first <= o.last && o.first <= s.last }

// mostTries bounds how often place tries another order of the spans.
const mostTries = 64

// place gives each span an offset, such that spans which are needed at one time do not overlap, and returns the end of
// the last one. No span crosses a multiple of most, the size of the largest buffer, unless it is larger.
//
// To find the smallest arena is hard (it is dynamic storage allocation, Garey and Johnson, 1979, SR2). So spans are placed one after the
// other, each into the smallest gap that holds it: in the order of size, of time, and of size by time. While the result is larger than the lower
// bound, the span that ends last is placed earlier in the next try. The best try counts.
func place(spans []*span, most int64) int64 {
	if len(spans) == 0 {
		return 0
	}
	least := lowerBound(spans)
	best, kept := int64(-1), make([]int64, len(spans))
	try := func(order []*span) {
		if end := placeInOrder(order, most); best < 0 || end < best {
			best = end
			for i, s := range spans {
				kept[i] = s.offset
			}
		}
	}
	for _, by := range []func(a, b *span) int{
		func(a, b *span) int { return cmp.Compare(b.size, a.size) },
		func(a, b *span) int {
			return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(b.last-b.first, a.last-a.first), cmp.Compare(b.size, a.size))
		},
		func(a, b *span) int {
			return cmp.Compare(b.size*int64(b.last-b.first+1), a.size*int64(a.last-a.first+1))
		},
	} {
		order := slices.Clone(spans)
		slices.SortStableFunc(order, by)
		try(order)
		for range min(mostTries, mostTries*64/len(spans)) {
			if best <= least {
				break
			}
			last := 0
			for i, s := range order {
				if s.offset+s.size > order[last].offset+order[last].size {
					last = i
				}
			}
			s := order[last]
			order = slices.Insert(slices.Delete(order, last, last+1), last/2, s)
			try(order)
		}
	}
	for i, s := range spans {
		s.offset = kept[i]
	}
	return best
}

// placeInOrder places one span after the other.
func placeInOrder(spans []*span, most int64) (end int64) {
	var placed []*span // by offset
	for _, s := range spans {
		best, waste, from := int64(-1), int64(0), int64(0)
		consider := func(to int64) { // the gap from..to, with to < 0 for the end
			at := inOneBuffer(from, s.size, most)
			if to >= 0 && at+s.size > to {
				return
			}
			if left := to - from - s.size; to >= 0 && (best < 0 || left < waste) {
				best, waste = at, left
			} else if best < 0 {
				best, waste = at, 0
			}
		}
		for _, o := range placed {
			if !s.overlaps(o) {
				continue
			}
			if o.offset > from {
				consider(o.offset)
			}
			from = max(from, o.offset+o.size)
		}
		if best < 0 {
			consider(-1)
		}
		s.offset = best
		end = max(end, best+s.size)
		i, _ := slices.BinarySearchFunc(placed, s, func(a, b *span) int { return cmp.Compare(a.offset, b.offset) })
		placed = slices.Insert(placed, i, s)
	}
	return end
}

// inOneBuffer returns the first offset from at on at which size bytes do not cross a multiple of most.
func inOneBuffer(at, size, most int64) int64 {
	if size > most || at%most+size <= most {
		return at
	}
	return (at/most + 1) * most
}

// lowerBound returns the largest sum of spans that are needed at one time.
func lowerBound(spans []*span) int64 {
	change := map[int]int64{}
	for _, s := range spans {
		size := s.size
		if s.least > 0 {
			size = s.least
		}
		change[s.first] += size
		change[s.last+1] -= size
	}
	steps := make([]int, 0, len(change))
	for at := range change {
		steps = append(steps, at)
	}
	slices.Sort(steps)
	var now, most int64
	for _, at := range steps {
		now += change[at]
		most = max(most, now)
	}
	return most
}
