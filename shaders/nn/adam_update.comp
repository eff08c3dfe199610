// One step of Adam (Kingma and Ba 2015, algorithm 1). The bias corrections are
// made on the host: rate is lr/(1 − β1^t) and root is 1/√(1 − β2^t).
//
// SEPARATE variants read and write different bindings, which may be the same
// memory. Some devices have only four buffers for a kernel. For these the other variants
// overwrite their inputs.
//
//lathe:dtypes f32 f16 bf16 f64
//lathe:variant *
//lathe:variant *.separate SEPARATE
//lathe:variant {f32,f16,bf16}.texel SEPARATE TEXEL
#version 450
#extension GL_GOOGLE_include_directive : require
#include "lib/dtype.glsl"
#include "lib/grid.glsl"

#if defined(TEXEL)
#define WG 256
#define PACKS 2
#else
#define WG 64
#define PACKS 1
#endif
layout(local_size_x = WG) in;

// Numbers are pairs of floats, whose sum is the number in double precision.
layout(push_constant) uniform Params {
	uint count; // elements
	float rate[2];
	float root[2];
	float eps[2];
	float beta1[2];
	float beta2[2];
	float rest1[2]; // 1 − β1
	float rest2[2]; // 1 − β2
} p;

INPUT(0, grad);
#if defined(SEPARATE)
OUTPUT(1, param);
OUTPUT(2, m);
OUTPUT(3, v);
INPUT(4, paramIn);
INPUT(5, mIn);
INPUT(6, vIn);
#else
layout(set = 0, binding = 1) buffer ParamBuffer { uvec4 param[]; };
layout(set = 0, binding = 2) buffer MBuffer { uvec4 m[]; };
layout(set = 0, binding = 3) buffer VBuffer { uvec4 v[]; };
#define paramIn param
#define mIn m
#define vIn v
#endif

#define NUMBER(a) (REAL(a[0]) + REAL(a[1]))

void main() {
	REAL rate = NUMBER(p.rate), root = NUMBER(p.root), eps = NUMBER(p.eps);
	REAL beta1 = NUMBER(p.beta1), beta2 = NUMBER(p.beta2), rest1 = NUMBER(p.rest1), rest2 = NUMBER(p.rest2);
	uint i = flatGroup() * (WG * PACKS) + gl_LocalInvocationID.x;
	[[unroll]] for (uint n = 0; n < PACKS; n++, i += WG) {
		if (i * PACK < p.count) {
			REAL g[PACK] = unpack(FETCH(grad, i)), w[PACK] = unpack(FETCH(paramIn, i));
			REAL a[PACK] = unpack(FETCH(mIn, i)), b[PACK] = unpack(FETCH(vIn, i));
			[[unroll]] for (uint k = 0; k < PACK; k++) {
				a[k] = beta1 * a[k] + rest1 * g[k];
				b[k] = beta2 * b[k] + rest2 * (g[k] * g[k]);
				w[k] -= rate * a[k] / (sqrt(b[k]) * root + eps);
			}
			uint left = p.count - i * PACK;
			STORE(param, i, repack(w), left);
			STORE(m, i, repack(a), left);
			STORE(v, i, repack(b), left);
		}
	}
}
