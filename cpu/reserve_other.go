//go:build !(linux || darwin || freebsd || netbsd || openbsd || dragonfly || solaris || windows || js)

package cpu

// reserves reports whether addresses without access take no memory.
const reserves = false

// region is memory of Go's heap. Go does not move it.
type region struct {
	bytes []byte
}

func reserve(size int) (*region, error) { return &region{make([]byte, size)}, nil }

// commit does nothing: all of the memory is usable, and zero at first.
func (r *region) commit(from, to int) error { return nil }

// discard keeps the memory.
func (r *region) discard(from, to int) bool { return false }

func (r *region) release() error {
	r.bytes = nil
	return nil
}
