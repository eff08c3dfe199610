package spv

import (
	"math/bits"
	"strings"
)

// Ability is a set of things that a shader may ask of a device: those that no
// capability of SPIR-V names, those of which a capability covers several, and those of
// Vulkan's optional features that capabilities stand for one by one. The zero value is
// none.
type Ability uint64

// The abilities. In the comments, the feature of Vulkan that offers each.
const (
	SharedZero      Ability = 1 << iota // workgroup memory that begins as zeros: shaderZeroInitializeWorkgroupMemory
	SubgroupFlow                        // shaderSubgroupUniformControlFlow
	SubgroupTypes                       // subgroup operations on f16 and on integers of 8, 16 and 64 bits: shaderSubgroupExtendedTypes
	SharedAtomics64                     // shaderSharedInt64Atomics
	BufferF32                           // atomic load, store and exchange of floats: shaderBufferFloat32Atomics
	BufferF32Add                        // shaderBufferFloat32AtomicAdd
	BufferF64                           // shaderBufferFloat64Atomics
	BufferF64Add                        // shaderBufferFloat64AtomicAdd
	SharedF32                           // shaderSharedFloat32Atomics
	SharedF32Add                        // shaderSharedFloat32AtomicAdd
	SharedF64                           // shaderSharedFloat64Atomics
	SharedF64Add                        // shaderSharedFloat64AtomicAdd
	BufferF32MinMax                     // shaderBufferFloat32AtomicMinMax
	BufferF64MinMax                     // shaderBufferFloat64AtomicMinMax
	SharedF32MinMax                     // shaderSharedFloat32AtomicMinMax
	SharedF64MinMax                     // shaderSharedFloat64AtomicMinMax
	ImageFloats                         // atomics on floats of texel buffers
	SubgroupClock                       // shaderSubgroupClock
	DeviceClock                         // shaderDeviceClock

	// How floats of 16, 32 and 64 bits are computed, in this order.
	Preserve16 // shaderDenormPreserveFloat16
	Preserve32
	Preserve64
	Flush16 // shaderDenormFlushToZeroFloat16
	Flush32
	Flush64
	Special16 // shaderSignedZeroInfNanPreserveFloat16
	Special32
	Special64
	Nearest16 // shaderRoundingModeRTEFloat16
	Nearest32
	Nearest64
	Truncate16 // shaderRoundingModeRTZFloat16
	Truncate32
	Truncate64
	DenormFree32   // f32 has a mode for denormals of its own: denormBehaviorIndependence
	DenormFree     // f16 and f64 too
	RoundingFree32 // likewise for rounding: roundingModeIndependence
	RoundingFree

	// What capabilities stand for.
	FloatControls   // the extension of the modes above is there
	Uniform16       // uniformAndStorageBuffer16BitAccess
	Push16          // storagePushConstant16
	Uniform8        // uniformAndStorageBuffer8BitAccess
	Push8           // storagePushConstant8
	BufferPointers  // variablePointersStorageBuffer
	IntegerDot      // shaderIntegerDotProduct
	Assumptions     // shaderExpectAssume
	BallotExtension // VK_EXT_shader_subgroup_ballot
	VoteExtension   // VK_EXT_shader_subgroup_vote
)

// abilityNames says for people what each ability is, in the order of the bits.
var abilityNames = strings.Split(`workgroup memory with an initialiser (shaderZeroInitializeWorkgroupMemory)
execution mode SubgroupUniformControlFlowKHR (shaderSubgroupUniformControlFlow)
subgroup operations on f16 or on integers of 8, 16 or 64 bits (shaderSubgroupExtendedTypes)
64-bit atomics in workgroup memory (shaderSharedInt64Atomics)
atomic load, store or exchange of f32 in a buffer (shaderBufferFloat32Atomics)
atomic add of f32 in a buffer (shaderBufferFloat32AtomicAdd)
atomic load, store or exchange of f64 in a buffer (shaderBufferFloat64Atomics)
atomic add of f64 in a buffer (shaderBufferFloat64AtomicAdd)
atomic load, store or exchange of f32 in workgroup memory (shaderSharedFloat32Atomics)
atomic add of f32 in workgroup memory (shaderSharedFloat32AtomicAdd)
atomic load, store or exchange of f64 in workgroup memory (shaderSharedFloat64Atomics)
atomic add of f64 in workgroup memory (shaderSharedFloat64AtomicAdd)
atomic minimum or maximum of f32 in a buffer (shaderBufferFloat32AtomicMinMax)
atomic minimum or maximum of f64 in a buffer (shaderBufferFloat64AtomicMinMax)
atomic minimum or maximum of f32 in workgroup memory (shaderSharedFloat32AtomicMinMax)
atomic minimum or maximum of f64 in workgroup memory (shaderSharedFloat64AtomicMinMax)
atomics on floats of texel buffers
the clock of a subgroup (shaderSubgroupClock)
the clock of the device (shaderDeviceClock)
execution mode DenormPreserve 16
execution mode DenormPreserve 32
execution mode DenormPreserve 64
execution mode DenormFlushToZero 16
execution mode DenormFlushToZero 32
execution mode DenormFlushToZero 64
execution mode SignedZeroInfNanPreserve 16
execution mode SignedZeroInfNanPreserve 32
execution mode SignedZeroInfNanPreserve 64
execution mode RoundingModeRTE 16
execution mode RoundingModeRTE 32
execution mode RoundingModeRTE 64
execution mode RoundingModeRTZ 16
execution mode RoundingModeRTZ 32
execution mode RoundingModeRTZ 64
another mode for denormals of 32 bits than of 16 or 64 (denormBehaviorIndependence)
different modes for denormals of 16 and 64 bits (denormBehaviorIndependence)
another rounding mode for 32 bits than for 16 or 64 (roundingModeIndependence)
different rounding modes for 16 and 64 bits (roundingModeIndependence)
float controls (VK_KHR_shader_float_controls)
16-bit types in uniform buffers (uniformAndStorageBuffer16BitAccess)
16-bit push constants (storagePushConstant16)
8-bit types in uniform buffers (uniformAndStorageBuffer8BitAccess)
8-bit push constants (storagePushConstant8)
variable pointers into one buffer (variablePointersStorageBuffer)
integer dot products (shaderIntegerDotProduct)
expectations and assumptions (shaderExpectAssume)
the subgroup operations of VK_EXT_shader_subgroup_ballot
the subgroup operations of VK_EXT_shader_subgroup_vote`, "\n")

