// Matrix product by tiles in shared memory. A workgroup of EDGE × EDGE invocations makes
// TILE × TILE elements, DEPTH of k at a time. Each invocation has SIDE × SIDE of them in
// registers. Shared memory has two halves. While the tiles of one half are multiplied, the
// next ones are loaded, and then fill the other half. Elements outside of the operands count
// as zeros. The parameters p.m and p.n are the rows and columns of the result.
//
// A shader says where the operands lie. It includes
// lib/gemm_operands.glsl, and before this file it defines
//
//   LOCATE               sets depth, the length of k
//   BEGIN                declares what the lines below use, and along and across: whether k is
//                        what neighbouring invocations step along when they load A, and B
//   QUAD_A(k), QUAD_B(k)             declare what four elements at k share
//   ELEMENT_A(i, j), ELEMENT_B(i, j) are element j of these four, in row or column i
//   END                  may change the sums acc[i], which are those of row ROW(i), and declares
//                        what COLUMN and PUT use
//   COLUMN(n)            declares what the elements of column n share, which may lie outside
//   PUT(m, n, sum)       writes an element of the result

#define WG (EDGE * EDGE)
#define TILE (EDGE * SIDE)
#define DEPTH 8
#define QUADS (TILE / 4)          // across a tile
#define PARTS (SIDE / 4)          // of them to an invocation, half a tile apart
#define LOADS (QUADS * DEPTH / WG) // of each tile that an invocation loads
layout(local_size_x = WG) in;

shared QUAD x[2][DEPTH * QUADS];
shared QUAD y[2][DEPTH * QUADS];

// place is where quad t of an invocation lies in a tile: its step of k and its place
// across. Neighbouring invocations load neighbouring elements in either layout.
uvec2 place(uint t, bool along) {
	uint u = t * WG + gl_LocalInvocationID.x;
	return mix(uvec2(u / QUADS, u % QUADS), uvec2(u % DEPTH, u / DEPTH), bvec2(along));
}

// LOAD loads the quads of a tile that belong to this invocation. A quad is four elements
// from first across on, at k.
#define LOAD(made, along, quad, element, k, first, count) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
		uvec2 at_ = place(t_, along); \
		uint k_ = (k) + at_.x; \
		quad(min(k_, depth - 1)) \
		[[unroll]] for (uint j_ = 0; j_ < 4; j_++) { \
			uint i_ = (first) + 4 * at_.y + j_; \
			REAL v_ = element(min(i_, (count) - 1), j_); \
			made[t_][j_] = mix(REAL(0), v_, all(lessThan(uvec2(k_, i_), uvec2(depth, count)))); \
		} \
	}
#define KEEP(tile, made, along) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { uvec2 at_ = place(t_, along); tile[at_.x * QUADS + at_.y] = made[t_]; }

#define LOAD_BOTH(k) { \
	LOAD(nextX, along, QUAD_A, ELEMENT_A, k, row, p.m) \
	LOAD(nextY, across, QUAD_B, ELEMENT_B, k, column, p.n) \
}
#define KEEP_BOTH(half_) { KEEP(x[half_], nextX, along) KEEP(y[half_], nextY, across) }

// ROW is the row of the result that the sums acc[i] belong to.
#define ROW(i) (row + 4 * (me / EDGE + (i) / 4 * EDGE) + (i) % 4)

void main() {
	uint depth;
	LOCATE
	uint me = gl_LocalInvocationID.x;
	uint row = gl_WorkGroupID.y * TILE, column = gl_WorkGroupID.x * TILE;
	BEGIN
	QUAD acc[SIDE][PARTS], nextX[LOADS], nextY[LOADS];
	[[unroll]] for (uint i = 0; i < SIDE; i++) [[unroll]] for (uint j = 0; j < PARTS; j++) acc[i][j] = QUAD(0);
	if (depth > 0) {
		LOAD_BOTH(0)
		KEEP_BOTH(0)
	}
	barrier();
	uint now = 0;
	for (uint k0 = 0; k0 < depth; k0 += DEPTH) {
		bool more = k0 + DEPTH < depth;
		if (more) LOAD_BOTH(k0 + DEPTH)
		for (uint k = 0; k < DEPTH; k++) {
			QUAD v[PARTS];
			[[unroll]] for (uint j = 0; j < PARTS; j++) v[j] = y[now][k * QUADS + me % EDGE + j * EDGE];
			[[unroll]] for (uint i = 0; i < PARTS; i++) {
				QUAD u = x[now][k * QUADS + me / EDGE + i * EDGE];
				[[unroll]] for (uint r = 0; r < 4; r++)
					[[unroll]] for (uint j = 0; j < PARTS; j++) acc[4 * i + r][j] = fma(QUAD(u[r]), v[j], acc[4 * i + r][j]);
			}
		}
		now = 1 - now;
		if (more) KEEP_BOTH(now)
		barrier();
	}
	END
	[[unroll]] for (uint j = 0; j < SIDE; j++) {
		uint n = column + 4 * (me % EDGE + j / 4 * EDGE) + j % 4;
		COLUMN(n)
		[[unroll]] for (uint i = 0; i < SIDE; i++) {
			uint m = ROW(i);
			if (m < p.m && n < p.n) PUT(m, n, acc[i][j / 4][j % 4])
		}
	}
}
