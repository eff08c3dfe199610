// Three by three neighbourhoods of pixels that are words, clamped at the edges of the image, for
// kernels with lib/stencil_params.glsl.

#include "lib/halves.glsl"

layout(set = 0, binding = 0) readonly buffer Src { int src[]; };
layout(set = 0, binding = 1) writeonly buffer Dst { int dst[]; };
#if defined(ALPHA)
layout(set = 0, binding = 2) readonly buffer Flags { uint flags[4]; };
#else
layout(set = 0, binding = 2) writeonly buffer Flags { uint flags[4]; };
#endif

const int OPAQUE = int(0xff000000u), EVEN = 0x00ff00ff;

// rowAt is where a row begins. Row 1 is the first one to make.
uint rowAt(uint y) {
	int last = int(min(p.height - 1, p.row + p.rows)); // the bound window may end there
	return p.srcBase + uint(clamp(int(p.row + y) - 1, 0, last)) * p.srcPitch;
}

uint leftOf(uint x) { return uint(max(int(x) - 1, 0)); }
uint rightOf(uint x) { return min(x + 1, p.width - 1); }

int pixel(uint row, uint x) { return src[row + x]; }
