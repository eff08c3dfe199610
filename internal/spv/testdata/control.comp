// Every form of control flow: nested loops, breaks, continues, switches inside
// loops and loops inside switches, early returns, discarded ways.
#version 450
layout(local_size_x = 8, local_size_y = 4) in;
layout(std430, binding = 0) readonly buffer Src { uint src[]; };
layout(std430, binding = 1) buffer Dst { uint dst[]; };
layout(push_constant) uniform Params { uint n; int step; float limit; } p;

uint collatz(uint x) {
	uint c = 0;
	while (x > 1) {
		if (c > 100) return c;
		x = (x & 1) == 0 ? x / 2 : 3 * x + 1;
		c++;
	}
	return c;
}

uint pick(uint x) {
	switch (x & 7) {
	case 0: return 1;
	case 1:
	case 2: x += 3; break;
	case 3: x *= 2; // falls through
	case 4: x ^= 5; break;
	default:
		for (uint i = 0; i < x; i++) {
			if (i == 17) return i;
			if ((i & 3) == 2) continue;
			x -= i;
		}
	}
	return x;
}

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i >= p.n || i >= src.length()) return;
	uint acc = 0;
	for (uint a = 0; a < 10; a++) {
		for (uint b = a; b < 20; b += 2) {
			switch ((a + b) % 5) {
			case 0: continue;
			case 1: if (acc > 1000) break; acc += 7; break;
			case 2: acc += pick(b);
			case 3: if (acc > 5000) { dst[i] = acc; return; } acc++; break;
			default: acc += 2;
			}
			if (acc % 11 == 3) break;
			if (acc % 13 == 5 && b > 4 || a == 3) continue;
			acc ^= b;
		}
		do {
			acc += a;
			if (acc == 77) break;
		} while ((acc & 3) != 0);
		if (acc > 100000) break;
	}
	for (;;) {
		acc = acc * 3 + 1;
		if (acc > 200) {
			if (acc > 300) break;
			continue;
		} else if (acc == 150) {
			break;
		}
		acc += 5;
	}
	bool ok = acc > 3 ? (acc < 9 || p.step > 0) : p.limit > 0.5;
	dst[i] = ok ? acc + collatz(i) : pick(acc);
}
