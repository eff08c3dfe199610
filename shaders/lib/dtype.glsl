// Elements of tensors. Memory is read and written in packs of 16 bytes, uvec4,
// which hold PACK elements of BITS bits. Arithmetic is done in REAL. The variant
// defines the element type. It defines TEXEL if inputs are texel buffers, which are faster
// on CPU drivers. No kernel asks which type it is compiled for.
//
//   F32, F64   themselves
//   F16, BF16  stored as such and computed in f32; storing rounds to nearest even
//   I32, I64   two's complement that wraps; I64 is a pair of words, low first

#extension GL_EXT_control_flow_attributes : require

#if defined(F32)
#define REAL float
#define PACK 4
#define BITS 32
#elif defined(F64)
#define REAL double
#define PACK 2
#define BITS 64
#elif defined(F16) || defined(BF16)
#define REAL float
#define PACK 8
#define BITS 16
#elif defined(I32)
#define REAL int
#define PACK 4
#define BITS 32
#elif defined(I64)
#define REAL uvec2
#define PACK 2
#define BITS 64
#elif BITS == 8
#define PACK 16
#endif

// halfBits rounds to IEEE binary16 (driver conversions may truncate). The sum
// with 0.5 rounds a subnormal at the right bit. Four at a time keeps modules
// small.
uvec4 halfBits(vec4 x) {
	uvec4 b = floatBitsToUint(x), sign = (b >> 16) & 0x8000u, a = b & 0x7fffffffu;
	uvec4 normal = (a + 0xc8000fffu + ((a >> 13) & 1u)) >> 13;
	precise vec4 shifted = uintBitsToFloat(a) + 0.5;
	uvec4 r = mix(normal, floatBitsToUint(shifted) - 0x3f000000u, lessThan(a, uvec4(0x38800000u)));
	r = mix(r, uvec4(0x7c00u), greaterThanEqual(a, uvec4(0x47800000u)));
	return sign | mix(r, uvec4(0x7e00u), greaterThan(a, uvec4(0x7f800000u)));
}

vec4 floatOfHalf(uvec4 h) {
	uvec4 e = h & 0x7c00u, a = (h & 0x7fffu) << 13;
	precise vec4 small = uintBitsToFloat(a + 0x38800000u) - uintBitsToFloat(0x38800000u);
	uvec4 r = a + mix(uvec4(0x38000000u), uvec4(0x70000000u), equal(e, uvec4(0x7c00u)));
	r = mix(r, floatBitsToUint(small), equal(e, uvec4(0)));
	return uintBitsToFloat(r | (h & 0x8000u) << 16);
}

// widenHalves leaves it to the driver, which on a CPU takes one instruction for it
// and is exact. GPUs may take subnormal numbers for 0.
vec4 widenHalves(uvec2 r) { return vec4(unpackHalf2x16(r.x), unpackHalf2x16(r.y)); }

// bfloatBits rounds to bfloat16, the upper half of a binary32.
uvec4 bfloatBits(vec4 x) {
	uvec4 b = floatBitsToUint(x);
	uvec4 r = (b + 0x7fffu + ((b >> 16) & 1u)) >> 16;
	return mix(r, (b >> 16) | 0x40u, greaterThan(b & 0x7fffffffu, uvec4(0x7f800000u)));
}

vec4 floatOfBfloat(uvec4 h) { return uintBitsToFloat(h << 16); }

// unpack gives the elements of a pack; repack is its inverse, rounding.
#if defined(F32)
REAL[PACK] unpack(uvec4 r) { vec4 v = uintBitsToFloat(r); return REAL[PACK](v.x, v.y, v.z, v.w); }
uvec4 repack(REAL v[PACK]) { return floatBitsToUint(vec4(v[0], v[1], v[2], v[3])); }
#elif defined(F64)
REAL[PACK] unpack(uvec4 r) { return REAL[PACK](packDouble2x32(r.xy), packDouble2x32(r.zw)); }
uvec4 repack(REAL v[PACK]) { return uvec4(unpackDouble2x32(v[0]), unpackDouble2x32(v[1])); }
#elif BITS == 16
#if defined(F16)
#define WIDEN floatOfHalf
#define NARROW halfBits
#else
#define WIDEN floatOfBfloat
#define NARROW bfloatBits
#endif
#if defined(F16) && defined(TEXEL) && defined(REDUCES)
REAL[PACK] unpack(uvec4 r) {
	vec4 low = widenHalves(r.xy), high = widenHalves(r.zw);
	return REAL[PACK](low.x, low.y, low.z, low.w, high.x, high.y, high.z, high.w);
}
#else
REAL[PACK] unpack(uvec4 r) {
	vec4 even = WIDEN(r & 0xffffu), odd = WIDEN(r >> 16);
	return REAL[PACK](even.x, odd.x, even.y, odd.y, even.z, odd.z, even.w, odd.w);
}
#endif
uvec4 repack(REAL v[PACK]) {
	return NARROW(vec4(v[0], v[2], v[4], v[6])) | NARROW(vec4(v[1], v[3], v[5], v[7])) << 16;
}
#elif defined(I32)
REAL[PACK] unpack(uvec4 r) { return REAL[PACK](int(r.x), int(r.y), int(r.z), int(r.w)); }
uvec4 repack(REAL v[PACK]) { return uvec4(v[0], v[1], v[2], v[3]); }
#elif defined(I64)
REAL[PACK] unpack(uvec4 r) { return REAL[PACK](r.xy, r.zw); }
uvec4 repack(REAL v[PACK]) { return uvec4(v[0], v[1]); }
#endif

// Drivers differ in comparisons with NaN, in isnan, min and max. They do not differ in bits.
#if defined(F64)
bool isNaN(double x) { uvec2 b = unpackDouble2x32(x); return (b.y & 0x7fffffffu) > 0x7ff00000u || ((b.y & 0x7fffffffu) == 0x7ff00000u && b.x != 0u); }
double infinity() { return packDouble2x32(uvec2(0u, 0x7ff00000u)); }
#else
bool isNaN(float x) { return (floatBitsToUint(x) & 0x7fffffffu) > 0x7f800000u; }
float infinity() { return uintBitsToFloat(0x7f800000u); }
#endif

// INPUT and OUTPUT declare an operand as name, FETCH reads pack i of an input,
// and STORE(name, i, r, n) writes the first n elements of pack i, leaving what
// follows in memory as it is.
#if defined(TEXEL)
#define INPUT(slot, name) layout(set = 0, binding = slot) uniform usamplerBuffer name
#define FETCH(name, i) texelFetch(name, int(i))
#else
#define INPUT(slot, name) layout(set = 0, binding = slot) readonly buffer name##Buffer { uvec4 name[]; }
#define FETCH(name, i) name[i]
#endif

#include "lib/store.glsl"
