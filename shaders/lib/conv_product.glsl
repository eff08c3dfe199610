// The parameters of the kernels that compute a convolution as a matrix product whose second
// operand is gathered from the input: A is the filter, with a row for each channel of the result.
// The k of the product counts the channels of the input, and the taps of each. B has a column for
// each position of the result, in all images. The z of a grid counts the groups, and for each the
// parts of k.

layout(push_constant) uniform Params {
	uint m;         // channels of the result in a group
	uint n;         // positions of the result, in all images
	uint k;         // length of a part of k
	uint kAll;      // of all parts: the last ones may be shorter
	uint partsFlip; // parts; << 16: 1 if the taps lie in reverse order
	uint aBase;
	uint aG;
	uint aRow;
	uint aC;
	uint taps;
	uint r1R2; // taps along an axis; << 16: along the next one
	uint pixels; // positions of an image
	uint plane;  // of a plane
	uint line;   // of a line
	uint i0;     // size of the input
	uint i1;
	uint i2;
	uint sD0; // step from position to position, or distance between elements of the input with APART;
	uint sD1; // << 16: from tap to tap
	uint sD2;
	int p0; // first position
	int p1;
	int p2;
	uint inBase;
	uint inB;
	uint inG;
	uint inC;
	uint outBase;
	uint outB;
	uint outG; // also from part to part of k
	uint outK;
	uint biasBase; // 0xffffffff: no bias; 0xfffffffe: add to the result
} p;

uvec3 low(uvec3 v) { return v & 0xffffu; }
uvec3 high(uvec3 v) { return v >> 16; }

// quotient divides numbers less than 2²⁰ by one whose inverse is known. The half keeps the product as
// far from whole numbers as rounding cannot reach.
uint quotient(uint n, float inverse) { return uint(int((float(int(n)) + 0.5) * inverse)); }

// flat is the distance of an element of the input from the first one of its channel.
uint flat_(ivec3 at) { return uint((at.x * int(p.i1) + at.y) * int(p.i2) + at.z); }

// Taps holds what finds the taps of an index of k. Its numbers are read once.
struct Taps { uint all, after1, after2; float perAll, per1, per2; };

Taps tapsOf() {
	uint r1 = p.r1R2 & 0xffffu, r2 = p.r1R2 >> 16, r12 = r1 * r2;
	return Taps(p.taps, r12, r2, 1.0 / float(p.taps), 1.0 / float(r12), 1.0 / float(r2));
}

// tapOf returns the channel of an index of k, and its tap along each axis.
uint tapOf(Taps t, uint k, out ivec3 r) {
	uint c = quotient(k, t.perAll), rest = k - c * t.all;
	uint r0 = quotient(rest, t.per1);
	rest -= r0 * t.after1;
	uint r1 = quotient(rest, t.per2);
	r = ivec3(r0, r1, rest - r1 * t.after2);
	return c;
}

// Column is where the taps of a position of the result lie: their first coordinates, and the element of
// the input at these. With APART, coordinates are those of elements of the input. rest are the
// places after them, and from is the first element of the channel.
struct Column {
	ivec3 at;
#if defined(APART)
	ivec3 rest;
#endif
	uint from;
};

Column columnOf(uint i, uint g) {
	uint b = i / p.pixels;
	i -= b * p.pixels;
	uint plane = i / p.plane;
	i -= plane * p.plane;
	uint line = i / p.line;
	ivec3 o = ivec3(plane, line, i - line * p.line), first = ivec3(p.p0, p.p1, p.p2), step_ = ivec3(low(uvec3(p.sD0, p.sD1, p.sD2)));
	uint from = p.inBase + g * p.inG + b * p.inB;
#if defined(APART)
	ivec3 position = o + first, at = position / step_, rest = position - at * step_;
	bvec3 before = lessThan(rest, ivec3(0)); // The quotient was rounded up.
	return Column(mix(at, at - 1, before), mix(rest, rest + step_, before), from);
#else
	ivec3 at = o * step_ + first;
	return Column(at, from + flat_(at));
#endif
}

// Offset is how far a tap lies from the first one, in coordinates like those of a column, and in
// elements.
struct Offset {
	ivec3 by;
#if defined(APART)
	ivec3 rest;
#endif
	uint elements;
};

Offset offsetOf(Taps t, uint k) {
	ivec3 r;
	uint c = tapOf(t, k, r);
	uvec3 steps = uvec3(p.sD0, p.sD1, p.sD2);
	r *= ivec3(high(steps));
#if defined(APART)
	ivec3 apart = ivec3(low(steps)), by = r / apart;
	return Offset(by, r - by * apart, c * p.inC);
#else
	return Offset(r, c * p.inC + flat_(r));
#endif
}

// elementAt returns the element of the input at a tap of a position. inside is false where there
// is none. Such a product is one with 0, but nothing else is read for it.
uint elementAt(Column v, Offset t, out bool inside) {
	ivec3 at = v.at + t.by;
#if defined(APART)
	ivec3 apart = ivec3(low(uvec3(p.sD0, p.sD1, p.sD2))), rest = v.rest + t.rest;
	bvec3 next = equal(rest, apart);
	at += mix(ivec3(0), ivec3(1), next);
	inside = all(bvec2(all(lessThan(uvec3(at), uvec3(p.i0, p.i1, p.i2))), all(equal(mix(rest, ivec3(0), next), ivec3(0)))));
	uint e = v.from + t.elements + flat_(at);
#else
	inside = all(lessThan(uvec3(at), uvec3(p.i0, p.i1, p.i2)));
	uint e = v.from + t.elements;
#endif
	return mix(0u, e, inside);
}
