//go:build !nowgpu && cgo

package wgpu

/*
#include "abi.h"
*/
import "C"

import (
	"crypto/sha256"
	"fmt"
	"math"
	"strings"

	"github.com/google/uuid"

	"github.com/lathe-gpu/lathe/gpu"
)

// paramBytes is the largest size of a shader's parameters in bytes. Most Vulkan drivers
// have as many bytes of push constants.
const paramBytes = 256

var apiNames = map[C.uint32_t]string{4: "Direct3D 12", 5: "Metal", 6: "Vulkan", 7: "OpenGL", 8: "OpenGL ES"}

var kinds = map[C.uint32_t]gpu.Kind{0: gpu.Discrete, 1: gpu.Integrated, 2: gpu.CPU}

// load fills in all fields except the handle. It reports whether the adapter can run
// compute shaders.
func (a *adapter) load() bool {
	var in C.wg_adapter_info
	C.wgpuAdapterGetInfo(a.handle, &in)
	name, device := C.GoString(in.description), C.GoString(in.device)
	if name == "" {
		name = device
	}
	api, vendor := apiNames[in.backendType], uint32(in.vendorID)
	kind, ok := kinds[in.adapterType]
	if !ok {
		kind = gpu.Other
	}
	if software(name) {
		kind = gpu.CPU
	}
	C.wgpuAdapterInfoFreeMembers(in)

	var s C.wg_supported_limits
	if C.wgpuAdapterGetLimits(a.handle, &s) == 0 {
		return false
	}
	l := &s.limits
	definite(l)
	a.limits = *l
	a.align = max(4, int64(l.minUniformAlign))
	most := uint32(l.maxGroups)
	a.info = gpu.Info{
		Backend: "wgpu", Name: name, Kind: kind, Vendor: vendor,
		Driver: "wgpu-native on " + api,
		UUID:   identity(api, name, vendor, uint32(in.deviceID)),
		Limits: gpu.Limits{
			MaxBuffer:      (clamp(uint64(l.maxBuffer)) - spare) &^ 15,
			MaxBinding:     min(clamp(uint64(l.maxStorageBinding)), clamp(uint64(l.maxBuffer))-spare) &^ 15,
			OffsetAlign:    max(4, int64(l.minStorageAlign)),
			MaxGroups:      [3]uint32{most, most, most},
			MaxLocalSize:   [3]uint32{uint32(l.maxLocalSize[0]), uint32(l.maxLocalSize[1]), uint32(l.maxLocalSize[2])},
			MaxInvocations: uint32(l.maxInvocations),
			MaxSharedBytes: uint32(l.maxSharedBytes),
			MaxParamBytes:  paramBytes,
			MaxBindings:    uint32(l.maxStorageBuffers),
			MaxUniform:     clamp(uint64(l.maxUniformBinding)) &^ 15,
		},
	}
	// spv.Lower turns texel buffers into storage buffers.
	lim := &a.info.Limits
	lim.MaxTexels, lim.TexelAlign, lim.MaxTexelBuffers = lim.MaxBinding/16, lim.OffsetAlign, lim.MaxBindings
	lim.BoundCompiling(kind)
	if kind == gpu.CPU {
		lim.MaxTotalGroups = gpu.CPUTotalGroups
	}
	// The library zeroes the private memory of an invocation word by word. The time to
	// compile that grows with the square of its size: 3 s at 16 KiB on any driver, and
	// 8 s at 2 KiB on llvmpipe.
	lim.MaxPrivateBytes = 16 << 10
	if strings.Contains(name, "llvmpipe") {
		lim.MaxPrivateBytes = 2 << 10
		// llvmpipe ends an invocation after this many loop iterations, without an error.
		a.info.Limits.MaxIterations = 65535
	}
	return l.maxInvocations > 0 && l.maxStorageBuffers > 0
}

// mostBytes is the largest limit of sizes that the library is asked for: 1 TiB.
const mostBytes = 1 << 40

// undefined is what means "the default" where a limit of 32 bits is asked for. For 64 bits, it is MaxUint64.
const undefined = math.MaxUint32

// definite makes limits of an adapter such that they can be asked for. A Vulkan driver may know no limit of
// the size of a buffer, as NVIDIA's does, and the library then says MaxUint64. It takes the same
// number in a request for 256 MiB, the default.
func definite(l *C.wg_limits) {
	for _, p := range []*C.uint64_t{&l.maxBuffer, &l.maxStorageBinding, &l.maxUniformBinding} {
		*p = min(*p, mostBytes)
	}
	list := []*C.uint32_t{
		&l.maxBindGroups, &l.bindGroupsPlusVertexBuffers, &l.maxBindingsPerBindGroup, &l.maxDynamicUniformBuffers, &l.maxDynamicStorageBuffers,
		&l.sampledTextures, &l.samplers, &l.maxStorageBuffers, &l.storageTextures, &l.maxUniformBuffers, &l.maxVertexBuffers,
		&l.maxSharedBytes, &l.maxInvocations, &l.maxGroups,
	}
	for _, group := range [][]C.uint32_t{l.textures[:], l.vertex[:], l.stages[:], l.colours[:], l.maxLocalSize[:]} {
		for i := range group {
			list = append(list, &group[i])
		}
	}
	for _, p := range list {
		*p = min(*p, undefined-1)
	}
}

// software reports whether a name belongs to a driver that runs on the CPU. The library
// takes some of these drivers for GPUs.
func software(name string) bool {
	for _, s := range []string{"llvmpipe", "SwiftShader", "Microsoft Basic Render"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return false
}

// identity stands in for the UUID of the device, because WebGPU does not give it.
func identity(api, name string, vendor, device uint32) uuid.UUID {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s/%s/%x/%x", api, name, vendor, device))
	return uuid.UUID(sum[:16])
}

func clamp(v uint64) int64 { return int64(min(v, math.MaxInt64)) }
