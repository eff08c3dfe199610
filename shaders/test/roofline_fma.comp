// Multiplies and adds as fast as a kernel can: the ceiling that the bench holds
// operations against which do much arithmetic. CHAINS vectors of four depend
// on nothing but themselves, so that a processor can keep its units busy; how
// many it takes is the device's affair, and the bench tries them all. Each round
// is 2·4·CHAINS·STEPS operations an invocation.
//
//lathe:variant f32.chains1 CHAINS=1
//lathe:variant f32.chains2 CHAINS=2
//lathe:variant f32.chains3 CHAINS=3
//lathe:variant f32.chains4 CHAINS=4
//lathe:variant f32.chains6 CHAINS=6
#version 450
#extension GL_EXT_control_flow_attributes : require

#define STEPS 64

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint rounds;
	float factor, term; // x → factor·x + term settles near term/(1 − factor)
} p;

layout(set = 0, binding = 0) writeonly buffer Dst { vec4 dst[]; };

void main() {
	vec4 x[CHAINS];
	[[unroll]] for (uint c = 0; c < CHAINS; c++) x[c] = vec4(gl_LocalInvocationID.x + c);
	vec4 factor = vec4(p.factor), term = vec4(p.term);
	for (uint r = 0; r < p.rounds; r++) {
		[[unroll]] for (uint s = 0; s < STEPS; s++) {
			[[unroll]] for (uint c = 0; c < CHAINS; c++) x[c] = fma(x[c], factor, term);
		}
	}
	vec4 sum = vec4(0);
	[[unroll]] for (uint c = 0; c < CHAINS; c++) sum += x[c];
	dst[gl_GlobalInvocationID.x] = sum;
}
