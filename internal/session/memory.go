package session

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// Buffer is the memory of a tensor and of all views of it. Session.Free releases it. Without
// that it is released after the garbage collector has found that nothing refers to it.
type Buffer struct {
	*allocation
	cleanup runtime.Cleanup
}

// Handle names the buffer on the device.
func (b *Buffer) Handle() gpu.Handle { return b.handle }

// allocation is what the cleanup of a Buffer needs. It must not refer to the
// Buffer, which would keep it alive.
type allocation struct {
	memory *memory
	handle gpu.Handle
	size   int64 // bytes
	freed  atomic.Bool
}

// free releases the buffer now, in place of the cleanup.
func (b *Buffer) free() error {
	b.cleanup.Stop()
	return b.release()
}

// release releases the memory when it is called for the first time.
func (a *allocation) release() error {
	if a.freed.Swap(true) {
		return fmt.Errorf("%w: the tensor was freed before", errs.ErrInvalidHandle)
	}
	err := a.memory.gpu.Free(a.handle)
	a.memory.live.Add(-a.size)
	return err
}

// memory counts the bytes that tensors hold. The garbage collector sees a tensor as a few
// words, and not its bytes on the device. So memory runs the garbage collector whenever the
// bytes have doubled since the last run.
type memory struct {
	gpu gpu.Device
	// family is the same for all Sessions over one device, which take the tensors of each other.
	family *family
	// trim frees the scratch memory that no call uses.
	trim func() error
	live atomic.Int64 // bytes of all buffers
	next atomic.Int64 // the garbage collector runs at this many bytes

	mu          sync.Mutex   // held while collecting
	collections atomic.Int64 // how often the garbage collector was run
}

// family identifies a device. It has a size, so that each has an address of its own.
type family struct{ _ byte }

// leastCollect is the smallest number of bytes at which the garbage collector is run.
const leastCollect = 256 << 20

// allocate makes a zero-filled buffer. If the device has no more room, it runs the
// garbage collector and tries once more, and then without idle scratch memory.
func (m *memory) allocate(size int64) (*Buffer, error) {
	seen := m.collections.Load()
	if m.live.Load()+size > max(m.next.Load(), leastCollect) {
		m.collect(seen)
	}
	h, err := m.gpu.Alloc(size)
	if errors.Is(err, errs.ErrOutOfMemory) {
		m.collect(m.collections.Load())
		h, err = m.gpu.Alloc(size)
	}
	if errors.Is(err, errs.ErrOutOfMemory) && m.trim() == nil {
		h, err = m.gpu.Alloc(size)
	}
	if err != nil {
		return nil, err
	}
	m.live.Add(size)
	b := &Buffer{allocation: &allocation{memory: m, handle: h, size: size}}
	b.cleanup = runtime.AddCleanup(b, func(a *allocation) { _ = a.release() }, b.allocation) // fails on a closed device only
	return b, nil
}

// collect runs the garbage collector and waits for the buffers that it finds. It does
// nothing if the collector has run since the caller saw that many collections.
func (m *memory) collect(seen int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.collections.Load() != seen {
		return
	}
	before := m.live.Load()
	// Cleanups run on goroutines of their own, which may be late on a busy machine. So
	// wait for the cleanup of a buffer that is certainly garbage, and then as long as
	// other cleanups follow.
	ran := make(chan struct{})
	runtime.AddCleanup(&Buffer{}, func(c chan struct{}) { close(c) }, ran)
	runtime.GC()
	select {
	case <-ran:
	case <-time.After(time.Second):
	}
	for last, quiet := before, 0; quiet < 5; {
		time.Sleep(200 * time.Microsecond)
		if now := m.live.Load(); now == last {
			quiet++
		} else {
			last, quiet = now, 0
		}
	}
	m.next.Store(2 * m.live.Load())
	m.collections.Add(1)
}
