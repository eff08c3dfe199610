// Which element an operand has that comes again and again: number i % mod (MOD) or i / div % mod (BOTH), where i is number k of an
// invocation: first + at + k·WG. Rows of the operand (MOD), or runs of equal elements (BOTH), are as long as a workgroup or
// several, and launches begin with such. So a workgroup needs one division. Those of other lengths (WRAP) may end once in a workgroup.
// No index is behind the operand, even where i is behind the last element.
//
//lathe:variant both BOTH
//lathe:variant mod MOD
//lathe:variant mod.wrap MOD WRAP
//lathe:variant both.wrap BOTH WRAP
#version 450
#extension GL_GOOGLE_include_directive : require
#define REAL uint
#include "lib/packs.glsl"
#include "lib/part.glsl"

#if defined(BOTH) && defined(WRAP)
uint linked(const uint at, const uint first, const uint begin, const uint k, const uint div, const uint mod) {
	uint i = first + begin + k * WG, run = i / div, from = run % mod;
	return mix(from, mix(from + 1, 0u, from + 1 == mod), i - run * div + (at - begin) >= div);
}
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4], any_[5], any_[6]); }
#elif defined(BOTH)
uint linked(const uint at, const uint first, const uint begin, const uint k, const uint div, const uint mod) { return (first + begin + k * WG) / div % mod; }
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4], any_[5], any_[6]); }
#else
#if defined(WRAP)
uint linked(const uint at, const uint first, const uint begin, const uint k, const uint mod) {
	uint i = (first + begin + k * WG) % mod + (at - begin);
	return min(i, i - mod); // i - mod is huge before the end
}
#else
uint linked(const uint at, const uint first, const uint begin, const uint k, const uint mod) { return (first + begin + k * WG) % mod + (at - begin); }
#endif
void main() { any_[0] = linked(any_[1], any_[2], any_[3], any_[4], any_[5]); }
#endif
