// The parameters of the kernels that convolve operands where they lie, and the place of an invocation, which
// makes RUN elements of a line of the result.

layout(push_constant) uniform Params {
	uint count; // invocations
	uint m;     // channels of the result, of all groups
	uint k;     // of them in a group
	uint lines; // groups of ROWS lines of a channel
	uint o1;
	uint o2;
	uint cR0; // channels of the reduction; << 16: taps along each axis
	uint r1R2;
	uint i0; // size of the input
	uint i1;
	uint i2;
	uint sD0; // step from element to element of the result; << 16: from tap to tap
	uint sD1;
	uint sD2;
	uint l0L1; // distance between elements of the input
	uint l2;
	int p0; // first position
	int p1;
	int p2;
	uint inBase;
	uint inB;
	uint inG;
	uint inC;
	uint wBase;
	uint wG; // in addition to k times wK
	uint wK;
	uint wC;
	uint wTap;
	uint outBase;
	uint outB;
	uint outK;
	uint biasBase; // 0xffffffff: no bias; 0xfffffffe: add to the result
} p;

ivec3 low(uvec3 v) { return ivec3(v & 0xffffu); }
ivec3 high(uvec3 v) { return ivec3(v >> 16); }

// Place is the image, the channel of the result, its group, and the first element. line counts the lines of all
// planes.
struct Place { uint b, m, g, plane, row, line, column; };

// An invocation makes elements of ROWS lines.
#if !defined(ROWS)
#define ROWS 1
#endif

Place placeOf(uint i) {
	uint runs = (p.o2 + RUN - 1) / RUN, groups = (p.o1 + ROWS - 1) / ROWS, at = i / runs, column = (i - at * runs) * RUN;
	uint m = at / p.lines, group = at - m * p.lines, b = m / p.m, plane = group / groups;
	uint row = (group - plane * groups) * ROWS;
	m -= b * p.m;
	return Place(b, m, m / p.k, plane, row, plane * p.o1 + row, column);
}
