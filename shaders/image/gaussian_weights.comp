// The weights of a Gaussian blur: exp(−d²/2σ²) for |d| ≤ radius, divided by
// their sum, at weight[lead + radius + d]; zero before and after. The outermost ones are
// multiplied by `end`. It also clears the flags that the blur's first pass sets.
//
//lathe:variant f32
#version 450

layout(local_size_x = 64) in;

layout(push_constant) uniform Params {
	uint count;  // weights to write, zeros included
	uint lead;   // zeros before the first
	uint radius;
	float falloff; // 1/2σ²
	float end;     // 1, or the part of the outermost weights that counts
} p;

layout(set = 0, binding = 0) writeonly buffer Weights { float weight[]; };
layout(set = 0, binding = 1) writeonly buffer Flags { uint flags[4]; };

float gauss(float d) { return exp(-d * d * p.falloff); }

void main() {
	uint i = gl_GlobalInvocationID.x;
	if (i < 4) flags[i] = 0u;
	if (i >= p.count) return;
	// Far from the middle first, so that small terms are not lost. Two terms an iteration keep
	// the loop short.
	float tail = p.radius > 0 ? gauss(float(p.radius)) * p.end : 0.0;
	uint left = max(p.radius, 1u) - 1u;
	for (; left > 1; left -= 2) {
		tail += gauss(float(left));
		tail += gauss(float(left - 1));
	}
	if (left > 0) tail += gauss(1.0);
	float d = float(int(i) - int(p.lead + p.radius));
	float w = abs(d) <= float(p.radius) ? gauss(d) / (1 + 2 * tail) : 0;
	weight[i] = abs(d) == float(p.radius) ? w * p.end : w;
}
