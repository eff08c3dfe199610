// The tables of weights of image/blur_grid, which hold for all of its devices. It also clears the
// flags.
//
// A table has for each phase, each of the terms, and each of `per` floats of a term the weights of
// `per` results.
//
//lathe:variant f32
#version 450
#extension GL_EXT_control_flow_attributes : require

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint kind;   // of the table: 0 down, 1 reduce, 2 blur, 3 expand
	uint base;   // its first weight
	uint count;  // weights
	uint per;    // results and floats of a term: 1 or 4
	uint terms;
	uint size;   // k
	uint radius; // of the blur of cells
	float cells[16]; // its weights, from the middle on
} p;

layout(set = 0, binding = 0) writeonly buffer Table { float table[]; };
layout(set = 0, binding = 1) writeonly buffer Flags { uint flags[4]; };

// cellWeight is the weight of a cell d cells after the first one of those to blur.
float cellWeight(int d) {
	int i = abs(d - int(p.radius));
	float w = 0.0;
	[[unroll]] for (int k = 0; k < 16; k++) w = i == k ? p.cells[k] : w;
	return w;
}

// pixelWeight is the weight of pixel d of the 3·k ones of a cell.
float pixelWeight(int d) {
	int k = int(p.size);
	if (d < 0 || d >= 3 * k) return 0.0;
	int i = d % k, a = i * (i + 1) / 2, b = (k - 1 - i) * (k - i) / 2;
	int n = d < k ? a : d < 2 * k ? k * k - a - b : b;
	return float(n) / float(k * k * k);
}

// splineWeight is the weight of cell d of the five around the cell of column x.
float splineWeight(int x, int d) {
	int k = int(p.size), i = x % k;
	float t = float(2 * i - k + 1) / float(2 * k);
	if (2 * i < k) t += 1.0;
	else d--;
	float u = 1.0 - t, w3 = t * t * t * (1.0 / 6.0), w0 = u * u * u * (1.0 / 6.0), w1 = (t * t * (3.0 * t - 6.0) + 4.0) * (1.0 / 6.0);
	return d == 0 ? w0 : d == 1 ? w1 : d == 2 ? 1.0 - w0 - w1 - w3 : d == 3 ? w3 : 0.0;
}

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < 4) flags[i] = 0u;
	if (i >= p.count) return;
	float w;
	if (p.kind == 0) w = cellWeight(int(i / 4) - int(i % 4));
	else {
		uint per = p.per, entry = i / per, o = i % per, c = entry % per, t = entry / per % p.terms, phase = entry / per / p.terms;
		int m = int(t * per + c);
		if (p.kind == 1) w = pixelWeight(m - int(o * p.size));
		else if (p.kind == 2) w = cellWeight(m - int(o));
		else {
			int x = int(phase * per + o);
			w = splineWeight(x, m - (per == 1 ? 0 : x / int(p.size)));
		}
	}
	table[p.base + i] = w;
}
