// The weighted sums of a Gaussian blur. Include after pixels.glsl. The kernel defines ROWS,
// and RADIUS or TAPS; with TAPS it has p.radius and p.steps. It also defines SUM (vec3 or
// vec4), a function taken, which makes a SUM of pixel k of a pack, and SEE, which gets every
// pack of the source at least once. The weights are at binding 2.

#if defined(TEXEL)
layout(set = 0, binding = 2) uniform samplerBuffer weights;
#define WEIGHTS(i) texelFetch(weights, int(i))
#else
layout(set = 0, binding = 2) readonly buffer Weights { vec4 weights[]; };
#define WEIGHTS(i) weights[i]
#endif

// PART is what the lines of a step are added to. Where components are floats, each step has a sum of its own, which is then added to the
// whole. Where many lines are alike, each addition to a large sum may round the same way, so there are as few as possible.
// Components of bytes need no such care.
#if defined(U8)
#define PART sum[r][k]
#else
#define PART part
#endif

// sumUp adds weighted lines to the sums of ROWS pixels, from line `at` on. Line i lies at
// from + i·by, and last is the last one. Both forms add in the same order, so their results
// are the same bit for bit.
#if defined(RADIUS)
void sumUp(uint from, uint by, int at, int last, inout SUM sum[ROWS][PACK_IN]) {
	const uint LINES = ROWS + 2 * RADIUS;
	vec4 w[RADIUS / 4 + 1]; // the first half and the middle: the rest is its mirror image
	[[unroll]] for (uint q = 0; q <= RADIUS / 4; q++) w[q] = WEIGHTS(q);
	RAW v[LINES];
	[[unroll]] for (uint t = 0; t < LINES; t++) v[t] = fetchPack(from + uint(clamp(at - RADIUS + int(t), 0, last)) * by);
	[[unroll]] for (uint t = RADIUS; t < RADIUS + ROWS; t++) { SEE(v[t]) }
	[[unroll]] for (uint k = 0; k < PACK_IN; k++) {
		SUM c[LINES];
		[[unroll]] for (uint t = 0; t < LINES; t++) c[t] = taken(v[t], k);
		[[unroll]] for (uint r = 0; r < ROWS; r++) {
			[[unroll]] for (uint i = 0; i <= 2 * RADIUS; i++) {
				uint m = i < RADIUS ? i : 2 * RADIUS - i;
				sum[r][k] = fma(c[r + i], SUM(w[m / 4][m % 4]), sum[r][k]);
			}
		}
	}
}
#else
void sumUp(uint from, uint by, int at, int last, inout SUM sum[ROWS][PACK_IN]) {
	const uint FOURS = (TAPS + ROWS + 2) / 4; // vectors of weights a step needs
	at -= int(p.radius);
	uint steps = p.steps;
	for (uint s = 0; s < steps; s++) {
		vec4 w[FOURS];
		[[unroll]] for (uint q = 0; q < FOURS; q++) w[q] = WEIGHTS(s * (TAPS / 4) + q);
		RAW v[TAPS];
		[[unroll]] for (uint t = 0; t < TAPS; t++) v[t] = fetchPack(from + uint(clamp(at + int(t), 0, last)) * by);
		[[unroll]] for (uint t = 0; t < TAPS; t++) { SEE(v[t]) }
		[[unroll]] for (uint k = 0; k < PACK_IN; k++) {
			SUM c[TAPS];
			[[unroll]] for (uint t = 0; t < TAPS; t++) c[t] = taken(v[t], k);
			[[unroll]] for (uint r = 0; r < ROWS; r++) {
#if !defined(U8)
				SUM part = SUM(0);
#endif
				[[unroll]] for (uint t = 0; t < TAPS; t++) {
					uint i = t + ROWS - 1 - r;
					PART = fma(c[t], SUM(w[i / 4][i % 4]), PART);
				}
#if !defined(U8)
				sum[r][k] += part;
#endif
			}
		}
		at += int(TAPS);
	}
}
#endif
