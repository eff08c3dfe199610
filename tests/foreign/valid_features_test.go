package foreign_test

// refusedBut are the drivers that refuse a case, all but those that have what it needs.
func refusedBut(what string, has ...string) map[string]string {
	m := map[string]string{"lavapipe": what, "swiftshader": what, "webgpu": what, "cpu": what}
	for _, d := range has {
		delete(m, d)
	}
	return m
}

// Modules that use what is optional in Vulkan: each feature is enabled where the device
// has it, or the module is refused by name.
var features = []valid{
	{
		name: "workgroup memory that begins as zeros", refused: refusedBut("shaderZeroInitializeWorkgroupMemory", "lavapipe", "swiftshader", "cpu"),
		source: `#version 450
#extension GL_EXT_null_initializer : require
shared uint s[4] = {};
layout(binding=0) buffer A { uint a[]; };
void main() { a[0] = s[0] + s[3] + 5; }`,
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {5}},
	},
	{
		name: "uniform control flow of subgroups", refused: refusedBut("SPV_KHR_subgroup_uniform_control_flow", "cpu"),
		source: `#version 450
#extension GL_EXT_subgroup_uniform_control_flow : require
#extension GL_KHR_shader_subgroup_basic : require
layout(binding=0) buffer A { uint a[]; };
void main() [[subgroup_uniform_control_flow]] { a[0] = 5; }`,
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {5}},
	},
	{
		name: "sums of halves over a subgroup", refused: refusedBut("16", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_subgroup_extended_types_float16 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(binding=0) buffer A { float a[]; };
void main() { a[0] = float(subgroupAdd(float16_t(a[1]))); }`,
		buffers: [][]uint32{floats(0, 2, 0, 0)}, want: map[int][]uint32{0: floats(2)},
	},
	{
		name: "narrow and wide integers over a subgroup", refused: refusedBut("capability Int", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_subgroup_extended_types_int8 : require
#extension GL_EXT_shader_subgroup_extended_types_int16 : require
#extension GL_EXT_shader_subgroup_extended_types_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
#extension GL_KHR_shader_subgroup_arithmetic : require
layout(binding=0) buffer A { uint a[]; };
void main() { a[0] = uint(subgroupMax(uint8_t(a[1]))); a[2] = uint(subgroupAdd(uint16_t(a[1]))); a[3] = uint(subgroupAdd(uint64_t(a[1]))); }`,
		buffers: [][]uint32{{0, 7, 0, 0}}, want: map[int][]uint32{0: {7, 7, 7, 7}},
	},
	{
		name: "atomic floats in a buffer", refused: refusedBut("AtomicFloat32AddEXT", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_atomic_float : require
layout(binding=0) buffer A { float a[]; };
layout(local_size_x=4) in;
void main() { atomicAdd(a[0], 1.5); }`,
		buffers: [][]uint32{floats(1, 0, 0, 0)}, want: map[int][]uint32{0: floats(7)},
	},
	{
		name: "atomic exchange of floats", refused: map[string]string{"swiftshader": "shaderBufferFloat32Atomics", "webgpu": "shaderBufferFloat32Atomics"},
		source: `#version 450
#extension GL_EXT_shader_atomic_float : require
layout(binding=0) buffer A { float a[]; };
void main() { a[1] = atomicExchange(a[0], 1.5); }`,
		buffers: [][]uint32{floats(1, 0, 0, 0)}, want: map[int][]uint32{0: floats(1.5, 1)},
	},
	{
		name: "atomic floats in workgroup memory", refused: refusedBut("AtomicFloat32AddEXT", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_atomic_float : require
layout(binding=0) buffer A { float a[]; };
shared float s;
void main() { s = 2; barrier(); atomicAdd(s, 1.5); a[0] = s; }`,
		buffers: [][]uint32{floats(1, 0, 0, 0)}, want: map[int][]uint32{0: floats(3.5)},
	},
	{
		name: "atomic minimum of floats", refused: refusedBut("AtomicFloat32MinMaxEXT", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_atomic_float2 : require
layout(binding=0) buffer A { float a[]; };
void main() { atomicMin(a[0], 1.5); atomicMax(a[1], 9); }`,
		buffers: [][]uint32{floats(2, 3, 0, 0)}, want: map[int][]uint32{0: floats(1.5, 9)},
	},
	{
		name: "atomics on doubles", refused: map[string]string{"lavapipe": "AtomicFloat64AddEXT", "swiftshader": "Float64", "webgpu": "Float64"},
		source: `#version 450
#extension GL_EXT_shader_atomic_float : require
layout(binding=0) buffer A { double a[]; };
void main() { atomicAdd(a[0], 1.5LF); }`,
		buffers: [][]uint32{{0, 0, 0, 0}}, want: map[int][]uint32{0: {0, 0x3ff80000}},
	},
	{
		name: "wide atomics in workgroup memory", refused: refusedBut("capability Int64", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_atomic_int64 : require
#extension GL_EXT_shader_explicit_arithmetic_types : require
layout(binding=0) buffer A { uint a[]; };
shared uint64_t s;
void main() { s = 2; barrier(); atomicAdd(s, uint64_t(5)); a[0] = uint(s); }`,
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {7}},
	},
	{
		name: "the clocks", refused: refusedBut("capability", "lavapipe", "cpu"),
		source: `#version 450
#extension GL_EXT_shader_realtime_clock : require
#extension GL_ARB_shader_clock : require
layout(binding=0) buffer A { uint a[]; };
void main() { uvec2 x = clockRealtime2x32EXT(); uvec2 y = clock2x32ARB(); a[0] = (x.x | x.y | y.x | y.y) == 0 ? 0 : 5; }`,
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {5}},
	},
	{
		name: "memory scopes of the device", refused: refusedBut("VulkanMemoryModel", "lavapipe", "swiftshader", "cpu"),
		source: `#version 450
#extension GL_KHR_memory_scope_semantics : require
#pragma use_vulkan_memory_model
layout(binding=0) buffer A { uint a[]; };
void main() { atomicAdd(a[0], 4, gl_ScopeDevice, gl_StorageSemanticsBuffer, gl_SemanticsAcquireRelease); }`,
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {5}},
	},
	{
		name: "infinities kept", refused: refusedBut("SignedZeroInfNanPreserve", "lavapipe", "swiftshader", "cpu"), env: "vulkan1.2",
		flags: []string{"--target-env", "spv1.3"}, source: mode("SignedZeroInfNanPreserve"),
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {9}},
	},
	{
		name: "rounding to even", refused: refusedBut("RoundingModeRTE", "lavapipe", "cpu"), env: "vulkan1.2",
		flags: []string{"--target-env", "spv1.3"}, source: mode("RoundingModeRTE"),
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {9}},
	},
	{
		name: "rounding to zero", refused: refusedBut("RoundingModeRTZ"), env: "vulkan1.2",
		flags: []string{"--target-env", "spv1.3"}, source: mode("RoundingModeRTZ"),
		buffers: [][]uint32{{1, 0, 0, 0}},
	},
	{
		name: "denormals kept", refused: refusedBut("DenormPreserve", "cpu"), env: "vulkan1.2",
		flags: []string{"--target-env", "spv1.3"}, source: mode("DenormPreserve"),
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {9}},
	},
	{
		name: "denormals flushed", refused: refusedBut("DenormFlushToZero"), env: "vulkan1.2",
		flags: []string{"--target-env", "spv1.3"}, source: mode("DenormFlushToZero"),
		buffers: [][]uint32{{1, 0, 0, 0}},
	},
	{
		name: "a choice of pointers into a buffer", refused: refusedBut("VariablePointersStorageBuffer", "lavapipe", "cpu"),
		flags: []string{"--target-env", "spv1.3"},
		source: `OpCapability Shader
OpCapability VariablePointersStorageBuffer
` + begin + `
%bool = OpTypeBool
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpAccessChain %uptr %out %zero %zero
%q = OpAccessChain %uptr %out %zero %one
%x = OpLoad %uint %p
%c = OpIEqual %bool %x %one
%s = OpSelect %uptr %c %q %p
OpStore %s %nine
OpReturn
OpFunctionEnd`,
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {1, 9}},
	},
	{
		name: "a pointer that goes through a buffer", refused: refusedBut("VariablePointersStorageBuffer", "lavapipe", "cpu"), env: "vulkan1.2",
		flags: []string{"--target-env", "spv1.4"},
		source: `OpCapability Shader
OpCapability VariablePointersStorageBuffer
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %out %local
OpExecutionMode %main LocalSize 4 1 1
OpDecorate %uptr ArrayStride 4
OpDecorate %local BuiltIn LocalInvocationIndex
` + buffer + `
%bool = OpTypeBool
%int = OpTypeInt 32 1
%iptr = OpTypePointer Input %uint
%local = OpVariable %iptr Input
%none = OpConstantNull %uptr
%four = OpConstant %uint 4
%eight = OpConstant %uint 8
%main = OpFunction %void None %fn
%entry = OpLabel
%i = OpLoad %uint %local
%from = OpAccessChain %uptr %out %zero %zero
%until = OpAccessChain %uptr %out %zero %i
OpBranch %head
%head = OpLabel
%p = OpPhi %uptr %from %entry %further %next
%sum = OpPhi %uint %zero %entry %more %next
OpLoopMerge %done %next None
OpBranch %body
%body = OpLabel
%x = OpLoad %uint %p
%more = OpIAdd %uint %sum %x
%last = OpPtrEqual %bool %p %until
OpBranchConditional %last %done %next
%next = OpLabel
%further = OpPtrAccessChain %uptr %p %one
OpBranch %head
%done = OpLabel
%at = OpIAdd %uint %four %i
%to = OpAccessChain %uptr %out %zero %at
%odd = OpBitwiseAnd %uint %i %one
%isOdd = OpIEqual %bool %odd %one
%apart = OpSelect %uptr %isOdd %to %none
%exists = OpPtrNotEqual %bool %apart %none
%way = OpPtrDiff %int %p %from
%wayU = OpBitcast %uint %way
%hundreds = OpIMul %uint %wayU %eight
%both = OpIAdd %uint %more %hundreds
%r = OpSelect %uint %exists %both %sum
OpStore %to %r
OpReturn
OpFunctionEnd`,
		buffers: [][]uint32{{100, 200, 300, 400, 0, 0, 0, 0}}, want: map[int][]uint32{0: {100, 200, 300, 400, 0, 300 + 8, 300, 1000 + 24}},
	},
	{
		name: "a dot product of bytes", refused: refusedBut("DotProduct", "lavapipe", "swiftshader", "cpu"), env: "vulkan1.3",
		flags: []string{"--target-env", "spv1.6"},
		source: `OpCapability Shader
OpCapability DotProduct
OpCapability DotProductInput4x8BitPacked
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main" %out
OpExecutionMode %main LocalSize 1 1 1
` + buffer + `
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpAccessChain %uptr %out %zero %zero
%x = OpLoad %uint %p
%d = OpUDot %uint %x %x PackedVectorFormat4x8Bit
OpStore %p %d
OpReturn
OpFunctionEnd`,
		buffers: [][]uint32{{0x01020304, 0, 0, 0}}, want: map[int][]uint32{0: {30}},
	},
	{
		name: "an expectation", refused: refusedBut("ExpectAssumeKHR", "cpu"),
		flags: []string{"--target-env", "spv1.3"},
		source: `OpCapability Shader
OpCapability ExpectAssumeKHR
OpExtension "SPV_KHR_expect_assume"
` + begin + `
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpAccessChain %uptr %out %zero %zero
%x = OpLoad %uint %p
%d = OpExpectKHR %uint %x %one
OpStore %p %d
OpReturn
OpFunctionEnd`,
		buffers: [][]uint32{{1, 0, 0, 0}}, want: map[int][]uint32{0: {1}},
	},
	{
		name: "a ballot of the extension", refused: refusedBut("BallotKHR", "lavapipe", "cpu"),
		flags: []string{"--target-env", "spv1.3"},
		source: `OpCapability Shader
OpCapability SubgroupBallotKHR
OpExtension "SPV_KHR_shader_ballot"
` + begin + `
%v4 = OpTypeVector %uint 4
%bool = OpTypeBool
%true = OpConstantTrue %bool
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpAccessChain %uptr %out %zero %zero
%b = OpSubgroupBallotKHR %v4 %true
%x = OpCompositeExtract %uint %b 0
OpStore %p %x
OpReturn
OpFunctionEnd`,
		buffers: [][]uint32{{0, 0, 0, 0}}, want: map[int][]uint32{0: {1}},
	},
}

// begin is the start of a module after its capabilities and extensions.
const begin = `OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
` + buffer

// mode is a module with a mode of float controls for 32 bits.
func mode(name string) string {
	return `OpCapability Shader
OpCapability ` + name + `
OpExtension "SPV_KHR_float_controls"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpExecutionMode %main ` + name + ` 32
` + buffer + `
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpAccessChain %uptr %out %zero %zero
OpStore %p %nine
OpReturn
OpFunctionEnd`
}
