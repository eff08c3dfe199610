// The forms of lib/binary.glsl with broadcasting, for devices whose invocations are lanes of
// a vector of the processor. No element costs a division: only the number of the workgroup
// says where it begins in an operand that repeats.
//
//   SPREAD  a workgroup makes a part of a row, or of four rows with TALL. The grid has
//           columns, rows and one more dimension. The output and the operands have no gaps
//           along a row, but one operand may be one element of each row.
//   LOOP    all lies as the output does, but one operand repeats after period elements. It
//           is followed by the elements with which it begins, as many as a workgroup makes.
//   STEPS   all lies as the output does, but one operand has one element for each run of
//           elements of the output.
//
// ONLY_A and ONLY_B name the operand that is as large as the output, or that moves along a
// row.

#if defined(SPREAD)
layout(push_constant) uniform Params {
	uint columns, rows;
	uint aBase, aRow, aOuter;
	uint bBase, bRow, bOuter;
	uint base, row, outer;
} p;
#else
layout(push_constant) uniform Params {
	uint count; // elements
	uint first; // element of the output that the launch begins with
	uint period; // elements, or runs with STEPS
	uint run;
} p;
#endif

INPUT(0, a);
INPUT(1, b);
OUTPUT(2, dst);

#if defined(SPREAD)
#if defined(ONLY_B)
#define A_AT(e) 0
#else
#define A_AT(e) (e)
#endif
#if defined(ONLY_A)
#define B_AT(e) 0
#else
#define B_AT(e) (e)
#endif
#if defined(TALL)
// Element u of an invocation is in row u.
#define PART WG
#define RIGHT 0
#define DOWN 1
#else
#define PART (WG * PACK)
#define RIGHT WG
#define DOWN 0
#endif

void main() {
	uint x = gl_WorkGroupID.x * PART + gl_LocalInvocationID.x, y = gl_WorkGroupID.y * (DOWN * (PACK - 1) + 1), z = gl_WorkGroupID.z;
	uint fromA = p.aBase + y * p.aRow + z * p.aOuter, fromB = p.bBase + y * p.bRow + z * p.bOuter;
	uint to = p.base + y * p.row + z * p.outer;
#define MADE(u) apply(a[fromA + (u) * DOWN * p.aRow + A_AT(x + (u) * RIGHT)], b[fromB + (u) * DOWN * p.bRow + B_AT(x + (u) * RIGHT)])
	if (x + RIGHT * (PACK - 1) < p.columns && y + DOWN * (PACK - 1) < p.rows) {
		REAL v[PACK];
		[[unroll]] for (uint u = 0; u < PACK; u++) v[u] = MADE(u);
		[[unroll]] for (uint u = 0; u < PACK; u++) dst[to + u * DOWN * p.row + x + u * RIGHT] = v[u];
	} else {
		[[dont_unroll]] for (uint u = 0; u < PACK; u++) {
			if (x + u * RIGHT < p.columns && y + u * DOWN < p.rows) dst[to + u * DOWN * p.row + x + u * RIGHT] = MADE(u);
		}
	}
}
#else
#if defined(ONLY_A)
#define VALUE(e, other) apply(a[e], other)
#define OTHER b
#else
#define VALUE(e, other) apply(other, b[e])
#define OTHER a
#endif

void main() {
	uint begin = flatGroup() * (WG * PACK), place = p.first + begin;
#if defined(LOOP)
	uint at = place % p.period;
	EACH_ELEMENT(p.count, dst, VALUE(e, OTHER[at + (e - begin)]))
#else
	// The runs in which the workgroup has elements follow each other.
	uint run = p.run, period = p.period, y = place / run, x = place - y * run, from = y % period;
	uint end = x + WG * PACK, i = gl_LocalInvocationID.x;
	REAL v[PACK];
	[[unroll]] for (uint u = 0; u < PACK; u++) v[u] = OTHER[from];
	[[dont_unroll]] for (uint next = run; next < end; next += run) {
		from++;
		from = from == period ? 0 : from;
		REAL w = OTHER[from];
		[[unroll]] for (uint u = 0; u < PACK; u++) v[u] = mix(v[u], w, x + u * WG + i >= next);
	}
	begin += i;
	if (begin + WG * (PACK - 1) < p.count) {
		[[unroll]] for (uint u = 0; u < PACK; u++) v[u] = VALUE(begin + u * WG, v[u]);
		[[unroll]] for (uint u = 0; u < PACK; u++) dst[begin + u * WG] = v[u];
	} else {
		[[unroll]] for (uint u = 0; u < PACK; u++) if (begin + u * WG < p.count) dst[begin + u * WG] = VALUE(begin + u * WG, v[u]);
	}
#endif
}
#endif
