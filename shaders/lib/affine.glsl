// Pairs of a weight and an offset for each column, in the type of the arithmetic,
// bound as the input AFFINE_SLOT.

#define AFFINE_PACKS (PACK * REAL_WORDS / 2) // packs with the pairs for one pack of elements

// pairOf is pair j of the packs that belong to a pack of elements. In f32 one pack has
// several pairs.
#if BITS == 64
#define PAIR_SCALE(t, j) packDouble2x32(t.xy)
#define PAIR_SHIFT(t, j) packDouble2x32(t.zw)
#define PAIRS 1
#else
#define PAIR_SCALE(t, j) uintBitsToFloat(((j) & 1u) != 0 ? t.z : t.x)
#define PAIR_SHIFT(t, j) uintBitsToFloat(((j) & 1u) != 0 ? t.w : t.y)
#define PAIRS 2
#endif
