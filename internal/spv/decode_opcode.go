package spv

import "fmt"

// opcode is a SPIR-V instruction number.
type opcode uint16

// String is the instruction's name in the SPIR-V specification.
func (o opcode) String() string {
	if info := o.info(); info != nil {
		return "Op" + info.name
	}
	return fmt.Sprintf("opcode %d", uint16(o))
}

// maxOpcode is the largest number in grammar.
const maxOpcode = 6035

// opInfo is the grammar of one instruction.
type opInfo struct {
	name     string
	typ, res bool   // it has a result type, a result
	operands string // see grammar
	first    int    // index of the first operand after type and result
	min      int    // fewest words
}

// The grammar of every instruction a Vulkan compute shader may hold. A row is
// the number, the name, and after the name:
//
//	T  result type          R  result
//	t  type                 v  value (or pointer)     c  constant
//	b  label                f  function               e  any id, may come later
//	i  id of neither type nor value (a string, a set of extended instructions)
//	l  literal word         s  literal string
//	m  optional memory operands     I  optional image operands
//	p  pairs of value and label     w  pairs of switch literal and label
//	?  the one before is optional   *  the one before is there any number of times
var grammar = []struct {
	op       opcode
	name     string
	operands string
}{
	{0, "Nop", ""}, {1, "Undef", "TR"}, {2, "SourceContinued", "s"}, {3, "Source", "lli?s?"}, {4, "SourceExtension", "s"},
	{5, "Name", "es"}, {6, "MemberName", "els"}, {7, "String", "Rs"}, {8, "Line", "ill"}, {10, "Extension", "s"},
	{11, "ExtInstImport", "Rs"}, {12, "ExtInst", "TRile*"}, {14, "MemoryModel", "ll"}, {15, "EntryPoint", "lese*"},
	{16, "ExecutionMode", "ell*"}, {17, "Capability", "l"}, {317, "NoLine", ""}, {330, "ModuleProcessed", "s"},
	{331, "ExecutionModeId", "ele*"},

	{71, "Decorate", "ell*"}, {72, "MemberDecorate", "elll*"}, {73, "DecorationGroup", "R"}, {74, "GroupDecorate", "ee*"},
	{75, "GroupMemberDecorate", "el*"}, {332, "DecorateId", "ele*"}, {5632, "DecorateString", "els"}, {5633, "MemberDecorateString", "ells"},

	{19, "TypeVoid", "R"}, {20, "TypeBool", "R"}, {21, "TypeInt", "Rll"}, {22, "TypeFloat", "Rl"}, {23, "TypeVector", "Rtl"},
	{24, "TypeMatrix", "Rtl"}, {25, "TypeImage", "Rtlllllll?"}, {26, "TypeSampler", "R"}, {27, "TypeSampledImage", "Rt"},
	{28, "TypeArray", "Rtc"}, {29, "TypeRuntimeArray", "Rt"}, {30, "TypeStruct", "Rt*"}, {32, "TypePointer", "Rlt"},
	{33, "TypeFunction", "Rtt*"}, {39, "TypeForwardPointer", "el"}, {4456, "TypeCooperativeMatrixKHR", "Rtcccc"},
	{5358, "TypeCooperativeMatrixNV", "Rtccc"}, {5341, "TypeAccelerationStructureKHR", "R"}, {4472, "TypeRayQueryKHR", "R"},

	{41, "ConstantTrue", "TR"}, {42, "ConstantFalse", "TR"}, {43, "Constant", "TRll*"}, {44, "ConstantComposite", "TRc*"},
	{46, "ConstantNull", "TR"}, {48, "SpecConstantTrue", "TR"}, {49, "SpecConstantFalse", "TR"}, {50, "SpecConstant", "TRll*"},
	{51, "SpecConstantComposite", "TRc*"}, {52, "SpecConstantOp", "TRll*"},

	{54, "Function", "TRlt"}, {55, "FunctionParameter", "TR"}, {56, "FunctionEnd", ""}, {57, "FunctionCall", "TRfv*"},
	{59, "Variable", "TRlc?"}, {60, "ImageTexelPointer", "TRvvv"}, {61, "Load", "TRvm"}, {62, "Store", "vvm"},
	{63, "CopyMemory", "vvmm"}, {65, "AccessChain", "TRvv*"}, {66, "InBoundsAccessChain", "TRvv*"},
	{67, "PtrAccessChain", "TRvvv*"}, {70, "InBoundsPtrAccessChain", "TRvvv*"}, {68, "ArrayLength", "TRvl"},

	{77, "VectorExtractDynamic", "TRvv"}, {78, "VectorInsertDynamic", "TRvvv"}, {79, "VectorShuffle", "TRvvl*"},
	{80, "CompositeConstruct", "TRv*"}, {81, "CompositeExtract", "TRvl*"}, {82, "CompositeInsert", "TRvvl*"},
	{83, "CopyObject", "TRv"}, {84, "Transpose", "TRv"}, {400, "CopyLogical", "TRv"},
	{401, "PtrEqual", "TRvv"}, {402, "PtrNotEqual", "TRvv"}, {403, "PtrDiff", "TRvv"},

	{86, "SampledImage", "TRvv"}, {87, "ImageSampleImplicitLod", "TRvvI"}, {88, "ImageSampleExplicitLod", "TRvvI"},
	{89, "ImageSampleDrefImplicitLod", "TRvvvI"}, {90, "ImageSampleDrefExplicitLod", "TRvvvI"},
	{95, "ImageFetch", "TRvvI"}, {96, "ImageGather", "TRvvvI"}, {97, "ImageDrefGather", "TRvvvI"}, {98, "ImageRead", "TRvvI"},
	{99, "ImageWrite", "vvvI"}, {100, "Image", "TRv"}, {103, "ImageQuerySizeLod", "TRvv"}, {104, "ImageQuerySize", "TRv"},
	{106, "ImageQueryLevels", "TRv"}, {107, "ImageQuerySamples", "TRv"},

	{109, "ConvertFToU", "TRv"}, {110, "ConvertFToS", "TRv"}, {111, "ConvertSToF", "TRv"}, {112, "ConvertUToF", "TRv"},
	{113, "UConvert", "TRv"}, {114, "SConvert", "TRv"}, {115, "FConvert", "TRv"}, {116, "QuantizeToF16", "TRv"},
	{117, "ConvertPtrToU", "TRv"}, {120, "ConvertUToPtr", "TRv"}, {124, "Bitcast", "TRv"},

	{126, "SNegate", "TRv"}, {127, "FNegate", "TRv"}, {128, "IAdd", "TRvv"}, {129, "FAdd", "TRvv"}, {130, "ISub", "TRvv"},
	{131, "FSub", "TRvv"}, {132, "IMul", "TRvv"}, {133, "FMul", "TRvv"}, {134, "UDiv", "TRvv"}, {135, "SDiv", "TRvv"},
	{136, "FDiv", "TRvv"}, {137, "UMod", "TRvv"}, {138, "SRem", "TRvv"}, {139, "SMod", "TRvv"}, {140, "FRem", "TRvv"},
	{141, "FMod", "TRvv"}, {142, "VectorTimesScalar", "TRvv"}, {143, "MatrixTimesScalar", "TRvv"},
	{144, "VectorTimesMatrix", "TRvv"}, {145, "MatrixTimesVector", "TRvv"}, {146, "MatrixTimesMatrix", "TRvv"},
	{147, "OuterProduct", "TRvv"}, {148, "Dot", "TRvv"}, {149, "IAddCarry", "TRvv"}, {150, "ISubBorrow", "TRvv"},
	{151, "UMulExtended", "TRvv"}, {152, "SMulExtended", "TRvv"},

	{154, "Any", "TRv"}, {155, "All", "TRv"}, {156, "IsNan", "TRv"}, {157, "IsInf", "TRv"}, {164, "LogicalEqual", "TRvv"},
	{165, "LogicalNotEqual", "TRvv"}, {166, "LogicalOr", "TRvv"}, {167, "LogicalAnd", "TRvv"}, {168, "LogicalNot", "TRv"},
	{169, "Select", "TRvvv"}, {170, "IEqual", "TRvv"}, {171, "INotEqual", "TRvv"}, {172, "UGreaterThan", "TRvv"},
	{173, "SGreaterThan", "TRvv"}, {174, "UGreaterThanEqual", "TRvv"}, {175, "SGreaterThanEqual", "TRvv"},
	{176, "ULessThan", "TRvv"}, {177, "SLessThan", "TRvv"}, {178, "ULessThanEqual", "TRvv"}, {179, "SLessThanEqual", "TRvv"},
	{180, "FOrdEqual", "TRvv"}, {181, "FUnordEqual", "TRvv"}, {182, "FOrdNotEqual", "TRvv"}, {183, "FUnordNotEqual", "TRvv"},
	{184, "FOrdLessThan", "TRvv"}, {185, "FUnordLessThan", "TRvv"}, {186, "FOrdGreaterThan", "TRvv"},
	{187, "FUnordGreaterThan", "TRvv"}, {188, "FOrdLessThanEqual", "TRvv"}, {189, "FUnordLessThanEqual", "TRvv"},
	{190, "FOrdGreaterThanEqual", "TRvv"}, {191, "FUnordGreaterThanEqual", "TRvv"},

	{194, "ShiftRightLogical", "TRvv"}, {195, "ShiftRightArithmetic", "TRvv"}, {196, "ShiftLeftLogical", "TRvv"},
	{197, "BitwiseOr", "TRvv"}, {198, "BitwiseXor", "TRvv"}, {199, "BitwiseAnd", "TRvv"}, {200, "Not", "TRv"},
	{201, "BitFieldInsert", "TRvvvv"}, {202, "BitFieldSExtract", "TRvvv"}, {203, "BitFieldUExtract", "TRvvv"},
	{204, "BitReverse", "TRv"}, {205, "BitCount", "TRv"},

	{224, "ControlBarrier", "vvv"}, {225, "MemoryBarrier", "vv"}, {227, "AtomicLoad", "TRvvv"}, {228, "AtomicStore", "vvvv"},
	{229, "AtomicExchange", "TRvvvv"}, {230, "AtomicCompareExchange", "TRvvvvvv"}, {232, "AtomicIIncrement", "TRvvv"},
	{233, "AtomicIDecrement", "TRvvv"}, {234, "AtomicIAdd", "TRvvvv"}, {235, "AtomicISub", "TRvvvv"},
	{236, "AtomicSMin", "TRvvvv"}, {237, "AtomicUMin", "TRvvvv"}, {238, "AtomicSMax", "TRvvvv"}, {239, "AtomicUMax", "TRvvvv"},
	{240, "AtomicAnd", "TRvvvv"}, {241, "AtomicOr", "TRvvvv"}, {242, "AtomicXor", "TRvvvv"},
	{5614, "AtomicFMinEXT", "TRvvvv"}, {5615, "AtomicFMaxEXT", "TRvvvv"}, {6035, "AtomicFAddEXT", "TRvvvv"},

	{245, "Phi", "TRp"}, {246, "LoopMerge", "bbll*"}, {247, "SelectionMerge", "bl"}, {248, "Label", "R"}, {249, "Branch", "b"},
	{250, "BranchConditional", "vbbl*"}, {251, "Switch", "vbw"}, {253, "Return", ""}, {254, "ReturnValue", "v"},
	{255, "Unreachable", ""},

	{333, "GroupNonUniformElect", "TRv"}, {334, "GroupNonUniformAll", "TRvv"}, {335, "GroupNonUniformAny", "TRvv"},
	{336, "GroupNonUniformAllEqual", "TRvv"}, {337, "GroupNonUniformBroadcast", "TRvvv"},
	{338, "GroupNonUniformBroadcastFirst", "TRvv"}, {339, "GroupNonUniformBallot", "TRvv"},
	{340, "GroupNonUniformInverseBallot", "TRvv"}, {341, "GroupNonUniformBallotBitExtract", "TRvvv"},
	{342, "GroupNonUniformBallotBitCount", "TRvlv"}, {343, "GroupNonUniformBallotFindLSB", "TRvv"},
	{344, "GroupNonUniformBallotFindMSB", "TRvv"}, {345, "GroupNonUniformShuffle", "TRvvv"},
	{346, "GroupNonUniformShuffleXor", "TRvvv"}, {347, "GroupNonUniformShuffleUp", "TRvvv"},
	{348, "GroupNonUniformShuffleDown", "TRvvv"}, {349, "GroupNonUniformIAdd", "TRvlvv?"},
	{350, "GroupNonUniformFAdd", "TRvlvv?"}, {351, "GroupNonUniformIMul", "TRvlvv?"}, {352, "GroupNonUniformFMul", "TRvlvv?"},
	{353, "GroupNonUniformSMin", "TRvlvv?"}, {354, "GroupNonUniformUMin", "TRvlvv?"}, {355, "GroupNonUniformFMin", "TRvlvv?"},
	{356, "GroupNonUniformSMax", "TRvlvv?"}, {357, "GroupNonUniformUMax", "TRvlvv?"}, {358, "GroupNonUniformFMax", "TRvlvv?"},
	{359, "GroupNonUniformBitwiseAnd", "TRvlvv?"}, {360, "GroupNonUniformBitwiseOr", "TRvlvv?"},
	{361, "GroupNonUniformBitwiseXor", "TRvlvv?"}, {362, "GroupNonUniformLogicalAnd", "TRvlvv?"},
	{363, "GroupNonUniformLogicalOr", "TRvlvv?"}, {364, "GroupNonUniformLogicalXor", "TRvlvv?"},
	{365, "GroupNonUniformQuadBroadcast", "TRvvv"}, {366, "GroupNonUniformQuadSwap", "TRvvv"},
	{4421, "SubgroupBallotKHR", "TRv"}, {4422, "SubgroupFirstInvocationKHR", "TRv"}, {4428, "SubgroupAllKHR", "TRv"},
	{4429, "SubgroupAnyKHR", "TRv"}, {4430, "SubgroupAllEqualKHR", "TRv"}, {4432, "SubgroupReadInvocationKHR", "TRvv"},

	{4450, "SDot", "TRvvl?"}, {4451, "UDot", "TRvvl?"}, {4452, "SUDot", "TRvvl?"}, {4453, "SDotAccSat", "TRvvvl?"},
	{4454, "UDotAccSat", "TRvvvl?"}, {4455, "SUDotAccSat", "TRvvvl?"}, {5056, "ReadClockKHR", "TRv"},
	{4457, "CooperativeMatrixLoadKHR", "TRvvv?m"}, {4458, "CooperativeMatrixStoreKHR", "vvvv?m"},
	{4459, "CooperativeMatrixMulAddKHR", "TRvvvl?"}, {4460, "CooperativeMatrixLengthKHR", "TRt"},
	{5359, "CooperativeMatrixLoadNV", "TRvvvm"}, {5360, "CooperativeMatrixStoreNV", "vvvvm"},
	{5361, "CooperativeMatrixMulAddNV", "TRvvv"}, {5362, "CooperativeMatrixLengthNV", "TRt"},
	{5630, "AssumeTrueKHR", "v"}, {5631, "ExpectKHR", "TRvv"},
}

