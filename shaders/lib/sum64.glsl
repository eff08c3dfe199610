// lib/reduce.glsl for sums of 64 bits of smaller integers. An element becomes a pair of words, low first, so that
// the accumulators are those of i64, which the kernels of reduce_sum merge. Integers with and without a sign share
// kernels: p.sign is 0 if the elements have none.
//
//lathe:dtypes i8 i16 i32
//lathe:variant *.rows ROWS
//lathe:variant *.rows.subgroup ROWS SUBGROUP
//lathe:variant *.cols COLS
//lathe:variant *.odd COLS ODD

#define SUM64
#define REALS 1
#define INPUTS 1
#include "lib/reduce.glsl"
