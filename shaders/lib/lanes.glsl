// Elementwise kernels for devices whose invocations are lanes of a vector of the processor.
// An invocation maps single elements, so that four neighbouring elements are one vector.
// Include after lib/packs.glsl.

#define HOST
#undef INPUT
#undef OUTPUT
#define INPUT(slot, name) layout(set = 0, binding = slot) readonly buffer name##Buffer { REAL name[]; }
#define OUTPUT(slot, name) layout(set = 0, binding = slot) writeonly buffer name##Buffer { REAL name[]; }

// EACH_ELEMENT(count, to, value) sets each element to[e] of the invocation to a value. All
// values are computed before the first one is stored, so that the processor can compute them
// at the same time.
#define EACH_ELEMENT(count, to, value) { \
	uint first_ = flatGroup() * (WG * PACK) + gl_LocalInvocationID.x; \
	if (first_ + WG * (PACK - 1) < (count)) { \
		REAL v_[PACK]; \
		[[unroll]] for (uint u_ = 0; u_ < PACK; u_++) { \
			uint e = first_ + u_ * WG; \
			v_[u_] = value; \
		} \
		[[unroll]] for (uint u_ = 0; u_ < PACK; u_++) to[first_ + u_ * WG] = v_[u_]; \
	} else { \
		[[dont_unroll]] for (uint e = first_; e < (count); e += WG) to[e] = value; \
	} \
}
