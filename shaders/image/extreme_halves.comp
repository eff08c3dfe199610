// image/extreme of bytes, without weights of alpha, for devices that run neighbouring invocations
// as one vector.
//
//lathe:variant u8.min U8 MIN ROWS=4
//lathe:variant u8.max U8 MAX ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/choice_halves.glsl"
