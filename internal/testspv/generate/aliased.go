package generate

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// Aliased makes a module of equal blocks that are declared blocks times each and lie at
// random at the bindings, and says which lie where: the module writes k + 1 to element k
// of the binding's buffer by its k-th variable; with calls, those of odd blocks through a
// function that takes a pointer. The text is for spv.Assemble.
func Aliased(rng *rand.Rand, blocks, bindings int, calls bool) (text string, at [][]int) {
	var decor, types, vars, body, functions strings.Builder
	for _, b := range rng.Perm(blocks) { // the order they are declared in
		fmt.Fprintf(&decor, "OpDecorate %%R%d 6 4\nOpMemberDecorate %%T%d 0 35 0\nOpMemberDecorate %%T%d 1 35 4\nOpDecorate %%T%d 2\n", b, b, b, b)
		fmt.Fprintf(&types, "%%R%d = OpTypeRuntimeArray %%u32\n%%T%d = OpTypeStruct %%u32 %%R%d\n%%P%d = OpTypePointer 12 %%T%d\n%%F%d = OpTypeFunction %%void %%P%d %%u32\n", b, b, b, b, b, b, b)
	}
	capability := "OpCapability 1\n"
	if calls {
		capability += "OpCapability 4441\n"
	}
	for b := 1; b < blocks && calls; b += 2 {
		fmt.Fprintf(&functions, "%%set%d = OpFunction %%void 0 %%F%d\n%%p%d = OpFunctionParameter %%P%d\n%%k%d = OpFunctionParameter %%u32\n%%l%d = OpLabel\n%%q%d = OpAccessChain %%uP %%p%d %%1 %%k%d\n%%n%d = OpIAdd %%u32 %%k%d %%1\nOpStore %%q%d %%n%d\nOpReturn\nOpFunctionEnd\n",
			b, b, b, b, b, b, b, b, b, b, b, b, b)
	}
	for slot := range bindings {
		at = append(at, rng.Perm(blocks)[:1+rng.IntN(blocks)])
		for k, b := range at[slot] {
			v := fmt.Sprintf("v%d_%d", slot, k)
			fmt.Fprintf(&decor, "OpDecorate %%%s 34 0\nOpDecorate %%%s 33 %d\n", v, v, slot)
			fmt.Fprintf(&vars, "%%%s = OpVariable %%P%d 12\n", v, b)
			if b%2 == 1 && calls {
				fmt.Fprintf(&body, "%%c%s = OpFunctionCall %%void %%set%d %%%s %%%d\n", v, b, v, k)
			} else {
				fmt.Fprintf(&body, "%%a%s = OpAccessChain %%uP %%%s %%1 %%%d\nOpStore %%a%s %%%d\n", v, v, k, v, k+1)
			}
		}
	}
	var constants strings.Builder
	for k := range blocks + 2 {
		fmt.Fprintf(&constants, "%%%d = OpConstant %%u32 %d\n", k, k)
	}
	return capability + `OpMemoryModel 0 1
OpEntryPoint 5 %main "main"
OpExecutionMode %main 17 1 1 1
` + decor.String() + `%void = OpTypeVoid
%mainType = OpTypeFunction %void
%u32 = OpTypeInt 32 0
` + types.String() + "%uP = OpTypePointer 12 %u32\n" + constants.String() + vars.String() + `%main = OpFunction %void 0 %mainType
%entry = OpLabel
` + body.String() + "OpReturn\nOpFunctionEnd\n" + functions.String(), at
}
