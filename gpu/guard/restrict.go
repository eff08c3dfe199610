package guard

import (
	"fmt"
	"sync"
	"time"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// restricted is a device with smaller limits.
type restricted struct {
	gpu.Device
	info gpu.Info

	mu    sync.RWMutex
	sizes map[gpu.Handle]int64
}

// Restrict returns dev with the given limits, and enforces them. No limit becomes better
// than that of dev. Every field of limits counts, and a zero means the same as in
// gpu.Limits. So begin with dev.Info().Limits and lower the limits that the test needs.
// Closing the result closes dev. If dev is nil, the methods of the result return
// ErrInvalidArgument.
func Restrict(dev gpu.Device, limits gpu.Limits) gpu.Device {
	if errs.Nil(dev) {
		return New(nil)
	}
	r := &restricted{Device: dev, info: *dev.Info(), sizes: map[gpu.Handle]int64{}}
	have := r.info.Limits
	for i := range 3 {
		limits.MaxGroups[i] = min(limits.MaxGroups[i], have.MaxGroups[i])
		limits.MaxLocalSize[i] = min(limits.MaxLocalSize[i], have.MaxLocalSize[i])
	}
	limits.MaxBuffer = min(limits.MaxBuffer, have.MaxBuffer)
	limits.MaxBinding = min(limits.MaxBinding, have.MaxBinding)
	limits.MaxTexels = min(limits.MaxTexels, have.MaxTexels)
	limits.MaxUniform = min(limits.MaxUniform, have.MaxUniform)
	limits.MaxInvocations = min(limits.MaxInvocations, have.MaxInvocations)
	limits.MaxSharedBytes = min(limits.MaxSharedBytes, have.MaxSharedBytes)
	limits.MaxParamBytes = min(limits.MaxParamBytes, have.MaxParamBytes)
	limits.MaxBindings = min(limits.MaxBindings, have.MaxBindings)
	limits.MaxTexelBuffers = min(limits.MaxTexelBuffers, have.MaxTexelBuffers)
	limits.OffsetAlign = max(limits.OffsetAlign, have.OffsetAlign)
	limits.TexelAlign = max(limits.TexelAlign, have.TexelAlign)
	if limits.MaxIterations == 0 || have.MaxIterations != 0 && have.MaxIterations < limits.MaxIterations {
		limits.MaxIterations = have.MaxIterations // 0 means no known limit, which is the best.
	}
	r.info.Limits = limits
	return r
}

// Info returns the lower limits.
func (r *restricted) Info() *gpu.Info { return &r.info }

// Alloc refuses sizes above the lower MaxBuffer.
func (r *restricted) Alloc(size int64) (gpu.Handle, error) {
	if err := gpu.CheckSize(&r.info, size); err != nil {
		return 0, err
	}
	h, err := r.Device.Alloc(size)
	if err != nil {
		return 0, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sizes[h] = size
	return h, nil
}

// Free frees the buffer.
func (r *restricted) Free(h gpu.Handle) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.Device.Free(h); err != nil {
		return err
	}
	delete(r.sizes, h)
	return nil
}

// Submit checks the dispatches against the lower limits first.
func (r *restricted) Submit(list []gpu.Dispatch) error {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if err := r.check(list); err != nil {
		return err
	}
	return r.Device.Submit(list)
}

// check checks dispatches against the lower limits. The caller holds mu.
func (r *restricted) check(list []gpu.Dispatch) error {
	for i := range list {
		if err := list[i].Check(&r.info, r.size); err != nil {
			if closed := r.Device.Submit(nil); closed != nil {
				return closed // It is more important that the device is closed or lost.
			}
			return fmt.Errorf("guard: submit: dispatch %d: %w", i, err)
		}
	}
	return nil
}

// size returns the size of a buffer.
func (r *restricted) size(h gpu.Handle) (int64, error) {
	if n, ok := r.sizes[h]; ok {
		return n, nil
	}
	return 0, fmt.Errorf("guard: %w: %v", gpu.ErrInvalidHandle, h)
}

// StartTrace calls StartTrace of the inner device.
func (r *restricted) StartTrace(now func() time.Duration, sink func(gpu.Span)) error {
	return gpu.StartTrace(r.Device, now, sink)
}

// Close closes the inner device.
func (r *restricted) Close() error {
	err := r.Device.Close()
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.sizes)
	return err
}

// restrictedList is a prepared list whose changes are checked against the lower limits.
type restrictedList struct {
	gpu.Prepared
	r *restricted
}

// Prepare checks the dispatches against the lower limits first.
func (r *restricted) Prepare(list []gpu.Dispatch) (gpu.Prepared, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	if err := r.check(list); err != nil {
		return nil, err
	}
	p, err := gpu.Prepare(r.Device, list)
	if err != nil {
		return nil, err
	}
	return restrictedList{p, r}, nil
}

// Set checks the dispatch against the lower limits first.
func (p restrictedList) Set(i int, x gpu.Dispatch) error {
	p.r.mu.RLock()
	defer p.r.mu.RUnlock()
	if err := p.r.check([]gpu.Dispatch{x}); err != nil {
		return err
	}
	return p.Prepared.Set(i, x)
}
