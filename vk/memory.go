//go:build !novk && cgo

package vk

/*
#include "loader.h"
*/
import "C"

import (
	"fmt"
	"slices"
	"unsafe"

	vulkan "github.com/vulkan-go/vulkan"

	"github.com/lathe-gpu/lathe/gpu"
)

const (
	blockSize = 64<<20 - 64<<10 // the bytes of the first blocks
	maxBlock  = 512 << 20       // the bytes up to which new blocks grow
	idleBytes = 256 << 20       // the bytes of empty blocks that are kept

	memLocal    = vulkan.MemoryPropertyFlags(vulkan.MemoryPropertyDeviceLocalBit)
	memVisible  = vulkan.MemoryPropertyFlags(vulkan.MemoryPropertyHostVisibleBit)
	memCoherent = vulkan.MemoryPropertyFlags(vulkan.MemoryPropertyHostCoherentBit)
	memCached   = vulkan.MemoryPropertyFlags(vulkan.MemoryPropertyHostCachedBit)
)

// bufferUsage has all uses of a range: source and destination of copies, uniform and
// storage buffer, and both kinds of texel buffer.
const bufferUsage = vulkan.BufferUsageFlags(vulkan.BufferUsageTransferSrcBit | vulkan.BufferUsageTransferDstBit |
	vulkan.BufferUsageUniformTexelBufferBit | vulkan.BufferUsageStorageTexelBufferBit |
	vulkan.BufferUsageUniformBufferBit | vulkan.BufferUsageStorageBufferBit)

// memoryKind is a memory type of the device and the meaning of its flags.
type memoryKind struct {
	index    uint32
	heapSize int64
	mapped   bool // the host can map it
	cached   bool // the host can read it at full speed
	cpu      bool // it is ordinary memory of this process
}

// block is one allocation of device memory with one buffer over all of it.
type block struct {
	memory vulkan.DeviceMemory
	buffer vulkan.Buffer
	size   int64
	data   []byte // the memory of the block, if it is mapped
	list   freelist
}

func (b *block) empty() bool { return b.list.free == b.size }

// id is the buffer's handle as C sees it.
func (b *block) id() uint64 { return handleBits(b.buffer) }

// handleBits is the value of a non-dispatchable handle. In the Go binding it is a pointer
// on 64-bit platforms and an integer elsewhere. In the ABI it has 64 bits.
func handleBits[H any](h H) uint64 {
	if unsafe.Sizeof(h) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&h)))
	}
	return *(*uint64)(unsafe.Pointer(&h))
}

// pool allocates ranges from blocks of one memory kind. The caller of its methods holds
// the lock of the device.
type pool struct {
	dev    vulkan.Device
	kind   memoryKind
	align  int64
	blocks []*block
	total  int64 // the bytes of all blocks
}

// alloc returns a range of size bytes as its block and the offset in it. size must be a
// multiple of align.
// Errors: ErrOutOfMemory.
func (p *pool) alloc(size int64) (*block, int64, error) {
	var best *block
	fit := int64(-1)
	for _, b := range p.blocks {
		if n := b.list.fit(size); n >= 0 && (fit < 0 || n < fit) {
			best, fit = b, n
		}
	}
	if best != nil {
		return best, best.list.allocate(size), nil
	}
	b, err := p.grow(size)
	if err != nil {
		return nil, 0, err
	}
	return b, b.list.allocate(size), nil
}

// grow adds a block that has room for size bytes. The more memory is in use, the larger
// is a new block, so that the number of blocks stays small. A large buffer gets a block
// of its own size.
//
// No block has a power of two of bytes, if memory allows. lavapipe compiles a kernel anew
// where one texel buffer lies in a buffer of such a size and another does not, and imported
// pictures mostly do not. That took half a second for a blur.
func (p *pool) grow(size int64) (*block, error) {
	want := int64(blockSize)
	for want < maxBlock && want < p.total/2 {
		want *= 2
	}
	if size > want/2 {
		want = size
	}
	if want&(want-1) == 0 {
		want += p.align
	}
	for ; ; want = max(size, want/2/p.align*p.align) {
		var err error
		if p.total+want > p.kind.heapSize {
			err = fmt.Errorf("vk: alloc: %w: %d bytes more than the %d in use do not fit the device's heap of %d",
				gpu.ErrOutOfMemory, want, p.total, p.kind.heapSize)
		} else {
			var b *block
			if b, err = newBlock(p.dev, p.kind, want); err == nil {
				p.blocks = append(p.blocks, b)
				p.total += want
				return b, nil
			}
		}
		if want == size {
			return nil, err
		}
	}
}

// free makes a range free again. Empty blocks go back to the driver when they have more
// than idleBytes together.
func (p *pool) free(b *block, s span) {
	b.list.release(s)
	if b.empty() {
		p.trim(idleBytes)
	}
}

// trim destroys empty blocks, the largest first, until they have no more than keep bytes
// together. It reports whether it destroyed any.
func (p *pool) trim(keep int64) bool {
	trimmed := false
	for {
		idle, at := int64(0), -1
		for i, b := range p.blocks {
			if b.empty() {
				idle += b.size
				if at < 0 || b.size > p.blocks[at].size {
					at = i
				}
			}
		}
		if idle <= keep || at < 0 {
			return trimmed
		}
		p.total -= p.blocks[at].size
		p.blocks[at].destroy(p.dev)
		p.blocks = slices.Delete(p.blocks, at, at+1)
		trimmed = true
	}
}

func (p *pool) destroy() {
	for _, b := range p.blocks {
		b.destroy(p.dev)
	}
	p.blocks, p.total = nil, 0
}

