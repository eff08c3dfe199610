// e^x − 1 of x ≤ 0, for the exponential linear units.

#include "lib/math.glsl"

// expm1Down is e^x − 1 of x ≤ 0. Below −40 it is −1 in REAL.
REAL expm1Down(REAL x) { return expm1Real(mix(x, REAL(-40), x < REAL(-40))); }
