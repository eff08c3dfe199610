// image/median of bytes, without weights of alpha, for devices that run neighbouring invocations
// as one vector. Numbers have 16 bits, two of them a word: red and blue, green and alpha.
//
//lathe:variant u8 U8 ROWS=4
#version 450
#extension GL_GOOGLE_include_directive : require
#extension GL_EXT_control_flow_attributes : require

#include "lib/choice_halves.glsl"
