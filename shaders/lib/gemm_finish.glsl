// The end of y = α·A·B + β·C whose product was made in parts or in a wider type: the parts are summed
// in their order, the sum is scaled, β·C is added, and the result is rounded once. C may be y. It is not
// read if addend is 0. If parts is 0, the product is 0. Include after dtype.glsl.

layout(push_constant) uniform Params {
	uint base;  // element of the bound window with which y begins
	uint count; // elements of a run: a row of y, or all of it if its rows follow each other without gaps
	uint runs;
	uint packs; // invocations for a run, enough wherever in a pack it begins; or workgroups for a row
	uint rows;  // of a matrix
	uint inner; // matrices of the inner level of the batch
	uint n;     // columns
	uint yRow;  // elements from row to row
	uint yInner;
	uint yOuter;
	uint from; // element of a part with which the first row begins
	uint row;  // elements from row to row of a part
	uint rowInner;
	uint rowOuter;
	uint parts;
	uint part;   // elements from part to part
	uint addend; // 1: add β·C
	uint cBase;
	uint cRow;
	uint cCol;
	uint cInner;
	uint cOuter;
	uint alpha[2]; // bits
	uint beta[2];
#if defined(TRIANGLE)
	uint upper; // 1: the upper triangle
	int shift;  // by how much more the first column is than the first row
#endif
} p;

#if BITS == 64
#define WORD uvec2
#define NUMBER(w) packDouble2x32(uvec2(w[0], w[1]))
#define ELEMENT(e) packDouble2x32(c[e]) // of the buffer c of WORD
#else
#define WORD uint
#define NUMBER(w) uintBitsToFloat(w[0])
#if BITS == 32
#define ELEMENT(e) uintBitsToFloat(c[e])
#else
#define ELEMENT(e) WIDEN(uvec4((c[(e) / 2] >> ((e) % 2 * 16)) & 0xffffu)).x
#endif
#endif

// locate divides the number of a row, counted over all matrices, into the row of its matrix and the
// inner and the outer number of the matrix.
uvec3 locate(uint row, uint rows, uint inner) {
	uint matrix = row / rows, outer = matrix / inner;
	return uvec3(row - matrix * rows, matrix - outer * inner, outer);
}

// These are where that row begins in y, in a part and in C.
uint placeOfY(uvec3 r) { return p.base + r.x * p.yRow + r.y * p.yInner + r.z * p.yOuter; }
uint placeOfPart(uvec3 r) { return p.from + r.x * p.row + r.y * p.rowInner + r.z * p.rowOuter; }
uint placeOfC(uvec3 r) { return p.cBase + r.x * p.cRow + r.y * p.cInner + r.z * p.cOuter; }
