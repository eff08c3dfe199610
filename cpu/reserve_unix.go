//go:build linux || darwin || freebsd || netbsd || openbsd || dragonfly || solaris

package cpu

import "golang.org/x/sys/unix"

// reserves reports whether addresses without access take no memory.
const reserves = true

// region is a range of addresses that never moves.
type region struct {
	bytes []byte // all of it; only what was committed may be accessed
}

// reserve reserves addresses. They take no memory until they are committed and used.
func reserve(size int) (*region, error) {
	b, err := unix.Mmap(-1, 0, size, unix.PROT_NONE, unix.MAP_PRIVATE|unix.MAP_ANON|noReserve)
	if err != nil {
		return nil, err
	}
	return &region{b}, nil
}

// commit makes a range usable. It is zero. Both ends are multiples of 64 KiB.
func (r *region) commit(from, to int) error {
	return unix.Mprotect(r.bytes[from:to], unix.PROT_READ|unix.PROT_WRITE)
}

// discard gives the pages of a range back to the system. It reports whether the range is
// zero after that.
func (r *region) discard(from, to int) bool { return discard(r.bytes[from:to]) }

func (r *region) release() error { return unix.Munmap(r.bytes) }
