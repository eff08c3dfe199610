package foreign_test

// Modules that no compiler at hand makes, in the text of SPIR-V.
var assembled = []valid{
	{
		name: "one of several entry points", entry: "first", flags: []string{"--target-env", "spv1.3"}, source: several,
		push:    []uint32{3},
		buffers: [][]uint32{{1, 0, 0, 0}, {2, 0, 0, 0}},
		want:    map[int][]uint32{0: {5}, 1: {2}},
	},
	{
		name: "another of several entry points", entry: "second", flags: []string{"--target-env", "spv1.3"}, source: several,
		buffers: [][]uint32{{0}, {0}, {0, 0, 0, 0}},
		want:    map[int][]uint32{2: {9}},
	},
	{
		name: "memory model Simple, a name of its own", flags: []string{"--target-env", "spv1.3"},
		source: `OpCapability Shader
OpMemoryModel Logical Simple
OpEntryPoint GLCompute %main "run this"
OpExecutionMode %main LocalSize 1 1 1
` + buffer + `
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpAccessChain %uptr %out %zero %zero
OpStore %p %nine
OpReturn
OpFunctionEnd`,
		buffers: [][]uint32{{0, 0, 0, 0}},
		want:    map[int][]uint32{0: {9}},
	},
	{
		name: "sums that do not wrap", flags: []string{"--target-env", "spv1.3"}, env: "vulkan1.2",
		source: `OpCapability Shader
OpExtension "SPV_KHR_no_integer_wrap_decoration"
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %main "main"
OpExecutionMode %main LocalSize 1 1 1
OpDecorate %sum NoSignedWrap
` + buffer + `
%main = OpFunction %void None %fn
%l = OpLabel
%p = OpAccessChain %uptr %out %zero %zero
%x = OpLoad %uint %p
%sum = OpIAdd %uint %x %nine
OpStore %p %sum
OpReturn
OpFunctionEnd`,
		buffers: [][]uint32{{1, 0, 0, 0}},
		want:    map[int][]uint32{0: {10}},
	},
}

// buffer declares %out, a buffer of u32 at set 0, binding 0.
const buffer = `OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpDecorate %run ArrayStride 4
OpDecorate %out DescriptorSet 0
OpDecorate %out Binding 0
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%zero = OpConstant %uint 0
%one = OpConstant %uint 1
%three = OpConstant %uint 3
%nine = OpConstant %uint 9
%run = OpTypeRuntimeArray %uint
%block = OpTypeStruct %run
%bptr = OpTypePointer StorageBuffer %block
%uptr = OpTypePointer StorageBuffer %uint
%out = OpVariable %bptr StorageBuffer`

// several has two compute shaders and a fragment shader, with things that only one of
// them uses: bindings, shared memory, push constants, f64 and inputs.
const several = `OpCapability Shader
OpCapability Float64
OpCapability SampleRateShading
OpMemoryModel Logical GLSL450
OpEntryPoint GLCompute %first "first" %id
OpEntryPoint GLCompute %second "second"
OpEntryPoint Fragment %third "main" %color %sample
OpExecutionMode %first LocalSize 1 1 1
OpExecutionMode %second LocalSize 2 1 1
OpExecutionMode %third OriginUpperLeft
OpName %kept "kept"
OpDecorate %id BuiltIn GlobalInvocationId
OpDecorate %sample BuiltIn SampleId
OpDecorate %sample Flat
OpDecorate %color Location 0
OpDecorate %block Block
OpMemberDecorate %block 0 Offset 0
OpMemberDecorate %params 0 Offset 0
OpDecorate %params Block
OpDecorate %run ArrayStride 4
OpDecorate %group DescriptorSet 0
%group = OpDecorationGroup
OpGroupDecorate %group %a %b %c
OpDecorate %a Binding 0
OpDecorate %b Binding 1
OpDecorate %c Binding 2
%void = OpTypeVoid
%fn = OpTypeFunction %void
%uint = OpTypeInt 32 0
%ufn = OpTypeFunction %uint
%int = OpTypeInt 32 1
%double = OpTypeFloat 64
%float = OpTypeFloat 32
%v4 = OpTypeVector %float 4
%v3 = OpTypeVector %uint 3
%zero = OpConstant %uint 0
%two = OpConstant %uint 2
%nine = OpConstant %uint 9
%semantics = OpConstant %uint 264
%dtwo = OpConstant %double 2
%run = OpTypeRuntimeArray %uint
%block = OpTypeStruct %run
%params = OpTypeStruct %uint
%bptr = OpTypePointer StorageBuffer %block
%uptr = OpTypePointer StorageBuffer %uint
%sptr = OpTypePointer Workgroup %uint
%pptr = OpTypePointer PushConstant %params
%puptr = OpTypePointer PushConstant %uint
%iptr = OpTypePointer Input %v3
%sampleptr = OpTypePointer Input %int
%optr = OpTypePointer Output %v4
%a = OpVariable %bptr StorageBuffer
%b = OpVariable %bptr StorageBuffer
%c = OpVariable %bptr StorageBuffer
%shared = OpVariable %sptr Workgroup
%push = OpVariable %pptr PushConstant
%id = OpVariable %iptr Input
%sample = OpVariable %sampleptr Input
%color = OpVariable %optr Output
%black = OpConstantNull %v4
%first = OpFunction %void None %fn
%l1 = OpLabel
%pa = OpAccessChain %uptr %a %zero %zero
%pb = OpAccessChain %uptr %b %zero %zero
%pp = OpAccessChain %puptr %push %zero
%x = OpLoad %uint %pb
OpStore %shared %x
OpControlBarrier %two %two %semantics
%y = OpLoad %uint %shared
%z = OpLoad %uint %pp
%s = OpIAdd %uint %y %z
OpStore %pa %s
OpReturn
OpFunctionEnd
%second = OpFunction %void None %fn
%l2 = OpLabel
%n = OpFunctionCall %uint %kept
%pc = OpAccessChain %uptr %c %zero %zero
OpStore %pc %n
OpReturn
OpFunctionEnd
%kept = OpFunction %uint None %ufn
%l3 = OpLabel
OpReturnValue %nine
OpFunctionEnd
%third = OpFunction %void None %fn
%l4 = OpLabel
%d = OpFMul %double %dtwo %dtwo
OpStore %color %black
OpKill
OpFunctionEnd`
