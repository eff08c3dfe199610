// Philox 4×32-10 on a counter and a key: see lib/philox.glsl.

#include "lib/high_product.glsl"

uvec4 philox(uvec4 c, uint k0, uint k1) {
	[[unroll]] for (uint round = 0; round < 10; round++) {
		uint high0 = highProduct(0xd2511f53u, c.x), high1 = highProduct(0xcd9e8d57u, c.z);
		c = uvec4(high1 ^ c.y ^ k0, 0xcd9e8d57u * c.z, high0 ^ c.w ^ k1, 0xd2511f53u * c.x);
		k0 += 0x9e3779b9u;
		k1 += 0xbb67ae85u;
	}
	return c;
}
