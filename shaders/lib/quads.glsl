// Packs as vectors of four neighbouring elements, in f32: QUADS of them in a pack.
// For CPU drivers (see widenHalves).

#define QUADS (PACK / 4)

#if defined(F32)
vec4 quad(uvec4 r, uint i) { return uintBitsToFloat(r); }
#elif defined(F16)
vec4 quad(uvec4 r, uint i) { return widenHalves(i == 0 ? r.xy : r.zw); }
#elif defined(BF16)
vec4 quad(uvec4 r, uint i) {
	uvec2 w = i == 0 ? r.xy : r.zw;
	return uintBitsToFloat(uvec4(w.x << 16, w.x & 0xffff0000u, w.y << 16, w.y & 0xffff0000u));
}
#endif
