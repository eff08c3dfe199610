package gpu

import (
	"fmt"

	"github.com/lathe-gpu/lathe/internal/spv"
)

// capability has the name of a SPIR-V capability, and a function that reports whether a
// device has it. A nil function means that Lathe offers the capability on no device.
type capability struct {
	name string
	has  func(*Info) bool
}

func always(*Info) bool { return true }

// subgroup returns a function that reports whether a device has the subgroup operations
// of one bit of Features.SubgroupOps. Features.Subgroups includes some of them.
func subgroup(bit uint32) func(*Info) bool {
	included := bit&(SubgroupBasic|SubgroupVote|SubgroupArithmetic|SubgroupBallot|SubgroupShuffle) != 0
	return func(i *Info) bool {
		return included && i.Features.Subgroups || i.Features.SubgroupOps&bit != 0
	}
}

// hasAll returns a function that reports whether a device has all abilities in a.
func hasAll(a spv.Ability) func(*Info) bool {
	return func(i *Info) bool { return a&^i.Features.Abilities == 0 }
}

// hasAny returns a function that reports whether a device has one of the abilities in a.
// The instructions of a shader say which one it asks for.
func hasAny(a spv.Ability) func(*Info) bool {
	return func(i *Info) bool { return a&i.Features.Abilities != 0 }
}

func texels(i *Info) bool { return i.Limits.MaxTexelBuffers > 0 }

func memoryModel(i *Info) bool { return i.Features.VulkanMemoryModel }

func cooperative(i *Info) bool { return i.Features.Matrix[0] > 0 }

// capabilities are the SPIR-V capabilities that Lathe knows, by number. Those that it
// never offers are listed so that a refusal can name them.
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
	25:   {"ImageGatherExtended", nil},
	27:   {"StorageImageMultisample", nil},
	43:   {"Sampled1D", nil},
	44:   {"Image1D", nil},
	45:   {"SampledCubeArray", nil},
	46:   {"SampledBuffer", texels},
	47:   {"ImageBuffer", texels},
	48:   {"ImageMSArray", nil},
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
	4423: {"SubgroupBallotKHR", hasAll(spv.BallotExtension)},
	4431: {"SubgroupVoteKHR", hasAll(spv.VoteExtension)},
	4433: {"StorageBuffer16BitAccess", func(i *Info) bool { return i.Features.Storage16 }},
	4434: {"UniformAndStorageBuffer16BitAccess", hasAll(spv.Uniform16)},
	4435: {"StoragePushConstant16", hasAll(spv.Push16)},
	4436: {"StorageInputOutput16", nil},
	4437: {"DeviceGroup", always},
	4441: {"VariablePointersStorageBuffer", hasAll(spv.BufferPointers)},
	4442: {"VariablePointers", nil}, // pointers into workgroup memory, which spv.Guard could not bound
	4448: {"StorageBuffer8BitAccess", func(i *Info) bool { return i.Features.Storage8 }},
	4449: {"UniformAndStorageBuffer8BitAccess", hasAll(spv.Uniform8)},
	4450: {"StoragePushConstant8", hasAll(spv.Push8)},
	4472: {"RayQueryKHR", nil},
	4464: {"DenormPreserve", hasAny(spv.Preserve16 | spv.Preserve32 | spv.Preserve64)},
	4465: {"DenormFlushToZero", hasAny(spv.Flush16 | spv.Flush32 | spv.Flush64)},
	4466: {"SignedZeroInfNanPreserve", hasAny(spv.Special16 | spv.Special32 | spv.Special64)},
	4467: {"RoundingModeRTE", hasAny(spv.Nearest16 | spv.Nearest32 | spv.Nearest64)},
	4468: {"RoundingModeRTZ", hasAny(spv.Truncate16 | spv.Truncate32 | spv.Truncate64)},
	5055: {"ShaderClockKHR", hasAny(spv.SubgroupClock | spv.DeviceClock)},
	5301: {"ShaderNonUniform", nil},
	5302: {"RuntimeDescriptorArray", nil},
	5307: {"SampledImageArrayNonUniformIndexing", nil},
	5308: {"StorageBufferArrayNonUniformIndexing", nil},
	5309: {"StorageImageArrayNonUniformIndexing", nil},
	5345: {"VulkanMemoryModel", memoryModel},
	5346: {"VulkanMemoryModelDeviceScope", memoryModel},
	5347: {"PhysicalStorageBufferAddresses", nil},
	5357: {"CooperativeMatrixNV", cooperative},
	5612: {"AtomicFloat32MinMaxEXT", hasAny(spv.BufferF32MinMax | spv.SharedF32MinMax)},
	5613: {"AtomicFloat64MinMaxEXT", hasAny(spv.BufferF64MinMax | spv.SharedF64MinMax)},
	5629: {"ExpectAssumeKHR", hasAll(spv.Assumptions)},
	6016: {"DotProductInputAll", hasAll(spv.IntegerDot)},
	6017: {"DotProductInput4x8Bit", hasAll(spv.IntegerDot)},
	6018: {"DotProductInput4x8BitPacked", hasAll(spv.IntegerDot)},
	6019: {"DotProduct", hasAll(spv.IntegerDot)},
	6022: {"CooperativeMatrixKHR", cooperative},
	6033: {"AtomicFloat32AddEXT", hasAny(spv.BufferF32Add | spv.SharedF32Add)},
	6034: {"AtomicFloat64AddEXT", hasAny(spv.BufferF64Add | spv.SharedF64Add)},
}

