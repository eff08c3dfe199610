// How the kernels of lib/binary.glsl that make whole packs read an operand: PACK_OF(name, i)
// is what pack i of the output takes.

#if defined(TEXEL) && !defined(REPEAT)
#define PACK_OF(name, i) FETCH(name, i)
#else
// one repeats element number e of the pack r throughout a pack.
uvec4 one(uvec4 r, uint e) {
#if BITS == 64
	return e == 0u ? r.xyxy : r.zwzw;
#else
	uint at = e * BITS / 32;
	uvec2 h = (at & 2u) != 0u ? r.zw : r.xy;
	uint w = (at & 1u) != 0u ? h.y : h.x;
#if BITS == 16
	w = ((w >> ((e & 1u) * 16)) & 0xffffu) * 0x10001u;
#endif
	return uvec4(w);
#endif
}
uvec4 load(uvec4 r, uint at, uint splat) { return splat != 0u ? one(r, at % PACK) : r; }

#if defined(TEXEL)
// A CPU driver divides lane by lane: once an invocation, which then goes on by
// addition. Walk is where an operand is: its pack or element, and the rest of the
// first division.
struct Walk { uint at, rest; };
Walk aWalk, bWalk;

Walk begin(uint i, uint div, uint mod) {
	uint d = max(div, 1u), q = i / d;
	return Walk(q % max(mod, 1u), i - q * d);
}

void advance(inout Walk w, uint div, uint mod, uint step_, uint rest) {
	w.rest += rest;
	bool over = w.rest >= div;
	w.rest -= mix(0u, div, over);
	w.at += step_ + mix(0u, 1u, over);
	w.at -= mix(0u, mod, w.at >= mod);
}

#define DEFINE_PACK_OF(name) \
uvec4 pack_##name(uint i) { \
	uint at = mix(name##Walk.at, i, p.name##Div == 0u); \
	advance(name##Walk, p.name##Div, p.name##Mod, p.name##Step, p.name##Rest); \
	return load(FETCH(name, p.name##Splat != 0u ? at / PACK : at), at, p.name##Splat); \
}
#else
#define DEFINE_PACK_OF(name) \
uvec4 pack_##name(uint i) { \
	if (p.name##Div != 0u) i = (p.first + i) / p.name##Div % p.name##Mod; \
	return load(FETCH(name, p.name##Splat != 0u ? i / PACK : i), i, p.name##Splat); \
}
#endif
DEFINE_PACK_OF(a)
DEFINE_PACK_OF(b)
#define PACK_OF(name, i) pack_##name(i)
#endif
