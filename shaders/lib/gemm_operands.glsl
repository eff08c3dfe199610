// The operands of matrix products by tiles in shared memory, see lib/gemm_tiles.glsl. The bias and
// the operands that are read have the element type. The result has the type of the arithmetic.

#if BITS == 64
#define WORD uvec2
#define QUAD dvec4
#else
#define WORD uint
#define QUAD vec4
#endif

// ELEMENT is element e of an operand that is read.
#if BITS == 64
#define ELEMENT(name, e) packDouble2x32(name[e])
#elif BITS == 32
#define ELEMENT(name, e) uintBitsToFloat(name[e])
#else
#define ELEMENT(name, e) WIDEN(uvec4((name[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif

layout(set = 0, binding = 0) readonly buffer A { WORD a[]; };
layout(set = 0, binding = 1) readonly buffer B { WORD b[]; };
layout(set = 0, binding = 2) readonly buffer Bias { WORD bias[]; };
layout(set = 0, binding = 3) buffer C { REAL c[]; };
