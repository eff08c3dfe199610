// The weights with which resize sums pixels of the source along one axis. Entry g of the table is
// for `per` pixels of the result that follow each other. It has the first pixel of the source to
// sum, three unused numbers, and for that pixel and those after it the weight in each of the
// results. The weights of a result add up to 1.
//
// Positions have 32 bits after the point, because the products of floats would be too coarse at
// the far end of a large image.
//
//lathe:variant f32
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;   // pixels of the result
	uint index;   // of the first
	uint per;     // pixels of the result an entry
	uint pixels;  // of the source, an entry
	uint align;   // Entries begin with a pixel that is a multiple of this power of two.
	uint taps;    // pixels of the source that have weights
	uint size;    // pixels of the source
	uint end;     // Entries do not reach beyond this pixel.
	uint start;   // the middle of pixel 0 of the result in the source: whole pixels,
	uint startPart; // and parts of 2^-32
	uint step;    // pixels of the source for one of the result
	uint stepPart;
	uint kind;
	float reach;    // ½ − the distance beyond which pixels have no weight
	float perPixel; // 1/the width of the filter in pixels of the source
	float width;    // of a pixel of the result in pixels of the source
	uint low;       // the pixels of an entry whose weights are written: from low on, up to high
	uint high;
} p;

layout(set = 0, binding = 0) writeonly buffer Table { float table[]; };

// highProduct is the upper word of a product of 64 bits, which WebGPU does not have.
uint highProduct(uint a, uint b) {
	uint low = (a & 0xffffu) * (b & 0xffffu);
	uint mid = (a >> 16) * (b & 0xffffu) + (low >> 16);
	uint mid2 = (a & 0xffffu) * (b >> 16) + (mid & 0xffffu);
	return (a >> 16) * (b >> 16) + (mid >> 16) + (mid2 >> 16);
}

// sinPi is sin(πx) for x of 0 to 3.
float sinPi(float x) {
	float k = floor(x + 0.5), r = x - k, z = r * r;
	float s = r * (3.14159265 + z * (-5.16771278 + z * (2.55016404 + z * (-0.599264529 + z * (0.0821458866 - z * 0.00737043094)))));
	return k == 1.0 || k == 3.0 ? -s : s;
}

float lanczos(float x, float lobes) {
	if (x >= lobes) return 0.0;
	if (x < 1e-4) return 1.0;
	return lobes * sinPi(x) * sinPi(x / lobes) / (9.8696044 * x * x);
}

// cubic is the filter of Mitchell and Netravali with B and C.
float cubic(float x, float b, float c) {
	if (x < 1.0) return ((12 - 9 * b - 6 * c) * x * x * x + (-18 + 12 * b + 6 * c) * x * x + (6 - 2 * b)) / 6;
	if (x < 2.0) return ((-b - 6 * c) * x * x * x + (6 * b + 30 * c) * x * x + (-12 * b - 48 * c) * x + (8 * b + 24 * c)) / 6;
	return 0.0;
}

// weightAt is the weight of a pixel whose middle is d pixels of the source away.
float weightAt(float d) {
	float x = abs(d) * p.perPixel;
	switch (p.kind) {
	case 0: // nearest, which has one tap
		return 1.0;
	case 1: // the area that both pixels have in common
		return max(0.0, min(d + 0.5, 0.5 * p.width) - max(d - 0.5, -0.5 * p.width));
	case 2:
		return max(0.0, 1.0 - x);
	case 3:
		return cubic(x, 0.0, 0.5);
	case 4:
		return cubic(x, 1.0 / 3.0, 1.0 / 3.0);
	case 5:
		return lanczos(x, 2.0);
	default:
		return lanczos(x, 3.0);
	}
}

// firstOf is the first pixel that is summed for pixel n of the result, and d the distance of its
// middle.
int firstOf(uint n, out float d) {
	uint part = n * p.stepPart + p.startPart;
	uint carry = part < p.startPart ? 1u : 0u;
	int whole = int(n * p.step + p.start + highProduct(n, p.stepPart) + carry);
	float rest = float(int(part >> 8)) * (1.0 / 16777216.0);
	int first = p.kind == 0 ? whole : whole + int(floor(rest + p.reach));
	first = max(min(first, int(p.size - p.taps)), 0);
	d = float(first - whole) + (0.5 - rest);
	return first;
}

void main() {
	uint i = gl_GlobalInvocationID.x, entry = i / p.per, r = i - entry * p.per;
	if (entry * p.per >= p.count) return;
	float d, unused, sum = 0.0;
	int first = firstOf(p.index + i, d);
	int base = min(firstOf(p.index + entry * p.per, unused), max(int(p.end) - int(p.pixels), 0)) & -int(p.align);
	for (uint t = 0; t < p.taps;) { // as BLOCK in lib/resize.glsl
		float part = 0.0;
		for (uint end = t + 256; t < end && t < p.taps; t += 4) {
			[[unroll]] for (uint k = t; k < t + 4; k++) part += k < p.taps ? weightAt(d + float(int(k))) : 0.0;
		}
		sum += part;
	}
	// Results past the last one have no weights.
	float scale = i < p.count ? 1.0 : 0.0;
	uint o = entry * (4 + p.per * p.pixels), high = p.high;
	if (r < 4) table[o + r] = r == 0 ? float(base) : 0.0;
	for (uint t = p.low; t < high; t++) {
		int k = base + int(t) - first;
		bool some = k >= 0 && k < int(p.taps);
		table[o + 4 + t * p.per + r] = some ? scale * (weightAt(d + float(k)) / sum) : 0.0;
	}
}
