// The median of three by three pixels, for each colour on its own. Alpha stays as it is, or
// colours are multiplied by it first, its median is computed too, and colours are divided by that
// afterwards. An invocation makes ROWS rows of a pack. image/median_search does other sizes.
//
// The .alpha variants weigh colours by alpha. They run after the others, and do nothing unless
// those have found a pixel that is not opaque. For opaque pixels the results are the same.
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/choice.glsl"