// extensions has the extensions of SPIR-V that not every device knows, each with a
// function that reports whether a device knows it. Every device of Vulkan 1.1 knows the
// others, or their capabilities tell.
var extensions = map[string]func(*Info) bool{
	"SPV_KHR_8bit_storage":                  func(i *Info) bool { return i.Features.Storage8 },
	"SPV_KHR_float_controls":                hasAll(spv.FloatControls),
	"SPV_KHR_vulkan_memory_model":           memoryModel,
	"SPV_KHR_subgroup_uniform_control_flow": hasAll(spv.SubgroupFlow),
	"SPV_KHR_shader_ballot":                 hasAll(spv.BallotExtension),
	"SPV_KHR_subgroup_vote":                 hasAll(spv.VoteExtension),
	"SPV_KHR_shader_clock":                  hasAny(spv.SubgroupClock | spv.DeviceClock),
	"SPV_KHR_integer_dot_product":           hasAll(spv.IntegerDot),
	"SPV_KHR_expect_assume":                 hasAll(spv.Assumptions),
	"SPV_EXT_shader_atomic_float_add":       hasAny(spv.BufferF32Add | spv.SharedF32Add | spv.BufferF64Add | spv.SharedF64Add),
	"SPV_EXT_shader_atomic_float_min_max":   hasAny(spv.BufferF32MinMax | spv.SharedF32MinMax | spv.BufferF64MinMax | spv.SharedF64MinMax),
	"SPV_KHR_terminate_invocation":          nil,
	"SPV_KHR_physical_storage_buffer":       nil,
	"SPV_KHR_ray_query":                     nil,
	"SPV_EXT_descriptor_indexing":           nil,
}

// checkNeeds refuses a module whose version of SPIR-V, capabilities, extensions or
// abilities a device lacks.
func checkNeeds(info *Info, m *spv.Module) error {
	if have := info.Features.SPIRV; have != 0 && m.Version > have {
		return fmt.Errorf("gpu: %s: %w: the shader is SPIR-V %d.%d, and %q takes %d.%d at most", Label(m), ErrUnsupported,
			m.Version>>16, m.Version>>8&0xff, info.Name, have>>16, have>>8&0xff)
	}
	for _, c := range m.Capabilities {
		if err := checkCapability(info, m, c); err != nil {
			return err
		}
	}
	for _, name := range m.Extensions {
		if has, listed := extensions[name]; listed && (has == nil || !has(info)) {
			return fmt.Errorf("gpu: %s: %w: the shader needs the extension %s, which %q lacks", Label(m), ErrUnsupported, name, info.Name)
		}
	}
	if lacks := m.Abilities &^ info.Features.Abilities; lacks != 0 {
		return fmt.Errorf("gpu: %s: %w: the shader needs %v, which %q lacks", Label(m), ErrUnsupported, lacks, info.Name)
	}
	return nil
}

// checkCapability refuses a capability that the device lacks or that Lathe does not
// know. A driver may crash on a capability that nobody asked it to enable.
func checkCapability(info *Info, m *spv.Module, c uint32) error {
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
