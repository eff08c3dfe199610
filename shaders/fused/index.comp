// Which quad or element an operand has that comes again and again: number i / div % mod, or one of both. The host computes the factors of
// products that are the quotients. BITS: div is 1 << shift and mod is mask + 1. HALF: the quad that word i of two elements is in.
//
//lathe:variant half HALF
//lathe:variant bits BITS
//lathe:variant both BOTH
//lathe:variant div DIV
//lathe:variant mod MOD
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(HALF)
uint linked(const uint i) { return i >> 1; }
void main() { any_[0] = linked(any_[1]); }
#elif defined(BITS)
uint linked(const uint quad, const uint first, const uint shift, const uint mask) { return ((first + quad) >> shift) & mask; }
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4]); }
#else
// quotient is n / d for a number n below 2^31, where the launch knows m and s of d.
uint quotient(uint n, uint m, uint s) {
	uint high, low;
	umulExtended(n, m, high, low);
	return high >> s;
}
uint rest(uint n, uint m, uint s, uint d) { return n - quotient(n, m, s) * d; }
#if defined(BOTH)
uint linked(const uint quad, const uint first, const uint m, const uint s, const uint m2, const uint s2, const uint mod) {
	return rest(quotient(first + quad, m, s), m2, s2, mod);
}
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4], any_[5], any_[6], any_[7]); }
#elif defined(DIV)
uint linked(const uint quad, const uint first, const uint m, const uint s) { return quotient(first + quad, m, s); }
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4]); }
#else
uint linked(const uint quad, const uint first, const uint m, const uint s, const uint mod) { return rest(first + quad, m, s, mod); }
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4], any_[5]); }
#endif
#endif
