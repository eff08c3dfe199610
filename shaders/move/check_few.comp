// Looks for indices that are not below limit, by one workgroup. It sets status word 0 to the first position that it
// has found, counted from the top, and adds the index there, its low word and its high word. A negative index of 32 bits is
// not below any limit.
#version 450

#define WG 64
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count; // indices
	uint base;  // word of the first one
	uint words; // of each: 1 or 2
	uint limit;
} p;

layout(set = 0, binding = 0) readonly buffer IndexBuffer { uint indices[]; };
layout(set = 0, binding = 1) buffer FaultBuffer { uint faults[4]; };
shared uint parts[WG];

uint high(uint at, uint low) {
	if (p.words == 2u) return indices[at + 1u];
	return (low >> 31) * 0xffffffffu;
}

void main() {
	uint me = gl_LocalInvocationID.x, found = 0u;
	for (uint i = me; i < p.count; i += WG) {
		uint at = p.base + i * p.words, low = indices[at];
		if (low >= p.limit || high(at, low) != 0u) found = max(found, 0xffffffffu - i);
	}
	parts[me] = found;
	barrier();
	if (me != 0u) return;
	for (uint i = 0u; i < WG; i++) found = max(found, parts[i]);
	if (found <= faults[0]) return;
	uint at = p.base + (0xffffffffu - found) * p.words;
	faults[0] = found;
	faults[1] = indices[at];
	faults[2] = high(at, indices[at]);
}