// The opcodes that rules speak of by name.
const (
	opUndef            opcode = 1
	opSource           opcode = 3
	opName             opcode = 5
	opMemberName       opcode = 6
	opString           opcode = 7
	opLine             opcode = 8
	opExtension        opcode = 10
	opExtInstImport    opcode = 11
	opExtInst          opcode = 12
	opMemoryModel      opcode = 14
	opEntryPoint       opcode = 15
	opExecutionMode    opcode = 16
	opCapability       opcode = 17
	opTypeVoid         opcode = 19
	opTypeBool         opcode = 20
	opTypeInt          opcode = 21
	opTypeFloat        opcode = 22
	opTypeVector       opcode = 23
	opTypeMatrix       opcode = 24
	opTypeImage        opcode = 25
	opTypeSampler      opcode = 26
	opTypeSampledImage opcode = 27
	opTypeArray        opcode = 28
	opTypeRuntimeArray opcode = 29
	opTypeStruct       opcode = 30
	opTypePointer      opcode = 32
	opTypeFunction     opcode = 33
	opForwardPointer   opcode = 39
	opTypeCoopKHR      opcode = 4456
	opTypeCoopNV       opcode = 5358
	opCoopLoadKHR      opcode = 4457
	opCoopStoreKHR     opcode = 4458
	opCoopMulAddKHR    opcode = 4459
	opCoopLengthKHR    opcode = 4460
	opCoopLoadNV       opcode = 5359
	opCoopStoreNV      opcode = 5360
	opCoopMulAddNV     opcode = 5361
	opCoopLengthNV     opcode = 5362
	opTypeAccel        opcode = 5341
	opTypeRayQuery     opcode = 4472

	opConstantTrue          opcode = 41
	opConstantFalse         opcode = 42
	opConstant              opcode = 43
	opConstantComposite     opcode = 44
	opConstantNull          opcode = 46
	opSpecConstantTrue      opcode = 48
	opSpecConstantFalse     opcode = 49
	opSpecConstant          opcode = 50
	opSpecConstantComposite opcode = 51
	opSpecConstantOp        opcode = 52

	opFunction          opcode = 54
	opFunctionParameter opcode = 55
	opFunctionEnd       opcode = 56
	opFunctionCall      opcode = 57
	opVariable          opcode = 59
	opImageTexelPointer opcode = 60
	opLoad              opcode = 61
	opStore             opcode = 62
	opCopyMemory        opcode = 63
	opAccessChain       opcode = 65
	opInBoundsAccess    opcode = 66
	opPtrAccessChain    opcode = 67
	opArrayLength       opcode = 68
	opInBoundsPtrAccess opcode = 70
	opPtrEqual          opcode = 401
	opPtrNotEqual       opcode = 402
	opPtrDiff           opcode = 403

	opDecorate            opcode = 71
	opMemberDecorate      opcode = 72
	opDecorationGroup     opcode = 73
	opGroupDecorate       opcode = 74
	opGroupMemberDecorate opcode = 75
	opDecorateID          opcode = 332

	opDecorateString       opcode = 5632
	opMemberDecorateString opcode = 5633

	opVectorExtractDynamic opcode = 77
	opVectorInsertDynamic  opcode = 78
	opVectorShuffle        opcode = 79
	opCompositeConstruct   opcode = 80
	opCompositeExtract     opcode = 81
	opCompositeInsert      opcode = 82
	opCopyObject           opcode = 83

	opImageFetch     opcode = 95
	opImageRead      opcode = 98
	opImageWrite     opcode = 99
	opImage          opcode = 100
	opImageQuerySize opcode = 104

	opConvertFToU          opcode = 109
	opConvertFToS          opcode = 110
	opConvertSToF          opcode = 111
	opConvertUToF          opcode = 112
	opUConvert             opcode = 113
	opSConvert             opcode = 114
	opBitcast              opcode = 124
	opSNegate              opcode = 126
	opIAdd                 opcode = 128
	opISub                 opcode = 130
	opIMul                 opcode = 132
	opUDiv                 opcode = 134
	opSDiv                 opcode = 135
	opUMod                 opcode = 137
	opSRem                 opcode = 138
	opSMod                 opcode = 139
	opIAddCarry            opcode = 149
	opISubBorrow           opcode = 150
	opUMulExtended         opcode = 151
	opSMulExtended         opcode = 152
	opLogicalEqual         opcode = 164
	opLogicalNotEqual      opcode = 165
	opLogicalOr            opcode = 166
	opLogicalAnd           opcode = 167
	opLogicalNot           opcode = 168
	opSelect               opcode = 169
	opIEqual               opcode = 170
	opINotEqual            opcode = 171
	opUGreaterThan         opcode = 172
	opSGreaterThan         opcode = 173
	opUGreaterThanEqual    opcode = 174
	opSGreaterThanEqual    opcode = 175
	opULessThan            opcode = 176
	opSLessThan            opcode = 177
	opULessThanEqual       opcode = 178
	opSLessThanEqual       opcode = 179
	opShiftRightLogical    opcode = 194
	opShiftRightArithmetic opcode = 195
	opShiftLeft            opcode = 196
	opBitwiseOr            opcode = 197
	opBitwiseXor           opcode = 198
	opBitwiseAnd           opcode = 199
	opNot                  opcode = 200
	opBitFieldInsert       opcode = 201
	opBitFieldSExtract     opcode = 202
	opBitFieldUExtract     opcode = 203
	opBitReverse           opcode = 204
	opBitCount             opcode = 205

	opPhi               opcode = 245
	opLoopMerge         opcode = 246
	opSelectionMerge    opcode = 247
	opLabel             opcode = 248
	opBranch            opcode = 249
	opBranchConditional opcode = 250
	opSwitch            opcode = 251
	opReturn            opcode = 253
	opReturnValue       opcode = 254
	opUnreachable       opcode = 255
	opNoLine            opcode = 317
	opExecutionModeID   opcode = 331
)

// info is the grammar of an opcode, nil if it is none of a compute shader.
func (o opcode) info() *opInfo {
	if int(o) < len(table) {
		return table[o]
	}
	return nil
}

// table is grammar by opcode, with the derived columns filled in.
var table = func() (m [maxOpcode + 1]*opInfo) {
	for _, g := range grammar {
		info := &opInfo{name: g.name, operands: g.operands, first: 1}
		if len(info.operands) > 0 && info.operands[0] == 'T' {
			info.typ, info.operands, info.first = true, info.operands[1:], info.first+1
		}
		if len(info.operands) > 0 && info.operands[0] == 'R' {
			info.res, info.operands, info.first = true, info.operands[1:], info.first+1
		}
		info.min = info.first
		for i := range info.operands {
			switch info.operands[i] {
			case '?', '*':
				info.min--
			case 'm', 'I', 'p', 'w':
			default:
				info.min++
			}
		}
		m[g.op] = info
	}
	return m
}()
