package lathe

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

// buffer is the memory of a tensor and of all views of it. What nobody can
// reach any more is given back after the garbage collector has noticed.
type buffer struct {
	*holding
	cleanup runtime.Cleanup
}

// holding is what a cleanup needs to know of a buffer: it must not reach it.
type holding struct {
	dev    *memory
	handle gpu.Handle
	size   int64
	gone   atomic.Bool
}

// free gives the buffer back, the first time it is called.
func (h *holding) free() error {
	if h.gone.Swap(true) {
		return fmt.Errorf("lathe: free: %w: the tensor was freed before", errs.ErrInvalidHandle)
	}
	err := h.dev.gpu.Free(h.handle)
	h.dev.live.Add(-h.size)
	return err
}

// memory counts the buffers that tensors hold. The garbage collector sees a
// tensor as a few words, whatever lies on the device, so it is reminded when
// what is held has doubled since it last ran.
type memory struct {
	gpu  gpu.Device
	live atomic.Int64
	next atomic.Int64 // remind at this many bytes

	mu    sync.Mutex   // held while collecting
	round atomic.Int64 // collections so far
}

// leastReminder is the least amount of tensor memory the collector is reminded of.
const leastReminder = 256 << 20

// alloc makes a buffer. When the device has no more room it collects garbage
// and tries once more.
func (m *memory) alloc(size int64) (*buffer, error) {
	round := m.round.Load()
	if m.live.Load()+size > max(m.next.Load(), leastReminder) {
		m.collect(round)
	}
	h, err := m.gpu.Alloc(size)
	if errors.Is(err, errs.ErrOutOfMemory) {
		m.collect(m.round.Load())
		h, err = m.gpu.Alloc(size)
	}
	if err != nil {
		return nil, err
	}
	m.live.Add(size)
	b := &buffer{holding: &holding{dev: m, handle: h, size: size}}
	b.cleanup = runtime.AddCleanup(b, func(h *holding) { _ = h.free() }, b.holding) // fails on a closed device only
	return b, nil
}

// collect runs the garbage collector and waits for the buffers it finds, unless
// someone else has done so since the caller saw that many rounds.
func (m *memory) collect(seen int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.round.Load() != seen {
		return
	}
	before := m.live.Load()
	// Cleanups run on goroutines of their own, late on a busy machine: wait for
	// that of something which is garbage for certain, then as long as more come.
	ran := make(chan struct{})
	runtime.AddCleanup(&buffer{}, func(c chan struct{}) { close(c) }, ran)
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
	m.round.Add(1)
}
