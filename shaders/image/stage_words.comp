// Writes words that a plan knows to a buffer: tables of bytes and stages for the pointwise
// kernels. SPREAD makes a word of each byte, with the byte in it three times.
//
//lathe:variant u32
#version 450

layout(local_size_x = 8) in;

struct Four {
	uint a;
	uint b;
	uint c;
	uint d;
};

layout(push_constant) uniform Params {
	uint base;   // the first word to write
	uint count;  // words that are given, up to 28
	uint spread; // 1: each makes four words
	uint spare;
	Four four[7];
} p;

layout(set = 0, binding = 0) writeonly buffer Dst { uint dst[]; };

void put(uint i, uint v) {
	if (i >= p.count) return;
	if (p.spread == 0) {
		dst[p.base + i] = v;
		return;
	}
	for (uint k = 0; k < 4; k++) dst[p.base + 4 * i + k] = ((v >> (8 * k)) & 0xffu) * 0x010101u;
}

void main() {
	uint i = gl_LocalInvocationID.x;
	if (i >= 7) return;
	Four f = p.four[i];
	put(4 * i, f.a);
	put(4 * i + 1, f.b);
	put(4 * i + 2, f.c);
	put(4 * i + 3, f.d);
}
