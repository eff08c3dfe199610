// The variants of filters that weigh by alpha, over lib/stencil.glsl. Those with ALPHA
// come after the others and make what those have met that is not opaque.
//
//lathe:dtypes u8 f32
//lathe:variant * ROWS=4
//lathe:variant *.texel TEXEL ROWS=4
//lathe:variant *.alpha ALPHA ROWS=4
//lathe:variant *.alpha.texel TEXEL ALPHA ROWS=4

#include "lib/stencil.glsl"
