// The least or the most of three by three pixels, for each colour on its own, as image/median
// chooses the middle one. image/window does other sizes.
//
//lathe:dtypes u8 f32
//lathe:variant *.min MIN ROWS=4
//lathe:variant *.min.texel MIN TEXEL ROWS=4
//lathe:variant *.min.alpha MIN ALPHA ROWS=4
//lathe:variant *.min.alpha.texel MIN TEXEL ALPHA ROWS=4
//lathe:variant *.max MAX ROWS=4
//lathe:variant *.max.texel MAX TEXEL ROWS=4
//lathe:variant *.max.alpha MAX ALPHA ROWS=4
//lathe:variant *.max.alpha.texel MAX TEXEL ALPHA ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/choice.glsl"
