// The buffers of an image kernel and their packs, for pixels.glsl.

#if defined(U8) && defined(TEXEL)
const uint PACK = 4;
#else
const uint PACK = 1;
#endif

// A pack as it is loaded. Kernels load all packs first and unpack them late: on a CPU driver
// a load is a function call, and all live values are spilled to memory around it.
#if defined(SRC_SUM)
#define RAW float
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
#elif defined(SRC_WIDE) && defined(TEXEL)
#define RAW vec4
layout(set = 0, binding = 0) uniform samplerBuffer src;
#elif defined(SRC_WIDE)
#define RAW vec4
layout(set = 0, binding = 0) readonly buffer Src { vec4 src[]; };
#elif defined(U8) && defined(TEXEL)
#define RAW uvec4
layout(set = 0, binding = 0) uniform usamplerBuffer src;
#elif defined(U8) && defined(FETCH)
#define RAW uint
layout(set = 0, binding = 0) uniform usamplerBuffer src;
#elif defined(U8)
#define RAW uint
layout(set = 0, binding = 0) readonly buffer Src { uint src[]; };
#elif defined(TEXEL)
#define RAW vec4
layout(set = 0, binding = 0) uniform samplerBuffer src;
#else
#define RAW vec4
layout(set = 0, binding = 0) readonly buffer Src { float src[]; };
#endif

#if defined(SRC_WIDE)
const uint PACK_IN = 1; // pixels of a pack of the source
#else
const uint PACK_IN = PACK;
#endif

#if defined(DST_SUM)
layout(set = 0, binding = 1) buffer Dst { float dst[]; };
#elif defined(DST_WIDE) && defined(DST_READ)
layout(set = 0, binding = 1) buffer Dst { vec4 dst[]; };
#elif defined(DST_WIDE)
layout(set = 0, binding = 1) writeonly buffer Dst { vec4 dst[]; };
#elif defined(U8) && defined(TEXEL) && defined(DST_READ)
layout(set = 0, binding = 1) buffer Dst { uvec4 dst[]; };
#elif defined(U8) && defined(TEXEL)
layout(set = 0, binding = 1) writeonly buffer Dst { uvec4 dst[]; };
#elif defined(U8)
layout(set = 0, binding = 1) writeonly buffer Dst { uint dst[]; };
#elif defined(TEXEL)
layout(set = 0, binding = 1) writeonly buffer Dst { vec4 dst[]; };
#else
layout(set = 0, binding = 1) writeonly buffer Dst { float dst[]; };
#endif
