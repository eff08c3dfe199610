// Matrix product of f16 by cooperative matrices of EDGE × EDGE × EDGE elements. A workgroup
// has four subgroups of LANES invocations. Together they make TILE × TILE elements in f32,
// DEPTH of k at a time. Each subgroup makes a quarter of them, as SIDE × SIDE matrices in
// registers. While these are multiplied, the next tiles are loaded to the other half of the
// shared memory. The constants keep the types of a matrix's uses apart, for spv.Cooperative. The
// parameters p.m and p.n are the rows and columns of the result.
//
// A shader says where the operands lie. Before it includes this file, it defines
//
//   LOCATE                    sets depth, the length of k
//   BEGIN                     declares what the lines below use, and aAlong and bAlong: whether packs
//                             lie along k, and not across the tile
//   LOAD_A(made, k), LOAD_B(made, k) load the packs of a tile that belong to this invocation, from
//                             k on. Elements outside of the operand are zeros
//   END                       declares what PUT uses
//   PUT(m, n, j, sum)         writes an element of the result. j numbers the matrices of a subgroup
//                             across. All of an invocation's elements in one of them are in column
//                             COLUMN(j)
//
// lib/gemm_packs.glsl, which it includes before, has the operands.

shared uvec4 x[2][ROOM];
shared uvec4 y[2][ROOM];
shared float made[4 * EDGE * EDGE];

#define KEEP(tile, made, along) \
	[[unroll]] for (uint t_ = 0; t_ < LOADS; t_++) { \
		uvec2 at_ = place(t_, along); \
		tile[along ? at_.y * ALONG + at_.x / 8 : at_.x * ACROSS + at_.y / 8] = made[t_]; \
	}
#define LOAD_BOTH(k) { \
	LOAD_A(nextX, k) \
	LOAD_B(nextY, k) \
}
#define KEEP_BOTH(half_) { KEEP(x[half_], nextX, aAlong) KEEP(y[half_], nextY, bAlong) }

#define LEFT fcoopmatNV<16, gl_ScopeSubgroup, M, K>
#define RIGHT fcoopmatNV<16, gl_ScopeSubgroup, K, N>
#define SUM fcoopmatNV<32, gl_ScopeSubgroup, M, N>

#define COLUMN(j) (column + left + (j) * EDGE + gl_SubgroupInvocationID % EDGE)

void main() {
	uint depth;
	LOCATE
	uint row = gl_WorkGroupID.y * TILE, column = gl_WorkGroupID.x * TILE;
	BEGIN
	uvec4 nextX[LOADS], nextY[LOADS];
	SUM acc[SIDE][SIDE];
	[[unroll]] for (uint i = 0; i < SIDE; i++) [[unroll]] for (uint j = 0; j < SIDE; j++) acc[i][j] = SUM(0.0);
	uint top = gl_SubgroupID / 2 * (SIDE * EDGE), left = gl_SubgroupID % 2 * (SIDE * EDGE);
	if (depth > 0) {
		LOAD_BOTH(0)
		KEEP_BOTH(0)
	}
	barrier();
	uint now = 0;
	for (uint k0 = 0; k0 < depth; k0 += DEPTH) {
		bool more = k0 + DEPTH < depth;
		if (more) LOAD_BOTH(k0 + DEPTH)
		[[unroll]] for (uint k = 0; k < DEPTH; k += EDGE) {
			LEFT u[SIDE];
			[[unroll]] for (uint i = 0; i < SIDE; i++) {
				uint at = top + i * EDGE;
				if (aAlong) coopMatLoadNV(u[i], x[now], at * ALONG + k / 8, ALONG, false);
				else coopMatLoadNV(u[i], x[now], k * ACROSS + at / 8, ACROSS, true);
			}
			[[unroll]] for (uint j = 0; j < SIDE; j++) {
				uint at = left + j * EDGE;
				RIGHT v;
				if (bAlong) coopMatLoadNV(v, y[now], at * ALONG + k / 8, ALONG, true);
				else coopMatLoadNV(v, y[now], k * ACROSS + at / 8, ACROSS, false);
				[[unroll]] for (uint i = 0; i < SIDE; i++) acc[i][j] = coopMatMulAddNV(u[i], v, acc[i][j]);
			}
		}
		now = 1 - now;
		if (more) KEEP_BOTH(now)
		barrier();
	}
	END
	uint own = gl_SubgroupID * (EDGE * EDGE);
	[[unroll]] for (uint i = 0; i < SIDE; i++) [[unroll]] for (uint j = 0; j < SIDE; j++) {
		coopMatStoreNV(acc[i][j], made, own, EDGE, false);
		barrier();
		[[unroll]] for (uint t = 0; t < EDGE * EDGE / LANES; t++) {
			uint e = t * LANES + gl_SubgroupInvocationID;
			uint m = row + top + i * EDGE + e / EDGE, n = column + left + j * EDGE + e % EDGE;
			if (m < p.m && n < p.n) {
				float sum = made[own + e];
				PUT(m, n, j, sum)
			}
		}
		barrier();
	}
}
