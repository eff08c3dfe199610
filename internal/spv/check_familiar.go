package spv

import "fmt"

// familiar refuses what this package cannot judge: capabilities and extensions that it
// does not know, and instructions of constructs that no device of Lathe offers. It
// comes before all checks, so that such a module is not called invalid.
func (s *shader) familiar() error {
	for i := range s.insts {
		in := &s.insts[i]
		switch in.op {
		case opCapability:
			c := in.w[1]
			_, known := capabilities[c]
			switch {
			case known:
			case foreign[c] != "":
				return unsupported("capability %s, which Lathe does not offer", foreign[c])
			case kernel[c]:
				return invalid("%v: capability %d is not one of Vulkan", in, c)
			default:
				return unsupported("capability %d, which Lathe does not know", c)
			}
		case opExtension:
			if name, _, ok := str(in.w[1:]); ok && !extensions[name] {
				return unsupported("extension %q, which Lathe does not know", name)
			}
		}
	}
	for i := range s.insts {
		if in := &s.insts[i]; in.op.info() == nil {
			return strange(in)
		}
	}
	return nil
}

// strange is the error for an instruction outside the grammar of compute shaders.
func strange(in *inst) error {
	if what := outside[in.op]; what != "" {
		return unsupported("%s (opcode %d at word %d)", what, in.op, in.at)
	}
	return invalid("opcode %d at word %d is not one of a Vulkan compute shader", in.op, in.at)
}

// outside are instructions that a compute shader may hold and Lathe has nothing for.
var outside = func() map[opcode]string {
	m := map[opcode]string{92: "sampling of an image with projection", 94: "sampling of an image with projection"}
	for op := opcode(305); op <= 320; op++ {
		m[op] = "access to a sparse image"
	}
	for op := opcode(4473); op <= 4479; op++ {
		m[op] = "a ray query"
	}
	for op := opcode(6016); op <= 6032; op++ {
		m[op] = "a ray query"
	}
	return m
}()

// kernel are capabilities that Vulkan has none of.
var kernel = map[uint32]bool{
	4: true, 5: true, 6: true, 7: true, 8: true, 13: true, 14: true, 15: true, 17: true, 18: true, 19: true, 20: true, 21: true,
	36: true, 37: true, 38: true, 58: true, 59: true, 60: true,
}

// foreign are capabilities of Vulkan that no device of Lathe offers, beside those that
// package gpu refuses device by device.
var foreign = map[uint32]string{
	2: "Geometry", 3: "Tessellation", 32: "ClipDistance", 33: "CullDistance", 34: "ImageCubeArray", 35: "SampleRateShading",
	40: "InputAttachment", 41: "SparseResidency", 42: "MinLod", 51: "DerivativeControl", 52: "InterpolationFunction",
	53: "TransformFeedback", 54: "GeometryStreams", 57: "MultiViewport", 69: "ShaderLayer", 70: "ShaderViewportIndex",
	4422: "FragmentShadingRateKHR", 4427: "DrawParameters", 4428: "WorkgroupMemoryExplicitLayoutKHR",
	4429: "WorkgroupMemoryExplicitLayout8BitAccessKHR", 4430: "WorkgroupMemoryExplicitLayout16BitAccessKHR",
	4439: "MultiView", 4478: "RayTraversalPrimitiveCullingKHR", 4479: "RayTracingKHR", 5009: "ImageGatherBiasLodAMD",
	5010: "FragmentMaskAMD", 5013: "StencilExportEXT", 5015: "ImageReadWriteLodAMD", 5016: "Int64ImageEXT",
	5249: "SampleMaskOverrideCoverageNV", 5254: "ShaderViewportIndexLayerEXT", 5265: "FragmentFullyCoveredEXT",
	5266: "MeshShadingNV", 5282: "ImageFootprintNV", 5283: "MeshShadingEXT", 5284: "FragmentBarycentricKHR",
	5288: "ComputeDerivativeGroupQuadsKHR", 5291: "FragmentDensityEXT", 5297: "GroupNonUniformPartitionedNV",
	5303: "InputAttachmentArrayDynamicIndexing", 5304: "UniformTexelBufferArrayDynamicIndexing",
	5305: "StorageTexelBufferArrayDynamicIndexing", 5306: "UniformBufferArrayNonUniformIndexing",
	5310: "InputAttachmentArrayNonUniformIndexing", 5311: "UniformTexelBufferArrayNonUniformIndexing",
	5312: "StorageTexelBufferArrayNonUniformIndexing", 5340: "RayTracingNV", 5344: "RayTracingMotionBlurNV",
	5350: "ComputeDerivativeGroupLinearKHR", 5363: "FragmentShaderSampleInterlockEXT", 5378: "FragmentShaderPixelInterlockEXT",
	5379: "DemoteToHelperInvocation", 5390: "BindlessTextureNV", 5391: "DisplacementMicromapNV",
	5568: "SubgroupShuffleINTEL", 5569: "SubgroupBufferBlockIOINTEL", 5570: "SubgroupImageBlockIOINTEL",
	5616: "AtomicFloat16MinMaxEXT", 6025: "RayCullMaskKHR", 6026: "GroupNonUniformRotateKHR", 6029: "FloatControls2",
	6095: "AtomicFloat16AddEXT", 6400: "GroupUniformArithmeticKHR",
}

// extensions are those of SPIR-V that the rules here are written for.
var extensions = func() map[string]bool {
	m := map[string]bool{}
	for _, c := range capabilities {
		m[c.extension] = true
	}
	for _, name := range []string{"storage_buffer_storage_class", "subgroup_uniform_control_flow",
		"shader_draw_parameters", "multiview", "terminate_invocation", "physical_storage_buffer"} {
		m[fmt.Sprint("SPV_KHR_", name)] = true
	}
	return m
}()
