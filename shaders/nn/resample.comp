// Rows of a tensor [blocks, rows, columns] as weighted sums of the rows of another one, with weights from
// nn/resample_table or nn/resample_transpose. An element of weight 0 does not count, whatever it is. A launch
// makes a part of the output that is contiguous, from a part of the weights of each row. Where there are
// other parts, an accumulator carries the sum from a launch to the next.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant {f32,f16,bf16}.texel TEXEL
//lathe:variant {f16,bf16}.from WIDE_OUT
//lathe:variant {f16,bf16}.from.texel WIDE_OUT TEXEL
//lathe:variant {f16,bf16}.to WIDE_IN
//lathe:variant {f16,bf16}.to.texel WIDE_IN TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#define REALS 1
#include "lib/dtype.glsl"
#include "lib/grid.glsl"
#include "lib/resample.glsl"
#include "lib/element.glsl"

#if defined(TEXEL)
#define WG 256
#else
#define WG 64
#endif
layout(local_size_x = WG) in;

layout(push_constant) uniform Params {
	uint count, outBase;    // elements, and the first one in all that is written
	uint stage;             // 1: the first weights are here, 2: the last ones are
	uint rows, columns;     // of a block of this part
	uint pitch, block;      // from row to row and from block to block of the input
	int inBase;             // where row 0 of the first block of the input begins
	uint tableBase, entry;  // the word of the first entry, and words of an entry
	uint low, high;         // the weights that count here
	uint fill[2];           // the value of rows outside, as REAL
} p;

INPUT_WORDS(0, src);
layout(set = 0, binding = 1) readonly buffer Table { uint table[]; };
layout(set = 0, binding = 2) buffer AccumulatorBuffer { uint accumulators[]; };
OUTPUT_WORDS(3, dst);

REAL elementOf(uint e, bool own) {
	uint column = e % p.columns, rest = e / p.columns;
	uint row = rest % p.rows, h = p.tableBase + row * p.entry, first = table[h];
	uint pitch = p.pitch, at = uint(p.inBase) + rest / p.rows * p.block + ((first & ~OUTSIDE) + p.low) * pitch + column;
	uint slot = (p.outBase + e) * REAL_WORDS;
	REAL a = REAL(0), total, fill;
	if ((p.stage & 1u) == 0u) GET_REAL(a, accumulators, slot);
	GET_REAL(total, table, SUM_WORD(h));
	uint k = WEIGHT_WORD(h, p.low), end = WEIGHT_WORD(h, p.high);
	for (; k < end; k += REAL_WORDS) {
		REAL w;
		GET_REAL(w, table, k);
		a += mix(w * ELEMENT(src, at), REAL(0), w == REAL(0));
		at += pitch;
	}
	if (all(bvec2(own, (p.stage & 2u) == 0u))) PUT_REAL(accumulators, slot, a);
	GET_REAL(fill, p.fill, 0);
	return mix(a / total, fill, (first & OUTSIDE) != 0u);
}

void main() {
	ELEMENTS(dst, p.outBase, p.count, elementOf)
}
