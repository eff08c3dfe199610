// Chooses the window with the most energy, and of several the one that is nearest to the middle. It
// writes its rectangle. One workgroup does it.
//
//lathe:variant i32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint across; // steps of windows across, one less than the windows
	uint down;
	uint spareWidth; // of the image beside a window
	uint spareHeight;
	uint width; // of a window
	uint height;
} p;

layout(set = 0, binding = 0) readonly buffer Sums { uint sums[]; }; // windows down a column follow each other
layout(set = 0, binding = 1) writeonly buffer Result { int result[]; };

shared uvec3 found[64]; // energy, distance from the middle in half steps, number

// better is b if it has more energy or is nearer to the middle.
uvec3 better(uvec3 a, uvec3 b) {
	bool more = b.x > a.x, nearer = b.x == a.x && b.y < a.y, first = b.x == a.x && b.y == a.y && b.z < a.z;
	return mix(a, b, bvec3(more || nearer || first));
}

void main() {
	uint lane = gl_LocalInvocationID.x, rows = p.down + 1u, all = (p.across + 1u) * rows;
	uvec3 best = uvec3(0u, 0xffffffffu, 0xffffffffu);
	for (uint i = lane; i < all; i += 64u) {
		uint distance = uint(abs(int(i / rows * 2u) - int(p.across)) + abs(int(i % rows * 2u) - int(p.down)));
		best = better(best, uvec3(sums[i], distance, i));
	}
	found[lane] = best;
	barrier();
	if (lane != 0u) return;
	for (uint k = 1u; k < 64u; k++) best = better(best, found[k]);
	result[0] = int(p.spareWidth * (best.z / rows) / max(p.across, 1u));
	result[1] = int(p.spareHeight * (best.z % rows) / max(p.down, 1u));
	result[2] = int(p.width);
	result[3] = int(p.height);
}
