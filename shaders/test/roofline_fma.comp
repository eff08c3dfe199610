// Multiplies and adds as fast as a kernel can. It is the ceiling of operations with much
// arithmetic. It has three vectors of four that do not depend on each other, so that the units
// of a processor, and the sixteen registers of a CPU driver, stay busy. There is no loop,
// because the loops of a CPU driver keep their values in memory. An invocation makes 2·4·3·256
// operations.
//
//lathe:variant f32
//lathe:variant f16 F16
//lathe:variant f64 F64
#version 450
#extension GL_EXT_control_flow_attributes : require

#if defined(F16)
#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require
#define VEC f16vec4
#elif defined(F64)
#define VEC dvec4
#else
#define VEC vec4
#endif
#define STEPS 256

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	float factor, term; // x → factor·x + term settles at term/(1 − factor)
} p;

layout(set = 0, binding = 0) writeonly buffer Dst { vec4 dst[]; };

void main() {
	VEC factor = VEC(vec4(p.factor)), term = VEC(vec4(p.term));
	VEC x = VEC(vec4(gl_LocalInvocationID.x)), y = x + VEC(vec4(1)), z = x + VEC(vec4(2));
	[[unroll]] for (uint s = 0; s < STEPS; s++) {
		x = fma(x, factor, term);
		y = fma(y, factor, term);
		z = fma(z, factor, term);
	}
	dst[gl_GlobalInvocationID.x] = vec4(x + y + z);
}
