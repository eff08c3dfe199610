// What the parts of fused kernels share: the numbers of a launch, and elements by fours. The
// variant defines the element type as in lib/dtype.glsl, which comes first, or U16 or U8, whose elements are
// their bits as lib/raw.glsl has them.
//
//   FOUR     four elements as functions take them
//   RAW      four elements as they lie in memory; of 64 bits two of these
//
// LANES: an invocation makes one element, and FOUR is one.

#extension GL_EXT_control_flow_attributes : require

// The words of a launch: 0 zero, 1 the quad (with LANES the element) of the output that it
// begins with, 2 elements. What operands and numbers need follows.
layout(push_constant) uniform Params { uint words[32]; } p;

#if defined(U16)
#define BITS 16
#define REAL uvec2
#elif defined(U8)
#define BITS 8
#define REAL uvec2
#endif

#if defined(LANES)
#define FOUR REAL
#elif defined(F32) || defined(F16) || defined(BF16)
#define FOUR vec4
#elif defined(F64)
#define FOUR dvec4
#elif defined(I32)
#define FOUR ivec4
#elif defined(I64) || defined(U16) || defined(U8)
#define FOUR uvec2[4]
#endif

#if BITS == 8
#define RAW uint
#elif BITS == 16
#define RAW uvec2
#elif defined(BITS)
#define RAW uvec4
#endif
