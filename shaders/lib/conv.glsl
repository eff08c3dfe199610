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
// begin where the last one does. Only the first row takes divisions. These are slow on CPU drivers,
// and so is each read of a parameter.
#define FROM(from, row, g) { \
	uint rows_ = p.rows, pixels_ = p.pixels, all_ = p.plane, length_ = p.line, step_ = p.in2; \
	uint first_ = min(row, rows_ - 1), b_ = first_ / pixels_, q_ = first_ - b_ * pixels_; \
	uint plane_ = q_ / all_, rest_ = q_ - plane_ * all_, line_ = rest_ / length_, x_ = rest_ - line_ * length_; \
	uint at_ = (g) * p.inG + b_ * p.inB + plane_ * p.in0 + line_ * p.in1 + x_ * step_; \
	uint next1_ = p.in1 - length_ * step_, next0_ = p.in0 - all_ / length_ * p.in1, nextB_ = p.inB - pixels_ / all_ * p.in0; \
	[[unroll]] for (uint i_ = 0; i_ < ROWS; i_++) { \
		from[i_] = at_; \
		uint to_ = at_ + step_; \
		x_++; rest_++; q_++; \
		bool end_ = x_ == length_; \
		x_ = mix(x_, 0u, end_); \
		to_ += mix(0u, next1_, end_); \
		end_ = rest_ == all_; \
		rest_ = mix(rest_, 0u, end_); \
		to_ += mix(0u, next0_, end_); \
		end_ = q_ == pixels_; \
		q_ = mix(q_, 0u, end_); \
		to_ += mix(0u, nextB_, end_); \
		end_ = (row) + i_ + 1 < rows_; \
		at_ = mix(at_, to_, end_); \
	} \
}

// INTO sets into[ROWS] to the elements of the first channel of the result for rows.
#define INTO(into, row, g) { \
	uint pixels_ = p.pixels, image_ = p.outB; \
	uint b_ = (row) / pixels_, q_ = (row) - b_ * pixels_, at_ = p.outBase + (g) * p.outG + b_ * image_ + q_; \
	[[unroll]] for (uint i_ = 0; i_ < ROWS; i_++) { \
		into[i_] = at_++; \
		q_++; \
		bool end_ = q_ == pixels_; \
		q_ = mix(q_, 0u, end_); \
		at_ += mix(0u, image_ - pixels_, end_); \
	} \
}

// STEP moves from a texel of the reduction to the next. at is the distance from the first one, and
// r counts the taps along two axes and the texels of a tap. TAPS are parameters, read once.
#define TAPS uvec3 ends_ = uvec3(p.r1, p.r2, p.c), nexts_ = uvec3(p.next0, p.next1, p.next2);
#define STEP(at, r) { \
	at++; \
	r.z++; \
	bool end_ = r.z == ends_.z; \
	at += mix(0u, nexts_.z, end_); \
	r.yz = mix(r.yz, uvec2(r.y + 1, 0), bvec2(end_)); \
	end_ = r.y == ends_.y; \
	at += mix(0u, nexts_.y, end_); \
	r.xy = mix(r.xy, uvec2(r.x + 1, 0), bvec2(end_)); \
	end_ = r.x == ends_.x; \
	at += mix(0u, nexts_.x, end_); \
	r.x = mix(r.x, 0u, end_); \
}