func newBuffer(dev vulkan.Device, size int64) (vulkan.Buffer, error) {
	info := vulkan.BufferCreateInfo{SType: vulkan.StructureTypeBufferCreateInfo, Size: vulkan.DeviceSize(size), Usage: bufferUsage}
	defer info.Free()
	var buf vulkan.Buffer
	err := call("vkCreateBuffer", func() vulkan.Result { return vulkan.CreateBuffer(dev, &info, nil, &buf) })
	if err == nil {
		objects.buffers.Add(1)
	}
	return buf, err
}

func destroyBuffer(dev vulkan.Device, buf vulkan.Buffer) {
	vulkan.DestroyBuffer(dev, buf, nil)
	objects.buffers.Add(-1)
}

// newBlock allocates a block and maps it if its kind can be.
func newBlock(dev vulkan.Device, kind memoryKind, size int64) (*block, error) {
	buf, err := newBuffer(dev, size)
	if err != nil {
		return nil, err
	}
	b := &block{buffer: buf, size: size}
	var need vulkan.MemoryRequirements
	vulkan.GetBufferMemoryRequirements(dev, buf, &need)
	need.Deref()
	info := vulkan.MemoryAllocateInfo{SType: vulkan.StructureTypeMemoryAllocateInfo, AllocationSize: need.Size, MemoryTypeIndex: kind.index}
	need.Free()
	defer info.Free()
	var memory vulkan.DeviceMemory
	err = call("vkAllocateMemory", func() vulkan.Result { return vulkan.AllocateMemory(dev, &info, nil, &memory) })
	if err != nil {
		destroyBuffer(dev, buf)
		return nil, err
	}
	b.memory = memory
	objects.memories.Add(1)
	err = call("vkBindBufferMemory", func() vulkan.Result { return vulkan.BindBufferMemory(dev, buf, memory, 0) })
	if err == nil && kind.mapped {
		var data unsafe.Pointer
		err = call("vkMapMemory", func() vulkan.Result {
			return vulkan.MapMemory(dev, memory, 0, vulkan.DeviceSize(vulkan.WholeSize), 0, &data)
		})
		if err == nil {
			b.data = unsafe.Slice((*byte)(data), size)
			if kind.cpu {
				C.lvk_large_pages(data, C.size_t(size))
			}
		}
	}
	if err != nil {
		b.destroy(dev)
		return nil, err
	}
	b.list.release(span{0, size})
	return b, nil
}

// destroy frees the block, which also unmaps it.
func (b *block) destroy(dev vulkan.Device) {
	destroyBuffer(dev, b.buffer)
	vulkan.FreeMemory(dev, b.memory, nil)
	objects.memories.Add(-1)
	b.data = nil
}

// memoryKinds picks the memory for buffers and for staging. Buffers use device-local
// memory. If the host can map all of it (integrated GPUs, CPU drivers, resizable BAR), it
// is the mapped kind. Staging uses host memory, which is cached if the device has such a
// kind. forceStaging makes buffers unmapped, so that tests can use the staging path on
// devices that need none.
func (p *physical) memoryKinds(dev vulkan.Device, forceStaging bool) (buffers, staging memoryKind, err error) {
	probe, err := newBuffer(dev, 1<<16)
	if err != nil {
		return buffers, staging, err
	}
	var need vulkan.MemoryRequirements
	vulkan.GetBufferMemoryRequirements(dev, probe, &need)
	need.Deref()
	usable := need.MemoryTypeBits
	need.Free()
	destroyBuffer(dev, probe)

	types, heaps := p.memory()
	pick := func(rate func(f vulkan.MemoryPropertyFlags, heap int64) int) (memoryKind, bool) {
		best, at := 0, -1
		for i, t := range types {
			if usable>>i&1 == 0 || t.PropertyFlags&^(memLocal|memVisible|memCoherent|memCached) != 0 {
				continue // kinds with other flags need features that Lathe does not enable
			}
			if r := rate(t.PropertyFlags, int64(heaps[t.HeapIndex].Size)); r > best {
				best, at = r, i
			}
		}
		if at < 0 {
			return memoryKind{}, false
		}
		f := types[at].PropertyFlags
		mapped := f&(memVisible|memCoherent) == memVisible|memCoherent
		return memoryKind{index: uint32(at), heapSize: clampInt64(uint64(heaps[types[at].HeapIndex].Size)),
			mapped: mapped, cached: mapped && f&memCached != 0, cpu: p.info.Kind == gpu.CPU}, true
	}
	large := p.info.Memory
	buffers, ok := pick(func(f vulkan.MemoryPropertyFlags, heap int64) int {
		mapped := f&(memVisible|memCoherent) == memVisible|memCoherent
		switch {
		case f&memLocal != 0 && heap >= large && mapped && f&memCached != 0 && p.info.Kind != gpu.Discrete:
			return 4
		case f&memLocal != 0 && heap >= large && mapped:
			return 3
		case f&memLocal != 0 && heap >= large:
			return 2
		}
		return 1
	})
	if !ok {
		return buffers, staging, fmt.Errorf("vk: open: %w: %s has no memory for buffers", gpu.ErrUnsupported, p.info.Name)
	}
	staging, ok = pick(func(f vulkan.MemoryPropertyFlags, _ int64) int {
		switch {
		case f&(memVisible|memCoherent) != memVisible|memCoherent:
			return 0
		case f&memCached != 0 && f&memLocal == 0:
			return 3
		case f&memCached != 0:
			return 2
		}
		return 1
	})
	if !ok {
		return buffers, staging, fmt.Errorf("vk: open: %w: %s has no host-visible, coherent memory", gpu.ErrUnsupported, p.info.Name)
	}
	if forceStaging {
		buffers.mapped, buffers.cached = false, false
	}
	return buffers, staging, nil
}
