package cpu

import (
	"bufio"
	"crypto/sha256"
	"fmt"
	"math/bits"
	"os"
	"runtime"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/lathe-gpu/lathe/gpu"
	"github.com/lathe-gpu/lathe/internal/spv"
)

const (
	offsetAlign = 16  // bytes
	paramBytes  = 128 // room for push constants in a frame
	maxBindings = 32
	maxWorkers  = 1024

	// maxGroups is the largest number of workgroups of a dispatch. Kernels count them in
	// 32 bits.
	maxGroups = 1<<31 - 1
	// maxGroupsAlong is the largest number of workgroups in x, y or z. In a program of 32
	// bits it is 65 535, so that plans may multiply it by a number of invocations.
	maxGroupsAlong = 1<<(16+15*(bits.UintSize/64)) - 1
)

// abilities are what kernels may ask for besides capabilities. Floats are those of IEEE:
// denormals are kept, and rounding is to the nearest. There are no images but
// texel buffers.
const abilities = spv.SharedZero | spv.SubgroupFlow | spv.SubgroupTypes | spv.SharedAtomics64 |
	spv.BufferF32 | spv.BufferF32Add | spv.BufferF32MinMax | spv.BufferF64 | spv.BufferF64Add | spv.BufferF64MinMax |
	spv.SharedF32 | spv.SharedF32Add | spv.SharedF32MinMax | spv.SharedF64 | spv.SharedF64Add | spv.SharedF64MinMax |
	spv.FloatControls | spv.Preserve16 | spv.Preserve32 | spv.Preserve64 | spv.Special16 | spv.Special32 | spv.Special64 |
	spv.Nearest16 | spv.Nearest32 | spv.Nearest64 |
	spv.Uniform16 | spv.Push16 | spv.Uniform8 | spv.Push8 | spv.IntegerDot | spv.Assumptions | spv.BallotExtension | spv.VoteExtension |
	spv.SubgroupClock | spv.DeviceClock | spv.BufferPointers

// describe describes a device with memory bytes of linear memory.
func describe(memory int64, workers int) gpu.Info {
	// Frames and gaps need a part of the memory.
	largest := (memory - memory/16) &^ (pageBytes - 1)
	info := gpu.Info{
		Backend: "cpu", Name: fmt.Sprintf("%s, %d workers", processor(), workers), Driver: driverName(),
		Kind: gpu.CPU, Memory: memory,
		Limits: gpu.Limits{
			MaxBuffer: largest, MaxBinding: largest, OffsetAlign: offsetAlign,
			MaxGroups: [3]uint32{maxGroupsAlong, maxGroupsAlong, maxGroupsAlong}, MaxTotalGroups: maxGroups,
			MaxLocalSize: [3]uint32{1024, 1024, 1024}, MaxInvocations: 1024,
			MaxSharedBytes: 64 << 10, MaxPrivateBytes: gpu.CPUPrivateBytes,
			MaxParamBytes: paramBytes, MaxBindings: maxBindings, MaxUniform: 64 << 10,
			MaxTexels: largest / 16, TexelAlign: offsetAlign, MaxTexelBuffers: maxBindings,
		},
		Features: gpu.Features{
			F16: true, F64: true, I8: true, I16: true, I64: true, Storage8: true, Storage16: true,
			Subgroups: true, SubgroupSize: 4, FullSubgroups: true,
			SubgroupOps: gpu.SubgroupBasic | gpu.SubgroupVote | gpu.SubgroupArithmetic | gpu.SubgroupBallot |
				gpu.SubgroupShuffle | gpu.SubgroupShuffleRelative | gpu.SubgroupClustered | gpu.SubgroupQuad,
			Atomics64: true, Timestamps: true, HostVectors: true, VulkanMemoryModel: true, Abilities: abilities,
		},
	}
	info.Limits.BoundCompiling(gpu.CPU)
	sum := sha256.Sum256(fmt.Appendf(nil, "cpu/%s/%s/%s", runtime.GOARCH, processor(), driverName()))
	info.UUID = uuid.UUID(sum[:16])
	return info
}

// processor is the name of the processor, or else of its architecture.
var processor = sync.OnceValue(func() string {
	f, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return runtime.GOARCH + " processor"
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		key, value, _ := strings.Cut(s.Text(), ":")
		if strings.TrimSpace(key) == "model name" && strings.TrimSpace(value) != "" {
			return strings.Join(strings.Fields(value), " ")
		}
	}
	return runtime.GOARCH + " processor"
})