// String lists the abilities by name.
func (a Ability) String() string {
	var names []string
	for ; a != 0; a &= a - 1 {
		if k := bits.TrailingZeros64(uint64(a)); k < len(abilityNames) {
			names = append(names, abilityNames[k])
		}
	}
	return strings.Join(names, ", ")
}

// Float-control modes, each with a width, from DenormPreserve to RoundingModeRTZ.
const (
	modeDenormPreserve = 4459
	modeRoundingRTZ    = 4463
	modeSubgroupFlow   = 4421
)

// asks collects the abilities that instructions ask for.
func (s *shader) asks() Ability {
	var a Ability
	var denorm, rounding [3]uint32 // by width: the mode, 0 if none
	for i := range s.insts {
		in := &s.insts[i]
		switch op := in.op; {
		case op == opVariable && in.w[3] == classWorkgroup && len(in.w) > 4:
			a |= SharedZero
		case op == opExecutionMode && in.w[2] == modeSubgroupFlow:
			a |= SubgroupFlow
		case op == opExecutionMode && in.w[2] >= modeDenormPreserve && in.w[2] <= modeRoundingRTZ && len(in.w) == 4:
			mode, width := in.w[2]-modeDenormPreserve, bits.TrailingZeros32(in.w[3])-4
			a |= Preserve16 << (3*int(mode) + width)
			switch mode {
			case 0, 1:
				denorm[width] = mode + 1
			case 3, 4:
				rounding[width] = mode
			}
		case op >= 333 && op <= 366 && s.extendedType(in):
			a |= SubgroupTypes
		case op >= 227 && op <= 242 || op == 5614 || op == 5615 || op == 6035:
			a |= s.atomicUse(in)
		case op == 5056: // ReadClockKHR
			a |= SubgroupClock
			if s.scalars[in.w[3]] == 1 {
				a ^= SubgroupClock | DeviceClock
			}
		}
	}
	return a | mixed(denorm, DenormFree32, DenormFree) | mixed(rounding, RoundingFree32, RoundingFree)
}

// mixed tells which independence modes of floats by width ask for.
func mixed(mode [3]uint32, free32, free Ability) (a Ability) {
	differ := func(x, y uint32) bool { return x != 0 && y != 0 && x != y }
	if differ(mode[1], mode[0]) || differ(mode[1], mode[2]) {
		a |= free32
	}
	if differ(mode[0], mode[2]) {
		a |= free
	}
	return a
}

// extendedType reports whether a subgroup operation is on f16 or on integers of another
// width than 32 bits.
func (s *shader) extendedType(in *inst) bool {
	narrow := func(t *typ) bool {
		return t.isInt() && t.bits() != 32 || t.isFloat() && t.bits() == 16
	}
	if in.op == 336 { // AllEqual: bool of any type
		return narrow(s.typeOf(in.w[4]))
	}
	return narrow(s.types[in.typ])
}

// atomicUse is what an atomic operation asks for, by type and memory.
func (s *shader) atomicUse(in *inst) Ability {
	p := s.typeOf(in.args()[0])
	if !p.is(opTypePointer) {
		return 0
	}
	e, shared := p.elem, p.class == classWorkgroup
	wide := e.dims() == 1 && e.bits() == 64
	pick := func(buffer, inShared Ability) Ability {
		if shared {
			return inShared
		}
		return buffer
	}
	switch {
	case e.isInt() && wide && shared:
		return SharedAtomics64
	case !e.isFloat():
		return 0
	case p.class == classImage:
		return ImageFloats
	case in.op == 6035 && wide:
		return pick(BufferF64Add, SharedF64Add)
	case in.op == 6035:
		return pick(BufferF32Add, SharedF32Add)
	case in.op >= 5614 && wide:
		return pick(BufferF64MinMax, SharedF64MinMax)
	case in.op >= 5614:
		return pick(BufferF32MinMax, SharedF32MinMax)
	case wide:
		return pick(BufferF64, SharedF64)
	}
	return pick(BufferF32, SharedF32)
}
