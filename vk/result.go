//go:build !novk && cgo

package vk

import (
	"fmt"
	"sync/atomic"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/device"
	"github.com/lathe-gpu/lathe/internal/errs"
)

// result is a VkResult.
type result int32

const (
	success result = 0
	timeout result = 2

	outOfHostMemory   result = -1
	outOfDeviceMemory result = -2
	initFailed        result = -3
	deviceLost        result = -4
	mapFailed         result = -5
	layerMissing      result = -6
	extensionMissing  result = -7
	featureMissing    result = -8
	incompatible      result = -9
	tooManyObjects    result = -10
	formatMissing     result = -11
	fragmentedPool    result = -12
	invalidShader     result = -1000012000
	outOfPool         result = -1000069000
)

// results gives each failing VkResult its name and sentinel.
var results = map[result]struct {
	name string
	err  error
}{
	outOfHostMemory:   {"out of host memory", gpu.ErrOutOfMemory},
	outOfDeviceMemory: {"out of device memory", gpu.ErrOutOfMemory},
	initFailed:        {"initialization failed", gpu.ErrNoDevice},
	deviceLost:        {"device lost", gpu.ErrDeviceLost},
	mapFailed:         {"memory map failed", gpu.ErrOutOfMemory},
	layerMissing:      {"layer not present", gpu.ErrUnsupported},
	extensionMissing:  {"extension not present", gpu.ErrUnsupported},
	featureMissing:    {"feature not present", gpu.ErrUnsupported},
	incompatible:      {"incompatible driver", gpu.ErrNoDevice},
	tooManyObjects:    {"too many objects", gpu.ErrOutOfMemory},
	formatMissing:     {"format not supported", gpu.ErrUnsupported},
	fragmentedPool:    {"fragmented pool", gpu.ErrOutOfMemory},
	invalidShader:     {"invalid shader", errs.ErrInvalidShader},
	outOfPool:         {"out of pool memory", gpu.ErrOutOfMemory},
}

// check turns the result of the named Vulkan call into an error.
func check(name string, r result) error {
	if r >= 0 { // results such as VK_INCOMPLETE are no failures
		return nil
	}
	if e, ok := results[r]; ok {
		return fmt.Errorf("vk: %s: %w (%s, %d)", name, e.err, e.name, r)
	}
	return fmt.Errorf("vk: %s: %w: the driver returned %d", name, gpu.ErrUnsupported, r)
}

// fault makes Vulkan calls fail, for tests. A function stored in it is asked before every
// call that returns a result. If it returns less than zero, that is the result and the
// call is not made.
var fault device.Faults[result]

// call makes a Vulkan call and checks its result. It is for rare calls. Frequent ones use
// fault.Result, which needs no closure.
func call[R ~int32](name string, f func() R) error {
	if r := fault.Result(name); r < 0 {
		return check(name, r)
	}
	return check(name, result(f()))
}

// objects counts the Vulkan objects that exist, by type. After a device is closed all
// counts must be zero, whatever failed before.
var objects struct {
	instances, devices, memories, buffers, batches, views, modules, layouts, pipelines, caches, queries, messengers atomic.Int64
}
