// Workgroups of WG invocations, each of which makes PACKS packs.

#if defined(TEXEL)
#define WG 256
#define PACKS 4
#else
#define WG 64
#define PACKS 1
#endif
layout(local_size_x = WG) in;
