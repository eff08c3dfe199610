// A value of which no compiler knows that it is x: the second operand of a function. Drivers make 0 of x - x, also
// where x is infinite. zero is 0. It is another function than that of veil.comp, whose result x may be.
//
//lathe:dtypes f32 f64
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(F64)
REAL linked(const REAL x, const uint zero) { return packDouble2x32(unpackDouble2x32(x) | zero); }
#else
REAL linked(const REAL x, const uint zero) { return uintBitsToFloat(floatBitsToUint(x) | zero); }
#endif
void main() { any_[1] = linked(any_[0], 0u); }
