package exec

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// maxIdle is how many bytes of scratch memory a Runner keeps while no call uses them, and idleShare which part
// of the device's memory, if that is more. To allocate memory anew for each call takes milliseconds on a GPU.
const (
	maxIdle   = 256 << 20
	idleShare = 32
)

// scratch lends buffers whose contents do not matter. Sizes are rounded up to a quarter of
// a power of two, so that calls of similar sizes can use the same buffers.
type scratch struct {
	dev gpu.Device

	mu sync.Mutex
	// idle are the buffers that no call uses, the oldest first.
	idle []lent
	// held is the size of all idle buffers in bytes.
	held int64
	// out are the sizes of the buffers that are lent.
	out map[gpu.Handle]int64
}

// lent is a buffer of size bytes.
type lent struct {
	h    gpu.Handle
	size int64
}

// roundUp returns the size of a buffer for n bytes.
func roundUp(n int64) int64 {
	const least = 4096
	if n <= least {
		return least
	}
	quarter := int64(1) << (bits.Len64(uint64(n-1)) - 3)
	return (n + quarter - 1) / quarter * quarter
}

// borrow appends a buffer for each size to hs. A size of 0 gives the zero handle.
func (p *scratch) borrow(hs []gpu.Handle, sizes []int64) ([]gpu.Handle, error) {
	for _, n := range sizes {
		var h gpu.Handle
		var err error
		if n > 0 {
			h, err = p.allocate(roundUp(n))
			if errors.Is(err, gpu.ErrOutOfMemory) || errors.Is(err, gpu.ErrLimit) {
				p.trim(0) // Idle buffers of other sizes may take up the memory.
				h, err = p.allocate(n)
			}
		}
		if err != nil {
			p.release(hs)
			return hs[:0], err
		}
		hs = append(hs, h)
	}
	return hs, nil
}

// allocate returns an idle buffer of that size, or a new one.
func (p *scratch) allocate(size int64) (gpu.Handle, error) {
	p.mu.Lock()
	for i := len(p.idle) - 1; i >= 0; i-- {
		if l := p.idle[i]; l.size == size {
			p.idle = append(p.idle[:i], p.idle[i+1:]...)
			p.held -= size
			p.markLent(l)
			p.mu.Unlock()
			return l.h, nil
		}
	}
	p.mu.Unlock()
	h, err := p.dev.Alloc(size)
	if err == nil {
		p.mu.Lock()
		p.markLent(lent{h, size})
		p.mu.Unlock()
	}
	return h, err
}

// markLent notes that a buffer is lent. The caller holds mu.
func (p *scratch) markLent(l lent) {
	if p.out == nil {
		p.out = map[gpu.Handle]int64{}
	}
	p.out[l.h] = l.size
}

// release returns buffers to the idle ones. Work on them may still be pending.
func (p *scratch) release(hs []gpu.Handle) {
	p.mu.Lock()
	for _, h := range hs {
		if h == 0 {
			continue
		}
		size := p.out[h]
		delete(p.out, h)
		p.idle = append(p.idle, lent{h, size})
		p.held += size
	}
	p.mu.Unlock()
	p.trim(p.most())
}

// most is how many bytes stay idle.
func (p *scratch) most() int64 { return max(maxIdle, p.dev.Info().Memory/idleShare) }

// trim frees the buffers that have been idle longest, until at most keep idle bytes are
// left.
func (p *scratch) trim(keep int64) error {
	p.mu.Lock()
	var free []lent
	for p.held > keep {
		free = append(free, p.idle[0])
		p.held -= p.idle[0].size
		p.idle = p.idle[1:]
	}
	p.mu.Unlock()
	var err error
	for _, l := range free {
		err = errors.Join(err, p.dev.Free(l.h))
	}
	return err
}

// Trim frees the scratch memory that no call uses. Pending work that uses it still finishes.
// Errors: ErrNotInitialized, and those of Device.Free.
func (r *Runner) Trim() error {
	if err := r.ready(); err != nil {
		return err
	}
	return r.work.Load().scratch.trim(0)
}

// mostBorrowed bounds the number of buffers of one Borrow.
const mostBorrowed = 1 << 16

// Borrow lends n buffers of at least size bytes each. Their contents do not matter. The
// caller calls release to return them. Work on them may still be pending then.
// Errors: ErrInvalidArgument (n), ErrOutOfMemory, *LimitError.
func (r *Runner) Borrow(n int, size int64) (bufs []gpu.Handle, release func(), err error) {
	if err := r.ready(); err != nil {
		return nil, nil, err
	}
	if n < 0 || n > mostBorrowed {
		return nil, nil, fmt.Errorf("exec: borrow: %w: %d buffers (want 0 to %d)", errs.ErrInvalidArgument, n, mostBorrowed)
	}
	sizes := make([]int64, n)
	for i := range sizes {
		sizes[i] = max(size, 1)
	}
	w := r.work.Load()
	if bufs, err = w.scratch.borrow(nil, sizes); err != nil {
		return nil, nil, err
	}
	mine := append([]gpu.Handle(nil), bufs...)
	return bufs, func() { w.scratch.release(mine) }, nil
}
