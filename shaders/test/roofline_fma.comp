// Multiplies and adds as fast as a kernel can: the ceiling that the bench holds
// operations against which do much arithmetic. Three vectors of four depend on
// nothing but themselves, so that a processor keeps its units busy and a
// CPU driver its sixteen registers; there is no loop, because a CPU driver's keep
// their values in memory. An invocation makes 2·4·3·256 operations.
//
//lathe:variant f32
#version 450
#extension GL_EXT_control_flow_attributes : require

#define STEPS 256

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	float factor, term; // x → factor·x + term settles at term/(1 − factor)
} p;

layout(set = 0, binding = 0) writeonly buffer Dst { vec4 dst[]; };

void main() {
	vec4 factor = vec4(p.factor), term = vec4(p.term);
	vec4 x = vec4(gl_LocalInvocationID.x), y = x + 1, z = x + 2;
	[[unroll]] for (uint s = 0; s < STEPS; s++) {
		x = fma(x, factor, term);
		y = fma(y, factor, term);
		z = fma(z, factor, term);
	}
	dst[gl_GlobalInvocationID.x] = x + y + z;
}
