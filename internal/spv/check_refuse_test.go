package spv

import (
	"errors"
	"strings"
	"testing"

	"github.com/lathe-gpu/lathe/internal/errs"
)

// Modules that crash drivers or that break a rule drivers rely on: each is the
// good module with one edit, and must be refused with the rule named.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		// Entry point, modes, memory model.
		{"no memory model", "OpMemoryModel 0 1\n", "", "no OpMemoryModel"},
		{"two memory models", "OpMemoryModel 0 1\n", "OpMemoryModel 0 1\nOpMemoryModel 0 1\n", "second OpMemoryModel"},
		{"OpenCL memory model", "OpMemoryModel 0 1", "OpMemoryModel 2 2", "addressing 2"},
		{"kernel entry", "OpEntryPoint 5", "OpEntryPoint 6", "not a compute shader"},
		{"two entries", "OpEntryPoint 5 %main \"main\" %gid\n", "OpEntryPoint 5 %main \"main\" %gid\nOpEntryPoint 5 %main \"main\" %gid\n", "second entry point"},
		{"entry is no function", "OpEntryPoint 5 %main", "OpEntryPoint 5 %void", "not a function"},
		{"entry takes arguments", "OpEntryPoint 5 %main", "OpEntryPoint 5 %help", "takes or returns"},
		{"input not in the interface", "\"main\" %gid", "\"main\"", "interface"},
		{"constant in the interface", "\"main\" %gid", "\"main\" %gid %0", "not a global variable"},
		{"no local size", "OpExecutionMode %main 17 8 4 1\n", "", "no local size"},
		{"local size 0", "17 8 4 1", "17 8 0 1", "local size [8 0 1]"},
		{"local size of two", "17 8 4 1", "17 8 4", "three numbers"},
		{"fragment mode", "17 8 4 1\n", "17 8 4 1\nOpExecutionMode %main 7\n", "execution mode 7"},
		{"no Shader", "OpCapability 1\n", "", "Shader is not declared"},
		{"Kernel", "OpCapability 1\n", "OpCapability 1\nOpCapability 6\n", "capability 6"},
		{"OpenCL instructions", "GLSL.std.450", "OpenCL.std", "OpenCL.std"},

		// Interface variables.
		{"BuiltIn deleted", "OpDecorate %gid 11 28\n", "", "must be a built-in"},
		{"BuiltIn of another stage", "%gid 11 28", "%gid 11 15", "built-in 15"},
		{"BuiltIn of another type", "%gid 11 28", "%gid 11 29", "built-in 29"},
		{"no DescriptorSet", "OpDecorate %src 34 0\n", "", "DescriptorSet"},
		{"no Binding", "OpDecorate %src 33 0\n", "", "Binding"},
		{"no Block", "OpDecorate %in 2\n", "", "Block"},
		{"no Offset", "OpMemberDecorate %in 0 35 0\n", "", "no Offset"},
		{"no ArrayStride", "OpDecorate %run 6 4\n", "", "no ArrayStride"},
		{"ArrayStride 0", "%run 6 4", "%run 6 0", "ArrayStride 0"},
		{"ArrayStride 2", "%run 6 4", "%run 6 2", "ArrayStride 2"},
		{"Offset not aligned", "OpMemberDecorate %out 1 35 16", "OpMemberDecorate %out 1 35 18", "multiple of 4"},
		{"Offset over another", "OpMemberDecorate %params 1 35 4", "OpMemberDecorate %params 1 35 0", "overlaps"},
		{"push member without Offset", "OpMemberDecorate %params 1 35 4\n", "", "no Offset"},
		{"decoration of a missing member", "OpMemberDecorate %in 0 24", "OpMemberDecorate %in 7 24", "member 7"},
		{"unknown decoration", "OpMemberDecorate %in 0 24", "OpMemberDecorate %in 0 112", "decoration 112"},
		{"Block on a variable", "OpDecorate %in 2\n", "OpDecorate %in 2\nOpDecorate %src 2\n", "does not belong"},
		{"Binding without literal", "OpDecorate %src 33 0", "OpDecorate %src 33", "literals"},

		// Ids.
		{"undefined id", "OpStore %dp %r", "OpStore %dp %nothing", "nothing defines"},
		{"defined twice", "%1 = OpConstant %u32 1\n", "%1 = OpConstant %u32 1\n%1 = OpConstant %u32 1\n", "second time"},
		{"value as type", "%n = OpLoad %u32 %np", "%n = OpLoad %gid %np", "not a type"},
		{"type as value", "OpStore %dp %r", "OpStore %dp %f32", "not a value"},
		{"label as value", "OpStore %dp %r", "OpStore %dp %done", "not a value"},
		{"function as value", "OpStore %dp %r", "OpStore %dp %help", "not a value"},
		{"call of a value", "%r = OpFunctionCall %f32 %help", "%r = OpFunctionCall %f32 %sum", "not a function"},
		{"type used before", "%v3 = OpTypeVector %u32 3\n", "%early = OpTypeVector %later 3\n%v3 = OpTypeVector %u32 3\n%later = OpTypeInt 16 0\n", "declared before it"},
		{"too many operands", "%sq = OpExtInst %f32 %glsl 31 %v", "%sq = OpExtInst %f32 %glsl 31 %v %v", "operands of instruction 31"},
		{"value of another function", "%sq = OpExtInst %f32 %glsl 31 %v", "%sq = OpExtInst %f32 %glsl 31 %a", "another function"},
		{"value not on every way", "OpStore %dp %r", "OpStore %dp %sumNext", "not defined on every way"},
		{"value before its definition", "%n = OpLoad %u32 %np", "%n = OpLoad %u32 %dp", "not defined on every way"},

		// Types.
		{"int of 7 bits", "%i32 = OpTypeInt 32 1", "%i32 = OpTypeInt 7 1", "7 bits"},
		{"type twice", "%i32 = OpTypeInt 32 1", "%i32 = OpTypeInt 32 0", "second time"},
		{"vector of 5", "OpTypeVector %u32 3", "OpTypeVector %u32 5", "vector of 5"},
		{"array of no constant", "OpTypeArray %f32 %count", "OpTypeArray %f32 %u32", "constant"},
		{"array of length 0", "OpTypeArray %f32 %count", "OpTypeArray %f32 %0", "array length 0"},
		{"array of float length", "OpTypeArray %f32 %count", "OpTypeArray %f32 %f1", "integer constant"},
		{"runtime array not last", "%out = OpTypeStruct %u32 %run", "%out = OpTypeStruct %run %u32", "member 0"},
		{"constant of two words", "%1 = OpConstant %u32 1", "%1 = OpConstant %u32 1 0", "words of the literal"},
		{"64-bit without capability", "%bool = OpTypeBool", "%bool = OpTypeBool\n%u64 = OpTypeInt 64 0", "needs one of the capabilities"},

		// Functions and blocks.
		{"no terminator", "OpReturn\nOpFunctionEnd\n%help", "OpFunctionEnd\n%help", "no terminator"},
		{"no OpFunctionEnd", "OpFunctionEnd\n%help", "%help", "inside another function"},
		{"no body", "%helpEntry = OpLabel\n%sq = OpExtInst %f32 %glsl 31 %v\nOpReturnValue %sq\n", "", "no body"},
		{"instruction outside a block", "%entry = OpLabel\n", "", "outside a block"},
		{"branch to a value", "OpBranch %test", "OpBranch %sum", "not a label"},
		{"branch to another function", "OpBranch %test", "OpBranch %helpEntry", "not a block of its function"},
		{"branch to the first block", "OpBranch %test", "OpBranch %entry", "first block"},
		{"recursion", "%sq = OpExtInst %f32 %glsl 31 %v", "%sq = OpFunctionCall %f32 %help %v", "calls itself"},
		{"phi misses a way", "%i = OpPhi %u32 %0 %inside %iNext %next", "%i = OpPhi %u32 %0 %inside", "predecessors"},
		{"phi from elsewhere", "%i = OpPhi %u32 %0 %inside %iNext %next", "%i = OpPhi %u32 %0 %entry %iNext %next", "not a predecessor"},
		{"phi of another type", "%sum = OpPhi %f32 %f1 %inside", "%sum = OpPhi %f32 %1 %inside", "want f32"},
		{"phi late", "OpLoopMerge %done %next 0", "%sum2 = OpIAdd %u32 %1 %1\n%late = OpPhi %u32 %0 %inside %0 %next\nOpLoopMerge %done %next 0", "start of its block"},
		{"no selection merge", "OpSelectionMerge %inside 0\n", "", "no merge instruction"},
		{"no loop merge", "OpLoopMerge %done %next 0\n", "", "no OpLoopMerge"},
		{"merge to itself", "OpLoopMerge %done", "OpLoopMerge %head", "own merge block"},
		{"one merge block for two", "OpSelectionMerge %inside 0", "OpSelectionMerge %done 0", ""},
		{"merge and continue the same", "OpLoopMerge %done %next", "OpLoopMerge %done %done", "the same"},
		{"merge not before a branch", "OpLoopMerge %done %next 0\nOpBranch %test", "OpLoopMerge %done %next 0\nOpReturn", "followed by"},
		{"returns a value from void", "OpStore %dp %r\nOpReturn\n", "OpStore %dp %r\nOpReturnValue %r\n", "returns"},
		{"returns nothing from f32", "OpReturnValue %sq", "OpReturn", "returns nothing"},
		{"capability late", "OpFunctionEnd\n%help", "OpFunctionEnd\nOpCapability 1\n%help", "outside a function"},

		// Operand types.
		{"load of another type", "%n = OpLoad %u32 %np", "%n = OpLoad %i32 %np", "loads i32 from a pointer to u32"},
		{"store of another type", "OpStore %dp %r", "OpStore %dp %n", "stores u32"},
		{"store to an input", "OpStore %dp %r", "OpStore %gid %id", "read-only"},
		{"load from a value", "%n = OpLoad %u32 %np", "%n = OpLoad %u32 %x", "loads from"},
		{"member out of range", "OpAccessChain %uPush %p %0", "OpAccessChain %uPush %p %2", "does not name a member"},
		{"member by variable", "OpAccessChain %uPush %p %0", "OpAccessChain %uPush %p %x", "does not name a member"},
		{"chain too deep", "OpAccessChain %uPush %p %0", "OpAccessChain %uPush %p %0 %0", "reaches into"},
		{"chain to another class", "OpAccessChain %uPush %p %0", "OpAccessChain %fShared %p %1", "storage class"},
		{"chain by a float", "OpAccessChain %fP %src %0 %x", "OpAccessChain %fP %src %0 %f1", "want an integer"},
		{"extract past the end", "OpCompositeExtract %u32 %id 0", "OpCompositeExtract %u32 %id 3", "takes u32"},
		{"float add of ints", "%sumNext = OpFAdd %f32 %sum %a", "%sumNext = OpFAdd %f32 %sum %i", "one float type"},
		{"int add of floats", "%iNext = OpIAdd %u32 %i %1", "%iNext = OpIAdd %u32 %i %a", "integers of one shape"},
		{"compare to int", "%more = OpULessThan %bool %i %count", "%more = OpULessThan %u32 %i %count", "compares"},
		{"branch by an int", "OpBranchConditional %more", "OpBranchConditional %i", "want bool"},
		{"too few arguments", "%help %sum", "%help", "number of arguments"},
		{"argument of another type", "%help %sum", "%help %n", "argument 0"},
		{"unknown extended instruction", "%glsl 31 %v", "%glsl 999 %v", "instruction 999"},
		{"fragment extended instruction", "%glsl 31 %v", "%glsl 76 %v", "instruction 76"},
		{"barrier of the device", "OpControlBarrier %2", "OpControlBarrier %1", "execution scope 1"},
		{"barrier by a variable", "OpControlBarrier %2 %2 %264", "OpControlBarrier %n %2 %264", "not a 32-bit integer constant"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse("", assemble(t, v13, edit(t, good, c.old, c.new)))
			if !errors.Is(err, errs.ErrInvalidShader) {
				t.Fatalf("error %v, want ErrInvalidShader", err)
			}
			if !strings.HasPrefix(err.Error(), "spv: parse: invalid shader: ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %q does not name the rule (%q)", err, c.want)
			}
		})
	}
}
