// Numbers with scales and zero points: one for all, one for each index of an axis, or one for each run of
// `block` indices. A tensor is [.., n, inner]. ONE: all elements have the same scale. The
// including file declares the parameters and the words of the scales and of the zero points.
//
//lathe:dtypes f32 f16 bf16
//lathe:variant *
//lathe:variant *.one ONE

#include "lib/dtype.glsl"
#include "lib/grid.glsl"

// floatOf is element e of an array of floats that lie in words.
#if BITS == 32
#define floatOf(words, e) uintBitsToFloat(words[e])
#else
#define floatOf(words, e) (WIDEN(uvec4((words[(e) >> 1] >> (16u * ((e) & 1u))) & 0xffffu)).x)
#endif

// byteOf is byte e of words, with a sign if the parameter says so.
#define byteOf(words, e) ((int((words[(e) >> 2] >> (8u * ((e) & 3u))) & 0xffu) ^ p.sign) - p.sign)

#if defined(ONE)
uint scaleOf(uint e) { return 0u; }
#else
// scaleOf is the number of the scale of an element, counted from that of the first one.
uint scaleOf(uint e) {
	uint row = e / p.inner, outer = row / p.n;
	return outer * p.scaleOuter + (p.phase + row - outer * p.n) / p.block * p.scaleRow + (e - row * p.inner) * p.scaleInner;
}
#endif
