// The keys of logits.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/sample_keys.glsl"

layout(push_constant) uniform Params {
	uint count, base, keyBase; // elements, where the first one is, and its key
} p;

layout(set = 0, binding = 0) readonly buffer Logits { uint logits[]; };
layout(set = 0, binding = 1) writeonly buffer Keys { uint keys[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i < p.count) keys[p.keyBase + i] = keyOf(LOGIT(p.base + i));
}
