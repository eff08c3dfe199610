package cpu

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// reserves reports whether addresses without access take no memory.
const reserves = true

// region is a range of addresses that never moves.
type region struct {
	bytes []byte // all of it; only what was committed may be accessed
	start uintptr
}

// reserve reserves addresses. They take no memory until they are committed.
func reserve(size int) (*region, error) {
	at, err := windows.VirtualAlloc(0, uintptr(size), windows.MEM_RESERVE, windows.PAGE_NOACCESS)
	if err != nil {
		return nil, err
	}
	// The address is not one of Go's heap, so it does not matter when it becomes a pointer.
	p := *(*unsafe.Pointer)(unsafe.Pointer(&at))
	return &region{unsafe.Slice((*byte)(p), size), at}, nil
}

// commit makes a range usable. It is zero. Both ends are multiples of 64 KiB.
func (r *region) commit(from, to int) error {
	_, err := windows.VirtualAlloc(r.start+uintptr(from), uintptr(to-from), windows.MEM_COMMIT, windows.PAGE_READWRITE)
	return err
}

// discard keeps the pages: they would have to be committed again, which can fail.
func (r *region) discard(from, to int) bool { return false }

func (r *region) release() error { return windows.VirtualFree(r.start, 0, windows.MEM_RELEASE) }
