// A table of weights for lib/element.glsl. Entry i is for row i of the result. It consists of words:
//
//   the first row of the source that has a weight, and OUTSIDE if the result is the fill value;
//   a number that does not fall from an entry to the next: how far the entry reaches;
//   the sum of all weights, and the weights of the row and of those after it, as REAL.

#include "lib/accumulator.glsl"

#define OUTSIDE 0x80000000u
#define HEAD 2u
// weightWord is the word of weight k of the entry at word h.
#define WEIGHT_WORD(h, k) ((h) + HEAD + (1u + (k)) * REAL_WORDS)
#define SUM_WORD(h) ((h) + HEAD)
