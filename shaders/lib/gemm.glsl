// The parameters of the matrix products C = A·B and C += A·B. Lengths, bases and steps are in
// units of one read: texels or elements. The z of a grid counts a batch of two levels. The
// inner level may count parts of k instead. The plan then sums their products afterwards.

layout(push_constant) uniform Params {
	uint m;    // rows
	uint n;    // columns
	uint k;    // length of a part of k
	uint kAll; // length of all parts: the last one is shorter
	uint kStep; // k from part to part; 0 where the inner level is a batch
	uint aBase; // of the first element, from the bound window on
	uint aRow;  // from row to row
	uint aCol;  // from column to column, where a kernel takes any
	uint aInner;
	uint aOuter;
	uint bBase;
	uint bRow;
	uint bCol;
	uint bInner;
	uint bOuter;
	uint cBase;
	uint cRow;
	uint cCol;
	uint cInner;
	uint cOuter;
	uint inner; // size of the inner level
	uint z;     // of the first group
	uint accumulate; // 1: add to C
	uint bias;       // 1: add the bias; 2: it lies along the rows of the kernel
	uint biasBase;
} p;

// locate finds the workgroup's place in the batch and its part of k.
void locate(out uint inner, out uint outer, out uint k) {
	uint z = gl_WorkGroupID.z + p.z;
	outer = z / p.inner;
	inner = z - outer * p.inner;
	uint first = inner * p.kStep;
	k = first < p.kAll ? min(p.k, p.kAll - first) : 0;
}
