package spv

import "slices"

// capability is one ability a compute shader may declare: what else it brings,
// and the extension that offers it before the version that made it part of
// SPIR-V (0 if none did).
type capability struct {
	implies   []uint32
	extension string
	version   uint32
}

// Capabilities that instructions need.
const (
	capShader         = 1
	capFloat16        = 9
	capFloat64        = 10
	capInt64          = 11
	capInt64Atomics   = 12
	capInt16          = 22
	capInt8           = 39
	capSampledBuffer  = 46
	capImageBuffer    = 47
	capImageQuery     = 50
	capGroup          = 61
	capGroupVote      = 62
	capGroupArith     = 63
	capGroupBallot    = 64
	capGroupShuffle   = 65
	capGroupRelative  = 66
	capGroupCluster   = 67
	capGroupQuad      = 68
	capBallotKHR      = 4423
	capVoteKHR        = 4431
	capStorage16      = 4433
	capUniform16      = 4434
	capPush16         = 4435
	capDeviceGroup    = 4437
	capVarPointersSB  = 4441
	capVarPointers    = 4442
	capStorage8       = 4448
	capUniform8       = 4449
	capPush8          = 4450
	capDenormPreserve = 4464
	capRayQuery       = 4472
	capClock          = 5055
	capVulkanMemory   = 5345
	capPhysical       = 5347
	capCoopNV         = 5357
	capAssume         = 5629
	capDotProduct     = 6019
	capCoopKHR        = 6022
)

var impliesShader = capability{implies: []uint32{capShader}}

var capabilities = map[uint32]capability{
	0: {}, capShader: {}, capFloat16: {}, capFloat64: {}, capInt64: {}, capInt64Atomics: {}, capInt16: {}, capInt8: {},
	25: impliesShader, 27: impliesShader, 28: impliesShader, 29: impliesShader, 30: impliesShader, 31: impliesShader, 43: {}, 44: {}, 45: impliesShader, 48: impliesShader, 49: impliesShader, 55: impliesShader, 56: impliesShader,
	capImageQuery: impliesShader, capSampledBuffer: {}, capImageBuffer: {implies: []uint32{capSampledBuffer}},
	capGroup: {version: 0x10300}, capGroupVote: {implies: []uint32{capGroup}, version: 0x10300},
	capGroupArith: {implies: []uint32{capGroup}, version: 0x10300}, capGroupBallot: {implies: []uint32{capGroup}, version: 0x10300},
	capGroupShuffle: {implies: []uint32{capGroup}, version: 0x10300}, capGroupRelative: {implies: []uint32{capGroup}, version: 0x10300},
	capGroupCluster: {implies: []uint32{capGroup}, version: 0x10300}, capGroupQuad: {implies: []uint32{capGroup}, version: 0x10300},
	capBallotKHR: {extension: "SPV_KHR_shader_ballot"}, capVoteKHR: {extension: "SPV_KHR_subgroup_vote"},
	capStorage16: {extension: "SPV_KHR_16bit_storage", version: 0x10300},
	capUniform16: {implies: []uint32{capStorage16}, extension: "SPV_KHR_16bit_storage", version: 0x10300},
	capPush16:    {extension: "SPV_KHR_16bit_storage", version: 0x10300}, capDeviceGroup: {extension: "SPV_KHR_device_group", version: 0x10300},
	capVarPointersSB: {extension: "SPV_KHR_variable_pointers", version: 0x10300},
	capVarPointers:   {implies: []uint32{capVarPointersSB}, extension: "SPV_KHR_variable_pointers", version: 0x10300},
	capStorage8:      {extension: "SPV_KHR_8bit_storage", version: 0x10500},
	capUniform8:      {implies: []uint32{capStorage8}, extension: "SPV_KHR_8bit_storage", version: 0x10500},
	capPush8:         {extension: "SPV_KHR_8bit_storage", version: 0x10500},
	4464:             {extension: "SPV_KHR_float_controls", version: 0x10400}, 4465: {extension: "SPV_KHR_float_controls", version: 0x10400},
	4466: {extension: "SPV_KHR_float_controls", version: 0x10400}, 4467: {extension: "SPV_KHR_float_controls", version: 0x10400},
	4468: {extension: "SPV_KHR_float_controls", version: 0x10400}, capRayQuery: {extension: "SPV_KHR_ray_query"},
	capClock: {extension: "SPV_KHR_shader_clock"}, 5301: {extension: "SPV_EXT_descriptor_indexing", version: 0x10500},
	5302: {extension: "SPV_EXT_descriptor_indexing", version: 0x10500}, 5307: {extension: "SPV_EXT_descriptor_indexing", version: 0x10500},
	5308: {extension: "SPV_EXT_descriptor_indexing", version: 0x10500}, 5309: {extension: "SPV_EXT_descriptor_indexing", version: 0x10500},
	capVulkanMemory: {extension: "SPV_KHR_vulkan_memory_model", version: 0x10500},
	5346:            {extension: "SPV_KHR_vulkan_memory_model", version: 0x10500},
	capCoopNV:       {extension: "SPV_NV_cooperative_matrix"}, capCoopKHR: {extension: "SPV_KHR_cooperative_matrix"},
	capAssume: {extension: "SPV_KHR_expect_assume"},
	6016:      {extension: "SPV_KHR_integer_dot_product", version: 0x10600}, 6017: {extension: "SPV_KHR_integer_dot_product", version: 0x10600},
	6018: {extension: "SPV_KHR_integer_dot_product", version: 0x10600}, capDotProduct: {extension: "SPV_KHR_integer_dot_product", version: 0x10600},
	5612: {extension: "SPV_EXT_shader_atomic_float_min_max"}, 5613: {extension: "SPV_EXT_shader_atomic_float_min_max"},
	6033: {extension: "SPV_EXT_shader_atomic_float_add"}, 6034: {extension: "SPV_EXT_shader_atomic_float_add"},
}

