// The variants of lib/raw.glsl for functions of two or three elements that are broadcast together.
//
//lathe:variant u8 BITS=8
//lathe:variant u16 BITS=16
//lathe:variant u32 BITS=32
//lathe:variant u64 BITS=64
//lathe:variant u8.strided BITS=8 STRIDED
//lathe:variant u16.strided BITS=16 STRIDED
//lathe:variant u32.strided BITS=32 STRIDED
//lathe:variant u64.strided BITS=64 STRIDED
//lathe:variant u8.function BITS=8 FUNCTION
//lathe:variant u16.function BITS=16 FUNCTION
//lathe:variant u32.function BITS=32 FUNCTION
//lathe:variant u64.function BITS=64 FUNCTION

#include "lib/raw.glsl"
