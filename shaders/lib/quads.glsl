// Packs as vectors of neighbouring elements in 16 bytes of the arithmetic: four of f32, or two of f64. There are QUADS of
// them in a pack. For CPU drivers (see widenHalves).

#if defined(F64)
#define QUADS 1
#define VEC dvec2
#else
#define QUADS (PACK / 4)
#define VEC vec4
#endif

#if defined(F64)
dvec2 quad(uvec4 r, uint i) { return dvec2(packDouble2x32(r.xy), packDouble2x32(r.zw)); }
#elif defined(F32)
vec4 quad(uvec4 r, uint i) { return uintBitsToFloat(r); }
#elif defined(F16)
vec4 quad(uvec4 r, uint i) { return widenHalves(i == 0 ? r.xy : r.zw); }
#elif defined(BF16)
vec4 quad(uvec4 r, uint i) {
	uvec2 w = i == 0 ? r.xy : r.zw;
	return uintBitsToFloat(uvec4(w.x << 16, w.x & 0xffff0000u, w.y << 16, w.y & 0xffff0000u));
}
#endif

// OPERAND declares an operand in the type of the arithmetic, and VECTOR is vector i of it.
#if defined(F64)
#define OPERAND(slot, name) layout(set = 0, binding = slot) uniform usamplerBuffer name
#define VECTOR(name, i) quad(texelFetch(name, i), 0)
#else
#define OPERAND(slot, name) layout(set = 0, binding = slot) uniform samplerBuffer name
#define VECTOR(name, i) texelFetch(name, i)
#endif
