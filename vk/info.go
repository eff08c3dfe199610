//go:build !novk && cgo

package vk

/*
#include "query.h"
*/
import "C"

import (
	"fmt"
	"math"
	"unsafe"

	"github.com/google/uuid"
	vulkan "github.com/vulkan-go/vulkan"

	"github.com/lathe-gpu/lathe/gpu"
)

// physical is a physical device and what Lathe knows of it.
type physical struct {
	handle       vulkan.PhysicalDevice
	info         gpu.Info
	query        C.lvk_physical
	version      uint32 // the API version of the device
	driver       uint32 // the version of its driver, in the driver's own format
	cacheID      uuid.UUID
	family       uint32 // the queue family for compute
	minAlign     int64  // the alignment in bytes of a buffer range, for any use
	uniformAlign int64  // the alignment in bytes of the offset of a uniform buffer
	tick         ticks  // how timestamps count
	unusable     string // why the device cannot be used, or empty
}

// physicals lists the devices of an instance.
func (in *instance) physicals() ([]physical, error) {
	var n uint32
	err := call("vkEnumeratePhysicalDevices", func() vulkan.Result {
		return vulkan.EnumeratePhysicalDevices(in.handle, &n, nil)
	})
	if err != nil || n == 0 {
		return nil, err
	}
	hs := make([]vulkan.PhysicalDevice, n)
	err = call("vkEnumeratePhysicalDevices", func() vulkan.Result {
		return vulkan.EnumeratePhysicalDevices(in.handle, &n, hs)
	})
	if err != nil {
		return nil, err
	}
	out := make([]physical, n)
	for i := range out {
		out[i].handle = hs[i]
		if err := out[i].load(in); err != nil {
			out[i].unusable = err.Error()
		}
	}
	return out, nil
}

// load fills in everything except the handle.
func (p *physical) load(in *instance) error {
	var props vulkan.PhysicalDeviceProperties
	vulkan.GetPhysicalDeviceProperties(p.handle, &props)
	defer props.Free()
	props.Deref()
	props.Limits.Deref()
	l := &props.Limits
	p.version, p.driver, p.cacheID = props.ApiVersion, props.DriverVersion, uuid.UUID(props.PipelineCacheUUID)
	p.info = gpu.Info{
		Backend: "vk",
		Name:    vulkan.ToString(props.DeviceName[:]),
		Driver:  versionString(props.DriverVersion),
		Vendor:  props.VendorID,
		Kind:    kinds[props.DeviceType],
	}
	if props.DeviceType >= vulkan.PhysicalDeviceType(len(kinds)) {
		p.info.Kind = gpu.Other
	}
	if p.version < version11 {
		return fmt.Errorf("its driver has Vulkan %s, 1.1 is needed; update the driver", versionString(p.version))
	}
	err := call("vkGetPhysicalDeviceFeatures2", func() C.int32_t {
		return C.lvk_physical_query(in.gipa, in.pointer(), unsafe.Pointer(p.handle), C.uint32_t(p.version), &p.query)
	})
	if err != nil {
		return err
	}
	q := &p.query
	copy(p.info.UUID[:], C.GoBytes(unsafe.Pointer(&q.uuid[0]), 16))
	if name := C.GoString(&q.driverName[0]); name != "" {
		p.info.Driver = name + " " + C.GoString(&q.driverInfo[0])
	}
	texels := C.lvk_texel_formats(in.gipa, in.pointer(), unsafe.Pointer(p.handle)) != 0
	p.info.Memory = p.heap()
	p.limits(l, texels)
	p.features()
	return p.findQueue()
}

var kinds = [...]gpu.Kind{gpu.Other, gpu.Integrated, gpu.Discrete, gpu.Virtual, gpu.CPU}

func (p *physical) limits(l *vulkan.PhysicalDeviceLimits, texels bool) {
	p.minAlign = max(256, int64(l.MinStorageBufferOffsetAlignment), int64(l.MinTexelBufferOffsetAlignment), int64(l.MinUniformBufferOffsetAlignment))
	p.uniformAlign = max(4, int64(l.MinUniformBufferOffsetAlignment))
	p.tick.length = float64(l.TimestampPeriod)
	lim := &p.info.Limits
	*lim = gpu.Limits{
		MaxBuffer:      min(clampInt64(uint64(p.query.maxAllocation)), p.info.Memory) &^ (p.minAlign - 1),
		MaxBinding:     int64(l.MaxStorageBufferRange) &^ 15,
		OffsetAlign:    max(4, int64(l.MinStorageBufferOffsetAlignment)),
		TexelAlign:     max(16, int64(l.MinTexelBufferOffsetAlignment)),
		MaxGroups:      l.MaxComputeWorkGroupCount,
		MaxLocalSize:   l.MaxComputeWorkGroupSize,
		MaxInvocations: l.MaxComputeWorkGroupInvocations,
		MaxSharedBytes: l.MaxComputeSharedMemorySize,
		MaxParamBytes:  l.MaxPushConstantsSize &^ 3,
		MaxUniform:     int64(l.MaxUniformBufferRange) &^ 15,
		MaxBindings:    min(l.MaxPerStageDescriptorStorageBuffers, l.MaxDescriptorSetStorageBuffers),
	}
	if texels {
		lim.MaxTexels = int64(l.MaxTexelBufferElements)
		lim.MaxTexelBuffers = min(l.MaxPerStageDescriptorSampledImages, l.MaxPerStageDescriptorStorageImages,
			l.MaxDescriptorSetSampledImages, l.MaxDescriptorSetStorageImages)
	}
	lim.BoundCompiling(p.info.Kind)
	lim.MaxPrivateBytes = 256 << 10
	if p.info.Kind == gpu.CPU {
		lim.MaxPrivateBytes, lim.MaxTotalGroups = gpu.CPUPrivateBytes, gpu.CPUTotalGroups
	}
	if p.query.driverID == driverLavapipe {
		lim.MaxIterations = 65535
	}
}

