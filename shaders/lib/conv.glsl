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

// FROM sets from[ROWS] to the texels of the packed input at which rows begin. Rows past the end
// begin where the last one does. Only the first row takes divisions, which are slow.
#define FROM(from, row, g) { \
	uint first_ = min(row, p.rows - 1), b_ = first_ / p.pixels, q_ = first_ - b_ * p.pixels; \
	uint plane_ = q_ / p.plane, rest_ = q_ - plane_ * p.plane, line_ = rest_ / p.line, x_ = rest_ - line_ * p.line; \
	uint at_ = (g) * p.inG + b_ * p.inB + plane_ * p.in0 + line_ * p.in1 + x_ * p.in2; \
	uint next1_ = p.in1 - p.line * p.in2, next0_ = p.in0 - p.plane / p.line * p.in1, nextB_ = p.inB - p.pixels / p.plane * p.in0; \
	[[unroll]] for (uint i_ = 0; i_ < ROWS; i_++) { \
		from[i_] = at_; \
		uint to_ = at_ + p.in2; \
		x_++; rest_++; q_++; \
		bool end_ = x_ == p.line; \
		x_ = mix(x_, 0u, end_); \
		to_ += mix(0u, next1_, end_); \
		end_ = rest_ == p.plane; \
		rest_ = mix(rest_, 0u, end_); \
		to_ += mix(0u, next0_, end_); \
		end_ = q_ == p.pixels; \
		q_ = mix(q_, 0u, end_); \
		to_ += mix(0u, nextB_, end_); \
		end_ = (row) + i_ + 1 < p.rows; \
		at_ = mix(at_, to_, end_); \
	} \
}

// INTO sets into[ROWS] to the elements of the first channel of the result for rows.
#define INTO(into, row, g) { \
	uint b_ = (row) / p.pixels, q_ = (row) - b_ * p.pixels, at_ = p.outBase + (g) * p.outG + b_ * p.outB + q_; \
	[[unroll]] for (uint i_ = 0; i_ < ROWS; i_++) { \
		into[i_] = at_++; \
		q_++; \
		bool end_ = q_ == p.pixels; \
		q_ = mix(q_, 0u, end_); \
		at_ += mix(0u, p.outB - p.pixels, end_); \
	} \
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
