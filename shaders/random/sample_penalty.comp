// Makes the keys of tokens anew that came before: a positive logit is divided by the penalty, and another one multiplied by it.
// A token that came twice is penalised once. Numbers that are no token count as none.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/sample_keys.glsl"

layout(push_constant) uniform Params {
	uint count;                // tokens before, of all rows
	uint each, vocabulary;   // tokens before of a row, and logits of a row
	uint base, keyBase, tokenBase; // where the first logit, its key and the first token are
	uint countBase, countStep; // where the first number of tokens is, and words to the next
	uint counted;              // 1: there are such numbers
	float penalty, reward;     // the penalty, and its inverse
	uint zero;                 // always 0, which compilers do not know
} p;

layout(set = 0, binding = 0) readonly buffer Logits { uint logits[]; };
layout(set = 0, binding = 1) readonly buffer Tokens { uint tokens[]; };
layout(set = 0, binding = 2) readonly buffer Counts { uint counts[]; };
layout(set = 0, binding = 3) writeonly buffer Keys { uint keys[]; };

void main() {
	uint i = flatGroup() * WG + gl_LocalInvocationID.x;
	if (i >= p.count) return;
	uint row = i / p.each, j = i - row * p.each, token = tokens[p.tokenBase + i], known = p.each;
	if (p.counted != 0u) known = uint(max(int(counts[p.countBase + row * p.countStep]), 0));
	if (j >= known || token >= p.vocabulary) return;
	float x = LOGIT(p.base + row * p.vocabulary + token);
	x = uintBitsToFloat(floatBitsToUint(x * (x > 0.0 ? p.reward : p.penalty)) ^ p.zero);
	keys[p.keyBase + row * p.vocabulary + token] = keyOf(x);
}
