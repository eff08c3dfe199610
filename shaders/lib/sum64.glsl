// lib/reduce.glsl for sums of 64 bits of integers of any size. An element becomes a pair of words, low first, so that
// the accumulators are those of i64. Integers with and without a sign share
// kernels: p.sign is 0 if the elements have none.
//
//lathe:dtypes i8 i16 i32
//lathe:variant *.rows ROWS
//lathe:variant *.rows.subgroup ROWS SUBGROUP
//lathe:variant *.cols COLS
//lathe:variant *.odd COLS ODD
//lathe:variant {i64}.merge MERGE

#define SUM64
#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
