// Which one of three by three values a filter chooses: the least or the most with MIN or MAX, else
// the median. Include after VALUE, LEAST(a, b) and MOST(a, b) are defined.

#if defined(MIN)
#define OF_ROW VALUE
#define ofRow(a, b, c) LEAST(LEAST(a, b), c)
#define chosen(a, b, c) LEAST(LEAST(a, b), c)
#elif defined(MAX)
#define OF_ROW VALUE
#define ofRow(a, b, c) MOST(MOST(a, b), c)
#define chosen(a, b, c) MOST(MOST(a, b), c)
#else
#include "lib/median.glsl"
#define OF_ROW Sorted
#define ofRow(a, b, c) sorted(a, b, c)
#define chosen(a, b, c) median(a, b, c)
#endif
