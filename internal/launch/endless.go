package launch

import "github.com/lathe-gpu/lathe/internal/testkit"

// Endless is a module whose invocations add 1 to element 0 of the storage buffer
// of u32 at binding 0 for as long as element 1 is zero, and nothing changes that.
func Endless() []byte {
	const (
		main = 1 + iota
		void
		mainType
		u32
		boolean
		list
		block
		blockP
		buffer
		uP
		zero
		one
		entry
		head
		body
		next
		done
		first
		second
		value
		more
		flag
		stay
		bound
	)
	code := testkit.Words(0x07230203, 0x10300, 0, bound, 0)
	inst := func(op uint32, w ...uint32) {
		code = append(code, testkit.Words(uint32(len(w)+1)<<16|op)...)
		code = append(code, testkit.Words(w...)...)
	}
	inst(17, 1)                             // OpCapability Shader
	inst(14, 0, 1)                          // OpMemoryModel
	inst(15, 5, main, 0x6e69616d, 0)        // OpEntryPoint "main"
	inst(16, main, 17, 1, 1, 1)             // OpExecutionMode LocalSize
	inst(71, list, 6, 4)                    // ArrayStride
	inst(72, block, 0, 35, 0)               // Offset
	inst(71, block, 2)                      // Block
	inst(71, buffer, 34, 0)                 // DescriptorSet
	inst(71, buffer, 33, 0)                 // Binding
	inst(19, void)                          // OpTypeVoid
	inst(33, mainType, void)                // OpTypeFunction
	inst(21, u32, 32, 0)                    // OpTypeInt
	inst(20, boolean)                       // OpTypeBool
	inst(29, list, u32)                     // OpTypeRuntimeArray
	inst(30, block, list)                   // OpTypeStruct
	inst(32, blockP, 12, block)             // OpTypePointer
	inst(32, uP, 12, u32)                   // OpTypePointer
	inst(59, blockP, buffer, 12)            // OpVariable
	inst(43, u32, zero, 0)                  // OpConstant
	inst(43, u32, one, 1)                   // OpConstant
	inst(54, void, main, 0, mainType)       // OpFunction
	inst(248, entry)                        // OpLabel
	inst(65, uP, first, buffer, zero, zero) // OpAccessChain
	inst(65, uP, second, buffer, zero, one) // OpAccessChain
	inst(249, head)                         // OpBranch
	inst(248, head)                         // OpLabel
	inst(246, done, next, 0)                // OpLoopMerge
	inst(249, body)                         // OpBranch
	inst(248, body)                         // OpLabel
	inst(61, u32, value, first)             // OpLoad
	inst(128, u32, more, value, one)        // OpIAdd
	inst(62, first, more)                   // OpStore
	inst(61, u32, flag, second)             // OpLoad
	inst(170, boolean, stay, flag, zero)    // OpIEqual
	inst(250, stay, next, done)             // OpBranchConditional
	inst(248, next)                         // OpLabel
	inst(249, head)                         // OpBranch
	inst(248, done)                         // OpLabel
	inst(253)                               // OpReturn
	inst(56)                                // OpFunctionEnd
	return code
}
