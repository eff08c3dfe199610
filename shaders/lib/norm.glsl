// The last step of a norm: CENTRED(x, s)·scaleOf(s, n)·weight + offset. s is the accumulator
// of the row (lib/norm_stat.glsl), and each column has a pair of weight and offset.

#include "lib/affine.glsl"

#if REALS == 4
#define CENTRED(x, s) centred(x, s)
#define SQUARES(s) s.b
#include "lib/centred.glsl"
#else
#define CENTRED(x, s) (x)
#define SQUARES(s) s.a
#endif

REAL scaleOf(Accumulator s, uint n) { return REAL(1) / sqrt(SQUARES(s) / REAL(n) + (REAL(p.eps) + REAL(p.epsLow))); }

#if defined(AFFINE)
// apply is that of lib/apply.glsl.
REAL apply(REAL x, REAL y, Accumulator s, uint r) {
	uint column = p.first + r;
	uvec4 t = FETCH(affine, column / PAIRS);
	return CENTRED(x, s) * scaleOf(s, p.total) * PAIR_SCALE(t, column) + PAIR_SHIFT(t, column);
}
#endif
