// Writes how many elements two arrays have, and their sums. If value is not 0 it then fills
// both arrays with it.
//
//lathe:variant u32
#version 450

layout(local_size_x = 1) in;

layout(push_constant) uniform Params {
	uint value;
} p;

layout(set = 0, binding = 0) buffer Words { uint words[]; };
layout(set = 0, binding = 1) buffer Fours { uvec4 fours[]; };
layout(set = 0, binding = 2) writeonly buffer Found { uint found[]; };

void main() {
	uint sum = 0u;
	for (int i = 0; i < words.length(); i++) {
		sum += words[i];
		if (p.value != 0u) words[i] = p.value;
	}
	found[0] = uint(words.length());
	found[1] = sum;
	sum = 0u;
	for (int i = 0; i < fours.length(); i++) {
		uvec4 v = fours[i];
		sum += v.x + v.y + v.z + v.w;
		if (p.value != 0u) fours[i] = uvec4(p.value);
	}
	found[2] = uint(fours.length());
	found[3] = sum;
}
