// The order of elements: keep is the larger of two, where NaN is larger than all. flip turns
// the order around if the sign is negative. LEAST is an element that is not larger than any other.
// larger says that a is larger than b, where none is NaN. With UNSIGNED, integers have no sign.
// Include after lib/dtype.glsl. Selections are mix, as docs/shaders.md explains.

int flip(int x, float sign) { return mix(x, ~x, sign < 0.0); }
uvec2 flip(uvec2 x, float sign) { return mix(x, ~x, bvec2(sign < 0.0)); }
float flip(float x, float sign) { return x * sign; }
#if defined(UNSIGNED)
#define SIGN 0u
bool larger(int a, int b) { return uint(a) > uint(b); }
#else
#define SIGN 0x80000000u
bool larger(int a, int b) { return a > b; }
#endif
// The words of 64 bits are compared as unsigned ones, the high one with its sign turned.
bool larger(uvec2 a, uvec2 b) {
	uint ah = a.y ^ SIGN, bh = b.y ^ SIGN;
	return mix(ah > bh, a.x > b.x, ah == bh);
}
int keep(int a, int b) { return mix(a, b, larger(b, a)); }
uvec2 keep(uvec2 a, uvec2 b) { return mix(a, b, bvec2(larger(b, a))); }

#if defined(I64)
#define LEAST uvec2(0u, SIGN)
#elif defined(I32)
#define LEAST int(SIGN)
#else
#define LEAST (-infinity())
bool larger(REAL a, REAL b) { return a > b; }
// A comparison with NaN may give anything.
REAL keep(REAL a, REAL b) {
	REAL m = mix(a, b, b > a);
	m = mix(m, b, isNaN(b));
	return mix(m, a, isNaN(a));
}
#endif
#if defined(F64)
double flip(double x, float sign) { return x * double(sign); }
#endif

// choose is b where ok, and a elsewhere.
REAL choose(REAL a, REAL b, bool ok) {
#if defined(I64)
	return mix(a, b, bvec2(ok));
#else
	return mix(a, b, ok);
#endif
}
