package cpu

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// noReserve keeps the system from setting memory aside for all addresses.
const noReserve = unix.MAP_NORESERVE

// discard drops the whole pages of b and clears the rest. Linux has zeros in their place.
func discard(b []byte) bool {
	page := os.Getpagesize()
	head := -int(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) & (page - 1)
	if head >= len(b) {
		return false
	}
	tail := head + (len(b)-head)&^(page-1)
	if tail == head || unix.Madvise(b[head:tail], unix.MADV_DONTNEED) != nil {
		return false
	}
	clear(b[:head])
	clear(b[tail:])
	return true
}
