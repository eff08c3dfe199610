// shifted is the pack that begins at word s % 4 of pack a, which pack b follows.
uvec4 shifted(uvec4 a, uvec4 b, uint s) {
	bool two = (s & 2u) != 0u;
	a = mix(a, uvec4(a.zw, b.xy), bvec4(two));
	return mix(a, uvec4(a.yzw, mix(b.x, b.z, two)), bvec4((s & 1u) != 0u));
}
