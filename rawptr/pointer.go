package rawptr

import (
	"fmt"
	"math"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/internal/errs"
	"github.com/lathe-gpu/lathe/internal/session"
)

// Ptr is an address in the memory of a device. The address 0 is never valid.
type Ptr = uint64

// These are the rules by which addresses are given.
const (
	// firstAddress is above all addresses of the host, so that none of them is valid here.
	firstAddress = 1 << 48
	// addressAlign is the alignment in bytes of what Alloc returns. No device wants more.
	addressAlign = 256
	// leastGap is the smallest number of unused addresses after an allocation. The gap is as large
	// as the allocation if that is larger.
	leastGap = 64 << 10
)

// nextAddress counts for the whole process, so that no device knows the address of another one, and
// no address is used twice.
var nextAddress atomic.Uint64

func init() { nextAddress.Store(firstAddress) }

// reserve returns the first address of a new range of size bytes.
// Errors: ErrOutOfMemory if the addresses are used up, which takes 2⁴⁷ allocations or more.
func reserve(size int64) (Ptr, error) {
	bytes := (uint64(size) + addressAlign - 1) &^ (addressAlign - 1)
	for {
		at := nextAddress.Load()
		room := (math.MaxUint64 - at) / 2
		if need := max(bytes, leastGap); need < uint64(size) || need > room {
			return 0, fmt.Errorf("%w: no addresses are left for %d bytes", errs.ErrOutOfMemory, size)
		}
		if nextAddress.CompareAndSwap(at, at+bytes+max(bytes, leastGap)) {
			return at, nil
		}
	}
}

// block is an allocation: a range of addresses and the buffer behind it.
type block struct {
	base   Ptr
	size   int64 // bytes
	memory session.Tensor
	// freed says that the table no longer knows the block. The table's lock guards it.
	freed bool
	// users is the number of calls that work on the block, and one more until it is freed. The last
	// user releases the buffer.
	users atomic.Int64
}

// addresses is an ordered map from ranges of addresses to allocations.
type addresses struct {
	mu sync.RWMutex
	// blocks is in the order of the addresses. Freed blocks are removed together, when they are
	// half of all.
	blocks []*block
	freed  int // the number of freed blocks in blocks
}

// add gives a buffer of size bytes an address. Its one user is the map.
func (a *addresses) add(size int64, memory session.Tensor) (Ptr, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	base, err := reserve(size) // under the lock, so that the blocks stay in order
	if err != nil {
		return 0, err
	}
	b := &block{base: base, size: size, memory: memory}
	b.users.Store(1)
	a.blocks = append(a.blocks, b)
	return base, nil
}

// find returns the block whose range has p, or nil. The caller holds the lock.
func (a *addresses) find(p Ptr) *block {
	// The last block that begins at p or before it.
	i := sort.Search(len(a.blocks), func(i int) bool { return a.blocks[i].base > p }) - 1
	if i < 0 {
		return nil
	}
	if b := a.blocks[i]; !b.freed && p-b.base < uint64(b.size) {
		return b
	}
	return nil
}

// pin returns the block whose range has p, or nil. Its buffer stays until unpin.
func (a *addresses) pin(p Ptr) *block {
	a.mu.RLock()
	defer a.mu.RUnlock()
	b := a.find(p)
	if b != nil {
		b.users.Add(1)
	}
	return b
}

// remove ends the life of the block that begins at p. It returns nil if there is none. The caller
// unpins the block.
func (a *addresses) remove(p Ptr) *block {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.find(p)
	if b == nil || b.base != p {
		return nil
	}
	b.freed = true
	a.freed++
	if a.freed > len(a.blocks)/2 {
		a.blocks = slices.DeleteFunc(a.blocks, func(b *block) bool { return b.freed })
		a.freed = 0
	}
	return b
}

// unpin ends the work of a user. The last one releases the buffer.
func (b *block) unpin(s *session.Session) error {
	if b.users.Add(-1) > 0 {
		return nil
	}
	return s.Free(b.memory)
}
