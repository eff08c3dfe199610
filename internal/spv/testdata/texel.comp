// Texel buffers of every kind Lathe binds.
#version 450
#extension GL_EXT_samplerless_texture_functions : require
layout(local_size_x = 64) in;
layout(binding = 0) uniform usamplerBuffer a;
layout(binding = 1) uniform samplerBuffer b;
layout(binding = 2) uniform itextureBuffer c;
layout(binding = 3, rgba32f) uniform writeonly imageBuffer d;
layout(binding = 4, rgba32ui) uniform uimageBuffer e;
layout(binding = 5, rgba32i) uniform readonly iimageBuffer f;
void main() {
	int i = int(gl_GlobalInvocationID.x);
	if (i >= textureSize(a) || i >= imageSize(d)) return;
	uvec4 u = texelFetch(a, i);
	vec4 v = texelFetch(b, i) + vec4(texelFetch(c, i)) + unpackUnorm4x8(u.x);
	imageStore(d, i, v * vec4(imageLoad(f, i)));
	imageStore(e, i, imageLoad(e, i) + u);
}
