package device

import "sync"

// Large copies are split among goroutines, because one core does not fill the memory
// bus. There are more parts than that takes: cores that have other work to do get
// fewer of them.
const (
	splitBytes = 2 << 20 // copies from this size on are split
	splitParts = 4
)

// Copy copies bytes from src to dst, as many as the shorter of the two has.
func Copy(dst, src []byte) {
	n := min(len(dst), len(src))
	if n < splitBytes {
		copy(dst, src)
		return
	}
	split(n, func(from, to int) { copy(dst[from:to], src[from:to]) })
}

// Clear sets all bytes of b to zero.
func Clear(b []byte) {
	if len(b) < splitBytes {
		clear(b)
		return
	}
	split(len(b), func(from, to int) { clear(b[from:to]) })
}

// split calls f for ranges that together are n bytes, at the same time.
func split(n int, f func(from, to int)) {
	part := (n/splitParts + 63) &^ 63
	var wg sync.WaitGroup
	for from := part; from < n; from += part {
		wg.Go(func() { f(from, min(from+part, n)) })
	}
	f(0, part)
	wg.Wait()
}
