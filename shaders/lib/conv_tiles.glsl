// The parameters of nn/conv_tiles, its operands besides the 16 matrices, and the plain sums that it makes of them.

layout(push_constant) uniform Params {
	uint c;     // texels of the channels of the input
	uint kWide; // texels of the channels of the result
	uint k;     // channels
	uint vStep; // texels from matrix to matrix of each operand
	uint uStep;
	uint tiles; // in all images
	uint down;  // tiles of an image along each axis
	uint across;
	uint o1; // size of the result
	uint o2;
	uint outBase;
	uint outB;
	uint outG;
	uint outK;
	uint bias; // 1: add it
	uint biasBase;
	uint line; // of the packed input, for plain sums
	uint inG;
	uint inB;
	uint firstRow; // of the launch
	uint firstG;
} p;

layout(set = 0, binding = 2) readonly buffer In { vec4 x[]; };
layout(set = 0, binding = 3) readonly buffer Filter { vec4 w[]; };
layout(set = 0, binding = 4) readonly buffer Bias { float bias[]; };
layout(set = 0, binding = 5) buffer Out { float y[]; };

// plain adds up the products of an element of the result, whose first tap lies at from, for four channels.
vec4 plain(uint from, uint weight) {
	vec4 sum = vec4(0.0);
	uint c = p.c, line = p.line, kWide = p.kWide;
	for (uint e = 0; e < c; e++) {
		[[unroll]] for (uint r = 0; r < 9; r++) {
			vec4 d = x[from + e + r / 3 * line + r % 3 * c];
			uint at = weight + (r * c + e) * 4 * kWide;
			sum = fma(vec4(d.x), w[at], fma(vec4(d.y), w[at + kWide], fma(vec4(d.z), w[at + 2 * kWide], fma(vec4(d.w), w[at + 3 * kWide], sum))));
		}
	}
	return sum;
}

// added returns the bias of channels from k on.
vec4 added(uint g, uint k) {
	vec4 add = vec4(0.0);
	uint all_ = p.k;
	if (p.bias != 0) {
		[[unroll]] for (uint q = 0; q < 4; q++) add[q] = bias[p.biasBase + g * all_ + min(k + q, all_ - 1)];
	}
	return add;
}
