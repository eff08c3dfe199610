package gpu

import (
	"fmt"

	"github.com/lathe-gpu/lathe/abi"
)

// A capability is what a SPIR-V capability is called and what a device must
// have for it; a nil has means that no device of Lathe offers it.
type capability struct {
	name string
	has  func(*Info) bool
}

func always(*Info) bool { return true }

// subgroup says that a device has the subgroup operations of one bit of
// Features.SubgroupOps, or that Features.Subgroups includes them.
func subgroup(bit uint32) func(*Info) bool {
	included := bit&(SubgroupBasic|SubgroupVote|SubgroupArithmetic|SubgroupBallot|SubgroupShuffle) != 0
	return func(i *Info) bool {
		return included && i.Features.Subgroups || i.Features.SubgroupOps&bit != 0
	}
}

func cooperative(i *Info) bool { return i.Features.Matrix[0] > 0 }

// capabilities is what Lathe knows of SPIR-V capabilities. Those without a
// condition are listed so that a refusal can name them.
var capabilities = map[uint32]capability{
	0:    {"Matrix", always},
	1:    {"Shader", always},
	4:    {"Addresses", nil},
	5:    {"Linkage", nil},
	6:    {"Kernel", nil},
	9:    {"Float16", func(i *Info) bool { return i.Features.F16 }},
	10:   {"Float64", func(i *Info) bool { return i.Features.F64 }},
	11:   {"Int64", func(i *Info) bool { return i.Features.I64 }},
	12:   {"Int64Atomics", func(i *Info) bool { return i.Features.Atomics64 }},
	22:   {"Int16", func(i *Info) bool { return i.Features.I16 }},
	28:   {"UniformBufferArrayDynamicIndexing", nil},
	29:   {"SampledImageArrayDynamicIndexing", nil},
	30:   {"StorageBufferArrayDynamicIndexing", nil},
	31:   {"StorageImageArrayDynamicIndexing", nil},
	39:   {"Int8", func(i *Info) bool { return i.Features.I8 }},
	43:   {"Sampled1D", nil},
	44:   {"Image1D", nil},
	46:   {"SampledBuffer", func(i *Info) bool { return i.Limits.MaxTexelBuffers > 0 }},
	47:   {"ImageBuffer", func(i *Info) bool { return i.Limits.MaxTexelBuffers > 0 }},
	49:   {"StorageImageExtendedFormats", nil},
	50:   {"ImageQuery", always},
	55:   {"StorageImageReadWithoutFormat", nil},
	56:   {"StorageImageWriteWithoutFormat", nil},
	61:   {"GroupNonUniform", subgroup(SubgroupBasic)},
	62:   {"GroupNonUniformVote", subgroup(SubgroupVote)},
	63:   {"GroupNonUniformArithmetic", subgroup(SubgroupArithmetic)},
	64:   {"GroupNonUniformBallot", subgroup(SubgroupBallot)},
	65:   {"GroupNonUniformShuffle", subgroup(SubgroupShuffle)},
	66:   {"GroupNonUniformShuffleRelative", subgroup(SubgroupShuffleRelative)},
	67:   {"GroupNonUniformClustered", subgroup(SubgroupClustered)},
	68:   {"GroupNonUniformQuad", subgroup(SubgroupQuad)},
	4423: {"SubgroupBallotKHR", nil},
	4431: {"SubgroupVoteKHR", nil},
	4433: {"StorageBuffer16BitAccess", func(i *Info) bool { return i.Features.Storage16 }},
	4434: {"UniformAndStorageBuffer16BitAccess", nil},
	4435: {"StoragePushConstant16", nil},
	4436: {"StorageInputOutput16", nil},
	4437: {"DeviceGroup", nil},
	4441: {"VariablePointersStorageBuffer", nil},
	4442: {"VariablePointers", nil},
	4448: {"StorageBuffer8BitAccess", func(i *Info) bool { return i.Features.Storage8 }},
	4449: {"UniformAndStorageBuffer8BitAccess", nil},
	4450: {"StoragePushConstant8", nil},
	4464: {"DenormPreserve", nil},
	4465: {"DenormFlushToZero", nil},
	4466: {"SignedZeroInfNanPreserve", nil},
	4467: {"RoundingModeRTE", nil},
	4468: {"RoundingModeRTZ", nil},
	5055: {"ShaderClockKHR", nil},
	5301: {"ShaderNonUniform", nil},
	5302: {"RuntimeDescriptorArray", nil},
	5345: {"VulkanMemoryModel", func(i *Info) bool { return i.Features.VulkanMemoryModel }},
	5346: {"VulkanMemoryModelDeviceScope", nil},
	5347: {"PhysicalStorageBufferAddresses", nil},
	5357: {"CooperativeMatrixNV", cooperative},
	6016: {"DotProductInputAll", nil},
	6017: {"DotProductInput4x8Bit", nil},
	6018: {"DotProductInput4x8BitPacked", nil},
	6019: {"DotProduct", nil},
	6022: {"CooperativeMatrixKHR", cooperative},
	6033: {"AtomicFloat32AddEXT", nil},
	6034: {"AtomicFloat64AddEXT", nil},
}

// checkCapability refuses a capability the device lacks and every one that
// Lathe does not know: a driver may crash on what it was not asked to enable.
func checkCapability(info *Info, m *abi.Module, c uint32) error {
	k, known := capabilities[c]
	switch {
	case k.has != nil && k.has(info):
		return nil
	case known && k.has != nil:
		return fmt.Errorf("gpu: %s: %w: the shader needs SPIR-V capability %s, which %q lacks", Label(m), ErrUnsupported, k.name, info.Name)
	case known:
		return fmt.Errorf("gpu: %s: %w: the shader needs SPIR-V capability %s, which Lathe does not enable", Label(m), ErrUnsupported, k.name)
	}
	return fmt.Errorf("gpu: %s: %w: the shader needs SPIR-V capability %d, which Lathe does not know", Label(m), ErrUnsupported, c)
}
