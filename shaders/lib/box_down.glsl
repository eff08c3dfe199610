// The first pass of image/box_sums_lanes.comp, which has the parameters: sums down the columns.

layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { uvec4 dst[]; };
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };

const uint RED_BLUE = 0x00ff00ffu, GREEN = 0xff00u;

uint seen, both, green;

void enters(uint v) {
	seen &= v;
	both += v & RED_BLUE;
	green += v & GREEN;
}

// step makes four rows.
void step(uint to, uint enter[4], uint leave[4]) {
	uvec4 boths, greens;
	[[unroll]] for (uint t = 0; t < 4; t++) {
		boths[t] = both;
		greens[t] = green;
		enters(enter[t]);
		both -= leave[t] & RED_BLUE;
		green -= leave[t] & GREEN;
	}
	dst[to] = boths;
	dst[to + TALL / 4] = greens;
}

void edge(uint to, uint from, uint pitch, int low, int high, int last) {
	uint enter[4], leave[4];
	[[unroll]] for (int t = 0; t < 4; t++) {
		enter[t] = src[from + uint(clamp(high + t, 0, last)) * pitch];
		leave[t] = src[from + uint(clamp(low + t, 0, last)) * pitch];
	}
	step(to, enter, leave);
}

void main() {
	uint x = gl_GlobalInvocationID.x, block = gl_WorkGroupID.y, width = p.width;
	if (x >= width) return;
	uint pitch = p.pitch, from = p.base + x, to = (block * width + x) * (COLUMN / 4);
	int last = p.last, radius = p.radius, low = p.first + int(block * TALL) - radius, high = low + 2 * radius + 1;
	seen = 0xffffffffu;
	both = 0u;
	green = 0u;
	if (low >= 0 && high <= last + 1) {
		uint at = from + uint(low) * pitch;
		for (int y = low; y < high; y++) {
			enters(src[at]);
			at += pitch;
		}
	} else {
		for (int y = low; y < high; y++) enters(src[from + uint(clamp(y, 0, last)) * pitch]);
	}
	uint i = 0, inside = firstInside(low, TALL), outside = endInside(high, last, TALL);
	for (; i < inside; i += 4) edge(to + i / 4, from, pitch, low + int(i), high + int(i), last);
	uint enterAt = from + (uint(high) + i) * pitch, leaveAt = from + (uint(low) + i) * pitch, by = 4 * pitch, two = 2 * pitch, three = two + pitch;
	uint at = to + i / 4;
	for (; i < outside; i += 4) {
		uint enter[4] = uint[](src[enterAt], src[enterAt + pitch], src[enterAt + two], src[enterAt + three]);
		uint leave[4] = uint[](src[leaveAt], src[leaveAt + pitch], src[leaveAt + two], src[leaveAt + three]);
		step(at, enter, leave);
		at++;
		enterAt += by;
		leaveAt += by;
	}
	for (; i < TALL; i += 4) edge(to + i / 4, from, pitch, low + int(i), high + int(i), last);
	if (seen < 0xff000000u) flags[0] = 1u;
}
