// The running sums of a table, in place: each word becomes the sum of those before it. One
// workgroup, of which each invocation has a part.
//
//lathe:variant u32

#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count; // words
} p;

layout(set = 0, binding = 0) buffer TableBuffer { uint table[]; };

shared uint sums[64];

void main() {
	uint own = gl_LocalInvocationID.x, part = (p.count + 63u) / 64u;
	uint first = min(own * part, p.count), end = min(first + part, p.count), sum = 0u;
	for (uint i = first; i < end; i++) sum += table[i];
	sums[own] = sum;
	barrier();
	sum = 0u;
	for (uint k = 0; k < own; k++) sum += sums[k];
	for (uint i = first; i < end; i++) {
		uint v = table[i];
		table[i] = sum;
		sum += v;
	}
}