// Matrices reports whether the module has cooperative matrices, of either form.
func (m *Module) Matrices() bool {
	return m != nil && slices.ContainsFunc(m.Capabilities, func(c uint32) bool { return c == capCoopNV || c == capCoopKHR })
}

// Subgroups reports whether the module has subgroup operations.
func (m *Module) Subgroups() bool {
	return m != nil && slices.ContainsFunc(m.Capabilities, func(c uint32) bool { return c >= capGroup && c <= capGroupQuad })
}

// abilities checks the capabilities and extensions declared, and that every
// instruction has those it needs.
func (s *shader) abilities() error {
	have := map[uint32]bool{}
	s.have = have
	extensions := map[string]bool{}
	for i := range s.insts {
		if in := &s.insts[i]; in.op == opExtension {
			name, _, _ := str(in.args())
			extensions[name] = true
		}
	}
	for i := range s.insts {
		in := &s.insts[i]
		if in.op != opCapability {
			continue
		}
		n := in.args()[0]
		if n == capPhysical {
			return unsupported("capability PhysicalStorageBufferAddresses: pointers to buffers cannot be checked or bound")
		}
		c, ok := capabilities[n]
		if !ok {
			return invalid("%v: capability %d is not one of a compute shader that Lathe knows", in, n)
		}
		if core := c.version != 0 && s.version >= c.version || c.version == 0 && c.extension == ""; !core && !extensions[c.extension] {
			return invalid("%v: capability %d needs the extension %s in this version of SPIR-V", in, n, c.extension)
		}
		have[n] = true
		for _, m := range c.implies {
			have[m] = true
			for _, k := range capabilities[m].implies {
				have[k] = true
			}
		}
	}
	if !have[capShader] {
		return invalid("capability Shader is not declared")
	}
	for i := range s.insts {
		in := &s.insts[i]
		if need := s.needs(in); need != nil && !slices.ContainsFunc(need, func(c uint32) bool { return have[c] }) {
			return invalid("%v needs one of the capabilities %v, and none is declared", in, need)
		}
		if in.op == opTypePointer && in.args()[0] == classStorageBuffer && s.version < 0x10300 && !extensions["SPV_KHR_storage_buffer_storage_class"] {
			return invalid("%v needs the extension SPV_KHR_storage_buffer_storage_class in this version of SPIR-V", in)
		}
		if in.op == opExtInstImport {
			if name, _, _ := str(in.args()); name != "GLSL.std.450" && !s.nonSemantic(in.res) {
				return invalid("%v: the instructions of %q are not those of a Vulkan shader", in, name)
			}
		}
	}
	return nil
}

