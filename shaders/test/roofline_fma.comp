// Multiplies and adds as fast as a kernel can. It is the ceiling of operations with much
// arithmetic. It has three vectors of four that do not depend on each other, so that the units
// of a processor, and the sixteen registers of a CPU driver, stay busy. An invocation makes
// 2·4·3·STEPS operations.
//
// A step is x → x·x + term. A compiler must keep every one: STEPS of them are a polynomial of
// the degree 2^STEPS. Two steps of x → factor·x + term are one of factor² and another term.
// A driver of a GPU merged them, and the kernel seemed three times as fast as the device.
// "precise" would not forbid that, because glslc does not decorate fma with NoContraction.
//
// Without LOOP there is no loop, because the loops of a CPU driver keep their values in
// memory. With it the code fits into the instruction cache of a processor of a GPU, and a
// launch is long enough to hide how it begins and ends.
//
//lathe:dtypes f32 f16 f64
//lathe:variant *
//lathe:variant *.loop LOOP
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

#if defined(LOOP)
#define STEPS 512
#define UNROLLED 16
#else
#define STEPS 256
#define UNROLLED STEPS
#endif

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	float term; // 3/16: every x below 3/4 settles at 1/4
} p;

layout(set = 0, binding = 0) writeonly buffer Dst { vec4 dst[]; };

void main() {
	VEC term = VEC(vec4(p.term));
	vec4 first = vec4(gl_LocalInvocationID.x) / 256;
	VEC x = VEC(first), y = VEC(first + vec4(1.0 / 8)), z = VEC(first + vec4(1.0 / 4));
#if defined(LOOP)
	for (uint s = 0; s < STEPS; s += UNROLLED)
#endif
	[[unroll]] for (uint u = 0; u < UNROLLED; u++) {
		x = fma(x, x, term);
		y = fma(y, y, term);
		z = fma(z, z, term);
	}
	dst[gl_GlobalInvocationID.x] = vec4(x + y + z);
}
