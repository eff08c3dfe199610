// Columns put back into an image, where those that overlap are added. The tensors are
// [planes, k, k, k, o, o, o], which is read, and [planes, n, n, n]. Element y of the image gets
// tap t of window w where w·stride + t·dilation = y, counted from the pad. The taps of an
// element that are in a window are every few: a loop passes over no others. A launch reads a part
// of the taps.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL

#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/accumulator.glsl"
#include "lib/element.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, outBase;    // elements, and the first one in all that is written
	uint stage;             // 1: the first taps are here, 2: the last ones are
	uint n[3];              // the size of the part of the image
	uint s[3], d[3];        // strides and dilations
	uint every[3];          // from a tap in a window to the next: the stride without common factors
	uint inverse[3];        // of the dilation without common factors, modulo every
	int y[3];               // the first coordinate, counted from the pad and the first tap
	uint o[3], take[3];     // the number of windows, and of taps here
	uint k0, k1, k2;        // the number of all taps
	int inBase;             // where the first tap of the first plane begins
} p;

INPUT_WORDS(0, src);
layout(set = 0, binding = 1) buffer AccumulatorBuffer { uint accumulators[]; };
OUTPUT_WORDS(2, dst);

// taps is the first tap at coordinate y along dimension k that is in a window, and where they end.
uvec2 taps(uint k, int y) {
	uint at = uint(max(y, 0)), last = (p.o[k] - 1u) * p.s[k], every = p.every[k], both = p.s[k] / every;
	uint from = (max(at, last) - last + p.d[k] - 1u) / p.d[k];
	uint first = at / both % every * p.inverse[k] % every;
	from += (first + every - from % every) % every;
	return uvec2(from, mix(0u, min(at / p.d[k] + 1u, p.take[k]), all(bvec2(y >= 0, at % both == 0u))));
}

REAL elementOf(uint e, bool own) {
	Accumulator a;
	a.a = REAL(0);
	uint slot = (p.outBase + e) * ACCUMULATOR_WORDS;
	if ((p.stage & 1u) == 0u) GET_ACCUMULATOR(a, accumulators, slot)
	int y2 = p.y[2] + int(e % p.n[2]);
	uint rest = e / p.n[2];
	int y1 = p.y[1] + int(rest % p.n[1]);
	rest /= p.n[1];
	int y0 = p.y[0] + int(rest % p.n[0]);
	uvec2 t0 = taps(0, y0), t1 = taps(1, y1), t2 = taps(2, y2);
	uint o1 = p.o[1], o2 = p.o[2], k1 = p.k1, k2 = p.k2, area = p.o[0] * o1 * o2;
	uvec3 s = uvec3(p.s[0], p.s[1], p.s[2]), d = uvec3(p.d[0], p.d[1], p.d[2]), every = uvec3(p.every[0], p.every[1], p.every[2]);
	uint plane = uint(p.inBase) + rest / p.n[0] * p.k0 * k1 * k2 * area;
	for (uint i = t0.x; i < t0.y; i += every.x) {
		uint w0 = (uint(y0) - i * d.x) / s.x * o1;
		REAL sum = REAL(0);
		for (uint j = t1.x; j < t1.y; j += every.y) {
			uint w1 = (w0 + (uint(y1) - j * d.y) / s.y) * o2, row = plane + (i * k1 + j) * k2 * area + w1;
			REAL part = REAL(0);
			for (uint k = t2.x; k < t2.y; k += every.z) part += ELEMENT(src, row + k * area + (uint(y2) - k * d.z) / s.z);
			sum += part;
		}
		a.a += sum;
	}
	if (all(bvec2(own, (p.stage & 2u) == 0u))) PUT_ACCUMULATOR(accumulators, slot, a)
	return a.a;
}

void main() {
	ELEMENTS(dst, p.outBase, p.count, elementOf)
}