// driverLavapipe is VK_DRIVER_ID_MESA_LLVMPIPE. The driver silently ends every invocation
// after 65 535 loop iterations.
const driverLavapipe = 13

// What gpu.Features.Subgroups promises.
const (
	subgroupOperations = gpu.SubgroupBasic | gpu.SubgroupVote | gpu.SubgroupArithmetic | gpu.SubgroupBallot | gpu.SubgroupShuffle
	stageCompute       = 0x20
)

func (p *physical) features() {
	q := &p.query
	ops := uint32(0)
	if q.subgroupStages&stageCompute != 0 {
		ops = uint32(q.subgroupOperations)
	}
	on := func(structure, member int) bool { return q.features[structure][member] != 0 }
	p.info.Features = gpu.Features{
		F16: on(C.LVK_FLOAT16_INT8, 0), F64: q.f64 != 0, I8: on(C.LVK_FLOAT16_INT8, 1), I16: q.i16 != 0, I64: q.i64 != 0,
		Storage8: on(C.LVK_STORAGE8, 0), Storage16: on(C.LVK_STORAGE16, 0),
		Subgroups:         ops&subgroupOperations == subgroupOperations,
		SubgroupSize:      uint32(q.subgroupSize),
		FullSubgroups:     q.subgroupControl != 0,
		SubgroupOps:       ops,
		Matrix:            [3]uint32{uint32(q.matrix[0]), uint32(q.matrix[1]), uint32(q.matrix[2])},
		Atomics64:         on(C.LVK_ATOMICS64, 0),
		VulkanMemoryModel: on(C.LVK_MEMORY_MODEL, 0),
		Abilities:         p.abilities(),
		SPIRV:             p.spirv(),
	}
}

// spirv is the newest version of SPIR-V that the device takes.
func (p *physical) spirv() uint32 {
	switch v := min(p.version, loader.version); {
	case v >= version13:
		return 0x10600
	case v >= version12:
		return 0x10500
	case p.query.spirv14 != 0:
		return 0x10400
	}
	return 0x10300
}

// heap is the size of the largest device-local heap.
func (p *physical) heap() int64 {
	var size uint64
	_, heaps := p.memory()
	for _, h := range heaps {
		if h.Flags&vulkan.MemoryHeapFlags(vulkan.MemoryHeapDeviceLocalBit) != 0 {
			size = max(size, uint64(h.Size))
		}
	}
	return clampInt64(size)
}

// memory returns the memory types and heaps.
func (p *physical) memory() ([]vulkan.MemoryType, []vulkan.MemoryHeap) {
	var m vulkan.PhysicalDeviceMemoryProperties
	vulkan.GetPhysicalDeviceMemoryProperties(p.handle, &m)
	defer m.Free()
	m.Deref()
	types := append([]vulkan.MemoryType(nil), m.MemoryTypes[:m.MemoryTypeCount]...)
	heaps := append([]vulkan.MemoryHeap(nil), m.MemoryHeaps[:m.MemoryHeapCount]...)
	for i := range types {
		types[i].Deref()
	}
	for i := range heaps {
		heaps[i].Deref()
	}
	return types, heaps
}

// findQueue picks a queue family that computes. It prefers one without graphics, so that
// a desktop does not wait for our work.
func (p *physical) findQueue() error {
	var n uint32
	vulkan.GetPhysicalDeviceQueueFamilyProperties(p.handle, &n, nil)
	fs := make([]vulkan.QueueFamilyProperties, n)
	vulkan.GetPhysicalDeviceQueueFamilyProperties(p.handle, &n, fs)
	found := false
	for i := range fs[:n] {
		fs[i].Deref()
		fl := vulkan.QueueFlagBits(fs[i].QueueFlags)
		if fl&vulkan.QueueComputeBit == 0 || fs[i].QueueCount == 0 {
			continue
		}
		if !found || fl&vulkan.QueueGraphicsBit == 0 {
			p.family, found = uint32(i), true
			p.tick.mask = 1<<fs[i].TimestampValidBits - 1
			p.info.Features.Timestamps = p.tick.mask != 0 && p.tick.length > 0
		}
		if fl&vulkan.QueueGraphicsBit == 0 {
			break
		}
	}
	if !found {
		return fmt.Errorf("it has no compute queue")
	}
	return nil
}

func versionString(v uint32) string {
	return fmt.Sprintf("%d.%d.%d", v>>22&0x7f, v>>12&0x3ff, v&0xfff)
}

func clampInt64(v uint64) int64 { return int64(min(v, math.MaxInt64)) }
