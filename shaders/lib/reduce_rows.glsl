// The rows of lib/reduce.glsl. A row may begin within a pack. The packs at both ends then
// have elements of other rows, which are left out by their index.

#if defined(TEXEL)
#define LANES 1u
#else
#define LANES p.lanes
#endif

// LOCAL is the number of the invocation in its workgroup. gl_LocalInvocationID does not say
// to which subgroup an invocation belongs.
#if defined(SUBGROUP)
#define LOCAL (gl_SubgroupID * gl_SubgroupSize + gl_SubgroupInvocationID)
#else
#define LOCAL gl_LocalInvocationID.x
#endif

// reduceChunk reduces this invocation's part of chunk c of a row.
Accumulator reduceChunk(uint row, uint c, uint lane) {
	uint n = p.n, last = p.last, steps = p.chunk, stride = LANES;
	uint start = p.base + row * n;
	uint pack = start / PACK + c * steps * (UNROLL * stride) + lane;
	Accumulator s = identity();
	for (uint k = 0; k < steps; k++) {
		uvec4 raw[UNROLL];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) raw[u] = FETCH(src, min(pack + u * stride, last));
#if INPUTS == 2
		uvec4 raw2[UNROLL];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) raw2[u] = FETCH(src2, min(pack + u * stride, last));
#endif
		Elem v[BLOCK];
		uint at[BLOCK];
		[[unroll]] for (uint u = 0; u < UNROLL; u++) {
			REAL e[PACK] = unpack(raw[u]);
#if INPUTS == 2
			REAL f[PACK] = unpack(raw2[u]);
			[[unroll]] for (uint j = 0; j < PACK; j++) v[u * PACK + j] = Elem(e[j], f[j]);
#else
			[[unroll]] for (uint j = 0; j < PACK; j++) v[u * PACK + j] = e[j];
#endif
			uint first = (pack + u * stride) * PACK - start; // wraps around before the row
			[[unroll]] for (uint j = 0; j < PACK; j++) at[u * PACK + j] = first + j;
		}
		accumulate(s, v, at, n);
		pack += UNROLL * stride;
	}
	return s;
}

#if defined(TEXEL)
Accumulator gather(Accumulator s, uint lane) { return s; }
#elif defined(SUBGROUP)
shared Accumulator tree[WG / 4]; // one for each subgroup, which has four invocations or more

Accumulator across(Accumulator s, uint mask) {
	Accumulator t;
	t.a = subgroupShuffleXor(s.a, mask);
#if REALS > 1
	t.b = subgroupShuffleXor(s.b, mask);
#endif
#if REALS == 4
	t.c = subgroupShuffleXor(s.c, mask);
	t.d = subgroupShuffleXor(s.d, mask);
#endif
#if defined(INDEXED)
	t.index = subgroupShuffleXor(s.index, mask);
#endif
	return t;
}

// gather merges the accumulators of the invocations that share a chunk. The order is always
// the same: first those of a subgroup, in registers, then those of the subgroups one after
// the other. All invocations must call it.
Accumulator gather(Accumulator s, uint lane) {
	uint size = gl_SubgroupSize, most = min(p.lanes, size);
	for (uint h = 1; h < most; h *= 2) {
		Accumulator t = across(s, h);
		if ((lane & h) != 0) s = merge(t, s);
		else s = merge(s, t);
	}
	if (p.lanes > size) {
		if (subgroupElect()) tree[gl_SubgroupID] = s;
		barrier();
		uint first = (LOCAL - lane) / size, count = p.lanes / size;
		s = tree[first];
		for (uint i = 1; i < count; i++) s = merge(s, tree[first + i]);
	}
	return s;
}
#else
shared Accumulator tree[WG];

// gather merges the accumulators of the invocations that share a chunk. The order is always
// the same.
Accumulator gather(Accumulator s, uint lane) {
	uint l = gl_LocalInvocationID.x;
	tree[l] = s;
	barrier();
	for (uint h = p.lanes / 2; h > 0; h /= 2) {
		if (lane < h) tree[l] = merge(tree[l], tree[l + h]);
		barrier();
	}
	return tree[l - lane];
}
#endif

#if !defined(NO_MAIN)
layout(set = 0, binding = OUT_SLOT) writeonly buffer Made { uint made[]; };

void main() {
	uint i = flatGroup() * WG + LOCAL;
	uint lane = i & (LANES - 1u), unit = i / LANES;
	uint c = unit % p.chunks, row = unit / p.chunks;
	Accumulator s = identity();
	if (row < p.outer) s = reduceChunk(row, c, lane);
	s = gather(s, lane);
	if (row < p.outer && lane == 0) {
		s = finish(s);
		PUT_ACCUMULATOR(made, p.outBase + unit * ACCUMULATOR_WORDS, s);
	}
}
#endif
