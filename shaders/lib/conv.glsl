// The parameters of the kernels that convolve packed operands, in texels. A row of the product
// is an element of a channel of the result, in all images. A column is a channel. The product
// sums over the taps, and over the channels of each tap.

layout(push_constant) uniform Params {
	uint rows;
	uint pixels; // rows of an image
	uint plane;  // of a plane
	uint line;   // of a line
	uint inB;    // from image to image of the packed input
	uint inG;
	uint in0; // from row to row along each axis
	uint in1;
	uint in2;
	uint c; // texels of a tap
	uint r1;
	uint r2;
	uint next2; // from the last texel of a tap to the first one of the next tap
	uint next1; // the same after the last tap along an axis, in addition
	uint next0;
	uint depth; // texels of all taps
	uint k;     // channels
	uint kWide; // texels of the channels
	uint wG;
	uint outBase; // in elements, as all that follows
	uint outB;
	uint outG;
	uint outK;
	uint bias; // 1: add it
	uint biasBase;
	uint firstRow; // of the launch
	uint firstG;
} p;

// rowAt is the texel of the packed input at which a row begins.
uint rowAt(uint row, uint g) {
	uint b = row / p.pixels, q = row - b * p.pixels, plane = q / p.plane, rest = q - plane * p.plane, line = rest / p.line;
	return g * p.inG + b * p.inB + plane * p.in0 + line * p.in1 + (rest - line * p.line) * p.in2;
}

// outAt is the element of the first channel of the result for a row.
uint outAt(uint row, uint g) {
	uint b = row / p.pixels;
	return p.outBase + g * p.outG + b * p.outB + (row - b * p.pixels);
}

// STEP moves from a texel of the reduction to the next. at is the distance from rowAt.
#define STEP(at, r) { \
	at++; \
	r.z++; \
	bool end_ = r.z == p.c; \
	at += mix(0u, p.next2, end_); \
	r.yz = mix(r.yz, uvec2(r.y + 1, 0), bvec2(end_)); \
	end_ = r.y == p.r2; \
	at += mix(0u, p.next1, end_); \
	r.xy = mix(r.xy, uvec2(r.x + 1, 0), bvec2(end_)); \
	end_ = r.x == p.r1; \
	at += mix(0u, p.next0, end_); \
	r.x = mix(r.x, 0u, end_); \
}
