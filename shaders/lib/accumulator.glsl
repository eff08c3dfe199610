// The accumulators of reductions: REALS values (1, 2 or 4), and an index if INDEXED.
// In memory they are words.

#if defined(SUM64)
#include "lib/widen.glsl"
#endif
#if BITS == 64 || defined(SUM64)
#define REAL_WORDS 2
#else
#define REAL_WORDS 1
#endif

// The compiled modules have the name State. Another name would change all of them.
#define Accumulator State

struct Accumulator {
	REAL a;
#if REALS > 1
	REAL b;
#endif
#if REALS == 4
	REAL c, d;
#endif
#if defined(INDEXED)
	uint index;
#endif
};

#if defined(F64)
#define GET_REAL(to, name, i) to = packDouble2x32(uvec2(name[i], name[(i) + 1]))
#define PUT_REAL(name, i, value) { uvec2 w_ = unpackDouble2x32(value); name[i] = w_.x; name[(i) + 1] = w_.y; }
#elif defined(I64)
#define GET_REAL(to, name, i) to = uvec2(name[i], name[(i) + 1])
#define PUT_REAL(name, i, value) { uvec2 w_ = value; name[i] = w_.x; name[(i) + 1] = w_.y; }
#elif defined(I32)
#define GET_REAL(to, name, i) to = int(name[i])
#define PUT_REAL(name, i, value) name[i] = uint(value)
#else
#define GET_REAL(to, name, i) to = uintBitsToFloat(name[i])
#define PUT_REAL(name, i, value) name[i] = floatBitsToUint(value)
#endif

#if defined(INDEXED)
#define ACCUMULATOR_WORDS (REALS * REAL_WORDS + 1)
#define GET_INDEX(s, name, i) s.index = name[i]
#define PUT_INDEX(name, i, s) name[i] = s.index
#else
#define ACCUMULATOR_WORDS (REALS * REAL_WORDS)
#define GET_INDEX(s, name, i)
#define PUT_INDEX(name, i, s)
#endif

// GET_ACCUMULATOR reads the accumulator at word i of a buffer of words.
// PUT_ACCUMULATOR writes it.
#if REALS == 1
#define GET_REALS(s, name, i) GET_REAL(s.a, name, i)
#define PUT_REALS(name, i, s) PUT_REAL(name, i, s.a)
#elif REALS == 2
#define GET_REALS(s, name, i) GET_REAL(s.a, name, i); GET_REAL(s.b, name, (i) + REAL_WORDS)
#define PUT_REALS(name, i, s) PUT_REAL(name, i, s.a); PUT_REAL(name, (i) + REAL_WORDS, s.b)
#else
#define GET_REALS(s, name, i) GET_REAL(s.a, name, i); GET_REAL(s.b, name, (i) + REAL_WORDS); GET_REAL(s.c, name, (i) + 2 * REAL_WORDS); GET_REAL(s.d, name, (i) + 3 * REAL_WORDS)
#define PUT_REALS(name, i, s) PUT_REAL(name, i, s.a); PUT_REAL(name, (i) + REAL_WORDS, s.b); PUT_REAL(name, (i) + 2 * REAL_WORDS, s.c); PUT_REAL(name, (i) + 3 * REAL_WORDS, s.d)
#endif
#define GET_ACCUMULATOR(s, name, i) { uint at_ = i; GET_REALS(s, name, at_); GET_INDEX(s, name, at_ + REALS * REAL_WORDS); }
#define PUT_ACCUMULATOR(name, i, s) { uint at_ = i; PUT_REALS(name, at_, s); PUT_INDEX(name, at_ + REALS * REAL_WORDS, s); }