// needs lists the capabilities of which an instruction needs one, nil if none.
func (s *shader) needs(in *inst) []uint32 {
	a := in.args()
	switch op := in.op; {
	case op == opTypeInt && a[0] == 8:
		return []uint32{capInt8, capStorage8, capUniform8, capPush8}
	case op == opTypeInt && a[0] == 16:
		return []uint32{capInt16, capStorage16, capUniform16, capPush16}
	case op == opTypeInt && a[0] == 64:
		return []uint32{capInt64}
	case op == opTypeFloat && a[0] == 16:
		return []uint32{capFloat16, capStorage16, capUniform16, capPush16}
	case op == opTypeFloat && a[0] == 64:
		return []uint32{capFloat64}
	case op == opTypeImage && a[1] == dimBuffer && a[5] == sampledUniform:
		return []uint32{capSampledBuffer}
	case op == opTypeImage && a[1] == dimBuffer:
		return []uint32{capImageBuffer}
	case op >= 103 && op <= 107: // image queries
		return []uint32{capImageQuery}
	case op == opExecutionMode && a[1] >= modeDenormPreserve && a[1] <= modeRoundingRTZ:
		return []uint32{capDenormPreserve + a[1] - modeDenormPreserve}
	case op == 333:
		return []uint32{capGroup}
	case op >= 334 && op <= 336:
		return []uint32{capGroupVote}
	case op >= 337 && op <= 344:
		return []uint32{capGroupBallot}
	case op == 345 || op == 346:
		return []uint32{capGroupShuffle}
	case op == 347 || op == 348:
		return []uint32{capGroupRelative}
	case op >= 349 && op <= 364 && a[1] == 3:
		return []uint32{capGroupCluster}
	case op >= 349 && op <= 364:
		return []uint32{capGroupArith}
	case op == 365 || op == 366:
		return []uint32{capGroupQuad}
	case op == 4421 || op == 4422 || op == 4432:
		return []uint32{capBallotKHR}
	case op >= 4428 && op <= 4430:
		return []uint32{capVoteKHR}
	case op >= 4450 && op <= 4455:
		return []uint32{capDotProduct}
	case op == 5056:
		return []uint32{capClock}
	case op == opTypeCoopKHR || op >= 4457 && op <= 4460:
		return []uint32{capCoopKHR}
	case op >= 5358 && op <= 5362:
		return []uint32{capCoopNV}
	case op == 5630 || op == 5631:
		return []uint32{capAssume}
	case op == 5614 || op == 5615:
		return []uint32{5612, 5613}
	case op == 6035:
		return []uint32{6033, 6034}
	case op == opTypeAccel || op == opTypeRayQuery:
		return []uint32{capRayQuery}
	case op == opPtrAccessChain || op == opInBoundsPtrAccess || op >= 401 && op <= 403:
		return []uint32{capVarPointersSB}
	case op >= 227 && op <= 242 && op != 228 && s.types[in.typ].is(opTypeInt) && s.types[in.typ].width == 64:
		return []uint32{capInt64Atomics}
	case op == opMemoryModel && a[1] == 3:
		return []uint32{capVulkanMemory}
	}
	return nil
}
