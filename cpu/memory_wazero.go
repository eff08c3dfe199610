//go:build !js

package cpu

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/wasm"
)

// memory is the linear memory of a device. It is a reserved range of addresses, of which
// a growing part at the start is in use. It never moves.
type memory struct {
	region *region
	size   int64 // bytes in use
	most   int64 // bytes reserved
	module api.Memory

	// growing is held while the engine changes the size of the memory, and while it looks
	// at the size for a new instance.
	growing sync.Mutex
}

// reserveMemory makes a memory of most bytes, none of which is in use.
func reserveMemory(most int64) (*memory, error) {
	r, err := reserve(int(most))
	if err != nil {
		return nil, err
	}
	return &memory{region: r, most: most}, nil
}

// Allocate gives the memory to the engine. It implements experimental.MemoryAllocator.
func (m *memory) Allocate(_, _ uint64) experimental.LinearMemory { return m }

// Reallocate makes size bytes usable, or returns nil. It implements
// experimental.LinearMemory.
func (m *memory) Reallocate(size uint64) []byte {
	if to := int64(size); to > m.size {
		if to > m.most || fault.Result("commit") != nil || m.region.commit(int(m.size), int(to)) != nil {
			return nil
		}
		m.size = to
	}
	return m.region.bytes[:size:size]
}

// Free does nothing: the device releases the memory, after the engine.
func (m *memory) Free() {}

// growPages makes n more pages usable. It reports whether it could.
func (m *memory) growPages(n uint32) bool {
	m.growing.Lock()
	defer m.growing.Unlock()
	_, ok := m.module.Grow(n)
	return ok
}

// at returns n bytes from an address on.
func (m *memory) at(off, n int64) []byte { return m.region.bytes[off : off+n : off+n] }

// write copies data to the addresses from off on.
func (m *memory) write(off int64, data []byte) { device.Copy(m.at(off, int64(len(data))), data) }

// read copies to dst what the addresses from off on have.
func (m *memory) read(dst []byte, off int64) { device.Copy(dst, m.at(off, int64(len(dst)))) }

// clear sets n bytes to 0.
func (m *memory) clear(off, n int64) { device.Clear(m.at(off, n)) }

// discard gives the pages of n bytes back to the system. It reports whether the bytes are 0
// after that.
func (m *memory) discard(off, n int64) bool { return m.region.discard(int(off), int(off+n)) }

// stop tells kernels to end, by the stop word.
func (m *memory) stop() {
	(*atomic.Uint32)(unsafe.Pointer(&m.region.bytes[stopAt])).Store(1)
}

// release gives the addresses back to the system. Nothing may use them any more.
func (m *memory) release() error { return m.region.release() }

// export makes the memory known to the kernels of an engine.
// Errors: ErrOutOfMemory.
func (m *memory) export(ctx context.Context, e *engine) error {
	var owner wasm.Module
	owner.DefineMemory(wasm.Memory{Min: 1}, "memory")
	code, err := e.compile(ctx, owner.Encode())
	if err == nil {
		e.owner = code
		err = fault.Result("export")
	}
	if err == nil && m.Reallocate(pageBytes) == nil { // the engine cannot handle that
		err = errors.New("the first page")
	}
	var in api.Module
	if err == nil {
		in, err = e.rt.InstantiateModule(experimental.WithMemoryAllocator(ctx, m), code, wazero.NewModuleConfig().WithName("lathe"))
	}
	if err != nil {
		return fmt.Errorf("cpu: open: %w: %v", gpu.ErrOutOfMemory, err)
	}
	m.module, e.memory = in.ExportedMemory("memory"), m
	return nil
}
