package cpu

import (
	"fmt"
	"math/bits"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
)

// A memory begins with a page for the device itself.
const (
	pageBytes = 64 << 10 // a page of WebAssembly
	stopAt    = 64       // the address of the stop word, in a cache line of its own
	emptyAt   = 128      // the address of ranges of no bytes; 64 zeros follow
	heapAt    = 4096     // the heap begins here

	// growBytes is the least by which a memory grows.
	growBytes = 4 << 20
	// leastMemory is the least size of a memory.
	leastMemory = 1 << 20
	// mostMemory leaves out the last page, so that no sum of an address and a size is 2³².
	mostMemory = 1<<32 - pageBytes
)

// fault makes calls of the system and of the engine fail, for tests. It takes the name of
// a call and returns the error that the call shall have.
var fault device.Faults[error]

// memoryBytes is the size of a memory for the option MaxMemory.
func memoryBytes(option int64) int64 {
	most, usual := int64(mostMemory), int64(mostMemory)
	if bits.UintSize == 32 || !reserves {
		most, usual = 1<<30, 256<<20
	}
	if option == 0 {
		return usual
	}
	return min(option, most) &^ (pageBytes - 1)
}

// newMemory reserves a memory as the option MaxMemory says. If the option is 0 and the
// system refuses that many addresses, the memory is smaller.
// Errors: ErrOutOfMemory.
func newMemory(option int64) (*memory, error) {
	want := memoryBytes(option)
	for {
		err := fault.Result("reserve")
		var m *memory
		if err == nil {
			m, err = reserveMemory(want)
		}
		switch {
		case err == nil:
			return m, nil
		case option != 0 || want <= 16*leastMemory:
			return nil, fmt.Errorf("cpu: open: %w: the system refuses %d bytes of addresses: %v", gpu.ErrOutOfMemory, want, err)
		}
		want = want / 2 &^ (pageBytes - 1) // the process may have a limit
	}
}

// grow makes the addresses below to usable. It reports whether it could.
func (m *memory) grow(to int64) bool {
	to = (to + pageBytes - 1) &^ (pageBytes - 1)
	if to <= m.size {
		return true
	}
	if to > m.most {
		return false
	}
	pages := func(to int64) bool { return m.growPages(uint32((to - m.size) / pageBytes)) }
	return pages(min(max(to, m.size+growBytes), m.most)) || pages(to)
}
